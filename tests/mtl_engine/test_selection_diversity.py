"""Batches that do not repeat themselves."""

import numpy as np
import pytest

from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection import diversify, task_vectors

# three bundles of near-duplicates; the first bundle is the most uncertain
VECTORS = np.array(
    [[1, 0, 0.01], [1, 0.01, 0], [1, 0, 0], [0, 1, 0.01], [0, 1, 0], [0.01, 0, 1], [0, 0, 1]]
)
VALUE = np.array([0.9, 0.95, 0.92, 0.6, 0.5, 0.4, 0.3])
BUNDLE = np.array([0, 0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize("method", ["facility", "badge"])
def test_one_of_each_bundle_is_picked(method):
    rows = diversify(VALUE, VECTORS, n=3, method=method, rng=0)
    assert sorted(BUNDLE[rows]) == [0, 1, 2]


def test_facility_location_starts_with_what_stands_for_most_value():
    assert BUNDLE[diversify(VALUE, VECTORS, n=3)].tolist() == [0, 1, 2]


def test_badge_starts_with_the_most_uncertain():
    assert diversify(VALUE, VECTORS, n=2, method="badge", rng=3)[0] == 1


def _coverage(rows):
    unit = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
    return VALUE @ np.maximum(unit @ unit.T, 0)[:, list(rows)].max(axis=1, initial=0)


def test_lazy_greedy_equals_plain_greedy():
    chosen = []
    for _ in range(5):
        free = [row for row in range(7) if row not in chosen]
        chosen.append(max(free, key=lambda row: _coverage([*chosen, row])))
    assert _coverage(diversify(VALUE, VECTORS, n=5)) == pytest.approx(_coverage(chosen))


def test_under_a_budget_value_per_cost_counts():
    cost = np.array([9, 9, 2, 2, 9, 2, 9.0])
    rows = diversify(VALUE, VECTORS, cost=cost, budget=6)
    assert sorted(rows.tolist()) == [2, 3, 5]
    drawn = diversify(VALUE, VECTORS, cost=cost, budget=6, method="badge", rng=1)
    assert cost[drawn].sum() <= 6


def test_one_dear_sentence_beats_cheap_ones_that_stand_for_little():
    value = np.array([1.0, 0.01])
    rows = diversify(value, np.eye(2), cost=np.array([10.0, 0.05]), budget=10)
    assert rows.tolist() == [0]


@pytest.mark.parametrize("method", ["facility", "badge"])
def test_closed_rows_are_never_picked_and_the_pool_may_run_out(method):
    value = np.where(BUNDLE == 1, np.nan, VALUE)
    rows = diversify(value, VECTORS, n=20, method=method, rng=0)
    assert sorted(rows.tolist()) == [0, 1, 2, 5, 6]


@pytest.mark.parametrize("method", ["facility", "badge"])
def test_equal_vectors_still_fill_the_batch(method):
    rows = diversify(np.full(5, 0.5), np.ones((5, 2)), n=3, method=method, rng=0)
    assert len(set(rows.tolist())) == 3


def test_only_the_most_valuable_are_candidates():
    rows = diversify(VALUE, VECTORS, n=3, candidates=3)
    assert set(rows.tolist()) == {0, 1, 2}


def test_badge_is_repeated_by_its_seed():
    rng = np.random.default_rng(0)
    value, vectors = rng.random(50), rng.normal(size=(50, 4))
    first = diversify(value, vectors, n=10, method="badge", rng=7)
    assert first.tolist() == diversify(value, vectors, n=10, method="badge", rng=7).tolist()


def test_task_vectors_are_as_long_as_the_tasks_are_unsure():
    vectors = np.array([[3.0, 4.0], [0.0, 2.0]])
    confidence = np.array([[0.5, 1.0], [0.2, np.nan]])
    found = task_vectors(vectors, confidence, [0.25, 0.75])
    assert found == pytest.approx(np.array([[0.075, 0.1, 0, 0], [0, 0.2, 0, 0]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either n"),
        ({"n": 2, "budget": 4}, "either n"),
        ({"cost": np.ones(7)}, "either n"),
        ({"cost": np.zeros(7), "budget": 3}, "above 0"),
        ({"cost": np.ones(3), "budget": 3}, r"\(7,\) costs"),
        ({"n": 2, "method": "badge"}, "give rng="),
        ({"n": 2, "value": -VALUE}, "at least 0"),
        ({"n": 2, "vectors": VECTORS[:3]}, r"\(n, d\)"),
    ],
)
def test_wrong_requests_are_refused(options, message):
    with pytest.raises(EngineError, match=message):
        diversify(**{"value": VALUE, "vectors": VECTORS} | options)


def test_an_unknown_method_is_refused():
    with pytest.raises(UnknownName, match="badge, facility"):
        diversify(VALUE, VECTORS, n=2, method="coreset")
