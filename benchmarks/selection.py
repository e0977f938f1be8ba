"""CPU seconds and memory of strategies and plans; writes results/selection.md.

    python -m benchmarks.selection            # everything, the comparison with CBC included
    python -m benchmarks.selection --no-cbc   # a minute

Every case runs in a process of its own with one thread; CPU time is that of the call alone.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mtl_engine.costs import Costs, paper_costs
from mtl_engine.selection import STRATEGIES, TaskUnits, Units, plan, select
from mtl_engine.selection.coverage import length_classes

RESULTS = Path(__file__).parent / "results" / "selection.md"
WEIGHTS = [0.6, 0.3, 0.1]
Case = dict[str, Any]


def confidences(kind: str, n: int, n_tasks: int) -> np.ndarray:
    """Return a pool: uniform, sure (as a trained model), alike (correlated), or dropout votes."""
    rng = np.random.default_rng(0)
    if kind == "sure":
        return rng.beta(np.array([20, 8, 3])[:n_tasks], 1, (n, n_tasks))
    if kind == "alike":
        return np.clip(rng.beta(5, 2, (n, 1)) + rng.normal(0, 0.02, (n, n_tasks)), 0, 1)
    if kind == "votes":
        return rng.integers(0, 46, (n, n_tasks)) / 45
    return rng.random((n, n_tasks))


def prices(kind: str, n: int) -> Costs:
    """Return the paper's costs of sentences of 4 to 39 words, or seconds with no common unit."""
    rng = np.random.default_rng(1)
    tokens = rng.integers(4, 40, n)
    costs = paper_costs(tokens, rng.binomial(tokens, 0.2))
    if kind == "tokens":
        return costs
    return Costs(1.5 + 0.31 * costs.read + rng.random(n), 2.7 * costs.label + rng.random((n, 2)))


def pool_units(n: int) -> tuple[Units, Costs]:
    """Return units of slots, a tree and an intent in n sentences of 12 words, and seconds."""
    rng = np.random.default_rng(0)
    words = np.clip(rng.geometric(1 / 12, n), 1, 60)

    def task(counts: np.ndarray, n_clusters: int, wrong: float, **options: Any) -> TaskUnits:
        size = int(counts.sum())
        cluster = (rng.zipf(1.3, size) % n_clusters).astype(np.int32)
        rate = rng.beta(0.5, 0.5 / wrong, n_clusters).astype(np.float32)
        error = np.minimum(2 * rate[cluster] * rng.random(size, np.float32), 1)
        shape = (n_clusters, 5) if "length" in options else n_clusters
        return TaskUnits(counts, cluster, error, rng.poisson(5, shape), **options)

    units = Units(
        (
            task(words, 300, 0.1),
            task(words, 100, 0.3, kappa=20.0, length=length_classes(words)),
            task(np.ones(n, int), 60, 0.15, kappa=2.0),
        )
    )
    slots = 2.0 + 2.0 * rng.poisson(0.1 * words)
    return units, Costs(3 + 0.3 * words, np.column_stack([slots, 3.0 * words, np.full(n, 2.0)]))


def run_case(case: Case) -> Case:
    """Return the CPU seconds (best of three; CBC: one), peak memory and outcome of one case."""
    call = {"select": _selecting, "plan": _planning, "cover": _covering}[case["what"]](case)
    seconds = []
    for _ in range(1 if case.get("solver") == "cbc" else 3):
        started = _cpu_seconds()
        outcome = call()
        seconds.append(_cpu_seconds() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return outcome | {"seconds": min(seconds), "megabytes": peak}


def _selecting(case: Case) -> Callable[[], Case]:
    pool = confidences(case["pool"], case["n"], 3)
    task = 0 if case["strategy"] == "SINGLE" else None

    def call() -> Case:
        weights = case["weights"]
        return {
            "rows": len(select(pool, 1000, case["strategy"], weights=weights, task=task, rng=0))
        }

    return call


def _planning(case: Case) -> Callable[[], Case]:
    pool, costs = confidences("uniform", case["n"], 2), prices(case["costs"], case["n"])

    def call() -> Case:
        found = plan(
            pool, costs, case["budget"], case["strategy"], solver=case["solver"], time_limit=1800
        )
        return {"value": found.value, "cost": found.cost, "is_optimal": found.is_optimal}

    return call


def _covering(case: Case) -> Callable[[], Case]:
    units, costs = pool_units(case["n"])
    pool = np.full((case["n"], 3), 0.5)

    def call() -> Case:
        found = plan(
            pool,
            costs,
            case["budget"],
            "MT-EEC",
            decision="GREEDY",
            rng=0,
            units=lambda: units,
        )
        assert found.coverage is not None
        return {"rows": len(found.rows), "ratio": found.coverage.ratio.round(2).tolist()}

    return call


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def in_own_process(case: Case) -> Case:
    """Return the case with what a fresh process measured."""
    child = subprocess.run(
        [sys.executable, "-m", "benchmarks.selection", "--case", json.dumps(case)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    measured: Case = case | json.loads(child.stdout)
    print({key: measured[key] for key in ("what", "strategy", "seconds")}, file=sys.stderr)
    return measured


def strategy_cases() -> list[Case]:
    """Return every strategy on a million sentences, plain and weighted, on four kinds of pool."""
    return [
        {"what": "select", "n": 1_000_000, "pool": pool, "strategy": name, "weights": weights}
        for name in sorted(STRATEGIES)
        if STRATEGIES[name].works_by_count and not STRATEGIES[name].needs_units
        for weights in ([None, WEIGHTS] if STRATEGIES[name].takes_weights else [None])
        for pool in ("uniform", "sure", "alike", "votes")
    ]


def plan_cases() -> list[Case]:
    """Return joint and disjoint plans at two sizes, two budgets and two kinds of cost."""
    return [
        {
            "what": "plan",
            "n": n,
            "costs": costs,
            "budget": budget,
            "strategy": strategy,
            "solver": "knapsack",
        }
        for n in (10_000, 100_000, 1_000_000)
        for costs in ("tokens", "seconds")
        for budget in (500, 5000)
        for strategy in ("MT-AVG", "MT-MIN", "MT-RRF", "UDJS")
    ]


def coverage_cases() -> list[Case]:
    """Return expected-error coverage of slots, a tree and an intent, by cells in seconds."""
    return [
        {"what": "cover", "strategy": "MT-EEC", "n": n, "budget": budget}
        for n, budget in ((20_000, 3600), (20_000, 7200), (100_000, 7200), (1_000_000, 7200))
    ]


def coverage_table(measured: list[Case]) -> list[str]:
    """Return the table of expected-error coverage."""
    bars = {20_000: "5 s", 1_000_000: "60 s, 1,500 MB"}
    lines = [
        "| sentences | budget (s) | CPU s | peak MB | asked | worth (random batches) | bar |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {m['n']:,} | {m['budget']} | {m['seconds']:.2f} | {m['megabytes']:.0f} | {m['rows']} | "
        f"{', '.join(f'{x:.2f}' for x in m['ratio'])} | {bars.get(m['n'], '-')} |"
        for m in measured
    ]
    return lines


def strategy_table(measured: list[Case]) -> list[str]:
    """Return the table of strategies: the slowest and largest pool of each."""
    lines = [
        "| strategy | weights | CPU s (slowest pool) | peak MB | bar |",
        "|---|---|---|---|---|",
    ]
    for name in sorted(STRATEGIES):
        for weights in (None, WEIGHTS):
            same = [m for m in measured if (m["strategy"], m["weights"]) == (name, weights)]
            if same:
                slowest = max(m["seconds"] for m in same)
                largest = max(m["megabytes"] for m in same)
                lines.append(
                    f"| {name} | {weights or '-'} | {slowest:.2f} | {largest:.0f} | 1 s, 500 MB |"
                )
    return lines


def plan_table(measured: list[Case]) -> list[str]:
    """Return the table of plans."""
    bars = {10_000: "-", 100_000: "2 s", 1_000_000: "20 s"}
    lines = [
        "| sentences | costs | budget | strategy | CPU s | peak MB | value | proved | bar |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {m['n']:,} | {m['costs']} | {m['budget']} | {m['strategy']} | {m['seconds']:.2f} | "
        f"{m['megabytes']:.0f} | {m['value']:.6f} | {'yes' if m['is_optimal'] else 'NO'} | "
        f"{bars[m['n']]} |"
        for m in measured
    ]
    return lines


def cbc_lines() -> list[str]:
    """Return the comparison with CBC on the plain formulation, 10,000 sentences, B = 500."""
    case = {"what": "plan", "n": 10_000, "costs": "tokens", "budget": 500, "strategy": "UDJS"}
    ours, theirs = (in_own_process(case | {"solver": solver}) for solver in ("knapsack", "cbc"))
    return [
        "| solver | CPU s | value | proved |",
        "|---|---|---|---|",
        *(
            f"| {m['solver']} | {m['seconds']:.2f} | {m['value']:.9f} | {m['is_optimal']} |"
            for m in (ours, theirs)
        ),
        "",
        f"{theirs['seconds'] / ours['seconds']:.0f} times faster (bar: 100), values differ by "
        f"{abs(theirs['value'] - ours['value']):.1e}.",
    ]


def main() -> None:
    """Run one case for the parent process, or all of them and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", help="one case as JSON (used by the script itself)")
    parser.add_argument("--no-cbc", action="store_true", help="leave out the comparison with CBC")
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(run_case(json.loads(arguments.case))))
        return
    chosen = strategy_table([in_own_process(case) for case in strategy_cases()])
    planned = plan_table([in_own_process(case) for case in plan_cases()])
    covered = coverage_table([in_own_process(case) for case in coverage_cases()])
    compared = [] if arguments.no_cbc else ["", "## Against CBC", "", *cbc_lines()]
    head = [
        "# Selection: measured",
        "",
        f"`{' '.join(['python -m benchmarks.selection', *sys.argv[1:]])}` on {platform.machine()}, "
        f"Python {platform.python_version()}, numpy {np.__version__}, one thread. CPU seconds of "
        "the call, best of three (CBC: one call); peak memory of the whole process with its pool.",
        "",
        "## Strategies: 1,000,000 sentences x 3 tasks, n = 1,000",
        "",
        "Four pools each: uniform, sure (beta distributed, as a trained model's), alike "
        "(correlated tasks), votes (46 different values).",
        "",
    ]
    middle = ["", "## Plans: two tasks, `tokens` = the paper's costs, `seconds` = real numbers", ""]
    eec = ["", "## Expected-error coverage: three tasks, cells in seconds", ""]
    RESULTS.parent.mkdir(exist_ok=True)
    lines = [*head, *chosen, *middle, *planned, *eec, *covered, *compared]
    RESULTS.write_text("\n".join(lines) + "\n")
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
