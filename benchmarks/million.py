"""A turn of active learning on a million sentences: python -m benchmarks.million.

The pool is made of real sentences whose words are exchanged, so that no two are alike. Measured are
the minutes and the memory until the first batch, and, on a smaller pool that can be scored as a
whole, what the batch of a sample is worth beside the batch of all, by the strategy's own value.
"""

import argparse
import json
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from benchmarks.engine_data import DATA_FOLDER, read_dataset
from mtl_engine.active_learning.choose import budget_of, choose
from mtl_engine.active_learning.pool import LabelledData, LabelledExample, Pool, Rows
from mtl_engine.active_learning.price import price_pool
from mtl_engine.active_learning.score import score_pool
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.active_learning.train import train_ensemble
from mtl_engine.costs import fit_costs
from mtl_engine.types import TaskSpec

RESULTS = Path(__file__).parent / "results" / "million.md"
CHANGED = 0.3  # share of words that are exchanged
SAMPLES = (2_000, 5_000, 10_000, 20_000)


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
    parser.add_argument("--scored", type=int, default=200_000, help="pool that is scored as whole")
    parser.add_argument("--encoder", choices=["bundled", "tiny"], default="bundled")
    arguments = parser.parse_args()
    splits, tasks = read_dataset("ewt_ner", arguments.data)
    sentences = [example.tokens for example in splits["train"][300:]]
    labelled = [
        LabelledExample(example, "train" if number < 250 else "dev")
        for number, example in enumerate(splits["train"][:300])
    ]
    report = {"turn": turn(arguments, sentences, LabelledData(tuple(labelled)), tasks)}
    if arguments.scored:
        report["worth"] = worth(arguments, sentences, LabelledData(tuple(labelled)), tasks)
    print(json.dumps(report, indent=1))
    RESULTS.write_text(in_markdown(report, arguments), encoding="utf-8")


def turn(
    arguments: argparse.Namespace,
    sentences: list[tuple[str, ...]],
    data: LabelledData,
    tasks: list[TaskSpec],
) -> dict[str, Any]:
    """Return the seconds of each step until the first batch, and the peak memory."""
    made_up = MadeUpSentences(sentences, arguments.pool)
    settings = ActiveLearningSettings(encoder=arguments.encoder)
    found: dict[str, Any] = {"mb_before": _peak_mb()}
    start = time.perf_counter(), time.process_time()
    ensemble = train_ensemble(data, tasks, settings.engine_config(seed=0), has_temperature=True)
    found["training_cpu_s"] = round(time.process_time() - start[1], 1)
    pool = _pool(made_up, tasks).sample(settings.pool_sample, np.random.default_rng(0))
    scores = score_pool(ensemble, pool, settings, seed=0)
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
    scores = score_pool(ensemble, pool, settings, seed=0)
    model = fit_costs([], {task.name: task.kind for task in tasks})
    found: dict[str, Any] = {}
    for strategy in ("MT-RRF", "MT-AVG", "MT-MIN"):
        chosen = replace(settings, strategy=strategy)

        def value(rows: Rows, chosen: ActiveLearningSettings = chosen) -> float:
            """Return what the batch of some rows is worth, valued among all rows."""
            some = replace(
                pool,
                ids=pool.ids[rows],
                n_tokens=pool.n_tokens[rows],
                is_closed=pool.is_closed[rows],
            )
            arrays = {key: array[rows] for key, array in scores.arrays().items()}
            own = type(scores).from_arrays(arrays)
            prices = price_pool(some, own.n_expected, chosen, model)
            batch = choose(
                some, own, prices, chosen, budget=budget_of(chosen), rng=np.random.default_rng(0)
            )
            picked = rows[[one.row for one in batch.selected]]
            return float((1 - scores.confidence[picked]).sum())

        whole = value(np.arange(len(pool)))
        for n in (n for n in SAMPLES if n < len(pool)):
            rng = np.random.default_rng(n)
            samples = [np.sort(rng.choice(len(pool), n, replace=False)) for _ in range(5)]
            ratios = [value(rows) / whole for rows in samples]
            found[f"{strategy} {n}"] = round(float(np.mean(ratios)), 4)
    return found


def in_markdown(report: dict[str, Any], arguments: argparse.Namespace) -> str:
    """Return the measurements as a page."""
    lines = [
        "# A turn of active learning on a million sentences",
        "",
        f"`python -m benchmarks.million`: {arguments.pool:,} sentences of EWT with 30 % of their",
        "words exchanged, a tree and entities, 250 labelled sentences, one thread, the product's",
        f"settings: {ActiveLearningSettings().pool_sample:,} sentences are drawn and looked at.",
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
            f"What a sample costs: a pool of {arguments.scored:,}, scored as a whole by a model on",
            "the tiny encoder. Doubt (1 - confidence) bought for 60 minutes from a sample over",
            "what is bought from all, mean of five samples.",
            "",
            "| strategy and sample | worth | wanted |",
            "|---|---|---|",
            *(
                f"| {key} | {value} | {'>= .97' if key.endswith(' 20000') else ''} |"
                for key, value in report["worth"].items()
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
