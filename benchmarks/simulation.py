"""Finished models per hour: stacks in one process per core, against a plain loop.

    python -m benchmarks.simulation [--seeds 3] [--epochs 100] [--kinds 4]

Both train the paper's models (Bi-LSTM of 100 units, shared and task-specific layers) of four kinds
on the same tokens, from the same first weights, in the same order of batches. The plain loop takes
one model after the other through ``nn.LSTM`` for all epochs with PyTorch's default threads. As it
comes it takes about 12 minutes on 2 cores that do nothing else. Writes
benchmarks/results/simulation.md.
"""

import argparse
import multiprocessing
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "simulation.md"
DATA = {
    **{
        name: f"conll2003/eng.{part}"
        for name, part in (("train", "train"), ("dev", "testa"), ("test", "testb"))
    },
    "dev_tokens": 3000,
    "test_tokens": 10_000,
}
TOLERANCE = 0.01  # below the plain loop's mean F1
_shared: dict[str, Any] = {}  # what a worker process loads once


@dataclass(frozen=True)
class Kind:
    """A cell of the paper's grids and the layers of its models."""

    n: int
    n_tasks: int
    alpha: float
    n_synthetic: int = 0
    shared_layers: int = 1
    private_layers: int = 1

    def __str__(self) -> str:
        sizes = f"{self.n:,} tokens"
        if self.n_synthetic:
            sizes += f", {self.n_synthetic:,} simulated"
        layers = f"{self.shared_layers} shared and {self.private_layers} own layers"
        return f"{sizes}, {self.n_tasks} tasks, alpha {self.alpha:g}, {layers}"


KINDS = (
    Kind(n=1000, n_tasks=2, alpha=0.95),
    Kind(n=500, n_tasks=5, alpha=0.6, shared_layers=2),
    Kind(n=1500, n_tasks=3, alpha=0.9, private_layers=2),
    Kind(n=500, n_tasks=5, alpha=0.85, n_synthetic=1500),
)
Job = tuple[Kind, tuple[int, ...]]  # seeds


@dataclass(frozen=True)
class Measured:
    """What one way of training took and reached; scores of a kind's seeds follow each other."""

    words: str
    seconds: float
    cpu_by_kind: dict[Kind, float]
    scores: list[float]

    @property
    def cpu_seconds(self) -> float:
        return sum(self.cpu_by_kind.values())

    @property
    def per_hour(self) -> float:
        return 3600 * len(self.scores) / self.seconds


def main() -> None:
    """Measure every way and write the report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--kinds", type=int, default=len(KINDS), help="so many of the kinds")
    options = parser.parse_args()
    check_data()
    seeds = tuple(range(options.seeds))
    kinds = KINDS[: options.kinds]
    alone = [(kind, (seed,)) for kind in kinds for seed in seeds]
    stacked = [(kind, seeds) for kind in kinds]
    n_cores = os.cpu_count() or 1

    def measured(words: str, work: Work, jobs: Sequence[Job], n: int, threads: int) -> Measured:
        found = measure(words, work, jobs, options.epochs, n_processes=n, threads=threads)
        print(f"{words}: {found.per_hour:.0f} models per hour", flush=True)
        return found

    rows = [
        measured("plain loop, default threads, all epochs", plain_models, alone, 1, 0),
        measured("one process per core, one by one, all epochs", all_epochs, alone, n_cores, 1),
        measured(f"stacks of {len(seeds)}, all epochs", all_epochs, stacked, n_cores, 1),
        measured("one by one, early stopping", stopped_early, alone, n_cores, 1),
        measured(f"stacks of {len(seeds)}, early stopping", stopped_early, stacked, n_cores, 1),
    ]
    report = as_markdown(rows, options)
    RESULTS.write_text(report, encoding="utf-8")
    print(report)


def check_data() -> None:
    """Say which file is missing, before processes that need it start over and over."""
    from analysis.data.files import data_file

    for part in ("train", "dev", "test"):
        data_file(str(DATA[part]))


Work = Callable[[Job, int], list[float]]


def measure(
    words: str, work: Work, jobs: Sequence[Job], epochs: int, *, n_processes: int, threads: int
) -> Measured:
    """Return what jobs take in so many processes with loaded data; 0 threads = the default."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(n_processes, initializer=load, initargs=(threads,)) as pool:
        pool.map(nap, range(n_processes), chunksize=1)
        started = time.perf_counter()
        found = pool.starmap(timed, [(work, job, epochs) for job in jobs], chunksize=1)
        seconds = time.perf_counter() - started
    scores = [score for part, _ in found for score in part]
    cpu_by_kind = dict.fromkeys((kind for kind, _ in jobs), 0.0)
    for (kind, _), (_, cpu) in zip(jobs, found, strict=True):
        cpu_by_kind[kind] += cpu
    return Measured(words, seconds, cpu_by_kind, scores)


def load(threads: int) -> None:
    """Read the corpus into this process and set its computing threads."""
    import torch

    from analysis.studies.mtl_simulation.study import STUDY

    if threads:
        torch.set_num_threads(threads)
    _shared["laboratory"] = STUDY.load(STUDY.read(STUDY.resolve(DATA)))


def nap(_: int) -> None:
    """Keep a worker busy until every other one is loaded too."""
    time.sleep(1)


def timed(work: Work, job: Job, epochs: int) -> tuple[list[float], float]:
    """Return the scores of a job and its CPU seconds."""
    started = time.process_time()
    return work(job, epochs), time.process_time() - started


def all_epochs(job: Job, epochs: int) -> list[float]:
    """Return the F1 of a stack that is trained as long as the plain loop."""
    return stack_scores(job, epochs, stops_early=False)


def stopped_early(job: Job, epochs: int) -> list[float]:
    """Return the F1 of a stack with early stopping."""
    return stack_scores(job, epochs, stops_early=True)


def stack_scores(job: Job, epochs: int, *, stops_early: bool) -> list[float]:
    """Return the F1 of each model of a stack."""
    from analysis.studies.mtl_simulation.training import Training, train

    laboratory, problems, shape = set_up(job)
    training = Training(epochs=epochs, patience=4, look_every=3)
    dev = laboratory.dev if stops_early else None
    trained = train(problems, laboratory.vectors, shape, training, dev=dev)
    return [float(f1) for f1 in laboratory.test.scores(trained.parameters, laboratory.vectors)]


def plain_models(job: Job, epochs: int) -> list[float]:
    """Return the F1 of models trained one by one in a plain loop, scored tag by tag."""
    import torch

    from analysis.studies.mtl_simulation.training import Training
    from benchmarks.simulation_plain import predict_plainly, train_plainly
    from mtl_engine.metrics import span_f1

    laboratory, problems, shape = set_up(job)
    test, labels = laboratory.corpus.test, laboratory.corpus.labels
    windows = torch.from_numpy(test.windows(3))
    scores = []
    for problem in problems:
        model = train_plainly(problem, laboratory.vectors, shape, Training(epochs=epochs))
        found = predict_plainly(model, laboratory.vectors, windows)
        tags = [labels[i] for i in found]
        ends = [*test.starts[1:], len(tags)]
        predicted = [tags[a:b] for a, b in zip(test.starts, ends, strict=True)]
        scores.append(span_f1(gold_tags(), predicted).f1)
    return scores


def gold_tags() -> list[list[str]]:
    """Return the tags of the test text as the file has them."""
    from analysis.data.corpora import read_records
    from analysis.data.files import data_file
    from analysis.methods.simulator.sentences import token_labels

    n_sentences = len(_shared["laboratory"].corpus.test.starts)
    if "gold" not in _shared:
        records = read_records(data_file(str(DATA["test"])), "conll2003")[:n_sentences]
        _shared["gold"] = [token_labels(record, "ner") for record in records]
    return _shared["gold"]


def set_up(job: Job) -> tuple[Any, list[Any], Any]:
    """Return the laboratory, the problems of a job and the shape of its models."""
    from analysis.studies.mtl_simulation.experiment import Cell, draw_problem
    from analysis.studies.mtl_simulation.model import Shape

    laboratory = _shared["laboratory"]
    kind, seeds = job
    cell = Cell(kind.n, kind.n_tasks, kind.alpha, kind.n_synthetic, draws="same")
    problems = [draw_problem(laboratory, cell, seed)[0] for seed in seeds]
    width, n_labels = laboratory.vectors.shape[1], len(laboratory.corpus.labels)
    shape = Shape(
        width,
        n_labels,
        kind.n_tasks,
        shared_layers=kind.shared_layers,
        private_layers=kind.private_layers,
    )
    return laboratory, problems, shape


def as_markdown(rows: Sequence[Measured], options: argparse.Namespace) -> str:
    """Return the report."""
    plain = rows[0]
    lines = [
        "# Simulated tasks: models per hour",
        "",
        f"`python -m benchmarks.simulation --seeds {options.seeds} --epochs {options.epochs} "
        f"--kinds {options.kinds}` on {platform.machine()}, {os.cpu_count()} cores; one-minute "
        f"load at the end {os.getloadavg()[0]:.1f}.",
        "",
        f"{len(plain.scores)} models: {options.kinds} kinds, {options.seeds} seeds each, 384 "
        f"numbers per word, 100 units, batch 100, {options.epochs} epochs at most. Same tokens, "
        "same first weights, same order of batches. Goal: 4 times the models of the plain loop, "
        f"with a mean F1 no more than {TOLERANCE} below its.",
        "",
        "| way | models per hour | times plain | CPU s per model | mean F1 "
        "| most that one differs |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        apart = max(abs(a - b) for a, b in zip(row.scores, plain.scores, strict=True))
        lines.append(
            f"| {row.words} | {row.per_hour:.0f} | {row.per_hour / plain.per_hour:.1f} "
            f"| {row.cpu_seconds / len(row.scores):.1f} | {statistics.mean(row.scores):.4f} "
            f"| {apart:.4f} |"
        )
    best = rows[-1]
    factor = best.per_hour / plain.per_hour
    gain = statistics.mean(best.scores) - statistics.mean(plain.scores)
    verdict = "reached" if factor >= 4 and gain >= -TOLERANCE else "not reached"
    lines += ["", f"Goal {verdict}: {factor:.1f} times the models, mean F1 {gain:+.4f}."]
    return "\n".join([*lines, *_by_kind(plain, best, options.seeds)]) + "\n"


def _by_kind(plain: Measured, best: Measured, n_seeds: int) -> list[str]:
    lines = [
        "",
        f"| kind | CPU s per model, plain | {best.words} | mean F1, plain | {best.words} |",
        "|---|---|---|---|---|",
    ]
    for i, kind in enumerate(plain.cpu_by_kind):
        some = slice(i * n_seeds, (i + 1) * n_seeds)
        lines.append(
            f"| {kind} | {plain.cpu_by_kind[kind] / n_seeds:.1f} "
            f"| {best.cpu_by_kind[kind] / n_seeds:.1f} "
            f"| {statistics.mean(plain.scores[some]):.4f} "
            f"| {statistics.mean(best.scores[some]):.4f} |"
        )
    return lines


if __name__ == "__main__":
    main()
