"""Suspected errors: rare labels are no errors, layers contradict each other."""

import math
from dataclasses import replace

import numpy as np
import pytest

from analysis.methods.label_errors import (
    Judgement,
    adjusted_margin,
    contradictions,
    estimated_errors,
    find_suspects,
    label_thresholds,
)
from analysis.methods.label_errors.attachments import foretold_heads
from analysis.methods.label_errors.contexts import foretold_labels
from analysis.methods.label_errors.planted import plant_errors, planted_items
from mtl_engine.kinds import KINDS
from mtl_engine.kinds.tree import is_tree
from mtl_engine.types import Example, TaskSpec

INTENT = TaskSpec("intent", "classes", ("flight", "fare"))
SLOTS = TaskSpec("slots", "spans", ("city", "price"))
TREE = TaskSpec("tree", "tree", ("dep", "root"))
NER = TaskSpec("ner", "spans", ("LOC",))
THINGS = TaskSpec("things", "spans", ("tool", "task"))
LINKS = TaskSpec("links", "relations", ("uses", "beats"), parent="things")


def _intent(row, given, expected, likelihood, best):
    return Judgement(row, "intent", (given,), (expected,), likelihood, best)


def test_a_threshold_is_the_mean_likelihood_of_a_label_shrunk_by_one_answer():
    judged = [_intent(0, "fare", "fare", 0.2, 0.8), _intent(1, "flight", "flight", 0.8, 0.8)]
    found = label_thresholds(judged)
    assert found["intent", "fare"] == pytest.approx((0.2 + 0.5) / 2)
    assert found["intent", "flight"] == pytest.approx((0.8 + 0.5) / 2)


def test_the_same_likelihood_is_less_suspicious_for_a_label_that_is_seldom_likely():
    thresholds = {("intent", "fare"): 0.2, ("intent", "flight"): 0.8}
    rare = adjusted_margin(_intent(0, "fare", "flight", 0.1, 0.8), thresholds)
    common = adjusted_margin(_intent(0, "flight", "fare", 0.1, 0.8), thresholds)
    assert rare == pytest.approx(math.log((0.8 / 0.8) / (0.1 / 0.2)), abs=1e-4)
    assert common == pytest.approx(math.log((0.8 / 0.2) / (0.1 / 0.8)), abs=1e-4)
    assert rare < common


def test_confident_errors_are_those_whose_other_label_is_as_sure_as_usual():
    judged = [_intent(i, "flight", "flight", 0.9, 0.9) for i in range(8)]
    judged += [_intent(8, "fare", "flight", 0.1, 0.9), _intent(9, "fare", "flight", 0.4, 0.5)]
    # mean of flight: (8 * 0.9 + mean of all 0.77) / 9 = 0.886: only 0.9 is as sure
    assert estimated_errors(judged) == {"intent": 1}


def _travel():
    """Nine sentences: a city under flight, a price under fare, one price under flight."""
    examples, judged = [], []
    for row in range(9):
        is_fare = row % 2 == 1
        intent, slot = ("fare", "price") if is_fare else ("flight", "city")
        if row == 8:
            slot = "price"
        examples.append(Example((f"word{row}",), {"intent": intent, "slots": [[0, 1, slot]]}, row))
        judged.append(Judgement(row, "slots", (0, 1, slot), (0, 1, "city"), 0.5, 0.5))
    return examples, judged


def test_a_slot_that_its_intent_never_takes_is_a_contradiction():
    examples, judged = _travel()
    found = contradictions(judged, examples, (SLOTS, INTENT))
    by_rule = {reason.rule: reason for reason in found[8]}
    assert by_rule["class"].evidence > 1
    assert by_rule["class"].usual == "city"
    assert by_rule["class"].context == "intent flight"
    assert {r.rule: r.evidence for r in found[0]}["class"] <= 0  # a city under flight is usual


def test_contradictions_decide_where_models_cannot_tell():
    examples, judged = _travel()
    assert find_suspects(judged, examples, (SLOTS, INTENT))[0].judgement.row == 8


def test_an_entity_that_crosses_a_subtree_is_a_contradiction():
    whole = [[2, "dep"], [0, "root"], [2, "dep"]]
    crossing = [[3, "dep"], [3, "dep"], [0, "root"]]  # both words of the entity leave it
    examples = [
        Example(("a", f"b{i}", "c"), {"ner": [[0, 2, "LOC"]], "tree": whole}, i) for i in range(9)
    ]
    examples.append(Example(("a", "b9", "c"), {"ner": [[0, 2, "LOC"]], "tree": crossing}, 9))
    judged = [Judgement(i, "ner", (0, 2, "LOC"), (0, 2, "LOC"), 0.9, 0.9) for i in range(10)]
    found = contradictions(judged, examples, (NER, TREE))
    evidence = [{r.rule: r.evidence for r in reasons}["arcs"] for reasons in found]
    assert evidence[9] > 1
    assert max(evidence[:9]) <= 0


def test_equal_words_with_another_label_are_a_contradiction_and_an_answer_is_not_its_own_proof():
    examples = [Example(("to", "rome"), {"slots": [[1, 2, "city"]]}, i) for i in range(5)]
    examples.append(Example(("to", "rome"), {"slots": [[1, 2, "price"]]}, 5))
    examples.append(Example(("for", "free"), {"slots": [[1, 2, "price"]]}, 6))
    judged = [
        Judgement(i, "slots", (1, 2, e.labels["slots"][0][2]), (1, 2, "city"), 0.5, 0.5)
        for i, e in enumerate(examples)
    ]
    found = [
        {r.rule: r for r in reasons}["words"]
        for reasons in contradictions(judged, examples, (SLOTS,))
    ]
    assert found[5].evidence > 1
    assert (found[5].context, found[5].usual) == ("rome", "city")
    assert abs(found[6].evidence) < 1e-9  # nobody else says anything about "free"


def _cities(n):
    """Sentences "to rome": the slot is right, its intent is a flight."""
    return [
        Example(("to", "rome"), {"slots": [[1, 2, "city"]], "intent": "flight"}, i)
        if i % 2
        else Example(("for", "free"), {"slots": [[1, 2, "price"]], "intent": "fare"}, i)
        for i in range(n)
    ]


def test_planted_errors_are_a_share_of_the_items_and_keep_answers_valid():
    examples = _cities(400)
    wrong = plant_errors(examples, (SLOTS, INTENT), np.random.default_rng(1), share=0.1)
    changed = sum(
        a.labels["intent"] != b.labels["intent"] for a, b in zip(examples, wrong, strict=True)
    )
    assert 20 <= changed <= 60
    for example in wrong:
        for task in (SLOTS, INTENT):
            assert not KINDS[task.kind].check(
                example.labels[task.name], example.tokens, task.labels
            )
    assert all(e.labels["intent"] in ("flight", "fare") for e in examples)  # left as they were


def test_planted_arcs_leave_a_tree():
    tree = [[2, "dep"], [0, "root"], [2, "dep"], [3, "dep"]]
    examples = [Example(("a", "b", "c", "d"), {"tree": tree}, i) for i in range(50)]
    wrong = plant_errors(examples, (TREE,), np.random.default_rng(1), share=0.5)
    assert all(is_tree([head for head, _ in e.labels["tree"]]) for e in wrong)
    assert any(e.labels["tree"] != tree for e in wrong)


def test_an_item_shows_a_planted_error_where_it_is_new_or_lacking():
    before = [Example(("a", "b", "c"), {"slots": [[0, 1, "city"], [2, 3, "price"]]}, 0)]
    after = [Example(("a", "b", "c"), {"slots": [[0, 1, "price"]]}, 0)]
    judged = [
        Judgement(0, "slots", (0, 1, "price"), (0, 1, "city"), 0.1, 0.9),
        Judgement(0, "slots", None, (1, 3, "price"), 0.1, 0.9),  # meets the one that was dropped
        Judgement(0, "slots", None, (1, 2, "price"), 0.1, 0.9),
    ]
    assert planted_items(judged, before, after, (SLOTS,)).tolist() == [True, True, False]


def test_a_detector_learns_from_planted_errors_what_likelihoods_mean():
    """Likelihoods of a model that is always unsure tell nothing; its labels do."""
    rng = np.random.default_rng(3)
    examples = [
        Example((f"w{i}",), {"intent": "flight" if i % 2 else "fare"}, i) for i in range(300)
    ]
    mistaken = {10, 51, 120}

    def judge(answers):
        found = []
        for row, example in enumerate(answers):
            truth = "flight" if row % 2 else "fare"
            given = example.labels["intent"]
            likelihood = 0.5 + (0.02 if given == truth else -0.02) + rng.normal(0, 0.004)
            found.append(_intent(row, given, truth, likelihood, 0.52))
        return found

    other = {"flight": "fare", "fare": "flight"}
    examples = [
        replace(e, labels={"intent": other[e.labels["intent"]]}) if e.id in mistaken else e
        for e in examples
    ]
    wrong = [plant_errors(examples, (INTENT,), rng, share=0.05) for _ in range(4)]
    planted = [(judge(answers), answers) for answers in wrong]
    found = find_suspects(judge(examples), examples, (INTENT,), planted=planted)
    assert {one.judgement.row for one in found[:3]} == mistaken
    assert min(one.probability for one in found[:3]) > 0.5
    assert max(one.probability for one in found[3:]) < 0.2


def _links(n):
    """Tools are linked to tasks by ``for`` and to tools by ``over``; the last link is wrong."""
    examples, judged = [], []
    for row in range(n):
        is_use = row % 2 == 0
        label = "uses" if is_use != (row == n - 1) else "beats"
        words = (f"a{row % 7}", "for" if is_use else "over", f"b{row % 5}")
        things = [[0, 1, "tool"], [2, 3, "task" if is_use else "tool"]]
        link = [0, 1, 2, 3, label]
        examples.append(Example(words, {"things": things, "links": [link]}, row))
        judged.append(Judgement(row, "links", tuple(link), tuple(link), 0.5, 0.5))
    return judged, examples


def test_a_place_foretells_what_stands_at_others_like_it():
    judged, examples = _links(60)
    (found,) = foretold_labels([(judged, examples)], (THINGS, LINKS))
    assert (found[:-1, 0] > 0.8).all()
    assert found[-1, 0] < 0.2
    assert found[-1, 1] > 0.8
    assert found[:, 2] == pytest.approx(found[:, 0])  # the models expect what was given


def test_only_the_first_version_teaches_and_nothing_foretells_an_item_to_itself():
    judged, examples = _links(60)
    turned = {"uses": "beats", "beats": "uses"}
    others = [replace(one, given=(*one.given[:4], turned[one.given[4]])) for one in judged]
    wrong = [
        replace(e, labels={**e.labels, "links": [list(one.given)]})
        for e, one in zip(examples, others, strict=True)
    ]
    first, second = foretold_labels([(judged, examples), (others, wrong)], (THINGS, LINKS))
    assert second[:, 0] == pytest.approx(first[:, 1])
    once = [replace(examples[0], tokens=("x", "y", "z")), *examples[1:]]
    alone = foretold_labels([(judged, once)], (THINGS, LINKS))[0]
    assert alone[0, 0] > 0.5  # by the types of its ends: its words were never seen


def test_a_place_without_an_answer_foretells_nothing():
    judged, examples = _links(60)
    judged[3] = replace(judged[3], given=None)
    (found,) = foretold_labels([(judged, examples)], (THINGS, LINKS))
    assert np.isnan(found[3]).all()
    assert not np.isnan(found[4]).any()


TAGS = TaskSpec("tags", "tags", ("DET", "ADJ", "NOUN", "VERB"))
SHAPES = (
    ("DET NOUN VERB", [2, 3, 0]),
    ("DET ADJ NOUN VERB", [3, 3, 4, 0]),
    ("NOUN VERB DET NOUN", [2, 0, 4, 2]),
    ("DET NOUN VERB DET ADJ NOUN", [2, 3, 0, 6, 6, 3]),
)


def _trees(n, head_of_the_first=None):
    """Sentences of four shapes, each of its own words; the first may hang a word elsewhere."""
    examples, judged = [], []
    for row in range(n):
        tags, heads = SHAPES[row % len(SHAPES)]
        heads = list(heads)
        if row == 0 and head_of_the_first is not None:
            heads[0] = head_of_the_first
        arcs = [[head, "dep" if head else "root"] for head in heads]
        words = tuple(f"{tag.lower()}{row}" for tag in tags.split())
        examples.append(Example(words, {"tree": arcs, "tags": tags.split()}, row))
        for word, (head, label) in enumerate(arcs):
            item = (word, head, label)
            judged.append(Judgement(row, "tree", item, item, 0.5, 0.5))
    return judged, examples


def test_a_word_on_another_head_than_its_tags_tell_is_unlikely_there():
    right, wrong = _trees(60), _trees(60, head_of_the_first=3)  # an article on the verb
    first, second = foretold_heads([right, wrong], (TREE, TAGS))
    assert (first[:, 0] > first[:, 1]).all()  # every head is likelier than its rivals
    assert second[0, 0] < second[0, 1]
    assert second[0, 0] < first[0, 0]
    assert (second[1:, 0] > second[1:, 1]).all()


def test_heads_are_foretold_for_answered_words_of_trees_alone():
    judged, examples = _trees(20)
    judged[5] = replace(judged[5], given=None)
    judged.append(Judgement(0, "tags", (0, "DET"), (0, "DET"), 0.5, 0.5))
    (found,) = foretold_heads([(judged, examples)], (TREE, TAGS))
    assert np.isnan(found[[5, -1]]).all()
    assert not np.isnan(np.delete(found, [5, len(found) - 1], axis=0)).any()
    assert np.isnan(foretold_heads([_links(60)], (THINGS, LINKS))[0]).all()


def test_a_reason_never_names_the_answer_that_it_speaks_against():
    judged, examples = [], []
    for row in range(60):  # "here" is a price in 4 of 10 sentences, "rome" never is
        word, label = ("here", "price" if row < 4 else "city") if row < 10 else ("rome", "city")
        examples.append(Example(("to", word), {"slots": [[1, 2, label]]}, row))
        judged.append(Judgement(row, "slots", (1, 2, label), (1, 2, label), 0.9, 0.9))
    judged[5] = Judgement(5, "slots", (1, 2, "city"), (1, 2, "price"), 0.1, 0.8)
    judged[40] = Judgement(40, "slots", (1, 2, "price"), (1, 2, "city"), 0.1, 0.8)
    suspects = {s.judgement.row: s for s in find_suspects(judged, examples, (SLOTS,))}
    assert suspects[5].reasons == ()  # "here" is a price unusually often, yet usually a city
    assert {reason.usual for reason in suspects[40].reasons} == {"city"}
