"""Asks for the annotate page: sentences with suggestions, in the hands of one annotator."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import (
    Annotation,
    Corpus,
    Membership,
    Role,
    Sentence,
    Suggestion,
    WordAnswer,
)
from annotation.queue.asks import AskRow, put_asks
from mtl_engine.kinds import KINDS

SCRIPTS = Path(__file__).parents[2] / "annotation" / "static"
KIND_SCRIPTS = "annotation/annotate/kinds"
ORIGIN = "http://tandem.test/"

ENTITIES = ["ORG", "VESSEL", "PLACE", "DURATION", "DATE", "WEATHER", "CARGO"]
TREE_LABELS = (
    "nsubj obj obl nmod case det appos compound nummod amod punct root advmod conj cc mark"
).split()
HARBOUR_TASKS = [
    {"name": "Entities", "kind": "spans", "labels": ENTITIES, "nested": True},
    {
        "name": "Notice type",
        "kind": "classes",
        "labels": ["Arrival", "Delay", "Closure", "Hazard", "Other"],
    },
    {
        "name": "Syntax",
        "kind": "tree",
        "labels": TREE_LABELS,
        "guidelines": "Attach the phrase to the verb when it says when or how something happened, "
        "to the noun when it says which one is meant.",
    },
    {
        "name": "Relations",
        "kind": "relations",
        "parent": "Entities",
        "labels": ["located at", "lasts", "issued by", "carries"],
        "pairs": {
            "located at": [["VESSEL", "PLACE"]],
            "lasts": [["VESSEL", "DURATION"]],
            "carries": [["VESSEL", "CARGO"]],
        },
    },
]
HARBOUR = (
    "Velmar Harbour Board held the ferry Aurelia off Brask Quay for two hours in fog on Monday ."
).split()
HARBOUR_TREE = [
    [3, "compound"], [3, "compound"], [4, "nsubj"], [0, "root"], [6, "det"], [4, "obj"],
    [6, "appos"], [10, "case"], [10, "compound"], [6, "nmod"], [13, "case"], [13, "nummod"],
    [4, "obl"], [15, "case"], [13, "nmod"], [17, "case"], [4, "obl"], [4, "punct"],
]  # fmt: skip
HARBOUR_SPANS = [
    [0, 3, "ORG"], [0, 1, "PLACE"], [6, 7, "VESSEL"], [8, 10, "PLACE"], [11, 13, "DURATION"],
    [14, 15, "WEATHER"], [16, 17, "DATE"],
]  # fmt: skip
HARBOUR_RELATIONS = [[6, 7, 8, 10, "located at"], [6, 7, 11, 13, "lasts"]]
HARBOUR_CONFIDENCE = [0.99] * 12 + [0.83, 0.97, 0.54, 0.98, 0.86, 0.99]


def harbour_suggestions() -> dict[str, Any]:
    """Return what the model says about the harbour sentence, with its doubts."""
    options = [
        {"value": [4, "obl"], "confidence": 0.41},
        {"value": [10, "nmod"], "confidence": 0.03},
    ]
    tree = [
        {"value": arc, "confidence": sure, "others": options if i == 14 else []}
        for i, (arc, sure) in enumerate(zip(HARBOUR_TREE, HARBOUR_CONFIDENCE, strict=True))
    ]
    spans = [
        {"value": span, "confidence": sure, "others": []}
        for span, sure in zip(HARBOUR_SPANS, [0.9, 0.58, 0.95, 0.9, 0.88, 0.71, 0.97], strict=True)
    ]
    links = [
        {"value": link, "confidence": sure, "others": []}
        for link, sure in zip(HARBOUR_RELATIONS, [0.8, 0.47], strict=True)
    ]
    classes = [
        {"value": "Delay", "confidence": 0.57, "others": [{"value": "Hazard", "confidence": 0.38}]}
    ]
    return {
        "Entities": suggestion(HARBOUR_SPANS, 0.63, spans),
        "Notice type": suggestion("Delay", 0.57, classes),
        "Syntax": suggestion(HARBOUR_TREE, 0.51, tree),
        "Relations": suggestion(HARBOUR_RELATIONS, 0.44, links),
    }


def suggestion(value: Any, confidence: float, items: list[Any]) -> dict[str, Any]:
    """Return one suggestion as the model stores it."""
    return {"value": value, "confidence": confidence, "details": {"items": items}}


@dataclass
class Given:
    """One sentence to ask about."""

    tokens: Sequence[str]
    suggestions: Mapping[str, Any] = field(default_factory=dict)
    tasks: Sequence[str] | None = None  # names; without them all of the project
    words: Mapping[str, Sequence[int]] = field(default_factory=dict)  # by task, where not all
    offsets: Sequence[Sequence[int]] | None = None
    reason: Mapping[str, Any] = field(default_factory=dict)
    confidences: Mapping[str, float] = field(default_factory=dict)


class Queue:
    """A project with asks, and what its annotator has answered."""

    def __init__(self, project: Any, annotator: Any) -> None:
        self.project = project
        self.annotator = annotator
        self.url = f"/projects/{project.pk}/annotate/"

    def answers(self, position: int = 0) -> dict[str, Any]:
        """Return the annotator's stored answers to the sentence at a position."""
        rows = Annotation.objects.filter(
            author=self.annotator, sentence__project=self.project, sentence__position=position
        )
        return dict(rows.values_list("task__name", "value"))

    def said_of_words(self) -> dict[str, Any]:
        """Return what the annotator said of single words."""
        said = WordAnswer.objects.filter(author=self.annotator, sentence__project=self.project)
        return dict(said.values_list("task__name", "value"))


@pytest.fixture
def make_queue(person: Any, make_project: Any) -> Callable[..., Queue]:
    """A function that makes a project with tasks and asks about sentences, in order."""

    def make_queue(
        given: Sequence[Given], *, tasks: Any = None, annotator: str = "ilse", **values: Any
    ) -> Queue:
        owner, annotator = person(f"{annotator}-owner"), person(annotator)
        project = make_project(owner, tasks=tasks or HARBOUR_TASKS, **values)
        Membership.objects.create(project=project, user=annotator, role=Role.ANNOTATOR)
        corpus = Corpus.objects.create(project=project, name="notices", format="text")
        sentences = [_store(project, corpus, i, item) for i, item in enumerate(given)]
        every = [task.name for task in project.tasks.all()]
        rows = [
            AskRow(
                s.pk, g.tasks or every, reason=g.reason, confidences=g.confidences, words=g.words
            )
            for s, g in zip(sentences, given, strict=True)
        ]
        put_asks(project=project, round=None, rows=rows)
        return Queue(project, annotator)

    return make_queue


def _store(project: Any, corpus: Any, position: int, given: Given) -> Sentence:
    text, offsets = " ".join(given.tokens), []
    start = 0
    for token in given.tokens:
        offsets.append([start, start + len(token)])
        start += len(token) + 1
    sentence = Sentence.objects.create(
        project=project, corpus=corpus, position=position, text=text, tokens=list(given.tokens),
        offsets=given.offsets or offsets, n_tokens=len(given.tokens),
    )  # fmt: skip
    for task in project.tasks.all():
        if task.name in given.suggestions:
            Suggestion.objects.create(
                sentence=sentence, task=task, source="test", created_at=timezone.now(),
                **given.suggestions[task.name],
            )  # fmt: skip
    return sentence


@pytest.fixture(scope="session")
def modules(browser: Any) -> Iterator[Any]:
    """A blank page on which the page's own scripts can be imported, without a server."""
    yield from script_page(browser, [kind.name for kind in KINDS.annotated()])


def script_page(
    browser: Any, kinds: Sequence[str], files: Mapping[str, str] | None = None
) -> Iterator[Any]:
    """Yield a blank page with the scripts of some kinds; files: further scripts, {path: text}."""
    tags = [f'<script type="module" src="/{KIND_SCRIPTS}/{kind}.js"></script>' for kind in kinds]
    body = f"<!doctype html><title>scripts</title>{''.join(tags)}"

    def serve(route: Any) -> None:
        path = route.request.url.removeprefix(ORIGIN)
        if not path:
            route.fulfill(body=body, content_type="text/html")
            return
        text = (files or {}).get(path) or (SCRIPTS / path).read_text()
        route.fulfill(body=text, content_type="text/javascript")

    context = browser.new_context()
    page = context.new_page()
    page.route(f"{ORIGIN}**", serve)
    page.goto(ORIGIN)
    yield page
    context.close()


class Hands:
    """Hands on the annotate page, by keyboard or by mouse."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def word(self, i: int) -> Any:
        """Return the word at a place."""
        return self.page.locator(f'.word[data-word="{i}"]')

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def go(self, i: int) -> None:
        """Move the cursor to a word by keyboard."""
        self.press("Home", *["ArrowRight"] * i)

    def open_task(self, task: str) -> None:
        """Open a task by Tab."""
        tabs = self.page.locator(".task-tab:not([disabled])")
        names = tabs.locator("b").all_text_contents()
        current = self.page.locator(".task-tab[aria-current] b").text_content()
        steps = names.index(task) - names.index(current)
        self.press(*["Tab" if steps > 0 else "Shift+Tab"] * abs(steps))
        self.page.locator(f'.task-open:not([hidden])[data-task="{task}"]').wait_for()

    def label(self, task: str, name: str) -> Any:
        """Return the button of a label that is shown."""
        group = self.page.locator(f'[data-task="{task}"]:not([hidden]) .task-labels')
        return group.locator(f'[data-label="{name}"]').first

    def key_of(self, task: str, name: str) -> str:
        """Return the key that a label's button shows, as the keyboard names it."""
        cap = self.label(task, name).locator("kbd").inner_text()
        return cap.replace("⇧", "Shift+")

    def drag(self, start: Any, end: Any) -> None:
        """Drag from the middle of one element to the middle of another."""
        for locator, act in ((start, self.page.mouse.down), (end, self.page.mouse.up)):
            box = locator.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            self.page.mouse.move(x, y, steps=4)
            act()

    def chip(self, text: str) -> Any:
        """Return the chip of a span by its label."""
        return self.page.locator(".chip", has_text=text)

    def wait_for_saved(self) -> None:
        """Wait until the server has everything."""
        self.page.locator('#saved[data-state="good"]', has_text="Saved").wait_for()

    def wait_for_sentence(self, text: str) -> None:
        """Wait until a sentence with this first word is leased."""
        self.word(0).filter(has_text=text).wait_for()
        self.page.locator("#submit:not([disabled])").wait_for()


def start(page: Any, queue: Queue, first_word: str) -> Hands:
    """Open the annotate page of a queue and wait for its first sentence."""
    page.goto(queue.url)
    hands = Hands(page)
    hands.wait_for_sentence(first_word)
    return hands


def start_ahead(page: Any, queue: Queue, first_word: str) -> Hands:
    """Open the annotate page and wait until it knows the sentence after the first one as well.

    The page asks for the hints of a sentence when it has it, so the second to be asked for is the
    one ahead.
    """
    hinted: set[str] = set()

    def is_ahead(request: Any) -> bool:
        if request.url.endswith("/hints/"):
            hinted.add(request.url)
        return len(hinted) == 2

    with page.expect_request(is_ahead):
        hands = start(page, queue, first_word)
    return hands


def submitted(page: Any, queue: Queue, press_submit: Callable[[], Any]) -> dict[str, Any]:
    """Submit, and return what the server has stored of the first sentence."""
    with page.expect_response("**/submit/") as response:
        press_submit()
    assert response.value.ok, response.value.text()
    return queue.answers()
