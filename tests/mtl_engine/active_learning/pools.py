"""A pool of made-up sentences, labelled data and scores drawn by chance."""

import numpy as np

from mtl_engine.active_learning.pool import LabelledData, LabelledExample, Pool
from mtl_engine.active_learning.price import price_pool
from mtl_engine.active_learning.score import PoolScores
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.costs import fit_costs
from mtl_engine.selection import TaskUnits, Units
from tests.mtl_engine.corpus import sentences

TINY = {"encoder": "tiny", "frozen_layers": -1, "epochs": 2}


def pool_of(examples, tasks, *, is_closed=None):
    """Return a pool of some examples, all of it open unless told."""
    tokens = [example.tokens for example in examples]
    shape = (len(tokens), len(tasks))
    return Pool(
        tasks=tuple(tasks),
        ids=np.arange(100, 100 + len(tokens)),
        n_tokens=np.array([len(words) for words in tokens]),
        is_closed=np.zeros(shape, dtype=bool) if is_closed is None else is_closed,
        read_tokens=lambda rows: (tokens[row] for row in rows),
    )


def labelled(tasks, *, train=24, dev=8, test=8):
    """Return labelled data of some tasks, in three parts."""
    names = {task.name for task in tasks}
    parts = ["train"] * train + ["dev"] * dev + ["test"] * test
    return LabelledData(
        tuple(
            LabelledExample(
                type(e)(e.tokens, {n: a for n, a in e.labels.items() if n in names}, e.id), part
            )
            for e, part in zip(sentences(len(parts)), parts, strict=True)
        )
    )


def random_scores(pool, seed=4):
    """Return scores that no model gave."""
    rng = np.random.default_rng(seed)
    shape = pool.is_closed.shape
    confidence = np.where(pool.is_closed, np.nan, rng.uniform(size=shape))
    items = rng.uniform(0.0, 4.0, size=shape)
    information, coverage = rng.uniform(size=shape), rng.uniform(size=len(pool))
    return PoolScores(confidence, information, items, items, coverage, random_units(pool, seed))


def random_units(pool, seed=4):
    """Return units of a pool, one per cell, in ten clusters."""
    rng = np.random.default_rng(seed)
    n = len(pool)
    return Units(
        tuple(
            TaskUnits(np.ones(n, int), rng.integers(0, 10, n), rng.random(n), np.zeros(10, int))
            for _ in pool.tasks
        )
    )


def prices_of(pool, scores, unit="cost"):
    """Return what the pool costs, before anybody's time was measured."""
    model = fit_costs([], {task.name: task.kind for task in pool.tasks})
    settings = ActiveLearningSettings(unit=unit)
    return price_pool(pool, scores.n_expected, settings, model)
