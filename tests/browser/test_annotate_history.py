"""Looking back: own answers, skips and the text around; notes, and tasks left for later."""

import re

from playwright.sync_api import expect

from annotation.models import Annotation, Lease, Sentence
from tests.browser.annotate_fixtures import Given, start, start_ahead
from tests.browser.looking import severe_violations

TASKS = [
    {"name": "Places", "kind": "spans", "labels": ["PLACE"]},
    {"name": "Topic", "kind": "classes", "labels": ["Arrival", "Delay"]},
]
WORDS = ["Aurelia docked", "Brask is closed", "Calm seas", "Dover waits", "Fog again"]


def _work(make_queue, open_page, n=5, **options):
    queue = make_queue([Given(text.split()) for text in WORDS[:n]], tasks=TASKS)
    page = open_page(queue.annotator, **options)
    return queue, page, start(page, queue, "Aurelia")


def _answer(hands, first_word, *keys):
    hands.wait_for_sentence(first_word)
    with hands.page.expect_response("**/submit/"):
        hands.press(*keys, "Enter")


def test_going_back_walks_through_all_answers_and_never_swings(make_queue, open_page):
    queue, page, hands = _work(make_queue, open_page)
    for first_word in ("Aurelia", "Brask", "Calm"):
        _answer(hands, first_word, "1")
    hands.wait_for_sentence("Dover")
    hands.press("2")
    for first_word in ("Calm", "Brask", "Aurelia"):
        hands.press("Control+ArrowUp")
        hands.wait_for_sentence(first_word)
    hands.press("Control+ArrowUp")
    expect(page.locator("#message")).to_have_text("Nothing to go back to.")
    page.route("**/peek/", lambda _: None)  # looking ahead may take as long as it likes
    for first_word in ("Brask", "Calm", "Dover"):
        hands.press("Control+ArrowDown")
        hands.wait_for_sentence(first_word)
    expect(hands.label("Topic", "Delay")).to_have_attribute("aria-checked", "true")  # as it was
    hands.press("Control+z")  # takes the choice back
    hands.press("Control+z")  # nothing is left to undo
    hands.wait_for_sentence("Calm")
    hands.press("Control+z", "Control+z")  # its own last step, then on
    hands.wait_for_sentence("Brask")
    _answer(hands, "Brask", "2")
    hands.wait_for_sentence("Dover")
    assert queue.answers(1)["Topic"] == "Delay"


def test_a_skip_is_undone_and_what_was_open_comes_after_it(make_queue, open_page):
    _, page, hands = _work(make_queue, open_page)
    hands.press("Control+Space", "Enter")  # no reason is given for anybody
    expect(page.get_by_role("dialog")).to_be_visible()
    hands.press("1", "Enter")
    hands.wait_for_sentence("Brask")
    hands.press("Control+z")
    hands.wait_for_sentence("Aurelia")
    assert Lease.objects.filter(state=Lease.State.SKIPPED).count() == 0
    _answer(hands, "Aurelia", "1")
    hands.wait_for_sentence("Brask")


def test_a_skip_is_undone_though_its_sentence_was_open_before_the_last_answer(
    make_queue, open_page
):
    _, _page, hands = _work(make_queue, open_page)
    _answer(hands, "Aurelia", "1")
    hands.wait_for_sentence("Brask")
    hands.press("Control+ArrowUp")  # Brask is in hand already
    _answer(hands, "Aurelia", "2")
    hands.wait_for_sentence("Brask")
    hands.press("Control+Space", "1", "Enter")
    hands.wait_for_sentence("Calm")
    hands.press("Control+z")
    hands.wait_for_sentence("Brask")
    assert Lease.objects.filter(state=Lease.State.SKIPPED).count() == 0


def test_own_answers_are_searched_filtered_and_opened_again(make_queue, open_page):
    _queue, page, hands = _work(make_queue, open_page)
    hands.press("F2")
    page.keyboard.type("Is Aurelia a place?")
    hands.press("Enter")
    _answer(hands, "Aurelia", "1")
    _answer(hands, "Brask", "2")
    hands.wait_for_sentence("Calm")
    hands.press("F8")
    rows = page.locator(".history-row")
    expect(rows).to_have_count(2)
    expect(rows.first).to_be_focused()
    expect(rows.last).to_contain_text("note: Is Aurelia a place?")
    assert severe_violations(page) == []
    hands.press("Space")  # looks only
    expect(page.locator(".history-look-at .word").first).to_have_text("Brask")
    assert severe_violations(page) == []
    expect(page.locator("#place")).to_contain_text("The clock stopped at")
    hands.press("Space")
    expect(page.locator(".history-look-at")).to_have_count(0)
    hands.wait_for_sentence("Calm")
    page.locator(".drawer-filter", has_text="With a note").click()
    expect(rows).to_have_count(1)
    page.locator(".drawer-filter", has_text="All").click()
    page.get_by_label("Search in your answers").fill("delay")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Brask")
    hands.press("ArrowDown", "Enter")
    hands.wait_for_sentence("Brask")
    expect(page.locator("#drawer")).to_be_hidden()
    hands.press("F8", "Escape")
    expect(hands.word(0)).to_be_focused()
    assert Lease.objects.get(ask__rank=1).note == "Is Aurelia a place?"


def test_the_document_opens_beside_the_sentence_in_its_own_direction(make_queue, open_page):
    _queue, page, hands = _work(make_queue, open_page)
    Sentence.objects.update(document="Evening bulletin")
    Sentence.objects.filter(position=1).update(text="الميناء مغلق")
    _answer(hands, "Aurelia", "1")
    hands.wait_for_sentence("Brask")
    hands.press("F9")
    drawer = page.locator("#drawer")
    expect(drawer.get_by_role("heading")).to_have_text("Evening bulletin")
    sentences = drawer.locator(".document-sentence")
    expect(sentences.nth(0)).to_have_attribute("data-state", "yours")
    expect(sentences.nth(1)).to_have_attribute("dir", "rtl")
    expect(sentences.nth(1)).to_have_attribute("aria-current", "true")
    expect(drawer).to_contain_text("Sentence 2 of 5.")
    assert severe_violations(page) == []
    hands.press("Escape")
    expect(drawer).to_be_hidden()


GUIDE = """A **place** one can go to.

| words | label |
|---|---|
| *Brask* Quay | PLACE |

- <b onclick="x()">no markup</b>
"""


def test_guidelines_meanings_of_labels_and_how_equal_words_were_labelled_are_at_hand(
    make_queue, open_page
):
    labels = [{"name": "VESSEL"}, {"name": "PLACE", "description": "A harbour, quay or town."}]
    tasks = [{"name": "Entities", "kind": "spans", "labels": labels, "guidelines": GUIDE}]
    queue = make_queue([Given(["Brask", "waits"]), Given(["To", "Brask"])], tasks=tasks)
    page = open_page(queue.annotator, viewport={"width": 1400, "height": 900})
    hands = start(page, queue, "Brask")
    place = hands.label("Entities", "PLACE")
    expect(place).to_have_attribute("title", "PLACE: A harbour, quay or town.")
    hands.press("g")
    guide = page.locator("#guidelines")
    expect(guide.locator("strong")).to_have_text("place")
    expect(guide.locator("td em")).to_have_text("Brask")
    expect(guide.get_by_text('<b onclick="x()">no markup</b>')).to_be_visible()  # text is text
    expect(guide.locator("dd")).to_have_text("A harbour, quay or town.")
    assert severe_violations(page) == []
    hands.go(0)
    hands.press(hands.key_of("Entities", "PLACE"), "Enter")
    hands.wait_for_sentence("To")
    hands.go(1)
    before = page.locator("#detail .similar li")
    expect(before).to_have_text("PLACE 1×")
    before.get_by_role("button").click()
    expect(hands.chip("PLACE")).to_have_attribute("aria-label", "Brask, PLACE")


def test_a_task_is_left_for_later_and_comes_back_last(make_queue, open_page):
    queue, page, hands = _work(make_queue, open_page, n=2)
    hands.press("1", "F4")
    page.get_by_role("checkbox", name="Places").uncheck()
    page.get_by_role("button", name="Leave for later").click()
    _answer(hands, "Brask", "2")
    hands.wait_for_sentence("Aurelia")
    expect(hands.label("Topic", "Arrival")).to_have_attribute("aria-checked", "true")
    assert Annotation.objects.filter(sentence__position=0).count() == 1
    _answer(hands, "Aurelia", hands.key_of("Places", "PLACE"))
    assert queue.answers() == {"Places": [[0, 1, "PLACE"]], "Topic": "Arrival"}
    # At once, and then what the server says of it.
    expect(page.locator("#empty")).to_contain_text(
        re.compile("All done|All sentences are answered")
    )


def test_work_ahead_that_goes_to_somebody_else_is_shown_and_kept(make_queue, open_page):
    queue = make_queue([Given(text.split()) for text in WORDS[:3]], tasks=TASKS)
    page = open_page(queue.annotator)
    hands = start_ahead(page, queue, "Aurelia")
    page.context.set_offline(True)
    hands.press("1", "Enter")
    hands.word(0).filter(has_text="Brask").wait_for()
    hands.press(hands.key_of("Places", "PLACE"))  # ahead of its lease
    queue.project.queues.get().asks.filter(rank=2).update(is_open=False)
    page.context.set_offline(False)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Another sentence comes first")
    expect(dialog.locator(".chip")).to_have_text(["PLACE"])
    dialog.get_by_role("button", name="Go on").click()
    hands.wait_for_sentence("Calm")


def test_what_is_typed_as_a_note_closes_goes_to_the_sentence(make_queue, open_page):
    queue, page, hands = _work(make_queue, open_page)
    expect(hands.word(0)).to_be_focused()
    hands.press("F2")
    page.keyboard.type("Is Aurelia a place?")
    with page.expect_response("**/submit/"):  # three keys before the browser tells of the closing
        page.evaluate(
            """async () => {
                for (const key of ["Enter", "1", "Enter"]) {
                    const code = key === "1" ? "Digit1" : key;
                    const options = { key, code, bubbles: true, cancelable: true };
                    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", options));
                    for (let i = 0; i < 5; i++) await null;
                }
            }"""
        )
    hands.wait_for_sentence("Brask")
    assert queue.answers()["Topic"] == "Arrival"
    assert Lease.objects.get(ask__rank=1).note == "Is Aurelia a place?"
