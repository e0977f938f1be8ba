"""Which layer goes to which task."""

import pytest

from annotation.formats import records
from annotation.formats.records import FormatError, layer_spec
from mtl_engine.errors import UnknownName

CONLLU = [
    ("tree", "tree"),
    ("upos", "tags"),
    ("xpos", "tags"),
    ("ner", "spans"),
    ("intent", "classes"),
]
IE = [("entities", "spans"), ("relations", "relations", "entities")]


def match_layers(layers, tasks, explicit=None):
    """Match layers and tasks given as (name, kind) or (name, kind, parent)."""
    layers, tasks = ([layer_spec(*spec) for spec in specs] for specs in (layers, tasks))
    return records.match_layers(layers, tasks, explicit)


def test_the_same_name_matches_first():
    assert match_layers(CONLLU, [("xpos", "tags"), ("upos", "tags")]) == {
        "xpos": "xpos",
        "upos": "upos",
    }


@pytest.mark.parametrize(
    ("task", "layer"),
    [
        (("entities", "spans"), "ner"),
        (("Slots", "spans"), "ner"),
        (("pos", "tags"), "upos"),
        (("syntax", "tree"), "tree"),
        (("label", "classes"), "intent"),
    ],
)
def test_aliases_match_whatever_their_case(task, layer):
    assert match_layers(CONLLU, [task]) == {task[0]: layer}


def test_names_of_one_group_do_not_match_across_kinds():
    assert match_layers([("label", "spans")], [("label", "classes")]) == {}


def test_the_only_task_and_the_only_layer_of_a_kind_match():
    assert match_layers(CONLLU, [("gene", "spans")]) == {"gene": "ner"}


def test_two_candidates_are_no_match():
    assert match_layers(CONLLU, [("morphology", "tags")]) == {}
    assert match_layers(CONLLU, [("genes", "spans"), ("drugs", "spans")]) == {}


def test_a_layer_goes_to_one_task_only():
    found = match_layers(CONLLU, [("ner", "spans"), ("slots", "spans")])
    assert found == {"ner": "ner"}


def test_relations_follow_their_spans():
    tasks = [("links", "relations", "genes"), ("genes", "spans")]
    assert match_layers(IE, tasks) == {"genes": "entities", "links": "relations"}


def test_relations_between_other_spans_do_not_match():
    layers = [("ner", "spans"), ("genes", "spans"), ("rel", "relations", "genes")]
    tasks = [("ner", "spans"), ("rel", "relations", "ner")]
    assert match_layers(layers, tasks) == {"ner": "ner"}


def test_relations_without_their_spans_do_not_match():
    assert match_layers([("rel", "relations", "x")], [("rel", "relations", "ner")]) == {}


def test_what_is_stated_comes_before_names():
    tasks = [("upos", "tags"), ("fine", "tags")]
    found = match_layers(CONLLU, tasks, {"upos": "xpos"})
    assert found == {"upos": "xpos", "fine": "upos"}


def test_a_stated_task_or_layer_that_does_not_exist_is_named():
    with pytest.raises(UnknownName, match="No task 'nre'. Did you mean 'ner'"):
        match_layers(CONLLU, [("ner", "spans")], {"nre": "ner"})
    with pytest.raises(UnknownName, match="No layer 'entity'. Known: intent, ner"):
        match_layers(CONLLU, [("ner", "spans")], {"ner": "entity"})


def test_a_stated_match_must_be_of_one_kind():
    with pytest.raises(FormatError, match="'ner' is of kind spans, layer 'upos' of kind tags"):
        match_layers(CONLLU, [("ner", "spans")], {"ner": "upos"})


def test_a_layer_stated_for_two_tasks_is_refused():
    with pytest.raises(FormatError, match="mapped to two tasks"):
        match_layers(CONLLU, [("a", "tags"), ("b", "tags")], {"a": "upos", "b": "upos"})
