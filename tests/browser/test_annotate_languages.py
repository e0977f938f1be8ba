"""Languages of the annotate page: nothing that is shown escapes the catalogues."""

import pytest
from playwright.sync_api import expect

from mtl_engine.kinds import KINDS
from tests.browser.annotate_fixtures import Given, start, suggestion
from tests.browser.looking import texts_of
from tests.marked_language import escaped, marked_language

LONG = [f"χώρος.{letter}" for letter in "αβγδεζηθικλμνξοπρστυφχψω"]
TASKS = [
    {"name": "Ονόματα", "kind": "spans", "labels": ["ΤΟΠΟΣ", "ΠΛΟΙΟ"]},
    {"name": "Θέμα", "kind": "classes", "labels": ["άφιξη", "καθυστέρηση"]},
    {"name": "Λέξεις", "kind": "tags", "labels": ["ουσ", "ρήμα"]},
    {"name": "Δέντρο", "kind": "tree", "labels": ["υποκ", "αντικ"]},
    {"name": "Σχέσεις", "kind": "relations", "parent": "Ονόματα", "labels": ["στο"]},
    {"name": "Πολλά", "kind": "multiclasses", "labels": ["α", "β"]},
    {"name": "Μακρύ", "kind": "spans", "labels": LONG},
    {"name": "Λήμμα", "kind": "lemmas", "open": True},
    {"name": "Μορφή", "kind": "features", "labels": ["Πτώση=Ον", "Πτώση=Αιτ"]},
    {"name": "Ιδιότητες", "kind": "attributes", "parent": "Ονόματα", "labels": ["όχι"]},
    {"name": "Γράφος", "kind": "graph", "labels": ["υποκ"]},
    {"name": "Κείμενο", "kind": "classes", "labels": ["α", "β"], "document": True},
]
SUGGESTED = {
    "Ονόματα": suggestion([[0, 1, "ΠΛΟΙΟ"]], 0.6, []),
    "Δέντρο": suggestion([[2, "υποκ"], [0, "αντικ"], [2, "αντικ"]], 0.6, []),
}


@pytest.fixture
def marked(settings):
    with marked_language(settings) as code:
        yield code


def test_every_kind_is_looked_at():
    assert {task["kind"] for task in TASKS} == {kind.name for kind in KINDS.annotated()}


def test_no_text_of_the_annotate_page_escapes_the_catalogues(
    make_queue, open_page, live_server, marked
):
    words = "Αυρηλία φτάνει λιμάνι".split()
    queue = make_queue(
        [Given(words, suggestions=SUGGESTED), Given(words)], tasks=TASKS, name="Λιμάνι"
    )
    page = open_page(queue.annotator)
    page.context.add_cookies([{"name": "language", "value": marked, "url": live_server.url}])
    hands = start(page, queue, "Αυρηλία")
    found = set()

    def look(*keys):
        hands.press(*keys)
        found.update(escaped(texts_of(page), queue.annotator.username, "test"))

    look()
    look(".")  # a suggestion
    look("Escape", "End", "Backspace")  # refused
    for _ in TASKS:
        look("Tab")
        look("h")  # another head, of trees and graphs
        look("Enter")
        look("Escape", "Escape")
        look("r")
        look("Escape")
        look("=")
        look("_")
        look("Shift+ArrowRight", "/")
        look("Escape", "Escape")
        look("Enter")
        look("Escape", "Escape")
    for key in ("F2", "f", "F4", "Control+ ", "?"):
        look(key)
        hands.press("Escape")
    look("Control+Enter")
    hands.press("Escape")
    for key in ("F8", "F9"):
        hands.press(key)
        expect(page.locator("#drawer h2")).not_to_contain_text("Loading")
        look()
        hands.press("Escape")
    page.context.set_offline(True)
    page.evaluate("dispatchEvent(new Event('offline'))")
    look("ArrowLeft")
    page.context.set_offline(False)
    page.set_viewport_size({"width": 390, "height": 844})
    look("ArrowRight")
    assert found == set()


def test_a_text_that_nobody_translated_is_found(make_queue, open_page, live_server, marked):
    queue = make_queue([Given(["Αυρηλία"])], tasks=TASKS[:2], name="Λιμάνι")
    page = open_page(queue.annotator)
    page.context.add_cookies([{"name": "language", "value": marked, "url": live_server.url}])
    start(page, queue, "Αυρηλία")
    assert escaped(texts_of(page), queue.annotator.username, "test") == set()
    page.locator("#submit").evaluate("(node) => (node.title = 'Nobody translated this')")
    found = escaped(texts_of(page), queue.annotator.username, "test")
    assert found == {"Nobody translated this"}


CUT_OR_CROWDED = """() => {
    const shown = [...document.querySelectorAll(".actions .button")].filter((b) => b.offsetParent);
    const boxes = shown.map((button) => button.getBoundingClientRect());
    const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1
        && b.top < a.bottom - 1;
    return shown.filter((button, i) => button.scrollWidth > button.clientWidth + 1
        || boxes.some((box, j) => j !== i && meets(box, boxes[i]))).map((b) => b.textContent);
}"""

ROWS = """new Set([...document.querySelectorAll(".actions .button")]
    .filter((button) => button.offsetParent)
    .map((button) => Math.round(button.getBoundingClientRect().bottom / 24))).size"""


@pytest.mark.parametrize("width", [390, 820])
def test_actions_have_room_for_the_words_of_every_language(
    make_queue, open_page, live_server, width
):
    guess = {"Ονόματα": suggestion([[0, 1, "ΠΛΟΙΟ"]], 0.6, [])}
    queue = make_queue([Given(["Αυρηλία", "φτάνει"], suggestions=guess)], tasks=TASKS[:2])
    page = open_page(queue.annotator, viewport={"width": width, "height": 844}, has_touch=True)
    hands = start(page, queue, "Αυρηλία")
    for language in ("de", "fr", "es", "ar", "zh-hans"):
        cookie = {"name": "language", "value": language, "url": live_server.url}
        page.context.add_cookies([cookie])
        page.reload()
        hands.wait_for_sentence("Αυρηλία")
        assert page.evaluate(CUT_OR_CROWDED) == [], language
        assert page.evaluate(ROWS) == (2 if width == 390 else 1), (
            language
        )  # on a phone the main one is below
