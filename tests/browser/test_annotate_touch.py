"""Fingers on the annotate page, by real touch events, on a phone and on a tablet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotation.models import Gold, Sentence
from annotation.projects.documents import make_documents
from annotation.queue.asks import AskRow, put_asks
from mtl_engine.kinds import KINDS
from tests.browser.annotate_fixtures import Given, Hands, start, submitted, suggestion
from tests.browser.looking import overflow, picture
from tests.browser.test_annotate_kinds import ANSWERS, TAGS, TASKS, TOKENS, TREE

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
TABLET = {**PHONE, "viewport": {"width": 820, "height": 1180}}
WINDOWS = pytest.mark.parametrize("window", [PHONE, TABLET], ids=["390", "820"])


class Finger:
    """One finger that taps, drags and rests."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.touch = page.context.new_cdp_session(page)

    def tap(self, locator: Any) -> None:
        """Tap the middle of an element."""
        locator.scroll_into_view_if_needed()
        locator.tap()

    def press(self, name: str) -> None:
        """Tap a button that is in sight by its words."""
        self.tap(self.page.locator("main button:visible", has_text=name).first)

    def drag(self, start: Any, end: Any) -> None:
        """Go from one place to another at once: a finger that waits means something else."""
        end.scroll_into_view_if_needed()
        (x1, y1), (x2, y2) = self._middle(start), self._middle(end)
        self._send("touchStart", x1, y1)
        for part in (0.5, 1, 1):
            self.page.wait_for_timeout(30)  # a finger that is flung swallows the next tap
            self._send("touchMove", x1 + part * (x2 - x1), y1 + part * (y2 - y1))
        self._send("touchEnd")

    def swipe(self, by: int) -> None:
        """Go sideways below the words, where there is nothing to drag."""
        box = self.page.locator("#sentence").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 4
        for kind, dx in (("touchStart", 0), ("touchMove", by / 2), ("touchMove", by)):
            self._send(kind, x + dx, y)
        self._send("touchEnd")

    def rest(self, locator: Any, answer: str) -> None:
        """Hold until the page has answered."""
        self._send("touchStart", *self._middle(locator))
        self.page.locator(answer).wait_for()
        self._send("touchEnd")

    def choose(self, label: str) -> None:
        """Tap a label of the list, which must stay open."""
        self.page.locator(f'.chooser [data-label="{label}"]').tap()

    def write(self, text: str) -> None:
        """Type into the list that is open, as a phone does, and tap what it offers."""
        self.page.keyboard.insert_text(text)
        self.choose(text)

    def _middle(self, locator: Any) -> tuple[float, float]:
        locator.scroll_into_view_if_needed()
        box = locator.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def _send(self, kind: str, *at: float) -> None:
        points = [{"x": at[0], "y": at[1]}] if at else []
        self.touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


ALL_TASKS = [
    *TASKS,
    {"name": "Dose", "kind": "spans", "labels": ["STRENGTH"]},
    {
        "name": "Gives",
        "kind": "relations",
        "labels": ["of", "instead of"],
        "parent": "Entities",
        "second_parent": "Dose",
    },
    {
        "name": "Facts",
        "kind": "attributes",
        "labels": ["negated", "sure.yes", "sure.no"],
        "parent": "Entities",
    },
    {"name": "Topics", "kind": "multiclasses", "labels": ["Arrival", "Delay", "Storm"]},
    {"name": "Lemma", "kind": "lemmas", "open": True},
    {
        "name": "Feats",
        "kind": "features",
        "labels": ["Case=Nom", "Number=Plur", "Number=Sing", "Tense=Past"],
    },
    {"name": "Graph", "kind": "graph", "labels": ["root", "nsubj", "punct", "obl"]},
    {"name": "Theme", "kind": "classes", "labels": ["Harbour", "Trade"], "document": True},
    {
        "name": "Same",
        "kind": "relations",
        "parent": "Entities",
        "labels": ["same as", "part of"],
        "document": True,
        "window": 2,
    },
]


@dataclass
class Case:
    """One sentence for a kind: what fingers do, and what the server has to have after it."""

    tokens: list[str]
    tasks: list[str]
    act: Callable[[Any, Hands, Finger], None]
    stored: dict[str, Any]


def _spans(page: Any, hands: Hands, finger: Finger) -> None:
    finger.tap(hands.word(0))
    finger.tap(hands.label("Entities", "PLACE"))
    finger.tap(hands.chip("PLACE"))
    finger.tap(hands.label("Entities", "VESSEL"))  # another label
    finger.press("end ⇥")  # one word more
    expect(hands.chip("VESSEL")).to_have_attribute("aria-label", "Aurelia docked, VESSEL")
    finger.press("⇤ end")
    finger.rest(hands.word(3), ".word[data-range]")
    finger.tap(hands.word(4))
    finger.tap(hands.label("Entities", "PLACE"))
    finger.tap(hands.chip("PLACE"))
    box = page.get_by_role("button", name="Delete").bounding_box()
    assert box["x"] + box["width"] <= page.viewport_size["width"]  # in sight without scrolling
    finger.press("Delete")
    expect(page.locator(".chip")).to_have_count(1)
    finger.press("Undo")
    expect(page.locator(".chip")).to_have_count(2)
    finger.tap(hands.chip("PLACE"))
    finger.press("Delete")
    finger.tap(hands.chip("VESSEL"))
    finger.press("+ piece")
    finger.tap(hands.word(4))


def _tags(page: Any, hands: Hands, finger: Finger) -> None:
    finger.drag(hands.word(0), hands.word(2))
    finger.tap(hands.label("Words", "NOUN"))
    finger.tap(hands.word(1))
    finger.tap(hands.label("Words", "VERB"))
    finger.tap(page.locator(".chip").last)
    finger.press("Delete")
    expect(page.locator(".chip")).to_have_text(["NOUN", "VERB"])
    finger.tap(hands.word(2))
    finger.tap(hands.label("Words", "PUNCT"))
    finger.tap(hands.chip("NOUN"))
    finger.press("all equal words")
    expect(page.locator(".chip")).to_have_text(["NOUN", "VERB", "PUNCT", "NOUN"])


def _classes(page: Any, hands: Hands, finger: Finger) -> None:
    chosen = page.locator("[role=radio][aria-checked=true] .label-name")
    finger.tap(hands.label("Notice type", "Delay"))
    finger.tap(hands.label("Notice type", "Arrival"))
    expect(chosen).to_have_text("Arrival")
    for left in ("Delay", None):  # what was chosen is taken back
        finger.press("Undo")
        expect(chosen).to_have_text([left] if left else [])
    finger.tap(hands.label("Notice type", "Arrival"))


def _multiclasses(page: Any, hands: Hands, finger: Finger) -> None:
    for label in ("Arrival", "Delay", "Storm", "Delay"):
        finger.tap(hands.label("Topics", label))


def _tree(page: Any, hands: Hands, finger: Finger) -> None:
    own = page.locator('text.arc.over[data-state="own"]')
    finger.tap(hands.word(1))
    expect(page.locator("#message")).to_contain_text("tap it; the word itself makes it the root.")
    finger.tap(hands.word(1))  # the same word twice: the root
    finger.tap(hands.word(0))
    finger.tap(hands.word(1))
    finger.choose("obl")
    finger.rest(own.filter(has_text="obl"), ".chooser")
    finger.choose("nsubj")  # another label
    finger.drag(hands.word(2), hands.word(0))
    finger.choose("punct")
    finger.tap(own.filter(has_text="punct"))
    finger.press("Delete")
    expect(own).to_have_count(2)
    finger.tap(hands.word(2))
    finger.tap(hands.word(1))
    finger.choose("punct")


def _relations(page: Any, hands: Hands, finger: Finger) -> None:
    for word, label in ((0, "VESSEL"), (2, "PLACE"), (3, "PLACE")):
        finger.tap(hands.word(word))
        finger.tap(hands.label("Entities", label))
    finger.tap(page.locator(".task-tab", has_text="Relations"))
    links = page.locator("text.link")
    finger.drag(hands.chip("VESSEL"), hands.chip("PLACE").first)
    expect(links).to_have_text("located at")  # the only one that fits
    finger.tap(links)
    finger.press("Delete")
    expect(links).to_have_count(0)
    finger.tap(hands.word(2))
    expect(page.locator("#message")).to_have_text("Relation from ‘Brask’: tap the other span.")
    finger.tap(hands.word(3))
    expect(links).to_have_text("near")
    finger.tap(links)
    finger.press("Reverse")


def _two_parents(page: Any, hands: Hands, finger: Finger) -> None:
    finger.tap(hands.word(0))
    finger.tap(hands.label("Entities", "VESSEL"))
    finger.tap(page.locator(".task-tab", has_text="Dose"))
    finger.drag(hands.word(2), hands.word(3))
    finger.tap(hands.label("Dose", "STRENGTH"))
    finger.tap(page.locator(".task-tab", has_text="Gives"))
    finger.tap(hands.chip("STRENGTH"))  # from where it ends
    finger.tap(hands.chip("VESSEL"))
    finger.choose("instead of")
    finger.rest(page.locator("text.link"), ".chooser")
    finger.choose("of")
    finger.tap(page.locator("text.link"))
    finger.press("Delete")
    expect(page.locator("text.link")).to_have_count(0)
    finger.press("Undo")
    expect(page.locator("text.link")).to_have_text("of")


def _attributes(page: Any, hands: Hands, finger: Finger) -> None:
    finger.tap(hands.word(0))
    finger.tap(hands.label("Entities", "VESSEL"))
    finger.tap(page.locator(".task-tab", has_text="Facts"))
    finger.tap(hands.chip("VESSEL"))
    for label in ("negated", "sure.no", "sure.yes"):  # yes takes the place of no
        finger.tap(hands.label("Facts", label))
    expect(page.locator('.chip[data-item^="Facts/"]')).to_have_count(2)
    finger.tap(page.locator('.chip[data-item="Facts/0-1-negated"]'))
    finger.press("Delete")
    finger.tap(page.locator('.chip[data-item="Facts/0-1-sure.yes"]'))
    finger.tap(hands.label("Facts", "sure.no"))


def _lemmas(page: Any, hands: Hands, finger: Finger) -> None:
    chips = page.locator(".chip")
    finger.tap(hands.word(0))
    finger.press("Write…")
    finger.choose("dogs")
    finger.press("Write…")  # the cursor has gone on
    finger.write("bark")
    finger.rest(chips.first, ".chooser")
    finger.write("dog")  # another text
    expect(chips).to_have_text(["dog", "bark"])
    finger.tap(chips.last)
    finger.press("Delete")
    expect(chips).to_have_text(["dog"])
    finger.rest(hands.word(1), ".chooser")  # a word that waits has nothing else to ask for
    finger.write("bark")
    finger.tap(hands.label("Lemma", "."))  # what the word may get
    expect(chips).to_have_text(["dog", "bark", "."])


def _features(page: Any, hands: Hands, finger: Finger) -> None:
    chips = page.locator(".chip")
    finger.tap(hands.word(0))
    for label in ("Number=Sing", "Case=Nom", "Number=Plur"):
        finger.tap(hands.label("Feats", label))
    expect(chips).to_have_text(["Nom Plur"])
    finger.tap(hands.label("Feats", "Case=Nom"))  # once more: off
    finger.tap(hands.word(1))
    finger.tap(hands.label("Feats", "Case=Nom"))
    finger.tap(chips.last)
    finger.press("Delete")
    expect(chips).to_have_text(["Plur"])
    finger.tap(hands.word(1))
    finger.tap(hands.label("Feats", "Tense=Past"))
    finger.press("None on the rest")
    expect(chips).to_have_text(["Plur", "Past", "–"])


def _graph(page: Any, hands: Hands, finger: Finger) -> None:
    own = page.locator('text.arc.over[data-state="own"]')
    finger.tap(hands.word(1))
    finger.tap(hands.word(1))  # the same word twice: the root
    expect(own).to_have_text(["root"])
    for head, label in ((1, "obl"), (2, "nsubj")):  # two heads
        finger.tap(hands.word(0))
        finger.tap(hands.word(head))
        finger.choose(label)
    finger.rest(own.filter(has_text="obl"), ".chooser")
    finger.choose("nsubj")  # another label
    finger.drag(hands.word(2), hands.word(0))
    finger.choose("punct")
    finger.tap(own.filter(has_text="punct"))
    finger.press("Delete")
    expect(own).to_have_count(3)
    finger.tap(hands.word(2))
    finger.tap(hands.word(1))
    finger.choose("punct")


def _document(page: Any, hands: Hands, finger: Finger) -> None:
    expect(page.locator("#place")).to_contain_text("Document port")
    finger.tap(hands.label("Theme", "Trade"))
    finger.tap(hands.label("Theme", "Harbour"))
    finger.tap(page.locator(".task-tab", has_text="Same"))
    links = page.locator("text.link")
    finger.drag(hands.chip("VESSEL"), hands.chip("PLACE"))  # from one sentence to the other
    finger.choose("same as")
    finger.tap(links.first)
    finger.press("Delete")
    expect(links).to_have_count(0)
    finger.tap(hands.chip("PLACE"))
    finger.tap(hands.chip("VESSEL"))
    finger.choose("same as")
    finger.rest(links.first, ".chooser")
    finger.choose("part of")


LINKED = {"Theme": "Harbour", "Same": [[4, 5, 0, 1, "part of"]]}
DOGS = ["Dogs", "barked", "."]
CASES = {
    "spans": Case(TOKENS, ["Entities"], _spans, {"Entities": [[0, 1, 4, 5, "VESSEL"]]}),
    "tags": Case(
        ["Dogs", "barked", "!", "dogs"],
        ["Words"],
        _tags,
        {"Words": ["NOUN", "VERB", "PUNCT", "NOUN"]},
    ),
    "classes": Case(DOGS, ["Notice type"], _classes, {"Notice type": "Arrival"}),
    "multiclasses": Case(DOGS, ["Topics"], _multiclasses, {"Topics": ["Arrival", "Storm"]}),
    "tree": Case(DOGS, ["Syntax"], _tree, {"Syntax": [[2, "nsubj"], [0, "root"], [2, "punct"]]}),
    "relations": Case(
        "Aurelia near Brask Quay".split(),
        ["Entities", "Relations"],
        _relations,
        {
            "Entities": [[0, 1, "VESSEL"], [2, 3, "PLACE"], [3, 4, "PLACE"]],
            "Relations": [[3, 4, 2, 3, "near"]],
        },
    ),
    "two parents": Case(
        "Ibuprofen in 5 mg".split(),
        ["Entities", "Dose", "Gives"],
        _two_parents,
        {
            "Entities": [[0, 1, "VESSEL"]],
            "Dose": [[2, 4, "STRENGTH"]],
            "Gives": [[0, 1, 2, 4, "of"]],
        },
    ),
    "attributes": Case(
        DOGS,
        ["Entities", "Facts"],
        _attributes,
        {"Entities": [[0, 1, "VESSEL"]], "Facts": [[0, 1, "sure.no"]]},
    ),
    "lemmas": Case(DOGS, ["Lemma"], _lemmas, {"Lemma": ["dog", "bark", "."]}),
    "features": Case(DOGS, ["Feats"], _features, {"Feats": ["Number=Plur", "Tense=Past", "_"]}),
    "graph": Case(
        DOGS,
        ["Graph"],
        _graph,
        {
            "Graph": [
                ["1", "2", "nsubj"],
                ["1", "3", "nsubj"],
                ["2", "0", "root"],
                ["3", "2", "punct"],
            ]
        },
    ),
}


def test_fingers_try_every_kind():
    assert {kind.name for kind in KINDS.annotated()} <= set(CASES)


@WINDOWS
def test_every_kind_is_labelled_changed_and_deleted_by_finger(make_queue, open_page, window):
    """One sentence for each kind, and a document, one after the other in one visit."""
    cases = list(CASES.items())
    given = [Given([*case.tokens], tasks=case.tasks) for _, case in cases]
    queue = make_queue(given, tasks=ALL_TASKS)
    document = _ask_of_a_document(queue, given)
    page = open_page(queue.annotator, **window)
    hands = start(page, queue, cases[0][1].tokens[0])
    finger = Finger(page)
    for i, (name, case) in enumerate([*cases, ("document", None)]):
        expect(page.locator("#counts")).to_contain_text(f"{len(cases) + 1 - i} left")
        page.locator("#submit:not([disabled])").wait_for()
        (case.act if case else _document)(page, hands, finger)
        assert overflow(page) == 0, name
        picture(page, f"touch-{window['viewport']['width']}-{name}")
        with page.expect_response("**/submit/") as response:
            finger.tap(page.locator("#submit"))
        assert response.value.ok, f"{name}: {response.value.text()}"
        place, expected = (i, case.stored) if case else (document.position, LINKED)
        assert queue.answers(place) == expected, name


def _ask_of_a_document(queue: Any, given: Sequence[Given]) -> Sentence:
    """Ask for the theme and links of a document of two of the queue's sentences, after all else."""
    sentences = list(queue.project.sentences.order_by("position"))
    queue.project.sentences.filter(position__in=(1, 2)).update(document="port")
    make_documents(sentences[0].corpus)
    document = Sentence.objects.get(project=queue.project, is_document=True)
    entities, now = queue.project.tasks.get(name="Entities"), timezone.now()
    for sentence, label in zip(sentences[1:3], ("VESSEL", "PLACE"), strict=True):
        Gold.objects.create(sentence=sentence, task=entities, value=[[0, 1, label]], updated_at=now)
    rows = [AskRow(s.pk, g.tasks) for s, g in zip(sentences, given, strict=True)]
    put_asks(
        project=queue.project, round=None, rows=[*rows, AskRow(document.pk, ["Theme", "Same"])]
    )
    return document


@WINDOWS
def test_every_kind_is_answered_by_finger_alone(make_queue, open_page, window):
    queue = make_queue([Given(TOKENS)], tasks=TASKS)
    page = open_page(queue.annotator, **window)
    hands = start(page, queue, "Aurelia")
    finger = Finger(page)
    top = page.locator(".brand").bounding_box(), page.locator("#open-history").bounding_box()
    assert top[0]["y"] + top[0]["height"] > top[1]["y"]  # one line, however narrow
    bottom = hands.word(len(TOKENS) - 1).bounding_box()
    assert bottom["y"] + bottom["height"] < window["viewport"]["height"]  # words above the fold

    expect(page.locator("#detail")).to_contain_text("Tap what is on a word")  # no word of keys
    hands.word(0).tap()
    finger.tap(hands.label("Entities", "VESSEL"))
    finger.rest(hands.word(3), ".word[data-range]")
    hands.word(4).tap()  # ends the range
    finger.tap(hands.label("Entities", "PLACE"))
    finger.tap(hands.label("Notice type", "Delay"))
    finger.tap(hands.label("Notice type", "Arrival"))
    finger.tap(page.get_by_role("button", name="Words"))
    finger.drag(hands.word(0), hands.word(1))
    finger.tap(hands.label("Words", "VERB"))
    for i, tag in enumerate(TAGS):
        if tag != "VERB":
            finger.tap(hands.word(i))
            finger.tap(hands.label("Words", tag))
    finger.tap(page.locator(".task-tab", has_text="Syntax"))
    for dep, (head, label) in enumerate(TREE):
        finger.tap(hands.word(dep))
        finger.tap(hands.word(max(0, head - 1) if head else dep))
        if head:
            finger.choose(label)
    finger.tap(page.locator(".task-tab", has_text="Relations"))
    finger.tap(hands.chip("VESSEL"))
    finger.tap(hands.word(3))
    finger.rest(page.locator("text.link"), ".chooser")  # asks for another label
    finger.choose("located at")
    assert submitted(page, queue, page.locator("#submit").tap) == ANSWERS


@WINDOWS
def test_a_swipe_over_an_empty_place_goes_to_the_sentence_before(make_queue, open_page, window):
    tasks = [{"name": "Topic", "kind": "classes", "labels": ["Arrival", "Delay"]}]
    queue = make_queue([Given(["Aurelia", "left"]), Given(["Brask", "waits"])], tasks=tasks)
    page = open_page(queue.annotator, **window)
    hands = start(page, queue, "Aurelia")
    finger = Finger(page)
    finger.tap(hands.label("Topic", "Delay"))
    finger.tap(page.locator("#submit"))
    hands.wait_for_sentence("Brask")
    expect(page.locator("#submit")).to_be_enabled()
    finger.swipe(-150)  # the other way is nothing
    hands.wait_for_sentence("Brask")
    finger.swipe(150)
    hands.wait_for_sentence("Aurelia")


def test_on_a_phone_the_labels_of_a_treebank_are_within_reach_of_its_words(make_queue, open_page):
    tasks = [
        {"name": "Words", "kind": "tags", "labels": ["NOUN", "VERB", "ADP", "PRON", "PUNCT"]},
        {"name": "Syntax", "kind": "tree", "labels": ["nsubj", "obl", "punct", "root"]},
        {"name": "Lemma", "kind": "lemmas", "open": True},
        {"name": "Feats", "kind": "features", "labels": ["Case=Nom", "Number=Plur"]},
    ]
    tokens = "Please advise when you can meet to discuss issues related to your area .".split()
    m = len(tokens)
    tree = [[2, "obl"], [0, "root"], *[[2, "punct"]] * (m - 2)]
    given = {
        "Words": suggestion(["NOUN"] * m, 0.9, []),
        "Syntax": suggestion(tree, 0.9, []),
        "Lemma": suggestion(tokens, 0.9, []),
    }
    queue = make_queue([Given(tokens, given)], tasks=tasks)
    page = open_page(queue.annotator, **PHONE)
    hands = start(page, queue, "Please")
    finger = Finger(page)
    actions = page.locator(".actions").bounding_box()["y"]
    chips, arcs = page.locator(".chip"), page.locator("text.arc.over")
    for task, n_chips, n_arcs in (("Words", m, 0), ("Syntax", 0, m), ("Lemma", m, 0)):
        finger.tap(page.locator(".task-tab", has_text=task))
        expect(chips).to_have_count(n_chips)
        assert (arcs.count() > 0) == (n_arcs > 0)
    finger.tap(page.locator(".task-tab", has_text="Words"))
    page.evaluate("scrollTo(0, 0)")
    box = hands.label("Words", "VERB").bounding_box()
    assert box["y"] + box["height"] < actions


def test_on_a_phone_the_labels_of_a_long_sentence_are_within_reach_of_all_its_words(
    make_queue, open_page
):
    tasks = [{"name": "Entities", "kind": "spans", "labels": ["Method", "Task", "Material"]}]
    queue = make_queue([Given([f"word{i}" for i in range(60)])], tasks=tasks)
    page = open_page(queue.annotator, **PHONE)
    hands = start(page, queue, "word0")
    finger = Finger(page)
    label = hands.label("Entities", "Task")
    for i in (0, 30, 59):
        finger.tap(hands.word(i))
        page.evaluate("scrollTo(0, 0)")
        expect(hands.word(i)).to_be_in_viewport(ratio=1)
        box = label.bounding_box()
        assert box["y"] + box["height"] < page.locator(".actions").bounding_box()["y"]
        finger.tap(label)
    expect(page.locator(".chip")).to_have_count(3)
