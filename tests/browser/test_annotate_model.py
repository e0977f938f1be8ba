"""Changes to answers, undo, live checks and keys: pure functions, run in a real browser."""

from typing import Any

import pytest

REPLAY = """async ({ tasks, wanted, answers, suggestions, context, tokens, actions }) => {
  const { openState, act, documentOf } = await import("/annotation/annotate/model/state.js");
  const { problemsOf } = await import("/annotation/annotate/model/state.js");
  const ask = { id: 1, tasks: wanted };
  const lease = { ask, sentence: { tokens }, answers, suggestions, context };
  let state = openState({ tasks, language: "en" }, lease);
  for (const action of actions) state = act(state, action);
  const problems = problemsOf(state).map(({ message }) => message);
  return { ...documentOf(state), problems };
}"""
KEYS = """async ({ tasks, custom }) => {
  const { allocateKeys } = await import("/annotation/annotate/input/keys.js");
  const keys = allocateKeys(tasks, custom);
  return [...keys.labels].map(([key, { label }]) => [key, label]);
}"""
PRINTABLE = """async (event) => {
  const { printableKey } = await import("/annotation/annotate/input/keys.js");
  return printableKey(event);
}"""

TOKENS = "Aurelia docked at Brask Quay .".split()
LABELS = {
    "Entities": ["VESSEL", "PLACE"],
    "Words": ["NOUN"],
    "Syntax": ["nsubj", "obl", "root"],
    "Links": ["located at"],
    "Type": ["Arrival", "Delay"],
}
KINDS = {
    "Entities": "spans",
    "Words": "tags",
    "Syntax": "tree",
    "Links": "relations",
    "Type": "classes",
}


def _task(name: str, **more: Any) -> dict[str, Any]:
    labels = [{"name": label, "colour": i, "key": ""} for i, label in enumerate(LABELS[name])]
    parent = "Entities" if name == "Links" else None
    return {"name": name, "kind": KINDS[name], "parent": parent, "labels": labels, **more}


def _replay(page: Any, names: str, *actions: Any, **given: Any) -> dict[str, Any]:
    nested = given.pop("is_nested", False)
    pairs = {"located at": [["VESSEL", "PLACE"]]}
    tasks = [_task(name, is_nested=nested, pairs=pairs) for name in names.split()]
    values = {"answers": {}, "suggestions": {}, "context": {}, **given}
    return page.evaluate(
        REPLAY,
        {"tasks": tasks, "wanted": names.split(), "tokens": TOKENS, "actions": actions, **values},
    )


def _add(start: int, end: int, label: str) -> dict[str, Any]:
    return {"kind": "span.add", "task": "Entities", "start": start, "end": end, "label": label}


def _link(label: str = "located at") -> dict[str, Any]:
    return {"kind": "relation.add", "task": "Links", "from": [0, 1], "to": [3, 5], "label": label}


def _attach(dep: int, head: int, label: str = "obl") -> dict[str, Any]:
    return {"kind": "tree.attach", "task": "Syntax", "dep": dep, "head": head, "label": label}


def test_a_flat_span_takes_the_place_of_what_it_overlaps(modules):
    doc = _replay(
        modules, "Entities", _add(3, 5, "PLACE"), _add(0, 1, "VESSEL"), _add(4, 6, "PLACE")
    )
    assert doc["values"]["Entities"] == [[0, 1, "VESSEL"], [4, 6, "PLACE"]]


def test_nested_spans_stay_and_only_equal_words_are_replaced(modules):
    actions = [_add(3, 5, "PLACE"), _add(3, 4, "VESSEL"), _add(3, 5, "VESSEL")]
    doc = _replay(modules, "Entities", *actions, is_nested=True)
    assert doc["values"]["Entities"] == [[3, 5, "VESSEL"], [3, 4, "VESSEL"]]


def test_relations_move_with_their_span_and_go_with_it(modules):
    made = [_add(0, 1, "VESSEL"), _add(3, 5, "PLACE"), _link()]
    resize = {
        "kind": "span.resize",
        "task": "Entities",
        "span": [3, 5, "PLACE"],
        "start": 3,
        "end": 4,
    }
    doc = _replay(modules, "Entities Links", *made, resize)
    assert doc["values"]["Links"] == [[0, 1, 3, 4, "located at"]]
    delete = {"kind": "delete", "task": "Entities", "value": [3, 5, "PLACE"]}
    assert _replay(modules, "Entities Links", *made, delete)["values"]["Links"] == []


def test_a_relation_whose_types_no_longer_fit_is_named(modules):
    relabel = {
        "kind": "span.relabel",
        "task": "Entities",
        "span": [0, 1, "VESSEL"],
        "label": "PLACE",
    }
    made = [_add(0, 1, "VESSEL"), _add(3, 5, "PLACE"), _link()]
    assert _replay(modules, "Entities Links", *made, relabel)["problems"] == [
        "Links: located at on Aurelia → Brask Quay may link only VESSEL to PLACE."
    ]


def test_undo_and_redo_replay_like_any_other_action(modules):
    undo, redo = {"kind": "undo"}, {"kind": "redo"}
    made = [_add(0, 1, "VESSEL"), _add(3, 5, "PLACE")]
    for actions, n in (
        ([*made, undo], 1),
        ([*made, undo, undo, undo], 0),
        ([*made, undo, redo], 2),
    ):
        assert len(_replay(modules, "Entities", *actions)["values"]["Entities"]) == n
    branched = _replay(modules, "Entities", *made, undo, _add(1, 2, "PLACE"), redo)
    assert branched["values"]["Entities"] == [[0, 1, "VESSEL"], [1, 2, "PLACE"]]


@pytest.mark.parametrize(
    ("arcs", "problem"),
    [
        ([(0, 2), (1, 1)], "Syntax: a cycle, Aurelia → docked → Aurelia."),
        ([(0, 0), (1, 0)], "Syntax: one root only, not ‘Aurelia’ and ‘docked’."),
        ([(0, 2, ""), (1, 0)], "Syntax: the arc to ‘Aurelia’ has no label."),
        ([(0, 2), (1, 0)], "Syntax: 4 of 6 words have no head."),
        ([(i, 2) for i in (0, 2, 3, 4, 5)], "Syntax: 1 of 6 words have no head."),
    ],
)
def test_a_tree_is_checked_while_it_grows(modules, arcs, problem):
    problems = _replay(modules, "Syntax", *[_attach(*arc) for arc in arcs])["problems"]
    assert problems[0] == problem


def test_a_complete_tree_has_no_problem(modules):
    arcs = [(0, 2), (1, 0, "root"), (2, 5), (3, 5), (4, 2), (5, 2)]
    doc = _replay(modules, "Syntax", *[_attach(*arc) for arc in arcs])
    assert doc["problems"] == []
    assert doc["values"]["Syntax"][1] == [0, "root"]


def test_a_deleted_answer_of_the_model_is_rejected_and_comes_back_by_undo(modules):
    suggestions = {"Entities": {"value": [[0, 1, "VESSEL"]], "confidence": 0.9, "details": {}}}
    accept = {"kind": "suggestion.accept", "task": "Entities", "keys": ["0-1-VESSEL"]}
    delete = {"kind": "delete", "task": "Entities", "value": [0, 1, "VESSEL"]}
    doc = _replay(modules, "Entities", accept, delete, suggestions=suggestions)
    assert (doc["values"]["Entities"], doc["rejected"]) == ([], {"Entities": ["0-1-VESSEL"]})
    again = _replay(modules, "Entities", accept, delete, {"kind": "undo"}, suggestions=suggestions)
    assert again["values"]["Entities"] == [[0, 1, "VESSEL"]]


def test_words_and_classes_hold_one_label_each(modules):
    paint = {"kind": "tags.paint", "task": "Words", "start": 0, "end": 6, "label": "NOUN"}
    unpaint = {"kind": "delete", "task": "Words", "at": 2}
    choose = [
        {"kind": "class.choose", "task": "Type", "label": name} for name in ("Arrival", "Delay")
    ]
    doc = _replay(modules, "Words Type", paint, unpaint, *choose)
    assert doc["values"] == {"Words": ["NOUN"] * 2 + [None] + ["NOUN"] * 3, "Type": "Delay"}
    assert doc["problems"] == ["Words: 1 of 6 words have no label."]


def _labels(*names: str, key: str = "") -> list[dict[str, Any]]:
    return [{"name": name, "colour": 0, "key": key} for name in names]


def test_keys_never_collide_across_tasks(modules):
    tasks = [
        {"name": "E", "kind": "spans", "labels": _labels("DATE", "DURATION", "HAZARD", "FAX")},
        {"name": "C", "kind": "classes", "labels": _labels(*[f"c{i}" for i in range(11)])},
        {"name": "T", "kind": "tags", "labels": _labels("ADV", "ÉTÉ", "日本")},
        {"name": "R", "kind": "relations", "labels": _labels("affects", "rents")},
        {"name": "S", "kind": "tree", "labels": _labels("nsubj")},
    ]
    keys = modules.evaluate(KEYS, {"tasks": tasks, "custom": {}})
    assert {label: key for key, label in keys} == {
        "DATE": "d", "DURATION": "u", "HAZARD": "z", "FAX": "b",
        **{f"c{i}": str((i + 1) % 10) for i in range(10)},
        "ADV": "v", "ÉTÉ": "e", "日本": "c", "affects": "F", "rents": "E",
    }  # fmt: skip


def test_own_keys_come_first_then_the_project_s(modules):
    tasks = [
        {"name": "E", "kind": "spans", "labels": [*_labels("ORG"), *_labels("PER", key="q")]},
        {"name": "C", "kind": "classes", "labels": _labels("Yes", "No")},
    ]
    custom = {"labels": {"C": {"No": "o"}}, "commands": {"accept": "p"}}
    assert dict(modules.evaluate(KEYS, {"tasks": tasks, "custom": custom})) == {
        "o": "No", "q": "PER", "r": "ORG", "1": "Yes",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "code", "shift", "wanted"),
    [
        ("a", "KeyA", False, "a"),
        ("A", "KeyA", False, "a"),  # Caps Lock
        ("a", "KeyA", True, "A"),  # Caps Lock and Shift
        ("ф", "KeyA", False, "a"),  # a Russian layout
        ("&", "Digit1", False, "1"),  # a French layout
        ("?", "Slash", True, "?"),
        ("Enter", "Enter", False, ""),
    ],
)
def test_a_key_is_the_same_whatever_the_layout_or_caps_lock(modules, key, code, shift, wanted):
    event = {"key": key, "code": code, "shiftKey": shift}
    assert modules.evaluate(PRINTABLE, event) == wanted


def test_type_ahead_finds_beginnings_first(modules):
    match = """async ([labels, typed, first]) => {
      const { matchLabels } = await import("/annotation/annotate/page/chooser.js");
      return matchLabels(labels, typed, first);
    }"""
    labels = ["acl", "nmod:poss", "nmod", "obl", "punct"]
    assert modules.evaluate(match, [labels, "nm", ""]) == ["nmod:poss", "nmod"]
    assert modules.evaluate(match, [labels, "nmod", ""]) == ["nmod", "nmod:poss"]
    assert modules.evaluate(match, [labels, "po", ""]) == ["nmod:poss"]
    assert modules.evaluate(match, [labels, "", "obl"])[:2] == ["obl", "acl"]


def test_relations_of_somebody_who_marked_no_spans_are_drawn_all_the_same(modules):
    draw = """async ({ tasks, values }) => {
      const { connectRelations, drawAnswers } = await import("/annotation/annotate/model/items.js");
      const { spans, relations } = connectRelations(tasks, drawAnswers(tasks, values, "own"));
      return { spans: spans.map(({ id, label, state }) => [id, label, state]),
               links: relations.map(({ from, to }) => [from, to]) };
    }"""
    tasks = [_task("Entities"), _task("Links", parent="Entities")]
    values = {"Links": [[0, 1, 3, 5, "located at"], [3, 5, 0, 1, "located at"]]}
    assert modules.evaluate(draw, {"tasks": tasks, "values": values}) == {
        "spans": [["Entities/0-1", "Entities", "given"], ["Entities/3-5", "Entities", "given"]],
        "links": [["Entities/0-1", "Entities/3-5"], ["Entities/3-5", "Entities/0-1"]],
    }
