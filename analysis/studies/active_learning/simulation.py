"""The loop of the server over labels that are hidden until they are asked for (paper 003)."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from analysis.data.labelled import HiddenPool, LabelledCorpus, Words, WorkTimes, draw_rows
from analysis.errors import AnalysisError
from analysis.studies.active_learning.settings import (
    BY_CHANCE,
    GOLD,
    ONCE,
    POOL,
    SimulationSettings,
)
from mtl_engine.active_learning.choose import Choice, budget_of, choose
from mtl_engine.active_learning.cover import CLUSTER_LAYERS, sentence_groups
from mtl_engine.active_learning.evaluate import Calibration, Evaluation, evaluate_ensemble
from mtl_engine.active_learning.pool import (
    DEV,
    TRAIN,
    Cells,
    LabelledData,
    LabelledExample,
    Pool,
    Rows,
    part_of,
)
from mtl_engine.active_learning.price import Prices, charge, price_items, price_pool
from mtl_engine.active_learning.score import score_pool, sentence_vectors
from mtl_engine.active_learning.train import Checkpoints, Training, train_ensemble
from mtl_engine.atomic import first_folder
from mtl_engine.checkpoint import load_model, save_model
from mtl_engine.clusters import typical_order
from mtl_engine.costs import Costs, fit_costs
from mtl_engine.devices import seeded
from mtl_engine.encoders import new_encoder
from mtl_engine.ensemble import Ensemble, TrainedModel
from mtl_engine.examples import examples_hash
from mtl_engine.feature_store import MemoryStore
from mtl_engine.features import MEMORY_LIMIT, Features, open_features
from mtl_engine.prediction import fit_temperatures
from mtl_engine.selection import one_shot_budget
from mtl_engine.types import Example

SECONDS_PER_MINUTE = 60.0
FIRST_MODELS = "first_models"  # folder of the cache


@dataclass(frozen=True)
class Drawn:
    """A corpus divided by chance: dev sentences, and the pool that an oracle answers from."""

    dev: tuple[Example, ...]
    oracle: HiddenPool
    numbers: np.ndarray  # (n,) the pool's sentences by their numbers in the corpus


def simulate(
    corpus: LabelledCorpus,
    settings: SimulationSettings,
    *,
    seed: int,
    cache_dir: Path | None = None,
    times: WorkTimes | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield what each training measured on the test sentences and chose; the last row is the sum.

    Costs are minutes, or units of the paper. Without ``times`` minutes are those of the prior.
    """
    problems = settings.task_problems([task.name for task in corpus.tasks])
    if problems:
        raise AnalysisError(f"The corpus: {problems[0].message}")
    drawn = divide(corpus, settings, np.random.default_rng(seed))
    times = times or prior_times(corpus)
    actual = actual_costs(drawn.oracle, settings, times)
    oracle = drawn.oracle
    oracle.reveal(first_cells(oracle, settings, actual, seed=seed, cache_dir=cache_dir))
    spent = charge(actual, oracle.is_revealed, np.zeros_like(oracle.is_revealed))
    measured: list[dict[str, float]] = []
    ensemble: Ensemble | None = None
    is_news = True
    for number in range(settings.n_rounds):
        if ensemble is None or is_news:
            ensemble = _train(
                corpus, drawn, settings, seed, cache_dir, earlier=ensemble, is_first=number == 0
            )
            measured.append(measure(ensemble, corpus, settings, seed, oracle))
        else:
            measured.append(measured[-1])
        asked = np.zeros(oracle.is_open.shape, dtype=bool)
        promise: dict[str, float] = {}
        words: Words = {}
        if _is_buying(settings, number):
            asked, words, promise = _ask(ensemble, drawn, settings, times, actual, seed, number)
        yield {
            "step": int(oracle.is_revealed.any(axis=1).sum()),
            "cost": _shown(spent, settings),
            **measured[-1],
            "selected": [int(drawn.numbers[row]) for row in np.flatnonzero(asked.any(axis=1))],
            "bought": bought(oracle, asked, words),
            "promise": promise,
        }
        price = actual_costs(oracle, settings, times, words) if words else actual
        spent += charge(price, asked, oracle.is_revealed)
        oracle.reveal(asked, words)
        is_news = settings.is_warm_start or bool(asked.any())
    yield {"final": _final(measured, corpus, _shown(spent, settings))}


def measure_everything(
    corpus: LabelledCorpus,
    settings: SimulationSettings,
    *,
    seed: int,
    cache_dir: Path | None = None,
    times: WorkTimes | None = None,
) -> tuple[dict[str, float], float]:
    """Return what a model of the whole pool measures, with the same dev, and what that cost."""
    drawn = divide(corpus, settings, np.random.default_rng(seed))
    oracle = drawn.oracle
    actual = actual_costs(oracle, settings, times or prior_times(corpus))
    nothing = np.zeros_like(oracle.is_revealed)
    oracle.reveal(np.ones_like(oracle.is_revealed))
    ensemble = _train(corpus, drawn, settings, seed, cache_dir)
    cost = charge(actual, oracle.is_revealed, nothing)
    return measure(ensemble, corpus, settings, seed), _shown(cost, settings)


def divide(corpus: LabelledCorpus, settings: SimulationSettings, rng: np.random.Generator) -> Drawn:
    """Return the sentences that take part, in random order: first dev, then the pool."""
    size = min(len(corpus.pool), settings.pool_size or len(corpus.pool))
    order = rng.permutation(draw_rows(len(corpus.pool), size, rng))
    n_left = len(order) - settings.initial - settings.dev_size
    if n_left < (1 if settings.n_rounds > 1 else 0):
        raise AnalysisError(
            f"The pool has {len(order)} sentences: initial {settings.initial} and dev "
            f"{settings.dev_size} leave nothing to choose from."
        )
    numbers = order[settings.dev_size :]
    dev = tuple(corpus.pool[i] for i in order[: settings.dev_size])
    return Drawn(dev, HiddenPool([corpus.pool[i] for i in numbers], corpus.tasks), numbers)


def prior_times(corpus: LabelledCorpus) -> WorkTimes:
    """Return what people need as far as nobody was measured."""
    return WorkTimes(fit_costs([], {task.name: task.kind for task in corpus.tasks}))


def measure(
    ensemble: Ensemble,
    corpus: LabelledCorpus,
    settings: SimulationSettings,
    seed: int,
    oracle: HiddenPool | None = None,
) -> dict[str, float]:
    """Return scores on the test sentences and calibration there or on the pool, by task and all."""
    found = evaluate_ensemble(ensemble, corpus.test, settings, seed=seed, has_intervals=False)
    row = {name: task.score for name, task in found.tasks.items()}
    row |= {"mean": found.mean, "geometric_mean": found.geometric_mean}
    if settings.calibration_on == POOL and oracle is not None:
        hidden = oracle.hidden_examples(len(corpus.test), np.random.default_rng(seed))
        found = evaluate_ensemble(ensemble, hidden, settings, seed=seed, has_intervals=False)
    for name, task in found.tasks.items():
        row |= _calibration(f"{name} ", task.calibration_scaled)
    return row | _joint_calibration(found)


def _train(
    corpus: LabelledCorpus,
    drawn: Drawn,
    settings: SimulationSettings,
    seed: int,
    cache_dir: Path | None,
    *,
    earlier: Ensemble | None = None,
    is_first: bool = False,
) -> Ensemble:
    shared = SharedModels(cache_dir, has_temperature=settings.has_temperature)
    return train_ensemble(
        labelled_data(drawn),
        corpus.tasks,
        settings.engine_config(seed=seed),
        has_temperature=settings.has_temperature,
        warm_start=earlier if settings.is_warm_start else None,
        checkpoints=shared if is_first else None,
        cache_dir=cache_dir,
    )


def labelled_data(drawn: Drawn) -> LabelledData:
    """Return what is known: dev sentences that were drawn, else a share, as rounds hold it out."""
    revealed = drawn.oracle.revealed_examples()
    found = [LabelledExample(one, TRAIN if drawn.dev else part_of(one.id)) for one in revealed]
    return LabelledData((*found, *(LabelledExample(one, DEV) for one in drawn.dev)))


def _ask(
    ensemble: Ensemble,
    drawn: Drawn,
    settings: SimulationSettings,
    times: WorkTimes,
    actual: Costs,
    seed: int,
    number: int,
) -> tuple[Cells, Words, dict[str, float]]:
    """Return the cells (n, t) that a round would ask for, words of some, and what it promises.

    Only strategies that promise something say the last, in random batches by task.
    """
    oracle = drawn.oracle
    rng = np.random.default_rng([seed, number + 1])
    pool = oracle.pool()
    is_dev = [not drawn.dev and part_of(oracle.ids[row]) == DEV for row in pool.ids]
    pool = replace(pool, dev=np.array(is_dev)).sample(settings.pool_sample, rng)
    scores = score_pool(
        ensemble,
        pool,
        settings,
        seed=seed,
        known=oracle.revealed_examples(),
        held_out=labelled_data(drawn).part(DEV),
    )
    if scores.units is not None:
        scores = replace(scores, units=replace(scores.units, without=settings.without))
    if settings.cost_source == GOLD:
        prices = Prices(actual.at(pool.ids), "cost")
    else:
        prices = price_pool(pool, scores.n_expected, settings, times.model, scores.n_words)
    budget = budget_of(settings)
    if settings.decision == ONCE:
        budget = replace(budget, amount=one_shot_budget(budget.amount, settings.n_rounds))
    choice = choose(
        pool,
        scores,
        prices,
        settings,
        budget=budget,
        vectors=lambda rows: sentence_vectors(ensemble, pool, rows),
        rng=rng,
    )
    found = choice.coverage
    promise = {} if found is None else dict(zip(pool.names, found.ratio.tolist(), strict=True))
    words = {
        (int(pool.ids[one.row]), column): places
        for one in choice.selected
        for column, places in one.words.items()
    }
    return _cells(choice, pool, oracle), words, promise


def bought(oracle: HiddenPool, asked: Cells, words: Words | None = None) -> dict[str, Any]:
    """Return what some cells (n, t) are: sentences, their words, and by task answers and items."""
    rows, items = asked.any(axis=1), oracle.n_items(words)
    answered = np.repeat(oracle.n_tokens[:, None], asked.shape[1], axis=1)
    for cell, places in (words or {}).items():
        answered[cell] = len(places)
    return {
        "sentences": int(rows.sum()),
        "words": int(oracle.n_tokens[rows].sum()),
        "answers": dict(zip(oracle.names, asked.sum(axis=0).tolist(), strict=True)),
        "items": {
            name: int(items[asked[:, column], column].sum())
            for column, name in enumerate(oracle.names)
        },
        "answered words": {
            name: int(answered[asked[:, column], column].sum())
            for column, name in enumerate(oracle.names)
        },
    }


def _cells(choice: Choice, pool: Pool, oracle: HiddenPool) -> Cells:
    asked = np.zeros(oracle.is_open.shape, dtype=bool)
    for one in choice.selected:
        asked[pool.ids[one.row], list(one.tasks)] = True
    return asked


def actual_costs(
    oracle: HiddenPool,
    settings: SimulationSettings,
    times: WorkTimes,
    words: Words | None = None,
) -> Costs:
    """Return what the true answers cost: in minutes stretched to what was measured.

    Of cells with named words so much as these cost.
    """
    n_tokens = oracle.n_tokens
    found = price_items(oracle.tasks, n_tokens, oracle.n_items(), settings.unit, times.model)
    if found.unit != "seconds":
        items = oracle.n_items(words)
        return price_items(oracle.tasks, n_tokens, items, settings.unit, times.model).costs
    total = found.costs.by_row(oracle.is_open)
    measured = [times.seconds.get(i, t) for i, t in zip(oracle.ids, total, strict=True)]
    factor = np.divide(measured, total, out=np.ones_like(total), where=total > 0)
    if words:
        items = oracle.n_items(words)
        found = price_items(oracle.tasks, n_tokens, items, settings.unit, times.model)
    return Costs(found.costs.read * factor, found.costs.label * factor[:, None])


def _is_buying(settings: SimulationSettings, number: int) -> bool:
    """Return whether sentences are bought after this training; nothing is after the last."""
    is_first_or_again = number == 0 or settings.decision != ONCE
    return number + 1 < settings.n_rounds and is_first_or_again


def _shown(cost: float, settings: SimulationSettings) -> float:
    return cost if settings.unit == "cost" else cost / SECONDS_PER_MINUTE


def _calibration(prefix: str, found: Calibration) -> dict[str, float]:
    """Return the overconfidence error with what it cannot be read without."""
    return {
        f"{prefix}OE": found.overconfidence,
        f"{prefix}ECE": found.calibration_error,
        f"{prefix}R2": found.r_squared,
        f"{prefix}confidence": found.mean_confidence,
        f"{prefix}accuracy": found.mean_accuracy,
    }


def _joint_calibration(found: Evaluation) -> dict[str, float]:
    return _calibration("", found.calibration) if found.calibration else {}


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


def first_cells(
    oracle: HiddenPool,
    settings: SimulationSettings,
    actual: Costs,
    *,
    seed: int,
    cache_dir: Path | None = None,
) -> Cells:
    """Return the cells (n, t) that are known at the start.

    The pool is in random order, so its first sentences are drawn by chance. Typical ones are taken
    until they cost as much as those.
    """
    asked = np.zeros(oracle.is_open.shape, dtype=bool)
    rows = np.arange(settings.initial)
    if settings.start != BY_CHANCE:
        order = _typical_rows(oracle, settings, seed, cache_dir)
        price = actual.by_row(oracle.is_open)
        is_paid = np.cumsum(price[order]) <= price[rows].sum()
        rows = order[: max(1, int(is_paid.sum()))]
    asked[rows] = True
    return asked


def _typical_rows(
    oracle: HiddenPool, settings: SimulationSettings, seed: int, cache_dir: Path | None
) -> Rows:
    """Return the typical sentences first, each wording once, and no residue."""
    pool = oracle.pool()
    config = settings.engine_config(seed=seed).encoder
    if config.kind == "transformer":
        config = replace(config, frozen_layers=CLUSTER_LAYERS)
    with seeded(seed, torch.device("cpu")):
        encoder = new_encoder(config)
    features = open_features(encoder, cache_dir) or Features(encoder, MemoryStore(MEMORY_LIMIT))
    order = typical_order(features, pool.all_tokens(), settings.initial, seed=seed)
    groups = sentence_groups(pool)[order]
    _, first = np.unique(groups, return_index=True)
    kept = np.sort(first[groups[first] >= 0])
    return np.asarray(pool.ids[order[kept]], dtype=np.int64)


class SharedModels(Checkpoints):
    """The models that many runs begin with: trained once, found by what they learned from.

    All strategies of a study start from the same labelled sentences, so the first training of a
    seed is the same for each. It is kept with the caches, which may be removed at any time.
    """

    def __init__(self, cache_dir: Path | None, *, has_temperature: bool) -> None:
        self.cache_dir, self.has_temperature = cache_dir, has_temperature

    def find(self, training: Training) -> TrainedModel | None:
        folder = self._folder(training)
        if folder is None or not folder.exists():
            return None
        model = load_model(folder)
        can_fit = self.has_temperature and bool(training.dev)
        return TrainedModel(model, fit_temperatures(model, training.dev) if can_fit else {})

    def keep(self, training: Training, trained: TrainedModel) -> None:
        folder = self._folder(training)
        if folder is not None:
            with first_folder(folder) as new:
                save_model(trained.model, new)

    def _folder(self, training: Training) -> Path | None:
        return self.cache_dir / FIRST_MODELS / _key(training) if self.cache_dir else None


def _key(training: Training) -> str:
    known = {
        "config": training.config.to_dict(),
        "tasks": [task.to_dict() for task in training.tasks],
        "examples": examples_hash(training.examples),
        "dev": examples_hash(training.dev),
        "versions": [version(name) for name in ("torch", "transformers")],
    }
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:20]
