"""What the mouse does besides answering: resize, relabel, reverse, delete, paint, filter."""

import pytest
from playwright.sync_api import expect

from tests.browser.annotate_fixtures import HARBOUR, Given, harbour_suggestions, start, submitted
from tests.browser.looking import severe_violations
from tests.browser.test_annotate_kinds import TASKS, TOKENS


def _open(make_queue, open_page, tasks, given=None, **values):
    queue = make_queue([given or Given(TOKENS, tasks=tasks)], **{"tasks": TASKS, **values})
    page = open_page(queue.annotator)
    return queue, page, start(page, queue, (given.tokens if given else TOKENS)[0])


def _submit(page, queue):
    return submitted(page, queue, page.locator("#submit").click)


def _drag_rail(page, rail, from_the_left, word):
    """Drag one end of a span's rail to a word."""
    box, goal = rail.bounding_box(), word.bounding_box()
    page.mouse.move(box["x"] + (3 if from_the_left else box["width"] - 3), box["y"] + 1)
    page.mouse.down()
    page.mouse.move(goal["x"] + goal["width"] / 2, goal["y"] + goal["height"] / 2, steps=4)
    page.mouse.up()


@pytest.mark.parametrize("is_rtl", [False, True])
def test_a_span_is_resized_by_the_end_of_its_rail(make_queue, open_page, is_rtl):
    tokens = "قال جون سميث أغلق الميناء".split() if is_rtl else TOKENS[:5]
    given = Given(tokens, tasks=["Entities"])
    queue, page, hands = _open(
        make_queue, open_page, None, given, language="ar" if is_rtl else "en"
    )
    hands.word(2).click()
    hands.label("Entities", "PLACE").click()
    rail = page.locator('.rail[data-state="own"]')
    _drag_rail(page, rail, is_rtl, hands.word(3))  # the end
    expect(hands.chip("PLACE")).to_have_attribute("aria-label", f"{tokens[2]} {tokens[3]}, PLACE")
    _drag_rail(page, rail, not is_rtl, hands.word(1))  # the start
    assert _submit(page, queue) == {"Entities": [[1, 4, "PLACE"]]}


def test_a_label_in_hand_paints_until_it_is_put_away(make_queue, open_page):
    queue, page, hands = _open(make_queue, open_page, ["Entities"])
    hands.label("Entities", "PLACE").click()
    hands.word(0).click()
    hands.drag(hands.word(3), hands.word(4))
    hands.press("Escape")
    hands.word(2).click()
    assert _submit(page, queue) == {"Entities": [[0, 1, "PLACE"], [3, 5, "PLACE"]]}


def test_a_selected_span_is_relabelled_and_deleted_by_buttons(make_queue, open_page):
    queue, page, hands = _open(make_queue, open_page, ["Entities"])
    for word in (0, 3):
        hands.word(word).click()
        hands.label("Entities", "PLACE").click()
    hands.chip("PLACE").first.click()
    hands.label("Entities", "VESSEL").click()
    page.get_by_role("button", name="end ⇥").click()
    hands.chip("PLACE").click()
    page.get_by_role("button", name="Delete").click()
    assert _submit(page, queue) == {"Entities": [[0, 2, "VESSEL"]]}


def test_a_relation_is_made_by_two_clicks_and_turned_round_by_a_button(make_queue, open_page):
    queue, page, hands = _open(make_queue, open_page, ["Entities", "Relations"])
    for word in (3, 4):
        hands.word(word).click()
        hands.label("Entities", "PLACE").click()
    page.get_by_role("button", name="Relations").click()
    hands.chip("PLACE").first.click()
    hands.chip("PLACE").last.click()
    page.get_by_role("button", name="Reverse").click()
    assert _submit(page, queue)["Relations"] == [[4, 5, 3, 4, "near"]]


def test_layers_are_switched_off_and_on(make_queue, open_page):
    given = Given(HARBOUR, harbour_suggestions())
    queue = make_queue([given])
    page = open_page(queue.annotator)
    start(page, queue, "Velmar")
    chips = page.locator("#sentence .chip")
    for name, look, n in (("Syntax", "over", 18), ("Relations", "link", 2)):
        strokes, names = page.locator(f"g.{look}"), page.locator(f"text.{look}")
        page.get_by_label(name, exact=True).uncheck()
        expect(strokes).to_have_count(0)
        expect(names).to_have_count(0)
        expect(chips).to_have_count(7)
        page.get_by_label(name, exact=True).check()
        expect(strokes).to_have_count(n)
        # An arc that a line break cuts is named on several lines, so names are counted by arc.
        assert len(set(names.evaluate_all("all => all.map((name) => name.dataset.item)"))) == n
    page.get_by_label("Suggestions").uncheck()
    expect(chips).to_have_count(0)
    expect(page.locator(".arc")).to_have_count(0)


def test_the_list_of_labels_has_no_serious_fault(make_queue, open_page):
    _, page, hands = _open(make_queue, open_page, ["Syntax"])
    hands.word(1).click()
    hands.word(0).click()
    expect(page.get_by_role("combobox")).to_be_focused()
    assert severe_violations(page) == []
