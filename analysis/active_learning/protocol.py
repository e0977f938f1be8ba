"""The paper's loop: train, test, score, choose, uncover; the same engine code as the server's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.active_learning.choosing import choose_cells, coverage_of
from analysis.active_learning.corpus import HiddenPool, LabelledCorpus, draw_rows
from analysis.active_learning.learning import Learned, learn
from analysis.active_learning.pricing import PaperPrices, Prices, charge
from analysis.active_learning.settings import Protocol
from analysis.errors import AnalysisError
from mtl_engine.config import EngineConfig
from mtl_engine.types import Example


def run_protocol(
    corpus: LabelledCorpus,
    protocol: Protocol,
    config: EngineConfig,
    *,
    seed: int,
    cache_dir: Path | None = None,
    prices: Prices | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield what each round measured on the test sentences and chose; the last row is the sum.

    Without ``prices`` costs are the paper's.
    """
    _check_tasks(protocol, corpus)
    prices = prices or PaperPrices(protocol.cost_source)
    rng = np.random.default_rng(seed)
    dev, pool, numbers = _divide(corpus, protocol, rng)
    _reveal_rows(pool, np.arange(protocol.initial))
    actual = prices.actual(pool)
    spent = charge(actual, pool.is_revealed, np.zeros_like(pool.is_revealed))
    measured: list[dict[str, float]] = []
    learned: Learned | None = None
    is_news = True
    for number in range(protocol.n_rounds):
        if learned is None or is_news:
            learned = learn(
                corpus,
                pool.revealed_examples(),
                dev,
                protocol,
                config,
                cache_dir=cache_dir,
                earlier=learned if protocol.is_warm_start else None,
                is_shared=number == 0,
            )
        measured.append(learned.measure(corpus.test) if is_news else measured[-1])
        ask = np.zeros(pool.is_open.shape, dtype=bool)
        if _is_buying(protocol, number):
            ask = _choose(learned, pool, corpus, prices, protocol, rng)
        yield {
            "step": int(pool.is_revealed.any(axis=1).sum()),
            "cost": spent,
            **measured[-1],
            "selected": [int(numbers[row]) for row in np.flatnonzero(ask.any(axis=1))],
        }
        spent += charge(actual, ask, pool.is_revealed)
        pool.reveal(ask)
        is_news = protocol.is_warm_start or bool(ask.any())
    yield {"final": _final(measured, corpus, spent)}


def learn_everything(
    corpus: LabelledCorpus,
    protocol: Protocol,
    config: EngineConfig,
    *,
    seed: int,
    cache_dir: Path | None = None,
    prices: Prices | None = None,
) -> tuple[dict[str, float], float]:
    """Return what a model of the whole pool measures, with the same dev, and what that cost."""
    prices = prices or PaperPrices(protocol.cost_source)
    dev, pool, _ = _divide(corpus, protocol, np.random.default_rng(seed))
    _reveal_rows(pool, np.arange(len(pool)))
    learned = learn(corpus, pool.revealed_examples(), dev, protocol, config, cache_dir=cache_dir)
    nothing = np.zeros_like(pool.is_revealed)
    return learned.measure(corpus.test), charge(prices.actual(pool), pool.is_revealed, nothing)


def _check_tasks(protocol: Protocol, corpus: LabelledCorpus) -> None:
    """Refuse a protocol that names a task the corpus has not, before anything is trained."""
    known = [task.name for task in corpus.tasks]
    for name in (*protocol.weights, *([protocol.task] if protocol.task else [])):
        if name not in known:
            raise AnalysisError(f"No task '{name}' in the corpus. Known: {', '.join(known)}.")


def _divide(
    corpus: LabelledCorpus, protocol: Protocol, rng: np.random.Generator
) -> tuple[list[Example], HiddenPool, NDArray[np.int64]]:
    """Return the dev sentences, the pool, and the pool's sentences by number in the corpus."""
    order = _drawn_order(corpus, protocol, rng)
    dev = [corpus.pool[i] for i in order[: protocol.dev_size]]
    numbers = order[protocol.dev_size :]
    return dev, HiddenPool([corpus.pool[i] for i in numbers], corpus.tasks), numbers


def _drawn_order(
    corpus: LabelledCorpus, protocol: Protocol, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the sentences that take part, in random order: first dev, then initial, then pool."""
    size = min(len(corpus.pool), protocol.pool_size or len(corpus.pool))
    order = rng.permutation(draw_rows(len(corpus.pool), size, rng))
    n_left = len(order) - protocol.initial - protocol.dev_size
    if n_left < (1 if protocol.n_rounds > 1 else 0):
        raise AnalysisError(
            f"The pool has {len(order)} sentences: initial {protocol.initial} and dev "
            f"{protocol.dev_size} leave nothing to choose from."
        )
    return order


def _is_buying(protocol: Protocol, number: int) -> bool:
    """Return whether sentences are bought after this training; nothing is after the last."""
    is_first_or_again = number == 0 or protocol.decision != "ONCE"
    return number + 1 < protocol.n_rounds and is_first_or_again


def _choose(
    learned: Learned,
    pool: HiddenPool,
    corpus: LabelledCorpus,
    prices: Prices,
    protocol: Protocol,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    coverage = None
    if protocol.coverage_weight:
        known = [example.labels for example in pool.revealed_examples()]
        coverage = coverage_of(learned.answers(pool.tokens), known, corpus.tasks)
    scores = learned.score(pool.tokens, pool.names)
    costs = prices.expected(pool, scores)
    return choose_cells(scores, pool, costs, protocol, rng=rng, coverage=coverage)


def _final(
    measured: list[dict[str, float]], corpus: LabelledCorpus, spent: float
) -> dict[str, float]:
    """Return the last round's scores, and each score's mean over the rounds."""
    names = [task.name for task in corpus.tasks if task.name in measured[0]]
    over_rounds = {
        f"{name} over rounds": float(np.mean([row[name] for row in measured]))
        for name in (*names, "mean")
    }
    return {**measured[-1], **over_rounds, "cost": spent}


def _reveal_rows(pool: HiddenPool, rows: NDArray[np.int64]) -> None:
    ask = np.zeros(pool.is_open.shape, dtype=bool)
    ask[rows] = True
    pool.reveal(ask)
