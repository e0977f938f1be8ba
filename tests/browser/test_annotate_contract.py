"""Every kind of task keeps the same promises in the browser, also one made of a single file."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from mtl_engine.kinds import KINDS
from tests.browser.annotate_fixtures import Given, script_page, start, submitted, suggestion

NAMES = [kind.name for kind in KINDS.annotated()]

HERE = Path(__file__).parent
STARS = (HERE / "stars.js").read_text()
TOKENS = "Aurelia docked at Brask Quay .".split()
LABELS = {
    "spans": ["VESSEL", "PLACE"],
    "tags": ["NOUN", "VERB"],
    "lemmas": ["aurelia"],
    "features": ["Number=Plur", "Number=Sing", "Case=Nom"],
    "classes": ["Arrival", "Delay"],
    "multiclasses": ["Fog", "Arrival", "Delay"],
    "tree": ["obl", "root"],
    "graph": ["obl", "root", "nsubj"],
    "relations": ["near", "at"],
    "attributes": ["late", "sure.yes", "sure.no"],
    "stars": ["1", "2", "3", "4", "5"],
}
ANSWERS: dict[str, Any] = {
    "spans": [[0, 1, "VESSEL"], [3, 5, "PLACE"]],
    "tags": ["NOUN", "VERB", "NOUN", "NOUN", "NOUN", "NOUN"],
    "lemmas": ["Aurelia", "dock", "at", "Brask", "quay", "."],
    "features": ["Case=Nom|Number=Sing", "Number=Plur", "_", "_", "Number=Sing", "_"],
    "classes": "Arrival",
    "multiclasses": ["Arrival", "Delay"],
    "tree": [[2, "obl"], [0, "root"], [5, "obl"], [5, "obl"], [2, "obl"], [2, "obl"]],
    "graph": [
        *(["1", "2", "nsubj"], ["1", "5", "obl"], ["2", "0", "root"]),
        *(["3.1", "2", "obl"], ["4", "3.1", "nsubj"]),
    ],
    "relations": [[0, 1, 3, 5, "at"]],
    "attributes": [[0, 1, "sure.yes"], [3, 5, "sure.no"]],
    "stars": "4",
}
OTHERS: dict[str, Any] = {
    "spans": [[2, 5, "PLACE"]],
    "tags": ["VERB"] * 6,
    "lemmas": ["aurelia"] * 6,
    "features": ["Number=Plur"] * 6,
    "classes": "Delay",
    "multiclasses": ["Fog"],
    "tree": [[5, "obl"], [1, "obl"], [5, "obl"], [5, "obl"], [0, "root"], [2, "obl"]],
    "graph": [["1", "2", "obl"], ["5", "0", "root"]],
    "relations": [[0, 1, 3, 5, "near"]],
    "attributes": [[0, 1, "late"]],
    "stars": "2",
}


LINKING = [kind.name for kind in KINDS.annotated() if kind.parent_kind]


@pytest.fixture(scope="module")
def promises(browser):
    """A page with all kinds, that of the test among them, and the contract."""
    files = {
        "annotation/annotate/kinds/stars.js": STARS,
        "contract.js": (HERE / "contract.js").read_text(),
    }
    yield from script_page(browser, (*NAMES, "stars"), files)


@pytest.mark.parametrize("kind", [*NAMES, "stars"])
def test_a_kind_keeps_every_promise(promises, kind):
    names = ["spans", kind] if kind in LINKING else [kind]
    broken = promises.evaluate(
        "async (sample) => (await import('/contract.js')).brokenPromises(sample)",
        {
            "kind": kind,
            "tasks": [_task(name) for name in names],
            "tokens": TOKENS,
            "answers": {name: ANSWERS[name] for name in names},
            "other": OTHERS[kind],
            "label": LABELS[kind][0],
        },
    )
    assert broken == []


def test_spans_in_pieces_keep_every_promise(promises):
    broken = promises.evaluate(
        "async (sample) => (await import('/contract.js')).brokenPromises(sample)",
        {
            "kind": "spans",
            "tasks": [_task("spans")],
            "tokens": TOKENS,
            "answers": {"spans": [[0, 1, 3, 5, "PLACE"], [2, 3, "PLACE"]]},
            "other": [[0, 1, 4, 5, "PLACE"]],
            "label": "VESSEL",
        },
    )
    assert broken == []


def _task(kind: str) -> dict[str, Any]:
    labels = [{"name": name, "colour": i, "key": ""} for i, name in enumerate(LABELS[kind])]
    parent = "spans" if kind in LINKING else None
    return {"name": kind, "kind": kind, "parent": parent, "labels": labels, "is_nested": False}


def test_a_kind_that_the_page_does_not_know_is_named(promises):
    message = promises.evaluate(
        """async () => {
          const { kindOf } = await import("/annotation/annotate/kinds/index.js");
          try { kindOf({ kind: "moons" }); } catch (error) { return error.message; }
        }"""
    )
    assert message.startswith("No task kind 'moons'. Known: spans, tags, classes,")


@pytest.mark.usefixtures("stars_kind")
def test_a_kind_of_one_file_is_drawn_answered_and_submitted(make_queue, open_page):
    tasks = [{"name": "Rating", "kind": "stars", "labels": LABELS["stars"]}]
    guess = suggestion("4", 0.6, [{"value": "4", "confidence": 0.6, "others": []}])
    queue = make_queue([Given(TOKENS, {"Rating": guess}), Given(["Fog", "."])], tasks=tasks)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    rating = page.get_by_role("radiogroup", name="Labels of Rating")
    expect(rating.locator("[data-state=suggested]")).to_have_attribute("data-label", "4")
    detail = page.locator("#detail")
    hands.press(".")
    expect(detail).to_contain_text("suggested rating")
    expect(detail).to_contain_text("★★★★")
    hands.press("x")
    expect(page.locator("#task-bars")).to_contain_text("choose one")
    hands.press("Control+z", ".", "a")
    expect(rating.get_by_role("radio", checked=True)).to_have_attribute("data-label", "4")
    hands.press("5")
    assert submitted(page, queue, lambda: hands.press("Enter")) == {"Rating": "5"}
