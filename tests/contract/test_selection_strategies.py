"""What every registered strategy promises, whichever it is."""

import numpy as np
import pytest

from mtl_engine.selection import STRATEGIES, select

NAN = np.nan
NAMES = sorted(STRATEGIES)
WEIGHTED = [name for name in NAMES if STRATEGIES[name].takes_weights]


def _options(name):
    options = {}
    if STRATEGIES[name].needs_task:
        options["task"] = 0
    if STRATEGIES[name].needs_rng:
        options["rng"] = 1
    return options


def _pools():
    rng = np.random.default_rng(0)
    yield rng.random((50, 3))
    yield np.round(rng.random((60, 2)), 1)
    yield rng.random((30, 1))
    yield rng.random((25, 5))
    yield np.where(rng.random((60, 3)) < 0.4, NAN, rng.random((60, 3)))


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_distinct_open_and_as_many_as_asked(name):
    for pool in _pools():
        is_open = ~np.isnan(pool[:, [0]] if STRATEGIES[name].needs_task else pool).all(axis=1)
        for n in (0, 1, 7, len(pool), len(pool) + 10):
            rows = select(pool, n, name, **_options(name))
            assert len(rows) == min(n, is_open.sum())
            assert len(set(rows.tolist())) == len(rows)
            assert is_open[rows].all()


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"RANDOM"}))
def test_the_choice_does_not_depend_on_the_order_of_the_pool(name):
    rng = np.random.default_rng(2)
    pool = rng.random((80, 3))  # no ties
    order = rng.permutation(80)
    chosen = select(pool, 20, name, **_options(name))
    shuffled = select(pool[order], 20, name, **_options(name))
    assert order[shuffled].tolist() == chosen.tolist()


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"RANDOM"}))
def test_the_same_pool_gives_the_same_rows_and_is_not_changed(name):
    pool = np.random.default_rng(3).random((40, 2))
    before = pool.copy()
    assert select(pool, 9, name, **_options(name)).tolist() == (
        select(pool, 9, name, **_options(name)).tolist()
    )
    assert (pool == before).all()


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"RANDOM", "MT-PAR"}))
def test_equally_sure_sentences_come_in_the_order_of_the_pool(name):
    assert select(np.full((9, 2), 0.5), 4, name, **_options(name)).tolist() == [0, 1, 2, 3]


def test_equally_sure_sentences_are_one_frontier_which_is_thinned():
    assert select(np.full((8, 2), 0.5), 4, "MT-PAR").tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"RANDOM"}))
def test_with_one_task_every_strategy_asks_for_the_least_sure(name):
    pool = np.random.default_rng(4).random((30, 1))
    assert select(pool, 8, name, **_options(name)).tolist() == np.argsort(pool[:, 0])[:8].tolist()


@pytest.mark.parametrize("name", WEIGHTED)
def test_all_weight_on_one_task_is_that_tasks_own_list(name):
    pool = np.random.default_rng(5).random((40, 3))
    assert select(pool, 10, name, weights=[0, 1, 0]).tolist() == (
        select(pool, 10, "SINGLE", task=1).tolist()
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_pool_without_open_sentences_gives_none(name):
    assert len(select(np.full((4, 2), NAN), 3, name, **_options(name))) == 0
    assert len(select(np.empty((0, 2)), 3, name, **_options(name))) == 0


@pytest.mark.parametrize("name", NAMES)
def test_rows_come_back_as_whole_numbers(name):
    rows = select(np.random.default_rng(6).random((9, 2)), 3, name, **_options(name))
    assert rows.dtype == np.int64
    assert rows.ndim == 1
