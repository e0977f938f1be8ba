"""Trees: arcs and their losses, and decoding against all trees there are."""

from itertools import product

import numpy as np
import pytest
import torch

from mtl_engine.errors import EngineError
from mtl_engine.heads.tree import TreeTarget, decode
from mtl_engine.spanning_tree import are_trees, best_heads
from mtl_engine.types import TaskSpec
from tests.mtl_engine.corpus import TASKS
from tests.mtl_engine.states import head_for, states_of


def test_arc_smoothing_counts_the_admissible_heads_of_each_sentence_only():
    head = head_for(TASKS[3], arc_width=4, label_width=3)
    states = states_of(2, 4)
    targets = [
        TreeTarget(np.array([2, 0]), np.array([0, 1])),
        TreeTarget(np.array([0, 1, 2, 2]), np.array([1, 2, 3, 4])),
    ]
    together = head.losses(head(states), targets, 0.2)
    alone = [
        head.losses(head(states.select([row])), [targets[row]], 0.2).item() for row in range(2)
    ]
    assert together.tolist() == pytest.approx(alone, abs=1e-5)


def trees(m):
    """Return the heads of all trees over m words with one root."""
    for heads in product(range(m + 1), repeat=m):
        if sum(head == 0 for head in heads) != 1 or any(h == d + 1 for d, h in enumerate(heads)):
            continue
        reached, frontier = set(), {0}
        while frontier:
            reached |= frontier
            frontier = {d + 1 for d, h in enumerate(heads) if h in frontier} - reached
        if len(reached) == m + 1:
            yield heads


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_the_best_tree_is_the_best_of_all_trees(m):
    every = list(trees(m))
    rng = np.random.default_rng(m)
    for _ in range(30):
        scores = rng.normal(size=(m, m + 1)) * rng.choice([0.1, 1, 30])
        scores[range(m), range(1, m + 1)] = -np.inf
        best = max(every, key=lambda heads: sum(scores[d, h] for d, h in enumerate(heads)))
        assert tuple(best_heads(scores)) == best


def test_long_sentences_are_decoded_too():
    scores = np.random.default_rng(0).normal(size=(700, 701))
    scores[range(700), range(1, 701)] = -np.inf
    heads = best_heads(scores)
    assert are_trees(heads[None], np.array([700])).all()
    assert scores[range(700), heads].sum() > 0.99 * scores.max(1).sum()


def test_trees_are_told_from_cycles_and_from_several_roots():
    heads = np.array([[0, 1, 2], [2, 1, 0], [0, 0, 1], [2, 0, 9], [0, 9, 9]])
    counts = np.array([3, 3, 3, 2, 1])
    assert are_trees(heads, counts).tolist() == [True, False, False, True, True]


def test_a_tree_is_decoded_once_for_readings_at_any_temperature(monkeypatch):
    head = head_for(TASKS[3])
    calls = []

    def counted(*args, is_greedy):
        calls.append(is_greedy)
        return decode(*args, is_greedy=is_greedy)

    monkeypatch.setattr("mtl_engine.heads.tree.decode", counted)
    with torch.no_grad():
        scores = head(states_of(5, 3))
        sure, unsure = head.read(scores), head.read(scores, 2.0)
        head.read(scores, is_greedy=True)
    assert calls == [False, True]
    assert sure.answers() == unsure.answers()


def test_head_probabilities_leave_out_the_word_itself():
    head = head_for(TASKS[3], arc_width=4, label_width=3)
    with torch.no_grad():
        reading = head.read(head(states_of(3, 1)))
    first, second = reading.probabilities()
    assert first.shape == (3, 4)
    assert first[[0, 1, 2], [1, 2, 3]].tolist() == [0, 0, 0]
    assert first.sum(1) == pytest.approx([1, 1, 1])
    assert second.tolist() == [[1, 0]]
    assert reading.confidence()[1] == 1
    assert len(reading.answers()[0]) == len(reading.item_confidence()[0]) == 3
    assert sum(arc[0] == 0 for arc in reading.answers()[0]) == 1


@pytest.mark.parametrize("heads", [[0, 2], [3, 0], [-1, 0], ["1", 0]])
def test_impossible_heads_are_refused(heads):
    head = head_for(TaskSpec("dep", "tree", ("x",)), arc_width=4, label_width=3)
    with pytest.raises(EngineError, match="allowed: 0 for ROOT"):
        head.encode(2, [[number, "x"] for number in heads])
