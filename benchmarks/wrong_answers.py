"""What a wrong answer costs a learner: the rate at which the market trades repairs for new labels.

    TANDEM_DATA=... python -m benchmarks.wrong_answers [--corpora atis ewt] [--seeds 1 2 3]

The engine (encoder wholly frozen) learns from growing samples, right ones and some with a share of
the items wrong. The score of a wrong sample is looked up on the course of the right ones: so many
right answers would have taught the same. ``mtl_engine.active_learning.market`` assumes that n
answers with a share w of wrong items teach as ``n (1 - w k / (k - 1))^2`` right ones do.
Rows are appended to benchmarks/results/wrong_answers.jsonl, the report goes to wrong_answers.md.
"""

import argparse
import json
import math
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.types import Example

RESULTS = Path(__file__).parent / "results"
ROWS = RESULTS / "wrong_answers.jsonl"
SIZES = (50, 75, 100, 150, 200, 300)
WRONG_SIZES, SHARES = (200, 300), (0.06, 0.15)
N_DEV, N_TEST = 60, 250
LEAST_SEEDS = 3  # below which nothing is said
CORPORA = {
    "atis": ("atis/train.conll", "atis/test.conll", "slu", ("slots", "intent")),
    "ewt": ("ewt_ner/dev.conllu", "ewt_ner/test.conllu", "conllu", ("ner", "upos")),
}
Row = dict[str, Any]


def main() -> None:
    """Train what is asked for and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="*", default=list(CORPORA))
    parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2, 3])
    parser.add_argument("--report", action="store_true", help="only write the report")
    arguments = parser.parse_args()
    if not arguments.report:
        for corpus in arguments.corpora:
            for seed in arguments.seeds:
                for row in trained_rows(corpus, seed):
                    with ROWS.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
                    print(row, flush=True)
    report = as_markdown([json.loads(line) for line in ROWS.read_text("utf-8").splitlines()])
    (RESULTS / "wrong_answers.md").write_text(report, encoding="utf-8")
    print(report)


def trained_rows(name: str, seed: int) -> Iterator[Row]:
    """Yield the test scores of each training of a seed: one order, first right, then wrong."""
    from analysis.data.corpora import read_corpus
    from analysis.data.files import data_file
    from mtl_engine.config import EngineConfig
    from mtl_engine.evaluation import evaluate
    from mtl_engine.features import open_features
    from mtl_engine.training import End, train

    train_file, test_file, format, tasks = CORPORA[name]
    corpus = read_corpus(
        data_file(train_file), data_file(test_file), format=format, tasks=tasks, test_size=N_TEST
    )
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(corpus.pool))
    dev = [corpus.pool[i] for i in order[:N_DEV]]
    rest = [corpus.pool[i] for i in order[N_DEV : N_DEV + max(SIZES)]]
    config = EngineConfig.from_dict({"encoder": {"frozen_layers": 6}, "training": {"seed": seed}})
    plans = [(n, 0.0) for n in SIZES] + [(n, share) for n in WRONG_SIZES for share in SHARES]
    with tempfile.TemporaryDirectory(prefix="tandem-wrong-") as cache:
        for n, share in plans:
            started = time.process_time()
            examples = made_wrong(rest[:n], corpus.tasks, share, np.random.default_rng(seed))
            *_, end = train(examples, dev, corpus.tasks, config, cache_dir=Path(cache))
            assert isinstance(end, End)
            features = open_features(end.model.encoder, Path(cache))
            results = evaluate(end.model, corpus.test, features=features)
            seconds = round(time.process_time() - started, 1)
            for task, result in results.items():
                score = float(list(result.metrics.values())[-1])
                yield {
                    "corpus": name,
                    "task": task,
                    "seed": seed,
                    "n": n,
                    "wrong": share,
                    "score": round(score, 4),
                    "cpu_s": seconds,
                }


def made_wrong(
    examples: Sequence[Example],
    tasks: Sequence[TaskSpec],
    share: float,
    rng: np.random.Generator,
) -> list[Example]:
    """Return the sentences with a share of the items of another label, any of them alike."""
    labels = {
        task.name: sorted(
            {
                str(item[-1])
                for e in examples
                for item in KINDS[task.kind].items(e.labels[task.name])
            }
        )
        for task in tasks
    }
    found = []
    for example in examples:
        own = dict(example.labels)
        for task in tasks:
            kind = KINDS[task.kind]
            items = list(kind.items(own[task.name]))
            for number, item in enumerate(items):
                if rng.random() < share:
                    others = [label for label in labels[task.name] if label != item[-1]]
                    items[number] = (*item[:-1], others[int(rng.integers(len(others)))])
            own[task.name] = kind.answer_of(items, len(example.tokens))
        found.append(replace(example, labels=own))
    return found


def worth(clean: Sequence[tuple[int, float]], score: float) -> float | None:
    """Return how many right answers have a score, by the course of the error; None outside it.

    The course is a line through the logarithms of size and error.
    """
    sizes, errors = (np.log([values[k] for values in clean]) for k in (0, 1))
    slope, start = np.polyfit(sizes, errors, 1)
    if slope >= 0 or score >= 1:
        return None
    return float(math.exp((math.log(1 - score) - start) / slope))


def exponents(rows: Sequence[Row]) -> list[Row]:
    """Return for each wrong sample what it was worth, and the exponent that says so."""
    found = []
    keys = dict.fromkeys((r["corpus"], r["task"], r["seed"]) for r in rows)
    for corpus, task, seed in keys:
        own = [r for r in rows if (r["corpus"], r["task"], r["seed"]) == (corpus, task, seed)]
        clean = [(r["n"], 1 - r["score"]) for r in own if not r["wrong"]]
        if len(clean) < len(SIZES):
            continue
        for row in own:
            if not row["wrong"]:
                continue
            right = next(1 - error for n, error in clean if n == row["n"])
            teaches, taught = worth(clean, row["score"]), worth(clean, right)
            if teaches is None or taught is None:
                continue
            share = teaches / taught
            found.append(
                {**row, "share": share, "exponent": math.log(share) / math.log(1 - row["wrong"])}
            )
    return found


def as_markdown(rows: Sequence[Row]) -> str:
    """Return the report."""
    newest = {(r["corpus"], r["task"], r["seed"], r["n"], r["wrong"]): r for r in rows}
    found = exponents(list(newest.values()))
    lines = [
        "# What a wrong answer costs a learner",
        "",
        "`python -m benchmarks.wrong_answers`: models (the encoder wholly frozen) learn from "
        f"samples of {', '.join(map(str, SIZES))} right answers, and from {WRONG_SIZES[0]} and "
        f"{WRONG_SIZES[1]} of which a share has another label, drawn evenly. *Worth* is the share "
        "of as many right answers that teach the same, by a line through the logarithms of size "
        "and error of the right samples of the seed; *exponent* is x in worth = (1 - wrong)^x. "
        "The theory of learners that know the noise says 2, which is what the market assumes.",
        "",
        "| corpus, task | wrong | samples | worth: mean (lowest to highest) | exponent: median |",
        "|---|---|---|---|---|",
    ]
    keys = dict.fromkeys((r["corpus"], r["task"], r["wrong"]) for r in found)
    for corpus, task, wrong in sorted(keys):
        own = [r for r in found if (r["corpus"], r["task"], r["wrong"]) == (corpus, task, wrong)]
        shares = [r["share"] for r in own]
        lines.append(
            f"| {corpus} {task} | {wrong:.0%} | {len(own)} | {np.mean(shares):.2f} "
            f"({min(shares):.2f} to {max(shares):.2f}) "
            f"| {np.median([r['exponent'] for r in own]):.1f} |"
        )
    if found:
        values = [r["exponent"] for r in found]
        low, high = np.quantile(values, (0.25, 0.75))
        lines.append(
            f"| **all** | | {len(found)} | {np.mean([r['share'] for r in found]):.2f} "
            f"| {np.median(values):.1f} (middle half {low:.1f} to {high:.1f}) |"
        )
    n_seeds = len({r["seed"] for r in found})
    if n_seeds < LEAST_SEEDS:
        lines += [
            "",
            f"Seeds so far: {n_seeds}. That allows no claim, and the market is as it was.",
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
