import numpy as np
import pytest

from analysis.studies.mtl_simulation.scoring import chunk_f1, gold_chunks
from mtl_engine.metrics import span_f1

LABELS = ["I-LOC", "I-PER", "O"]


def _f1(gold, predicted):
    numbers = np.array([LABELS.index(tag) for sentence in predicted for tag in sentence])
    return chunk_f1(numbers, gold_chunks(gold, LABELS, outside="O"))


def test_neighbours_of_one_type_merge_in_io_and_count_as_errors():
    gold = [["B-PER", "I-PER", "B-PER", "O", "B-LOC"]]
    predicted = [["I-PER", "I-PER", "I-PER", "O", "I-LOC"]]
    assert _f1(gold, predicted) == pytest.approx(0.4)  # 1 right, 2 predicted, 3 there


def test_a_chunk_ends_with_its_sentence():
    assert _f1([["B-PER"], ["B-PER"]], [["I-PER"], ["I-PER"]]) == 1.0


def test_nothing_predicted_scores_zero():
    assert _f1([["B-PER", "O"]], [["O", "O"]]) == 0.0


def test_random_sentences_score_as_conlleval_says():
    rng = np.random.default_rng(0)
    for _ in range(20):
        sizes = rng.integers(1, 9, size=12)
        gold, predicted = [], []
        for size in sizes:
            tags = [rng.choice([*LABELS, "B-LOC", "B-PER"]) for _ in range(size)]
            gold.append(tags)
            predicted.append([str(rng.choice(LABELS)) for _ in range(size)])
        assert _f1(gold, predicted) == pytest.approx(span_f1(gold, predicted).f1)
