"""What a sweep costs and how it scales; keeps results/sweep.json, writes results/sweep.md.

python -m benchmarks.sweep                       # everything; needs two quiet cores
python -m benchmarks.sweep --only trivial atis   # parts whose numbers bear a busy machine
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from analysis.sweep.executors import Executor, ProcessExecutor, RayExecutor, SerialExecutor
from analysis.sweep.plan import plan_sweep, sweep
from analysis.sweep.store import RunStore
from analysis.sweep.study_file import parse_study

TRIVIAL = "benchmarks.trivial_study"

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results"
N_TRIVIAL = 1000
N_BUSY, BUSY_SECONDS = 24, 1.0
N_SHORT = 300
Row = dict[str, Any]


def trivial() -> list[Row]:
    """Measure 1,000 runs that do nothing, from the command to the last record."""
    study = (
        f'name = "trivial"\nkind = "benchmarks.trivial_study"\nseeds = {list(range(N_TRIVIAL))}\n'
    )
    rows = []
    for executor in ("serial", "processes"):
        with tempfile.TemporaryDirectory() as home:
            file = Path(home) / "trivial.toml"
            file.write_text(study)
            seconds, cpu = _command(home, "run_sweep", str(file), "--executor", executor)
            again, _ = _command(home, "run_sweep", str(file), "--executor", executor)
        name = f"{N_TRIVIAL} trivial runs, {executor}"
        rows.append(_row(name, seconds, "s", "< 30", seconds < 30, f"{cpu:.1f} CPU s"))
        rows.append(_row(f"{name}, all found again", again, "s"))
    return rows


def processes() -> list[Row]:
    """Measure how much faster two local workers are than one."""
    one, two = (_seconds(ProcessExecutor(n), N_BUSY, BUSY_SECONDS) for n in (1, 2))
    what = f"two local workers against one, {N_BUSY} runs of {BUSY_SECONDS:.0f} CPU s"
    return [_row(what, one / two, "x", ">= 1.8", one / two >= 1.8, f"{one:.1f} s, {two:.1f} s")]


def ray() -> list[Row]:
    """Measure a Ray cluster of a head and a worker node on loopback."""
    from ray.cluster_utils import Cluster

    serial = _seconds(SerialExecutor(), N_BUSY, BUSY_SECONDS)
    idle = _seconds(SerialExecutor(), N_SHORT, 0.0)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    try:
        spread = RayExecutor(cluster.address)
        _seconds(spread, 4, 0.0)  # workers start once
        busy = _seconds(spread, N_BUSY, BUSY_SECONDS)
        short = _seconds(spread, N_SHORT, 0.0)
    finally:
        cluster.shutdown()  # type: ignore[no-untyped-call]
    gain, overhead = serial / busy, 1000 * (short - idle) / N_SHORT
    what = f"Ray, head and one worker node, against serial, {N_BUSY} runs"
    return [
        _row(what, gain, "x", ">= 1.6", gain >= 1.6, f"{serial:.1f} s, {busy:.1f} s"),
        _row(f"Ray, overhead a run, {N_SHORT} runs", overhead, "ms", "< 20", overhead < 20),
    ]


def atis() -> list[Row]:
    """Measure one run of the ATIS protocol: 50 sentences, a budget of 500, 5 trainings."""
    with tempfile.TemporaryDirectory() as home:
        options = ("--executor", "serial", "--limit", "1", "--only", "strategy=MT-AVG")
        _command(home, "run_sweep", "studies/default_atis.toml", "--scale", "small", *options)
        (status,) = (Path(home) / "studies" / "runs").glob("*/status.json")
        cpu = json.loads(status.read_text())["cpu_seconds"]
    return [_row("one ATIS protocol run, MT-AVG, GREEDY", cpu, "CPU s", "< 240", cpu < 240)]


PARTS: dict[str, Callable[[], list[Row]]] = {
    "trivial": trivial,
    "processes": processes,
    "ray": ray,
    "atis": atis,
}


def _seconds(executor: Executor, n: int, cpu_seconds: float) -> float:
    """Return the wall seconds of a sweep over n runs."""
    content = {
        "kind": TRIVIAL,
        "seeds": list(range(n)),
        "settings": {"cpu_seconds": cpu_seconds},
    }
    study = parse_study(content, where="benchmark")
    with tempfile.TemporaryDirectory() as directory:
        store = RunStore(Path(directory))
        started = time.perf_counter()
        result = sweep(plan_sweep(study, store), store, executor)
        seconds = time.perf_counter() - started
    if result.n_finished != n:
        raise RuntimeError(f"Only {result.n_finished} of {n} runs finished: {result.failures[:1]}")
    return seconds


def _command(home: str, *arguments: str) -> tuple[float, float]:
    """Return the wall and CPU seconds of a management command."""
    environment = {**os.environ, "TANDEM_HOME": home, "OMP_NUM_THREADS": "1"}
    environment.pop("DATABASE_URL", None)
    started, before = time.perf_counter(), _children_cpu()
    command = [sys.executable, "manage.py", *arguments]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    return time.perf_counter() - started, _children_cpu() - before


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _row(
    what: str, value: float, unit: str, limit: str = "", is_met: bool = True, detail: str = ""
) -> Row:
    return {
        "what": what,
        "measured": f"{value:.2f} {unit}" if value < 10 else f"{value:.0f} {unit}",
        "limit": limit,
        "is_met": is_met,
        "detail": detail,
        "load": round(os.getloadavg()[0], 1),
    }


def as_markdown(parts: dict[str, list[Row]]) -> str:
    """Return the results of all parts that have been measured."""
    lines = [
        "# Sweeps",
        "",
        f"`python -m benchmarks.sweep` on {os.cpu_count()} cores, Python "
        f"{platform.python_version()}. Load is the machine's one-minute load average at the end of "
        "a measurement: wall times and ratios count only where it is that of the benchmark alone.",
        "",
        "| measured | result | limit | met | detail | load |",
        "|---|---|---|---|---|---|",
    ]
    for name in PARTS:
        for row in parts.get(name, []):
            met = ("yes" if row["is_met"] else "no") if row["limit"] else ""
            cells = [row["what"], row["measured"], row["limit"], met, row["detail"], row["load"]]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    missing = [name for name in PARTS if name not in parts]
    if missing:
        lines += ["", f"Not measured yet: {', '.join(missing)}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure the parts that were asked for and rewrite the page of all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    file = RESULTS / "sweep.json"
    parts = json.loads(file.read_text()) if file.exists() else {}
    for name in parser.parse_args().only:
        parts[name] = PARTS[name]()
        file.write_text(json.dumps(parts, indent=1) + "\n")
        (RESULTS / "sweep.md").write_text(as_markdown(parts))
    print(as_markdown(parts))


if __name__ == "__main__":
    main()
