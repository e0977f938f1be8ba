"""The paper's loop: train, test, score, choose, uncover; the same engine code as the server's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.active_learning.corpus import HiddenPool, LabelledCorpus, draw_rows
from analysis.errors import AnalysisError
from mtl_engine.calibration import expected_calibration_error
from mtl_engine.confidence import overconfidence_error
from mtl_engine.config import EngineConfig
from mtl_engine.costs import Costs
from mtl_engine.evaluation import TaskResult, evaluate
from mtl_engine.features import open_features
from mtl_engine.model import MultiTaskModel
from mtl_engine.prediction import Scores, fit_temperatures, score
from mtl_engine.selection import made_comparable, one_shot_budget, plan, select
from mtl_engine.selection.fairness import Comparable
from mtl_engine.selection.request import Decision
from mtl_engine.training import End, train
from mtl_engine.types import Example

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Protocol:
    """One way to spend an annotation budget."""

    strategy: str = "MT-AVG"
    task: str = ""  # of SINGLE and STCS
    weights: Mapping[str, float] = field(default_factory=dict)
    decision: str = "GREEDY"  # GREEDY, BLP, or ONCE: the whole budget by one BLP
    confidence: str = "entropy"
    has_temperature: bool = False
    scale: Comparable = "none"  # how confidences are made comparable within the pool
    value: str = "mean"  # or information: what the whole sentence tells, not its mean token
    initial: int = 50
    dev_size: int = 100
    n_rounds: int = 5  # trainings; one acquisition fewer
    budget: float = 500.0  # per acquisition, in cost units; 0 = by number
    n_per_round: int = 0  # sentences per acquisition where there is no budget
    pool_size: int = 0  # random part of the pool that is looked at; 0 = all of it
    cost_source: str = "predicted"  # of the number of spans; gold only to compare with papers


def run_protocol(
    corpus: LabelledCorpus,
    protocol: Protocol,
    config: EngineConfig,
    *,
    seed: int,
    cache_dir: Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield what each round measured on the test sentences and chose; the last row is the sum."""
    rng = np.random.default_rng(seed)
    rows = draw_rows(len(corpus.pool), min(len(corpus.pool), protocol.pool_size or 10**9), rng)
    order = rng.permutation(rows)
    n_needed = protocol.initial + protocol.dev_size
    if len(order) <= n_needed:
        raise AnalysisError(
            f"The pool has {len(order)} sentences: initial {protocol.initial} and dev "
            f"{protocol.dev_size} leave nothing to choose from."
        )
    dev = [corpus.pool[i] for i in order[: protocol.dev_size]]
    pool = HiddenPool([corpus.pool[i] for i in order[protocol.dev_size :]], corpus.tasks)
    _reveal_rows(pool, np.arange(protocol.initial))
    spent = _actual_cost(pool, pool.is_revealed)
    means = []
    for number in range(protocol.n_rounds):
        model, temperatures = _train(corpus, pool, dev, protocol, config, cache_dir)
        row = _measure(model, corpus.test, temperatures, cache_dir)
        means.append(row["mean"])
        selected: list[int] = []
        if number + 1 < protocol.n_rounds and not (protocol.decision == "ONCE" and number > 0):
            ask = choose_cells(model, pool, protocol, temperatures, cache_dir, rng)
            selected = [int(order[protocol.dev_size + r]) for r in np.flatnonzero(ask.any(axis=1))]
        yield {
            "step": int(pool.is_revealed.any(axis=1).sum()),
            "cost": spent,
            **row,
            "selected": selected,
        }
        if selected:
            before = pool.is_revealed.copy()
            pool.reveal(ask)
            spent += _actual_cost(pool, pool.is_revealed & ~before)
    yield {"final": {**row, "mean_of_rounds": float(np.mean(means)), "cost": spent}}


def choose_cells(
    model: MultiTaskModel,
    pool: HiddenPool,
    protocol: Protocol,
    temperatures: Mapping[str, float],
    cache_dir: Path | None,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Return the cells (n, t) that the model's scores and the protocol ask for."""
    scores = score(
        model,
        pool.tokens,
        tasks=pool.names,
        method="dropout" if protocol.confidence == "dropout" else "entropy",
        temperatures=dict(temperatures),
        features=open_features(model.encoder, cache_dir),
    )
    confidence = _confidence(scores, pool, protocol)
    options: dict[str, Any] = {
        "task": pool.names.index(protocol.task) if protocol.task else None,
        "weights": [protocol.weights.get(n, 0.0) for n in pool.names] if protocol.weights else None,
        "rng": rng if protocol.strategy == "RANDOM" else None,
    }
    if protocol.budget <= 0:
        rows = select(confidence, protocol.n_per_round, protocol.strategy, **options)
        ask = np.zeros(confidence.shape, dtype=bool)
        ask[rows] = ~np.isnan(confidence[rows])
        return ask
    costs = _costs(pool, scores, protocol)
    budget = protocol.budget
    if protocol.decision == "ONCE":
        budget = one_shot_budget(protocol.budget, protocol.n_rounds)
    decision: Decision = "GREEDY" if protocol.decision == "GREEDY" else "BLP"
    return plan(confidence, costs, budget, protocol.strategy, decision=decision, **options).ask


def _confidence(scores: Scores, pool: HiddenPool, protocol: Protocol) -> Floats:
    """Return the confidence that is compared: closed cells NaN, columns made comparable."""
    confidence = scores.confidence.copy()
    if protocol.value == "information":
        confidence = 1 / (1 + scores.information)
    confidence[pool.closed()] = np.nan
    return made_comparable(confidence, protocol.scale)


def _costs(pool: HiddenPool, scores: Scores, protocol: Protocol) -> Costs:
    """Return the paper's costs for any tasks: tokens read, spans marked, 3 a class, 1 a token."""
    n_tokens = np.array([len(tokens) for tokens in pool.tokens], dtype=float)
    counts = pool.gold_counts() if protocol.cost_source == "gold" else np.ceil(scores.n_expected)
    return Costs(
        n_tokens, _label_costs(pool, n_tokens, counts, protocol.cost_source == "predicted")
    )


def _label_costs(pool: HiddenPool, n_tokens: Floats, counts: Floats, is_guess: bool) -> Floats:
    columns = []
    for column in range(len(pool.names)):
        kind = pool.kinds[column]
        if kind == "classes":
            columns.append(np.full(len(n_tokens), 3.0))
        elif kind in ("spans", "relations"):
            columns.append(np.maximum(counts[:, column], 1.0 if is_guess else 0.0))
        else:
            columns.append(n_tokens)
    return np.stack(columns, axis=1)


def _actual_cost(pool: HiddenPool, bought: NDArray[np.bool_]) -> float:
    """Return what uncovered cells really cost, charged after the answers are there."""
    n_tokens = np.array([len(tokens) for tokens in pool.tokens], dtype=float)
    label = _label_costs(pool, n_tokens, pool.gold_counts(), False)
    is_first = bought.any(axis=1) & ~(pool.is_revealed & ~bought).any(axis=1)
    return float(n_tokens[is_first].sum() + label[bought].sum())


def _reveal_rows(pool: HiddenPool, rows: NDArray[np.int64]) -> None:
    ask = np.zeros(pool.is_open.shape, dtype=bool)
    ask[rows] = True
    pool.reveal(ask)


def _train(
    corpus: LabelledCorpus,
    pool: HiddenPool,
    dev: Sequence[Example],
    protocol: Protocol,
    config: EngineConfig,
    cache_dir: Path | None,
) -> tuple[MultiTaskModel, dict[str, float]]:
    model = None
    for event in train(pool.revealed_examples(), dev, corpus.tasks, config, cache_dir=cache_dir):
        if isinstance(event, End):
            model = event.model
    if model is None:
        raise AssertionError("a training always ends with its model")
    return model, fit_temperatures(model, dev) if protocol.has_temperature else {}


def _measure(
    model: MultiTaskModel,
    test: Sequence[Example],
    temperatures: Mapping[str, float],
    cache_dir: Path | None,
) -> dict[str, Any]:
    results = evaluate(
        model,
        test,
        temperatures=dict(temperatures),
        features=open_features(model.encoder, cache_dir),
    )
    row: dict[str, Any] = {name: result.main for name, result in results.items()}
    scores = np.array(list(row.values()))
    row["mean"] = float(scores.mean())
    row["geometric_mean"] = float(np.exp(np.log(np.maximum(scores, 1e-8)).mean()))
    for name, result in results.items():
        row |= {f"{name} {key}": value for key, value in _calibration(result).items()}
    return row


def _calibration(result: TaskResult) -> dict[str, float]:
    return {
        "OE": float(overconfidence_error(result.confidence, result.accuracy)),
        "ECE": float(expected_calibration_error(result.confidence, result.accuracy)),
        "confidence": float(result.confidence.mean()),
        "accuracy": float(result.accuracy.mean()),
    }
