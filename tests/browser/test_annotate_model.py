"""Changes to answers, undo, live checks and keys: pure functions, run in a real browser."""

from typing import Any

import pytest

from mtl_engine.kinds import KINDS as ALL_KINDS

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
  return Object.fromEntries(tasks.map(({ name, labels }) => [
    name, Object.fromEntries(labels.map((label) => [label.name, keys.keyOf(name, label.name)])),
  ]));
}"""
FOUND = """async ({ tasks, pressed, active }) => {
  const { allocateKeys } = await import("/annotation/annotate/input/keys.js");
  const keys = allocateKeys(tasks);
  return pressed.map((key) => keys.find(key, active));
}"""
COMMANDS = """async ({ tasks }) => {
  const { allocateKeys, commandsFor } = await import("/annotation/annotate/input/keys.js");
  const keys = allocateKeys(tasks);
  return commandsFor(tasks).map(({ id }) => [id, keys.commandKey(id)]);
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
        ([(0, 0), (1, 0)], "Syntax: 5 of 6 words have no head."),  # one root only, the newer
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


KEY_TASKS = [
    {"name": "E", "kind": "spans", "labels": _labels("DATE", "DURATION", "HAZARD", "FAX")},
    {"name": "C", "kind": "classes", "labels": _labels(*[f"c{i}" for i in range(11)])},
    {"name": "T", "kind": "tags", "labels": _labels("ADV", "ÉTÉ", "日本")},
    {"name": "R", "kind": "relations", "parent": "E", "labels": _labels("affects", "rents")},
    {"name": "S", "kind": "tree", "labels": _labels("nsubj", "hyph")},
]


def test_every_task_has_all_letters_for_its_labels_but_those_of_commands(modules):
    assert modules.evaluate(KEYS, {"tasks": KEY_TASKS, "custom": {}}) == {
        "E": {"DATE": "d", "DURATION": "u", "HAZARD": "h", "FAX": "b"},
        "C": {**{f"c{i}": str(i + 1) for i in range(9)}, "c9": "", "c10": ""},
        "T": {"ADV": "d", "ÉTÉ": "e", "日本": "b"},
        "R": {"affects": "F", "rents": "E"},
        "S": {"nsubj": "s", "hyph": "y"},  # h and n belong to the tree while it is open
    }


def test_every_command_has_a_key_and_stands_once_in_the_sheet_whatever_kinds_are_asked(modules):
    tasks = [{"name": kind.name, "kind": kind.name, "labels": []} for kind in ALL_KINDS.annotated()]
    commands = modules.evaluate(COMMANDS, {"tasks": tasks})
    assert [name for name, key in commands if not key] == []
    assert len(dict(commands)) == len(commands)
    given = {"tasks": tasks, "pressed": ["="], "active": "tags"}  # spans are asked, too
    assert modules.evaluate(FOUND, given) == [{"command": "equalTags"}]


def test_letters_mean_the_open_task_and_its_free_digits_the_first_class(modules):
    given = {"tasks": KEY_TASKS, "pressed": ["d", "3", "0", "q", "a", "h"], "active": "T"}
    assert modules.evaluate(FOUND, given) == [
        {"task": "T", "label": "ADV"},
        {"task": "C", "label": "c2"},
        {"command": "listClasses"},
        None,
        {"command": "accept"},
        None,
    ]
    assert modules.evaluate(FOUND, {**given, "pressed": ["h"], "active": "S"}) == [
        {"command": "head"}
    ]


def test_a_letter_that_is_no_label_s_begins_a_name_where_labels_have_no_key(modules):
    many = [{"name": "M", "kind": "spans", "labels": _labels(*[f"zz{i}" for i in range(40)])}]
    given = {"tasks": many, "pressed": ["é", "7", "r"], "active": "M"}
    found = modules.evaluate(FOUND, given)
    assert found[0] == {"typed": "é"}
    assert found[1] is None
    assert found[2]["task"] == "M"  # no relations are asked: r is a letter like any other


def test_own_keys_come_first_then_the_project_s(modules):
    tasks = [
        {"name": "E", "kind": "spans", "labels": [*_labels("ORG"), *_labels("PER", key="q")]},
        {"name": "C", "kind": "classes", "labels": _labels("Yes", "No")},
    ]
    custom = {"labels": {"C": {"No": "o"}}, "commands": {"accept": "p"}}
    assert modules.evaluate(KEYS, {"tasks": tasks, "custom": custom}) == {
        "E": {"ORG": "o", "PER": "q"},
        "C": {"Yes": "1", "No": "o"},
    }


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


def test_every_typed_part_begins_a_part_of_the_name_in_order(modules):
    match = """async ([labels, typed]) => {
      const { matchNames } = await import("/annotation/annotate/model/labels.js");
      return matchNames(labels, typed);
    }"""
    labels = [
        "acl",
        "ACL",
        "nmod:poss",
        "nmod",
        "obl",
        "depart_time.end_time",
        "arrive_time.time",
        "end_time",
    ]
    for typed, wanted in {
        "nm": ["nmod:poss", "nmod"],
        "nmod": ["nmod", "nmod:poss"],  # a whole name comes first
        "po": ["nmod:poss"],
        "de ti": ["depart_time.end_time"],
        "end time": ["end_time", "depart_time.end_time"],  # whatever stands between its parts
        "ACL": ["ACL", "acl"],  # as it is written
        "ti ti": ["depart_time.end_time", "arrive_time.time"],
        "end": ["depart_time.end_time", "end_time"],
        "ime": [],
        "": labels,
    }.items():
        assert modules.evaluate(match, [labels, typed]) == wanted, typed


def test_labels_are_grouped_by_dots_and_by_shared_underscores(modules):
    group = """async (labels) => {
      const { prefixGroups } = await import("/annotation/annotate/model/labels.js");
      return prefixGroups({ labels }).map(({ prefix, names }) => [prefix, names]);
    }"""
    names = ["toloc.city", "flight_mod", "meal", "toloc.state", "flight_stop", "round_trip", "_x"]
    assert modules.evaluate(group, _labels(*names)) == [
        ["toloc.", ["toloc.city", "toloc.state"]],
        ["flight_", ["flight_mod", "flight_stop"]],
        ["no prefix", ["meal", "round_trip", "_x"]],
    ]


def test_relations_of_somebody_who_marked_no_spans_are_drawn_all_the_same(modules):
    draw = """async ({ tasks, values }) => {
      const { tieItems, drawAnswers } = await import("/annotation/annotate/model/items.js");
      const { rails, links } = tieItems(tasks, drawAnswers(tasks, values, "own"));
      return { spans: rails.map(({ id, label, state }) => [id, label, state]),
               links: links.map(({ from, to }) => [from, to]) };
    }"""
    tasks = [_task("Entities"), _task("Links", parent="Entities")]
    values = {"Links": [[0, 1, 3, 5, "located at"], [3, 5, 0, 1, "located at"]]}
    assert modules.evaluate(draw, {"tasks": tasks, "values": values}) == {
        "spans": [["Entities/0-1", "Entities", "given"], ["Entities/3-5", "Entities", "given"]],
        "links": [["Entities/0-1", "Entities/3-5"], ["Entities/3-5", "Entities/0-1"]],
    }
