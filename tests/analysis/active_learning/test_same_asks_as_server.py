"""Offline studies and the server's rounds ask for the same cells when they see the same scores."""

import numpy as np
import pytest

from analysis.active_learning.choosing import choose_cells
from analysis.active_learning.corpus import HiddenPool
from analysis.active_learning.pricing import PaperPrices
from analysis.active_learning.settings import Protocol
from annotation.round_config import RoundConfig
from annotation.rounds.choosing import Budget, choose
from mtl_engine.prediction import Scores
from mtl_engine.types import Example, TaskSpec

TASKS = (
    TaskSpec("slots", "spans", ("city",)),
    TaskSpec("intent", "classes", ("fly", "eat")),
)
N = 60


def _pool() -> HiddenPool:
    rng = np.random.default_rng(3)
    examples = [
        Example(("word",) * int(rng.integers(3, 20)), {"slots": [], "intent": "fly"}, i)
        for i in range(N)
    ]
    pool = HiddenPool(examples, TASKS)
    revealed = np.zeros((N, 2), dtype=bool)
    revealed[:10] = True
    revealed[10:14, 0] = True  # half-open rows
    pool.reveal(revealed)
    return pool


def _scores() -> Scores:
    rng = np.random.default_rng(4)
    items = rng.uniform(0.0, 4.0, size=(N, 2))
    return Scores(
        tasks=("slots", "intent"),
        confidence=rng.uniform(size=(N, 2)),
        is_judged=np.ones((N, 2), dtype=bool),
        information=rng.uniform(size=(N, 2)),
        n_items=items.astype(np.int64),
        n_expected=items,
        vectors=rng.normal(size=(N, 8)).astype(np.float32),
    )


def _asked_offline(pool: HiddenPool, scores: Scores, protocol: Protocol) -> np.ndarray:
    costs = PaperPrices().expected(pool, scores)
    return choose_cells(scores, pool, costs, protocol, rng=np.random.default_rng(5))


def _asked_by_server(pool: HiddenPool, scores: Scores, budget: Budget, **choices) -> np.ndarray:
    config = RoundConfig(random_share=0.0, blind_share=0.0, **choices)
    confidence = np.where(pool.closed(), np.nan, scores.confidence)
    costs = PaperPrices().expected(pool, scores)
    names = [task.name for task in TASKS]
    ask = np.zeros((N, 2), dtype=bool)
    found = choose(
        confidence,
        scores.information,
        costs,
        budget,
        config,
        names,
        vectors=lambda rows: scores.vectors[rows],
        rng=np.random.default_rng(5),
    )
    for chosen in found.asks:
        ask[chosen.row, list(chosen.tasks)] = True
    return ask


@pytest.mark.parametrize(
    "choices",
    [
        {"strategy": "MT-AVG", "decision": "BLP"},
        {"strategy": "MT-AVG", "decision": "GREEDY", "weights": {"slots": 0.7, "intent": 0.3}},
        {"strategy": "MT-MAX", "decision": "BLP"},
        {"strategy": "MT-MIN", "decision": "BLP", "scale": "quantile"},
        {"strategy": "MT-RRF", "decision": "GREEDY"},
        {"strategy": "MT-PAR", "decision": "GREEDY"},
        {"strategy": "MT-IND", "decision": "GREEDY"},
        {"strategy": "UDJS", "decision": "BLP"},
        {"strategy": "EQB-DJS", "decision": "BLP"},
        {"strategy": "STCS", "task": "slots", "decision": "BLP"},
        {"strategy": "MT-AVG", "decision": "BLP", "value": "information", "scale": "scaled"},
        {"strategy": "MT-AVG", "decision": "GREEDY", "diversity": "facility"},
        {"strategy": "MT-MIN", "decision": "GREEDY", "diversity": "facility", "scale": "quantile"},
    ],
)
def test_the_same_scores_and_budget_give_the_same_asks(choices):
    pool, scores = _pool(), _scores()
    protocol = Protocol(budget=120.0, **choices)
    offline = _asked_offline(pool, scores, protocol)
    assert offline.any()
    assert (offline == _asked_by_server(pool, scores, Budget(120.0, False), **choices)).all()


@pytest.mark.parametrize("strategy", ["MT-AVG", "MT-PAR", "SINGLE"])
def test_the_same_scores_and_number_give_the_same_asks(strategy):
    pool, scores = _pool(), _scores()
    choices = {"strategy": strategy, "task": "intent" if strategy == "SINGLE" else ""}
    protocol = Protocol(budget=0.0, n_per_round=12, **choices)
    offline = _asked_offline(pool, scores, protocol)
    assert offline.any(axis=1).sum() == 12
    server = _asked_by_server(pool, scores, Budget(12, True), unit="sentences", **choices)
    assert (offline == server).all()
