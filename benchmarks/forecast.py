"""How far forecasts can be trusted: hindcasts on learning curves of real corpora.

    python -m benchmarks.forecast [--report]

Trains the engine with a wholly frozen encoder (its fast mode) on growing random samples, keeps the
scores in benchmarks/results/forecast_curves.jsonl (finished points are not trained again), then
forecasts every later point of a curve from its first four, five, ... Writes
benchmarks/results/forecast.md; ``--report`` writes it without training.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from analysis.methods.forecast import Hindcast, hindcasts

RESULTS = Path(__file__).parent / "results"
CURVES = RESULTS / "forecast_curves.jsonl"
SIZES = (50, 75, 100, 150, 200, 300, 400, 600, 800)
N_DEV, N_TEST = 60, 250
CORPORA = {
    "atis": ("atis/train.conll", "atis/test.conll", "slu", ("slots", "intent")),
    "mtod_en": ("mtod_en/dev.conll", "mtod_en/test.conll", "slu", ("slots", "intent")),
    "ewt": ("ewt_ner/dev.conllu", "ewt_ner/test.conllu", "conllu", ("ner",)),
    "conll2003": ("conll2003/eng.testa", "conll2003/eng.testb", "conll2003", ("ner",)),
}
Row = dict[str, Any]


def main() -> None:
    """Train what is missing and write the report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", action="store_true", help="only write the report")
    if not parser.parse_args().report:
        for row in missing_rows(read_rows()):
            with CURVES.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)
    report = as_markdown(read_rows())
    (RESULTS / "forecast.md").write_text(report, encoding="utf-8")
    print(report)


def read_rows() -> list[Row]:
    """Return the points that are there."""
    if not CURVES.exists():
        return []
    return [json.loads(line) for line in CURVES.read_text(encoding="utf-8").splitlines()]


def missing_rows(found: Sequence[Row]) -> Iterator[Row]:
    """Yield the scores of every training that is not there yet."""
    from analysis.data.corpora import read_corpus
    from analysis.data.files import data_file

    with tempfile.TemporaryDirectory(prefix="tandem-forecast-") as cache:
        for name, (train_file, test_file, format, tasks) in CORPORA.items():
            sizes = {row["n"] for row in found if row["corpus"] == name}
            if sizes >= set(SIZES):
                continue
            train, test = data_file(train_file), data_file(test_file)
            corpus = read_corpus(train, test, format=format, tasks=tasks, test_size=N_TEST)
            for n in (size for size in SIZES if size not in sizes):
                yield from trained_rows(corpus, n, name, Path(cache))


def trained_rows(corpus: Any, n: int, name: str, cache: Path) -> Iterator[Row]:
    """Yield the test score of each task after n sentences: the first n of one random order."""
    import numpy as np

    from mtl_engine.config import EngineConfig
    from mtl_engine.evaluation import evaluate
    from mtl_engine.features import open_features
    from mtl_engine.training import End, train

    order = np.random.default_rng(0).permutation(len(corpus.pool))
    dev = [corpus.pool[i] for i in order[:N_DEV]]
    examples = [corpus.pool[i] for i in order[N_DEV : N_DEV + n]]
    config = EngineConfig.from_dict({"encoder": {"frozen_layers": 6}})
    started = time.process_time()
    *_, end = train(examples, dev, corpus.tasks, config, cache_dir=cache)
    assert isinstance(end, End)
    results = evaluate(end.model, corpus.test, features=open_features(end.model.encoder, cache))
    seconds = time.process_time() - started
    for task, result in results.items():
        metric, score = list(result.metrics.items())[-1]
        spread = result.accuracy.std() / len(result.accuracy) ** 0.5
        yield {
            "corpus": name,
            "task": task,
            "metric": metric,
            "n": n,
            "score": round(float(score), 4),
            "spread": round(float(spread), 4),
            "cpu_s": round(seconds, 1),
        }


def curves_of(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the points of each curve in order."""
    curves: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["n"]):
        curves.setdefault(f"{row['corpus']} {row['task']}", []).append(row)
    return dict(sorted(curves.items()))


def as_markdown(rows: Sequence[Row]) -> str:
    """Return the report."""
    lines = [
        "# Forecasts: hindcasts on real learning curves",
        "",
        "`python -m benchmarks.forecast` (one seed, the bundled encoder wholly frozen, "
        f"{N_TEST} test sentences, {sum(row['cpu_s'] for row in once(rows)):.0f} CPU seconds). A "
        "forecast is made from the first four, five, ... points of a curve for each later one.",
        "",
        "| curve | points | sentences | score, first to last | hindcasts | error of forecast "
        "| error of 'unchanged' | interval held |",
        "|---|---|---|---|---|---|---|---|",
    ]
    everything: list[Hindcast] = []
    for name, points in curves_of(rows).items():
        n, scores, spreads = ([p[key] for p in points] for key in ("n", "score", "spread"))
        made = list(hindcasts(n, scores, spreads))
        everything += made
        lines.append(
            f"| {name} ({points[0]['metric']}) | {len(n)} | {n[0]} to {n[-1]} "
            f"| {scores[0]:.3f} to {scores[-1]:.3f} | {len(made)} | {summary(made)} |"
        )
    lines.append(f"| all | | | | {len(everything)} | {summary(everything)} |")
    lines += ["", "Error by how far ahead it looks (all curves):", "", *by_distance(everything)]
    lines += ["", laws_chosen(everything)]
    return "\n".join(lines) + "\n"


def once(rows: Sequence[Row]) -> list[Row]:
    """Return one row a training: tasks that learn together share its seconds."""
    return list({(row["corpus"], row["n"]): row for row in rows}.values())


def summary(made: Sequence[Hindcast]) -> str:
    """Return the mean absolute errors and how often the interval held what came."""
    error = statistics.mean(abs(h.predicted - h.actual) for h in made)
    unchanged = statistics.mean(abs(h.unchanged - h.actual) for h in made)
    judged = [h.holds for h in made if h.holds is not None]
    held = f"{sum(judged)} of {len(judged)}" if judged else "none made"
    return f"{error:.3f} | {unchanged:.3f} | {held}"


def by_distance(made: Sequence[Hindcast]) -> list[str]:
    """Return a table of the error against how far ahead of the last point a forecast looks."""
    lines = [
        "| sentences ahead | hindcasts | forecast's error | 'unchanged' error | interval held |",
        "|---|---|---|---|---|",
    ]
    for low, high in ((1, 1.6), (1.6, 2.5), (2.5, 99)):
        some = [h for h in made if low < h.at / h.last_known <= high]
        words = f"up to {high} times" if high < 99 else f"more than {low} times"
        if some:
            lines.append(f"| {words} those labelled | {len(some)} | {summary(some)} |")
    return lines


def laws_chosen(made: Sequence[Hindcast]) -> str:
    """Return how often each law was chosen."""
    chosen = {(h.law, h.n_known, h.last_known, h.unchanged): h.law for h in made}
    counts = statistics.multimode(chosen.values())
    parts = [f"{law} {list(chosen.values()).count(law)}" for law in sorted(set(chosen.values()))]
    return f"Laws chosen: {', '.join(parts)}; most often {' and '.join(counts)}."


if __name__ == "__main__":
    main()
