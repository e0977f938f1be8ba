"""A turn of active learning on a million sentences: python -m benchmarks.million.

The pool is made of real sentences whose words are exchanged, so that no two are alike. Measured are
the minutes and the memory until the first batch, and, on a smaller pool that can be scored as a
whole, what the batch of a sample is worth beside the batch of all, by the strategy's own value.
"""

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from benchmarks.engine_data import DATA_FOLDER, read_dataset
from mtl_engine.active_learning.choose import budget_of, choose
from mtl_engine.active_learning.pool import TRAIN, LabelledData, LabelledExample, Pool, Rows
from mtl_engine.active_learning.price import price_pool
from mtl_engine.active_learning.score import PoolScores, score_pool
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.active_learning.train import train_ensemble
from mtl_engine.costs import fit_costs
from mtl_engine.selection.coverage.objective import Objective, ranges
from mtl_engine.types import TaskSpec

RESULTS = Path(__file__).parent / "results" / "million.md"
CHANGED = 0.3  # share of words that are exchanged
SAMPLES = (5_000, 10_000, 20_000)
STRATEGIES = ("MT-EEC", "MT-RRF", "MT-AVG")  # the product's default first


class MadeUpSentences:
    """Sentences as numbers of words, 4 bytes each, whatever their number."""

    def __init__(self, sentences: list[tuple[str, ...]], n: int) -> None:
        rng = np.random.default_rng(0)
        self.words = sorted({word for tokens in sentences for word in tokens})
        number = {word: i for i, word in enumerate(self.words)}
        real = [np.array([number[word] for word in tokens], dtype=np.int32) for tokens in sentences]
        bases = rng.integers(len(real), size=n)
        self.sizes = np.array([len(real[base]) for base in bases])
        self._starts = np.cumsum(self.sizes) - self.sizes
        self._numbers = np.concatenate([real[base] for base in bases])
        is_changed = rng.random(len(self._numbers), dtype=np.float32) < CHANGED
        drawn = rng.integers(len(self._numbers), size=int(is_changed.sum()))
        self._numbers[is_changed] = self._numbers[drawn]  # frequent words stay frequent

    def read(self, rows: Rows) -> Iterator[list[str]]:
        """Yield the tokens of sentences."""
        for row in rows:
            start = self._starts[row]
            yield [self.words[i] for i in self._numbers[start : start + self.sizes[row]]]


def main() -> None:
    """Measure both, print them as JSON and write them down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA_FOLDER)
    parser.add_argument("--pool", type=int, default=1_000_000)
    parser.add_argument("--scored", type=int, default=64_000, help="pool that is scored as whole")
    parser.add_argument("--strategies", nargs="+", default=STRATEGIES)
    parser.add_argument("--samples", type=int, default=3, help="of each size, to take the mean of")
    parser.add_argument("--earlier", type=Path, help="JSON of a run whose other half is kept")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--encoder", choices=["bundled", "tiny"], default="bundled")
    arguments = parser.parse_args()
    splits, tasks = read_dataset("ewt_ner", arguments.data)
    sentences = [example.tokens for example in splits["train"][300:]]
    labelled = [
        LabelledExample(example, "train" if number < 250 else "dev")
        for number, example in enumerate(splits["train"][:300])
    ]
    report = json.loads(arguments.earlier.read_text()) if arguments.earlier else {}
    if arguments.pool:
        with TemporaryDirectory() as cache:
            data = LabelledData(tuple(labelled))
            report["turn"] = turn(arguments, sentences, data, tasks, Path(cache))
    if arguments.scored:
        report["worth"] = worth(arguments, sentences, LabelledData(tuple(labelled)), tasks)
    print(json.dumps(report, indent=1))
    arguments.results.write_text(in_markdown(report, arguments), encoding="utf-8")


def turn(
    arguments: argparse.Namespace,
    sentences: list[tuple[str, ...]],
    data: LabelledData,
    tasks: list[TaskSpec],
    cache: Path,
) -> dict[str, Any]:
    """Return the seconds of each step until the first batch, and the peak memory."""
    made_up = MadeUpSentences(sentences, arguments.pool)
    settings = ActiveLearningSettings(encoder=arguments.encoder)
    found: dict[str, Any] = {"sentences": arguments.pool, "mb_before": _peak_mb()}
    start = time.perf_counter(), time.process_time()
    config = settings.engine_config(seed=0)
    ensemble = train_ensemble(data, tasks, config, has_temperature=True, cache_dir=cache)
    found["training_cpu_s"] = round(time.process_time() - start[1], 1)
    mb_trained = _peak_mb()
    pool = _pool(made_up, tasks).sample(settings.pool_sample, np.random.default_rng(0))
    scores = score_pool(ensemble, pool, settings, seed=0, known=data.part(TRAIN))
    found["mb_trained"] = mb_trained
    found["scoring_cpu_s"] = round(time.process_time() - start[1] - found["training_cpu_s"], 1)
    model = fit_costs([], {task.name: task.kind for task in tasks})
    prices = price_pool(pool, scores.n_expected, settings, model)
    choice = choose(
        pool, scores, prices, settings, budget=budget_of(settings), rng=np.random.default_rng(0)
    )
    found |= {
        "asks": len(choice.selected),
        "minutes": round((time.perf_counter() - start[0]) / 60, 2),
        "cpu_minutes": round((time.process_time() - start[1]) / 60, 2),
        "peak_mb": _peak_mb(),
    }
    return found


def worth(
    arguments: argparse.Namespace,
    sentences: list[tuple[str, ...]],
    data: LabelledData,
    tasks: list[TaskSpec],
) -> dict[str, Any]:
    """Return the mean value of samples' batches over that of the whole pool's, by sample size."""
    settings = ActiveLearningSettings(encoder="tiny", random_share=0.0)
    ensemble = train_ensemble(data, tasks, settings.engine_config(seed=0), has_temperature=True)
    pool = _pool(MadeUpSentences(sentences, arguments.scored), tasks)
    scores = score_pool(ensemble, pool, settings, seed=0, known=data.part(TRAIN))
    found: dict[str, Any] = {"sentences": arguments.scored}
    for strategy in arguments.strategies:
        chosen = replace(settings, strategy=strategy)
        value = _own_value(pool, scores, chosen)
        whole = value(_selected_cells(pool, scores, chosen, np.arange(len(pool))))
        for n in (n for n in SAMPLES if n < len(pool)):
            rng = np.random.default_rng(n)
            samples = [
                np.sort(rng.choice(len(pool), n, replace=False)) for _ in range(arguments.samples)
            ]
            ratios = [value(_selected_cells(pool, scores, chosen, s)) / whole for s in samples]
            found[f"{strategy} {n}"] = round(float(np.mean(ratios)), 4)
            print(strategy, n, found[f"{strategy} {n}"], file=sys.stderr, flush=True)
    return found


def _selected_cells(
    pool: Pool, scores: PoolScores, settings: ActiveLearningSettings, rows: Rows
) -> np.ndarray:
    """Return the cells (n, t) of the whole pool that are asked when only some rows are seen."""
    some = replace(
        pool, ids=pool.ids[rows], n_tokens=pool.n_tokens[rows], is_closed=pool.is_closed[rows]
    )
    own = _scores_of(scores, rows)
    model = fit_costs([], {task.name: task.kind for task in pool.tasks})
    prices = price_pool(some, own.n_expected, settings, model)
    budget = budget_of(settings)
    choice = choose(some, own, prices, settings, budget=budget, rng=np.random.default_rng(0))
    cells = np.zeros(scores.confidence.shape, dtype=bool)
    cells[rows] = choice.cells((len(rows), len(pool.tasks)))
    return cells


def _scores_of(scores: PoolScores, rows: Rows) -> PoolScores:
    """Return what is known of some rows, as if there were no others."""
    columns = {name: getattr(scores, name)[rows] for name in scores.columns()}
    assert scores.units is not None
    assert scores.groups is not None
    units = []
    for task in scores.units.tasks:
        places = ranges((np.cumsum(task.counts) - task.counts)[rows], task.counts[rows])
        units.append(
            replace(
                task,
                counts=task.counts[rows],
                cluster=task.cluster[places],
                error=task.error[places],
                length=None if task.length is None else task.length[rows],
            )
        )
    groups = scores.groups[rows]
    return replace(
        scores,
        **columns,
        units=replace(scores.units, tasks=tuple(units), groups=groups),
        groups=groups,
    )


def _own_value(
    pool: Pool, scores: PoolScores, settings: ActiveLearningSettings
) -> Callable[[np.ndarray], float]:
    """Return what a strategy says that cells (n, t) of the whole pool are worth.

    MT-EEC: the least over the tasks of the expected errors that they remove, over what a random
    batch of the same cost removes. Others: the doubt (1 - confidence) of the cells.
    """
    if settings.strategy != "MT-EEC":
        return lambda cells: float((1 - scores.confidence)[cells].sum())
    assert scores.units is not None
    objective = Objective(scores.units, ~pool.is_closed)
    by_chance = replace(settings, random_share=1.0)
    chance = _gain(objective, _selected_cells(pool, scores, by_chance, np.arange(len(pool))))
    return lambda cells: float((_gain(objective, cells) / chance).min())


def _gain(objective: Objective, cells: np.ndarray) -> np.ndarray:
    """Return the expected errors (t,) that asking for cells (n, t) removes."""
    rows = np.flatnonzero(cells.any(axis=1))
    all_open, objective.is_open = objective.is_open, cells
    found = objective.gain_of(objective.entries(rows))
    objective.is_open = all_open
    return found


def in_markdown(report: dict[str, Any], arguments: argparse.Namespace) -> str:
    """Return the measurements as a page."""
    lines = [
        "# A turn of active learning on a million sentences",
        "",
        f"`python -m benchmarks.million`: {report['turn']['sentences']:,} sentences of EWT, 30 %",
        "of their words exchanged, a tree and entities, 250 labelled sentences, one thread and the",
        "product's settings:",
        f"{ActiveLearningSettings().pool_sample:,} sentences are drawn and looked at.",
        "",
        "| what | measured | wanted |",
        "|---|---|---|",
    ]
    wanted = {"minutes": "< 6", "peak_mb": "< 1500"}
    lines += [
        f"| {key.replace('_', ' ')} | {value} | {wanted.get(key, '')} |"
        for key, value in report["turn"].items()
    ]
    if "worth" in report:
        lines += [
            "",
            f"What a sample costs: a pool of {report['worth']['sentences']:,}, scored as a whole",
            "by a model on the tiny encoder. What the batch of a sample is worth over what that of",
            "the whole pool is worth, by the strategy's own value in the whole pool, mean of",
            f"{arguments.samples} samples. MT-EEC: expected errors removed beside a random batch, ",
            "of the task with the least; others: doubt (1 - confidence) bought.",
            "",
            "| strategy and sample | worth | wanted |",
            "|---|---|---|",
            *(
                f"| {key} | {value} | {'>= .97' if key.endswith(' 20000') else ''} |"
                for key, value in report["worth"].items()
                if key != "sentences"
            ),
        ]
    return "\n".join(lines) + "\n"


def _pool(made_up: MadeUpSentences, tasks: list[TaskSpec]) -> Pool:
    n = len(made_up.sizes)
    return Pool(
        tasks=tuple(tasks),
        ids=np.arange(n),
        n_tokens=made_up.sizes,
        is_closed=np.zeros((n, len(tasks)), dtype=bool),
        read_tokens=made_up.read,
    )


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
