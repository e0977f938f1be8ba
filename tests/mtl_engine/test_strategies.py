"""The strategies on a pool of ten sentences worked out by hand, and against literal definitions."""

import numpy as np
import pytest

from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection import select
from mtl_engine.selection.pareto import beta_multipliers, pareto_layers, shallow_rows, thinned

POOL = np.array(
    [
        [0.1, 0.9],
        [0.2, 0.6],
        [0.3, 0.3],
        [0.6, 0.2],
        [0.9, 0.1],
        [0.25, 0.35],
        [0.5, 0.5],
        [0.15, 0.95],
        [0.95, 0.05],
        [0.4, 0.25],
    ]
)
NAN = np.nan


@pytest.mark.parametrize(
    ("strategy", "n", "weights", "rows"),
    [
        ("MT-AVG", 4, None, [2, 5, 9, 1]),
        ("MT-MAX", 4, None, [2, 5, 9, 6]),
        ("MT-MIN", 4, None, [8, 0, 4, 7]),
        ("MT-RRF", 4, None, [0, 5, 9, 2]),
        ("MT-IND", 4, None, [0, 7, 8, 4]),
        ("MT-IND", 5, None, [0, 7, 8, 4, 1]),
        ("MT-IND", 7, None, [0, 7, 1, 8, 4, 3, 5]),
        ("MT-PAR", 4, None, [0, 5, 9, 4]),
        ("MT-PAR", 7, None, [0, 1, 5, 2, 3, 4, 8]),
        ("MT-AVG", 4, [0.8, 0.2], [0, 5, 1, 2]),
        ("MT-RRF", 4, [0.8, 0.2], [0, 7, 1, 5]),
        ("MT-IND", 5, [0.8, 0.2], [0, 7, 1, 5, 8]),
        ("MT-PAR", 2, [0.8, 0.2], [0, 4]),
        ("MT-PAR", 4, [0.8, 0.2], [0, 4, 7, 8]),
        ("MT-AVG", 4, [0.3, 0.7], [9, 2, 3, 5]),
        ("MT-RRF", 4, [0.3, 0.7], [8, 4, 3, 9]),
        ("MT-PAR", 4, [0.3, 0.7], [1, 8, 0, 4]),
        ("MT-PAR", 3, [1, 0], [0, 7, 1]),
        ("MT-IND", 3, [1, 0], [0, 7, 1]),
    ],
)
def test_the_pool_of_ten(strategy, n, weights, rows):
    assert select(POOL, n, strategy, weights=weights).tolist() == rows


def test_the_frontier_of_the_pool_of_ten():
    assert set(np.flatnonzero(pareto_layers(POOL) == 0)) == {0, 1, 2, 3, 4, 5, 8, 9}


def test_pareto_takes_whole_frontiers_before_the_next():
    chosen = select(POOL, 9, "MT-PAR").tolist()
    assert set(chosen[:8]) == {0, 1, 2, 3, 4, 5, 8, 9}
    assert chosen[8] == 7


def test_the_multipliers_are_quantiles_of_the_less_important_tasks():
    assert beta_multipliers(POOL, np.array([0.8, 0.2])) == pytest.approx([1, 0.18])
    assert beta_multipliers(POOL, np.array([0.3, 0.7])) == pytest.approx([0.235, 1])


@pytest.mark.parametrize(
    ("n", "left"), [(7, [0, 1, 2, 3, 4, 5, 6]), (4, [0, 1, 5, 6]), (3, [0, 2, 6]), (2, [0, 6])]
)
def test_thinning_keeps_the_ends_and_drops_the_middle(n, left):
    assert thinned(np.arange(7), n).tolist() == left


def test_thinning_equals_deleting_the_middle_one_by_one():
    for f in range(1, 40):
        for p in range(1, f + 1):
            rows = list(range(0, f, f // p))
            while len(rows) > p:
                del rows[len(rows) // 2]
            assert thinned(np.arange(f), p).tolist() == rows


def test_single_goes_by_one_column():
    assert select(POOL, 3, "SINGLE", task=0).tolist() == [0, 7, 1]
    assert select(POOL, 3, "SINGLE", task=1).tolist() == [8, 4, 3]


def test_random_is_repeated_by_its_seed_and_accepts_a_generator():
    by_seed = select(POOL, 5, "RANDOM", rng=3)
    assert by_seed.tolist() == select(POOL, 5, "RANDOM", rng=np.random.default_rng(3)).tolist()
    draws = [select(POOL, 3, "RANDOM", rng=seed)[0] for seed in range(2000)]
    assert np.bincount(draws, minlength=10) == pytest.approx(200, abs=60)


def test_closed_cells_are_left_out_of_every_aggregate():
    pool = np.array([[0.9, NAN], [0.5, 0.1], [NAN, 0.2], [NAN, NAN]])
    assert select(pool, 9, "MT-AVG").tolist() == [2, 1, 0]
    assert select(pool, 9, "MT-MAX").tolist() == [2, 1, 0]
    assert select(pool, 9, "MT-MIN").tolist() == [1, 2, 0]
    # ranks (2, 1, -) and (-, 1, 2): 1/62, 1/61 + 1/61, 1/62
    assert select(pool, 9, "MT-RRF").tolist() == [1, 0, 2]
    assert select(pool, 9, "SINGLE", task=0).tolist() == [1, 0]


def test_a_closed_cell_counts_as_certain_on_the_pareto_frontier():
    pool = np.array([[NAN, 0.3], [0.5, 0.3], [0.4, 0.6], [NAN, 0.2]])
    assert select(pool, 4, "MT-PAR").tolist() == [2, 1, 3, 0]


def test_rows_open_only_for_tasks_of_weight_zero_come_last():
    pool = np.array([[NAN, 0.0], [0.9, 0.9], [0.8, NAN]])
    for strategy in ("MT-AVG", "MT-RRF", "MT-IND", "MT-PAR"):
        assert select(pool, 3, strategy, weights=[1, 0]).tolist() == [2, 1, 0], strategy


def test_equal_weights_are_the_plain_strategy():
    for strategy in ("MT-AVG", "MT-RRF", "MT-IND", "MT-PAR", "MT-MAX", "MT-MIN"):
        assert select(POOL, 6, strategy, weights=[0.5, 0.5]).tolist() == (
            select(POOL, 6, strategy).tolist()
        )


# Literal definitions, slow and separate from the code under test.


def _layers_by_hand(points):
    is_below = (points[:, None] <= points[None]).all(axis=2) & (points[:, None] < points[None]).any(
        axis=2
    )
    layer, left, depth = np.zeros(len(points), int), np.ones(len(points), bool), 0
    while left.any():
        front = left & ~is_below[left].any(axis=0)
        layer[front], depth = depth, depth + 1
        left &= ~front
    return layer.tolist()


def _bent_by_hand(points, n, weights):
    important = int(np.argmax(weights))
    multiplier = [
        1.0 if k == important else np.quantile(points[:, k], weights[k])
        for k in range(len(weights))
    ]
    left, chosen = list(range(len(points))), []
    while len(chosen) < n:
        kept = []
        for j in sorted(left, key=lambda j: (points[j, important], *points[j], j)):
            if all(
                any(points[j, k] < multiplier[k] * points[i, k] for k in range(len(weights)))
                for i in kept
            ):
                kept.append(j)
        left = [j for j in left if j not in kept]
        kept.sort(key=lambda j: (*points[j], j))
        missing = n - len(chosen)
        if len(kept) > missing:
            kept = kept[:: len(kept) // missing]
            while len(kept) > missing:
                del kept[len(kept) // 2]
        chosen += kept
    return chosen


def _small_pool(rng, n_tasks):
    pool = rng.random((rng.integers(1, 40), n_tasks))
    return np.round(pool, 1) if rng.random() < 0.5 else pool


@pytest.mark.parametrize("n_tasks", [1, 2, 3, 4, 5])
def test_layers_equal_peeling_by_pairs(n_tasks):
    rng = np.random.default_rng(n_tasks)
    for _ in range(60):
        pool = _small_pool(rng, n_tasks)
        assert pareto_layers(pool).tolist() == _layers_by_hand(pool)


def test_layers_of_the_first_n_points_are_exact_and_the_rest_lies_deeper():
    rng = np.random.default_rng(31)
    for n in (1, 5, 20):
        pool = np.round(rng.random((60, 4)), 1)
        exact, found = np.array(_layers_by_hand(pool)), pareto_layers(pool, n)
        needed = exact <= np.searchsorted(np.cumsum(np.bincount(exact)), n)
        assert found[needed].tolist() == exact[needed].tolist()
        assert (found[~needed] > exact[needed].max()).all()


@pytest.mark.parametrize("n_tasks", [2, 3, 4])
@pytest.mark.parametrize("decimals", [2, 12])
def test_the_rows_ruled_out_before_layering_are_never_needed(n_tasks, decimals):
    rng = np.random.default_rng(10 * n_tasks)
    for n in (1, 3, 10):
        pool = np.round(rng.random((400, n_tasks)), decimals)
        layer = np.array(_layers_by_hand(pool))
        depth = int(np.searchsorted(np.cumsum(np.bincount(layer)), n))
        kept = shallow_rows(pool, n)
        assert set(np.flatnonzero(layer <= depth)) <= set(kept.tolist())
        assert pareto_layers(pool[kept])[layer[kept] <= depth].tolist() == (
            layer[kept][layer[kept] <= depth].tolist()
        )


@pytest.mark.parametrize("n_tasks", [2, 3, 4])
def test_weighted_pareto_equals_the_scan_written_out(n_tasks):
    rng = np.random.default_rng(20 + n_tasks)
    for _ in range(80):
        pool = _small_pool(rng, n_tasks)
        weights = np.round(rng.dirichlet(np.ones(n_tasks)), 3)
        weights[0] += 1 - weights.sum()
        n = int(rng.integers(1, len(pool) + 1))
        found = select(pool, n, "MT-PAR", weights=weights).tolist()
        assert found == _bent_by_hand(pool, n, weights)


def test_weighted_pareto_equals_the_scan_on_a_pool_large_enough_to_rule_rows_out():
    rng = np.random.default_rng(99)
    for decimals in (1, 2, 12):
        pool = np.round(rng.beta([8, 3], [1, 2], (700, 2)), decimals)
        assert select(pool, 6, "MT-PAR", weights=[0.4, 0.6]).tolist() == (
            _bent_by_hand(pool, 6, np.array([0.4, 0.6]))
        )


def test_rrf_equals_its_formula():
    rng = np.random.default_rng(7)
    for _ in range(50):
        pool = _small_pool(rng, 3)
        order = [sorted(range(len(pool)), key=lambda j, k=k: (pool[j, k], j)) for k in range(3)]
        score = [sum(1 / (60 + order[k].index(j) + 1) for k in range(3)) for j in range(len(pool))]
        found = select(pool, len(pool), "MT-RRF")
        assert [score[j] for j in found] == pytest.approx(sorted(score, reverse=True))


def test_ind_with_a_share_just_below_a_whole_number_still_counts_it():
    pool = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6], [0.5, 0.5], [0.9, 0.1]])
    assert 5 in select(pool, 5, "MT-IND", weights=[0.8, 1 - 0.8])


# The front door.


def test_an_unknown_strategy_is_never_silently_another():
    with pytest.raises(UnknownName, match="Did you mean 'MT-PAR'"):
        select(POOL, 2, "MT-PARR")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"confidence": POOL[:, 0]}, r"confidence\[:, None\]"),
        ({"confidence": np.empty((3, 0))}, "at least one task"),
        ({"confidence": POOL + 0.2}, "row 0, task 1 is 1.1; allowed is 0 to 1"),
        ({"confidence": -POOL}, "row 0, task 0 is -0.1"),
        ({"n": -1}, "n is -1"),
        ({"n": 2.5}, "n is 2.5; expected a whole number"),
        ({"weights": [0.5, 0.6]}, "divide them by their sum"),
        ({"weights": [1.5, -0.5]}, "at least 0"),
        ({"weights": [NAN, 1]}, "at least 0"),
        ({"weights": [1.0]}, "there are 2 tasks"),
        ({"strategy": "MT-MAX", "weights": [0.7, 0.3]}, "MT-MAX does not weigh tasks"),
        ({"strategy": "SINGLE"}, "from 0 to 1; got None"),
        ({"strategy": "SINGLE", "task": 2}, "from 0 to 1; got 2"),
        ({"task": 1}, "use SINGLE"),
        ({"strategy": "RANDOM"}, "needs rng="),
    ],
)
def test_a_wrong_request_is_refused_with_what_to_do(change, message):
    request = {"confidence": POOL, "n": 3, "strategy": "MT-AVG"} | change
    with pytest.raises(EngineError, match=message):
        select(**request)


def test_confidences_a_rounding_error_outside_are_let_in():
    assert select(np.array([[1 + 1e-9], [-1e-9]]), 2, "MT-AVG").tolist() == [1, 0]
