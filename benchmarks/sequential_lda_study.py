"""Compares SequentialLDA with its baselines on planted chains, planted systems, names and biofam.

    python -m benchmarks.sequential_lda_study --data DIR [--seeds 5] [--only names]

DIR holds names/<Language>.txt and biofam/biofam.tsv. Every finished cell is a line of
results/sequential_lda_study.jsonl and is never computed again; tables and plots are drawn at the
end. On real data each method chooses its settings by four-fold held-out likelihood inside its
own training sequences; test sequences are only scored.
"""

import argparse
import dataclasses
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.sequential_lda.baselines import Recipe, fit_method, with_alphabet_of
from analysis.sequential_lda.comparison import compare, evaluate
from analysis.sequential_lda.synthetic import Planted
from benchmarks.sequential_lda_data import Source, Split, read_biofam, read_names, split
from benchmarks.sequential_lda_results import write_results

RESULTS = Path(__file__).parent / "results"
ROWS = RESULTS / "sequential_lda_study.jsonl"
SIZES = {"names": (5, 10, 20, 50, 200), "biofam": (5, 10, 20, 50)}
N_TEST = 40
N_TASKS = (5, 10, 20, 40)
N_SEQUENCES = (5, 15, 50, 150)
PLANTED_METHODS = (
    "one by one", "one by one, mixtures", "aggregate", "aggregate, mixture", "SequentialLDA",
)  # fmt: skip

PSEUDO = (0.05, 0.3)
SHRINKAGE = (0.0, 5.0, 20.0)
TOPICS = (1, 2, 4, 8, 16, 32)
FOLDS = 4

# what each method may choose from: numbers of topics, pseudo-counts, shrinkage
GRIDS = {
    "one by one": ((1,), PSEUDO, (0.0,)),
    "one by one, shrunk": ((1,), (0.05,), (2.0, 5.0, 10.0, 20.0, 50.0)),
    "one by one, mixtures": ((2,), PSEUDO, (0.0,)),
    "aggregate": ((1,), PSEUDO, (0.0,)),
    "aggregate, mixture": (TOPICS, (0.05,), SHRINKAGE),
    "multinomial LDA": ((8,), (0.05,), (0.0,)),
    "SequentialLDA, plain": (TOPICS, PSEUDO, (0.0,)),
    "SequentialLDA": (TOPICS, (0.05,), SHRINKAGE),
}


def main() -> None:
    """Compute what is missing, then write tables and plots."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=["names", "biofam", "chains", "systems"])
    options = parser.parse_args()
    done = {_key(row) for row in read_rows()}
    for cell in cells(options.data, options.seeds, options.only):
        if _key(cell) in done:
            continue
        start = time.process_time()
        for row in compute(cell, options.data):
            append_row({**cell, **row, "cpu_seconds": round(time.process_time() - start, 2)})
    write_results(read_rows(), RESULTS)


def cells(data: Path, n_seeds: int, only: str | None) -> Iterator[dict[str, Any]]:
    """What is to be computed: data set, sizes, seed, and on real data the method."""
    for seed in range(n_seeds):
        for name, sizes in SIZES.items():
            for size in sizes if only in (None, name) else ():
                for method in GRIDS:
                    yield {"data": name, "n_sequences": size, "seed": seed, "method": method}
        planted = [(n, 15) for n in N_TASKS] + [(20, n) for n in N_SEQUENCES if n != 15]
        for n_tasks, n_sequences in planted if only in (None, "chains") else ():
            yield {
                "data": "chains", "n_tasks": n_tasks, "n_sequences": n_sequences, "seed": seed,
            }  # fmt: skip
        for n_sequences in (4, 12) if only in (None, "systems") else ():
            yield {"data": "systems", "n_tasks": 8, "n_sequences": n_sequences, "seed": seed}


def compute(cell: dict[str, Any], data: Path) -> Iterator[dict[str, Any]]:
    """The scores of one cell, one row per method."""
    if cell["data"] in ("chains", "systems"):
        yield from planted_scores(cell)
        return
    source = {"names": read_names, "biofam": read_biofam}[cell["data"]](data)
    parts = split(source, cell["n_sequences"], N_TEST, cell["seed"])
    yield real_scores(source, parts, cell["method"], cell["seed"])


def planted_scores(cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All methods on tasks drawn from known topics; the number of topics is known too."""
    seed = cell["seed"]
    if cell["data"] == "chains":
        planted, recipe = Planted.chains(3, 6, seed=seed), Recipe(3, seed=seed)
    else:
        planted = Planted.rotations(3, seed=seed)
        recipe = Recipe(3, "kalman", seed, (("max_iter", 60),))
    drawn = planted.draw(cell["n_tasks"], cell["n_sequences"], n_test=20, seed=seed)
    found = compare(drawn.train, drawn.test, PLANTED_METHODS, recipe, truth=drawn.truth)
    for method, scores in found.items():
        yield {"method": method, "scores": dataclasses.asdict(scores)}


def real_scores(source: Source, parts: Split, method: str, seed: int) -> dict[str, Any]:
    """One method with the settings it chose, on test sequences."""
    recipes = [_recipe(source, parts, *setting, seed=seed) for setting in _grid(method)]
    fitted_as = method.removesuffix(", plain")
    chosen = recipes[0]
    if len(recipes) > 1:
        held_out = [held_out_score(fitted_as, parts.train, one, seed) for one in recipes]
        chosen = recipes[int(np.argmax(held_out))]
    options = dict(chosen.options)
    predictor = fit_method(fitted_as, parts.train, _with(chosen, n_restarts=4))
    scores = evaluate(predictor, parts.test, alphabet=options["alphabet"], halting=source.halting)
    setting = {name: options[name] for name in ("pseudo_count", "shrinkage")}
    return {
        "scores": dataclasses.asdict(scores), "setting": {"topics": chosen.n_topics, **setting},
    }  # fmt: skip


def held_out_score(method: str, train: Sequence[Sequence[Any]], recipe: Recipe, seed: int) -> float:
    """Log-likelihood per held-out sequence over folds of every task."""
    rng = np.random.default_rng(seed)
    folds = [rng.permutation(len(sequences)) % FOLDS for sequences in train]
    logs = []
    for fold in range(FOLDS):
        parts = [
            [
                [one for one, f in zip(sequences, folds[t], strict=True) if (f == fold) == held]
                for t, sequences in enumerate(train)
            ]
            for held in (False, True)
        ]
        predictor = fit_method(method, parts[0], _with(recipe, n_restarts=1, tolerance=1e-4))
        logs += predictor.score_sequences(parts[1])
    return float(np.concatenate(logs).mean())


def read_rows() -> list[dict[str, Any]]:
    """All finished rows; of one computed twice, by two runs at once, the later."""
    if not ROWS.exists():
        return []
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    return list({(*_key(row), row["method"]): row for row in rows}.values())


def append_row(row: dict[str, Any]) -> None:
    """Add a finished row to the file."""
    RESULTS.mkdir(exist_ok=True)
    with ROWS.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    planted = row["data"] in ("chains", "systems")
    method = None if planted else row["method"]
    return row["data"], row.get("n_tasks"), row["n_sequences"], row["seed"], method


def _grid(method: str) -> list[tuple[int, float, float]]:
    topics, pseudo, shrinkage = GRIDS[method]
    return [(k, p, s) for k in topics for p in pseudo for s in shrinkage]


def _recipe(
    source: Source, parts: Split, topics: int, pseudo: float, shrinkage: float, *, seed: int
) -> Recipe:
    options = (
        ("halting", source.halting), ("pseudo_count", pseudo), ("shrinkage", shrinkage),
    )  # fmt: skip
    return with_alphabet_of(Recipe(topics, "markov", seed, options), parts.train, parts.test)


def _with(recipe: Recipe, **changed: Any) -> Recipe:
    return dataclasses.replace(recipe, options=(*recipe.options, *changed.items()))


if __name__ == "__main__":
    main()
