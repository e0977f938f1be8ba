"""Metrics by hand, and chunks against a second reading of conlleval's rules."""

from itertools import product

import numpy as np
import pytest

from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.kinds import KINDS
from mtl_engine.metrics import (
    Counts,
    accuracy,
    attachment_scores,
    read_chunks,
    relation_f1,
    span_answer_f1,
    span_f1,
    span_table,
    write_tags,
)
from tests.mtl_engine.corpus import TASKS as CORPUS_TASKS

GOLD = ["B-PER", "I-PER", "B-PER", "O", "B-LOC"]
IO = ["I-PER", "I-PER", "I-PER", "O", "I-LOC"]


def test_io_predictions_are_read_as_chunks_against_iob2_gold():
    score = span_f1([GOLD], [IO])
    assert score.f1 == pytest.approx(0.4)
    assert score.precision == pytest.approx(1 / 2)
    assert score.recall == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("tags", "chunks"),
    [
        (["I-A", "I-A", "B-A", "I-B", "O"], [(0, 2, "A"), (2, 3, "A"), (3, 4, "B")]),  # IOB1
        (["B-A", "I-A", "B-A", "O", "B-B"], [(0, 2, "A"), (2, 3, "A"), (4, 5, "B")]),  # IOB2
        (["I-A", "I-A", "I-B", "O", "I-B"], [(0, 2, "A"), (2, 3, "B"), (4, 5, "B")]),  # IO
        (["S-A", "B-A", "E-A", "I-A", "O"], [(0, 1, "A"), (1, 3, "A"), (3, 4, "A")]),  # IOBES
        (["O", "I-x-y"], [(1, 2, "x-y")]),
        (["O"], []),
        ([], []),
    ],
)
def test_chunks_of_every_scheme(tags, chunks):
    assert read_chunks(tags) == chunks


def _conlleval_chunks(tags):
    """Return chunks by the script's two tables, written out pair by pair."""
    ends = {
        ("B", "B"),
        ("B", "O"),
        ("I", "B"),
        ("I", "O"),
        ("E", "E"),
        ("E", "I"),
        ("E", "O"),
        ("E", "B"),  # not in the script, which does not know IOBES
    }
    begins = {
        ("B", "B"),
        ("I", "B"),
        ("O", "B"),
        ("E", "B"),  # not in the script
        ("O", "I"),
        ("E", "E"),
        ("E", "I"),
        ("O", "E"),
    }
    parts = [("O", "")] + [tuple(t.split("-")) if "-" in t else (t, "") for t in tags] + [("O", "")]
    found, start = [], None
    for i in range(1, len(parts)):
        (before, kind_before), (tag, kind) = parts[i - 1], parts[i]
        if (before, tag) in ends or (before != "O" and kind_before != kind):
            found.append((start, i - 1, kind_before))
        if (before, tag) in begins or (tag != "O" and kind_before != kind):
            start = i - 1
    return found


def test_chunks_agree_with_conllevals_tables_on_any_mixture_of_tags():
    rng = np.random.default_rng(1)
    names = ["O", "B-X", "I-X", "E-X", "B-Y", "I-Y", "E-Y"]
    for _ in range(3000):
        tags = list(rng.choice(names, rng.integers(0, 9)))
        assert read_chunks(tags) == _conlleval_chunks(tags), tags


def test_chunks_agree_with_conllevals_tables_on_every_short_sequence_of_iob_tags():
    names = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    for length in range(6):
        for tags in product(names, repeat=length):
            assert read_chunks(tags) == _conlleval_chunks(tags), tags


def test_nothing_there_and_nothing_predicted_scores_zero_as_in_conlleval():
    assert span_f1([["O"]], [["O"]]) == (0.0, 0.0, 0.0)


def test_spans_answers_score_like_their_tags():
    gold = [[[0, 2, "A"], [3, 4, "B"]], []]
    predicted = [[[0, 2, "A"], [3, 4, "A"]], [[0, 1, "B"]]]
    lengths = [5, 2]
    as_tags = [
        [write_tags(s, m) for s, m in zip(x, lengths, strict=True)] for x in (gold, predicted)
    ]
    assert span_answer_f1(gold, predicted) == span_f1(*as_tags)
    assert span_answer_f1(gold, predicted).precision == pytest.approx(1 / 3)


def test_nested_spans_count_each():
    gold = [[[0, 3, "A"], [1, 2, "B"]]]
    assert span_answer_f1(gold, [[[1, 2, "B"]]]).recall == pytest.approx(0.5)
    assert write_tags(gold[0], 3) == ["B-A", "I-A", "I-A"]


def test_attachment_scores_count_words_not_sentences():
    gold = [[[2, "nsubj"], [0, "root"]], [[0, "root"], [1, "obj"], [2, "det"]]]
    predicted = [[[2, "obj"], [0, "root"]], [[0, "root"], [1, "obj"], [1, "det"]]]
    assert attachment_scores(gold, predicted) == (pytest.approx(4 / 5), pytest.approx(3 / 5))


def test_subtypes_can_be_left_out_of_the_labels():
    gold, predicted = [[[0, "nsubj:pass"]]], [[[0, "nsubj"]]]
    assert attachment_scores(gold, predicted) == (1.0, 0.0)
    assert attachment_scores(gold, predicted, ignore_subtypes=True) == (1.0, 1.0)


def test_a_relation_counts_only_with_its_direction_and_label():
    gold = [[[0, 1, 2, 3, "works"], [2, 3, 4, 5, "part"]]]
    predicted = [[[2, 3, 0, 1, "works"], [2, 3, 4, 5, "part"], [0, 1, 4, 5, "part"]]]
    assert relation_f1(gold, predicted) == (
        pytest.approx(1 / 3),
        pytest.approx(1 / 2),
        pytest.approx(0.4),
    )


def test_with_spans_given_a_relation_also_needs_their_labels():
    relations, spans = [[[0, 1, 2, 3, "works"]]], [[[0, 1, "PER"], [2, 3, "ORG"]]]
    other = [[[0, 1, "PER"], [2, 3, "LOC"]]]
    strict = {"gold_spans": spans, "predicted_spans": other}
    assert relation_f1(relations, relations, **strict).f1 == 0.0
    assert relation_f1(relations, relations, gold_spans=spans, predicted_spans=spans).f1 == 1.0


def test_accuracy_of_classes_and_of_tags():
    assert accuracy(["a", "b", "c"], ["a", "c", "c"]) == pytest.approx(2 / 3)
    assert accuracy([["a", "b"], ["c"]], [["a", "a"], ["c"]]) == pytest.approx(2 / 3)
    assert accuracy([], []) == 0.0


def test_sentence_accuracy_by_kind():
    assert KINDS["classes"].sentence_accuracy("a", "a", 3) == 1
    assert KINDS["classes"].sentence_accuracy("b", "c", 3) == 0
    assert KINDS["tags"].sentence_accuracy(["a", "b"], ["a", "c"], 2) == 0.5
    assert KINDS["spans"].sentence_accuracy([[0, 2, "A"]], [[0, 1, "A"]], 4) == 0.75
    gold, predicted = [[0, "r"], [1, "x"]], [[0, "y"], [2, "x"]]
    assert KINDS["tree"].sentence_accuracy(gold, predicted, 2) == 0.5
    assert KINDS["relations"].sentence_accuracy([[0, 1, 2, 3, "a"]], [], 4) == 0
    assert KINDS["relations"].sentence_accuracy([], [], 4) == 1


def test_label_tables_count_by_label_most_frequent_first():
    table = KINDS["spans"].label_table(
        [[[0, 1, "A"], [1, 2, "B"]], [[0, 1, "A"]]], [[[0, 1, "A"]], [[0, 1, "B"]]]
    )
    assert table == {"A": Counts(1, 1, 2), "B": Counts(0, 1, 1)}
    assert list(table) == ["A", "B"]
    assert table["A"].prf.f1 == pytest.approx(2 / 3)


def test_the_span_table_of_tags_agrees_with_the_total():
    table = span_table([GOLD], [IO])
    assert table == {"PER": Counts(0, 1, 2), "LOC": Counts(1, 1, 1)}
    assert (table["PER"] + table["LOC"]).prf == span_f1([GOLD], [IO])


TASKS = {task.kind: task for task in CORPUS_TASKS}


@pytest.mark.parametrize(
    ("kind", "answer", "label"),
    [
        ("spans", [[0, 1, "A"]], "A"),
        ("tags", ["A", "A"], "A"),
        ("classes", "A", "A"),
        ("tree", [[0, "A"], [1, "A"]], "A"),
        ("relations", [[0, 1, 1, 2, "A"]], "A"),
    ],
)
def test_every_kind_scores_its_own_answer_as_right(kind, answer, label):
    judged = KINDS[kind].judge(TASKS[kind], [answer], [answer], [2])
    assert judged.main == judged.metrics[KINDS[kind].main_metric] == 1.0
    assert judged.accuracy.tolist() == [1.0]
    counts = KINDS[kind].label_table([answer], [answer])[label]
    assert counts.right == counts.predicted == counts.gold > 0


def test_an_unknown_kind_and_unequal_lengths_are_named():
    with pytest.raises(UnknownName, match="No task kind 'span'. Did you mean 'spans'"):
        KINDS["span"]
    with pytest.raises(EngineError, match="1 gold and 0 predicted"):
        KINDS["tags"].label_table([["a"]], [])
    with pytest.raises(EngineError, match="2 gold and 1 predicted"):
        span_f1([["O"], ["O"]], [["O"]])
    with pytest.raises(EngineError, match="Sentence 0 has 2 gold tags and 1"):
        span_f1([["O", "O"]], [["O"]])
    with pytest.raises(EngineError, match="one \\[head, label\\] per word"):
        attachment_scores([[[0, "a"]]], [[]])
