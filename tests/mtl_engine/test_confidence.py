"""Confidence scores against numbers worked out by hand from their definitions."""

import subprocess
import sys

import numpy as np
import pytest

from mtl_engine.confidence import (
    dropout_agreement,
    entropy_confidence,
    head_confidence,
    normalised_entropy,
    sentence_information,
    summed_entropy,
    token_entropies,
)
from mtl_engine.errors import EngineError

WORDS = np.array([[0.7, 0.2, 0.1], [1 / 3, 1 / 3, 1 / 3], [1, 0, 0]])
HEADS = np.array([[0.6, 0, 0.3, 0.1], [0.2, 0.5, 0, 0.3], [0.1, 0.1, 0.8, 0]])


def test_entropy_confidence_of_words_is_one_minus_their_mean_entropy():
    assert entropy_confidence([WORDS]) == pytest.approx([0.4233844336])


def test_entropy_confidence_of_classes_reads_one_distribution_per_row():
    assert entropy_confidence(np.array([[0.5, 0.25, 0.125, 0.125]])) == pytest.approx([0.125])


def test_classes_may_come_as_rows_of_a_list():
    assert entropy_confidence([[0.5, 0.25, 0.125, 0.125], [1, 0, 0, 0]]) == pytest.approx(
        [0.125, 1]
    )


def test_sentences_of_different_lengths_are_scored_each_on_its_own():
    together = entropy_confidence([WORDS, WORDS[:1], WORDS[1:]])
    alone = [entropy_confidence([w])[0] for w in (WORDS, WORDS[:1], WORDS[1:])]
    assert together == pytest.approx(alone)


def test_a_sentence_without_words_and_a_task_with_one_label_are_certain():
    assert entropy_confidence([np.empty((0, 3)), WORDS])[0] == 1.0
    assert entropy_confidence([np.ones((4, 1))]) == pytest.approx([1.0])


def test_head_confidence_divides_by_the_log_of_the_admissible_heads():
    assert head_confidence([HEADS]) == pytest.approx([0.2212507163])


def test_a_one_word_tree_is_certain():
    assert head_confidence([np.array([[1.0, 0.0]])]) == pytest.approx([1.0])


def test_dropout_agreement_is_the_share_of_agreeing_pairs():
    votes = np.array([[0, 1, 2, 0], [0, 1, 1, 0], [0, 2, 2, 1], [0, 1, 2, 0]])
    assert dropout_agreement([votes]) == pytest.approx([0.625])


def test_dropout_agreement_of_a_seven_to_three_split():
    votes = np.array([[1]] * 7 + [[0]] * 3)
    assert dropout_agreement([votes, votes[::-1]]) == pytest.approx([0.5333333333] * 2)


def test_dropout_agreement_equals_counting_all_ordered_pairs():
    rng = np.random.default_rng(3)
    votes = [rng.integers(0, 4, (10, m)) for m in (1, 5, 0, 9)]
    expected = [_pairs_by_hand(v) for v in votes]
    assert dropout_agreement(votes) == pytest.approx(expected)


def _pairs_by_hand(votes):
    k, m = votes.shape
    if m == 0:
        return 1.0
    same = sum(
        votes[a, i] == votes[b, i] for i in range(m) for a in range(k) for b in range(k) if a != b
    )
    return same / (m * k * (k - 1))


def test_summed_entropy_grows_with_the_sentence_and_the_normalised_one_does_not():
    once, twice = summed_entropy([WORDS, np.vstack([WORDS, WORDS])])
    assert twice == pytest.approx(2 * once)
    assert once == pytest.approx((1 - 0.4233844336) * 3 * np.log(3))
    assert normalised_entropy([WORDS]) == pytest.approx(
        normalised_entropy([np.vstack([WORDS] * 2)])
    )


def test_token_entropies_keep_the_sentences_apart():
    first, second = token_entropies([WORDS, WORDS[1:2]])
    assert first[1:] == pytest.approx([np.log(3), 0])
    assert second == pytest.approx([np.log(3)])
    assert token_entropies([]) == []


def test_sentence_information_adds_open_tasks_only():
    entropies = np.array([[1.0, 2.0], [np.nan, 2.0], [np.nan, np.nan]])
    assert sentence_information(entropies) == pytest.approx([3.0, 2.0, 0.0])


def test_an_empty_pool_gives_an_empty_column():
    assert entropy_confidence([]).shape == (0,)
    assert head_confidence([]).shape == (0,)
    assert dropout_agreement([]).shape == (0,)


def test_logits_are_refused():
    with pytest.raises(EngineError, match="not logits"):
        entropy_confidence([WORDS * 3])
    with pytest.raises(EngineError, match="not logits"):
        entropy_confidence([np.array([[np.nan, 1.0]])])


def test_wrong_shapes_are_named():
    with pytest.raises(EngineError, match="sentence 1 have shape"):
        entropy_confidence([WORDS, WORDS[:, :2]])
    with pytest.raises(EngineError, match=r"sentence 0 have shape \(3, 3\)"):
        head_confidence([HEADS[:, :3]])
    with pytest.raises(EngineError, match="at least 2"):
        dropout_agreement([np.zeros((1, 3), int)])
    with pytest.raises(EngineError, match="different lengths"):
        entropy_confidence([[0.5, 0.5], [1.0]])
    with pytest.raises(EngineError, match="NaN"):
        dropout_agreement([np.full((2, 3), np.nan)])
    with pytest.raises(EngineError, match="tasks"):
        sentence_information([1.0, 2.0])


def test_confidence_does_not_need_torch():
    code = "import sys, mtl_engine.confidence, mtl_engine.metrics; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
