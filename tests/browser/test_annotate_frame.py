"""The frame of the annotate page does not move: not at a slow start, not while one works."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.annotate_fixtures import HARBOUR, Given, Hands, harbour_suggestions, start
from tests.browser.looking import picture

WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, sources, hadRecentInput } of list.getEntries()) {
    const moved = sources.map(({ node }) => node?.id || node?.className || node?.nodeName);
    if (!hadRecentInput) shifts.push([value, moved]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("size", [(1280, 900), (1024, 640), (390, 844)])
def test_nothing_moves_when_the_first_sentence_comes_late(make_queue, open_page, size):
    queue = make_queue([Given(HARBOUR, harbour_suggestions())])
    page = open_page(queue.annotator, viewport={"width": size[0], "height": size[1]})
    page.add_init_script(WATCH)

    def answer_late(route):
        page.wait_for_timeout(2_500)
        route.continue_()

    page.route("**/next/", answer_late)
    page.goto(queue.url)
    expect(page.get_by_text("Loading…")).to_be_visible()
    Hands(page).wait_for_sentence("Velmar")
    page.wait_for_timeout(300)
    assert page.evaluate("shifts") == []


def test_whoever_starts_without_a_line_is_told_so_and_goes_on_when_it_is_back(
    make_queue, open_page
):
    queue = make_queue([Given(HARBOUR, harbour_suggestions())])
    page = open_page(queue.annotator)
    page.route("**/next/", lambda route: route.abort("internetdisconnected"))
    page.goto(queue.url)
    expect(page.get_by_text("Loading…")).to_be_visible()
    expect(page.locator("#saved")).to_have_text("Offline: kept in this browser")
    expect(page.locator("#saved")).to_be_visible()
    picture(page, "annotate-slow-start")
    page.unroute("**/next/")
    page.evaluate("dispatchEvent(new Event('online'))")
    Hands(page).wait_for_sentence("Velmar")
    expect(page.get_by_text("Loading…")).to_be_hidden()


def test_words_stand_as_high_with_a_sentence_before_them_as_without(make_queue, open_page):
    tasks = [{"name": "Type", "kind": "classes", "labels": ["Arrival", "Delay"]}]
    queue = make_queue([Given(["First", "."]), Given(["Second", "."])], tasks=tasks)
    page = open_page(queue.annotator)
    hands = start(page, queue, "First")
    expect(page.locator("#before")).to_be_empty()
    first = hands.word(0).bounding_box()["y"]
    hands.press("1", "Enter")
    hands.wait_for_sentence("Second")
    expect(page.locator("#before")).to_have_text("First .")
    assert hands.word(0).bounding_box()["y"] == first


def test_words_and_arcs_keep_their_places_when_a_drawer_narrows_the_page(make_queue, open_page):
    tasks = [{"name": "Tags", "kind": "tags", "labels": ["ADPOSITION"]}]
    queue = make_queue([Given("A ship left .".split())], tasks=tasks)
    page = open_page(queue.annotator)
    hands = start(page, queue, "A")
    places = [hands.word(i).bounding_box() for i in range(4)]
    hands.press("F8")
    expect(page.locator("#drawer h2")).to_have_text("Your answers")
    assert [hands.word(i).bounding_box() for i in range(4)] == places


def test_what_is_left_and_done_stays_where_it_is_while_one_works(make_queue, open_page):
    queue = make_queue([Given(HARBOUR, harbour_suggestions())])
    page = open_page(queue.annotator)
    hands = start(page, queue, "Velmar")
    counts = page.locator("#counts")
    places = [counts.bounding_box()["x"]]
    hands.press("o")
    expect(page.locator("#saved")).to_have_text("Saving…")
    places.append(counts.bounding_box()["x"])
    hands.wait_for_saved()
    places.append(counts.bounding_box()["x"])
    assert len(set(places)) == 1


def test_on_a_phone_no_label_moves_when_a_span_is_selected(make_queue, open_page):
    tasks = [{"name": "Slots", "kind": "spans", "labels": ["room", "start", "end"]}]
    queue = make_queue([Given("keep the nursery warm".split())], tasks=tasks)
    phone = {"width": 390, "height": 844}
    page = open_page(queue.annotator, viewport=phone, has_touch=True, is_mobile=True)
    hands = start(page, queue, "keep")
    label = hands.label("Slots", "room")
    before = label.bounding_box()["y"]
    hands.word(2).tap()
    label.tap()
    expect(page.get_by_role("button", name="Delete")).to_be_visible()
    assert label.bounding_box()["y"] == before


def test_no_word_moves_and_no_room_is_empty_when_a_task_with_fewer_labels_opens(
    make_queue, open_page
):
    labels = [f"{part}.{i}" for part in ("from", "to", "at") for i in range(12)]
    tasks = [
        {"name": "Slots", "kind": "spans", "labels": labels},
        {"name": "Syntax", "kind": "tree", "labels": ["root", "nsubj", "punct"]},
    ]
    queue = make_queue([Given(["Ships", "left", "."])], tasks=tasks)
    page = open_page(queue.annotator, viewport={"width": 1400, "height": 720})
    hands = start(page, queue, "Ships")
    bars, canvas = page.locator("#task-bars"), page.locator(".canvas")
    tall = canvas.bounding_box()["height"]
    hands.press("Tab", "Shift+Tab")  # what is proposed below a tree takes its room once
    words = [hands.word(i).bounding_box() for i in range(3)]
    for task, grown in (("Syntax", True), ("Slots", False)):
        hands.open_task(task)
        assert [hands.word(i).bounding_box() for i in range(3)] == words
        assert (canvas.bounding_box()["height"] > tall + 40) == grown
        assert canvas.evaluate("(node) => node.scrollHeight - node.clientHeight") == 0
        box, tabs = bars.bounding_box(), page.locator(".task-tabs").bounding_box()
        assert box["y"] + box["height"] - tabs["y"] - tabs["height"] < 4
    page.set_viewport_size({"width": 820, "height": 1180})
    hands.open_task("Syntax")
    box, tabs = bars.bounding_box(), page.locator(".task-tabs").bounding_box()
    assert box["y"] + box["height"] - tabs["y"] - tabs["height"] < 4


def test_the_title_counts_what_is_left_and_when_all_is_done_nothing_else_is_said(
    make_queue, open_page
):
    tasks = [{"name": "Topic", "kind": "classes", "labels": ["Arrival", "Delay"]}]
    queue = make_queue([Given(["Aurelia"])], tasks=tasks)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    expect(page).to_have_title(re.compile(r"^\(1\) "))
    hands.press("1", "Enter", "Enter")  # twice, as impatient people do
    expect(page.locator("#empty h2")).to_be_visible()
    expect(page.locator("#message")).to_be_empty()
    expect(page).to_have_title(re.compile("^Annotate"))


def test_long_neighbours_take_a_line_each_and_the_keys_name_home_and_end(make_queue, open_page):
    long = [f"word{i}" for i in range(133)]
    tasks = [{"name": "Topic", "kind": "classes", "labels": ["Arrival", "Delay"]}]
    queue = make_queue([Given(["Aurelia"]), Given(long), Given(["Brask"])], tasks=tasks)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    after = page.locator("#after")
    expect(after).to_contain_text("word132")
    assert after.bounding_box()["height"] < 30
    hands.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("first, last word")
