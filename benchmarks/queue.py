"""Measures the queue under load and writes benchmarks/results/queue.md.

    python -m benchmarks.queue [--seconds 10] [--only speed,paced,people,postgres,flat]

A cycle is next + submit, each a request with its own durable commit. The load comes from
benchmarks/load.py in a process of its own on the same machine.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.databases import postgres_database
from benchmarks.web_server import ROOT, WebServer, serving

RESULTS = ROOT / "benchmarks" / "results" / "queue.md"
HEAD = """# The queue under load

`python -m benchmarks.queue` on {cores} cores, client included; load average before each run in the last
column. A cycle is next + submit, each a request with its own durable commit (SQLite: WAL,
synchronous FULL). Peers, same cycle with 8 clients: Label Studio 1.23 2.6 cycles/s and 126 ms of
server CPU, doccano 1.8 8-10 cycles/s and 67 ms.

| run | cycles/s | next p50 / p95 ms | submit p50 / p95 ms | server CPU per cycle | client CPU | errors | resident | load |
|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501


@dataclass(frozen=True)
class Run:
    """One load run and what it cost."""

    name: str
    measured: dict[str, Any]
    server_ms: float  # CPU per cycle
    resident_mb: float
    load: float

    @property
    def row(self) -> str:
        """Return the run as a line of the table."""
        m = self.measured
        client_ms = 1000 * m["client_cpu"] / max(1, m["cycles_in_all"])
        return (
            f"| {self.name} | {m['cycles'] / m['seconds']:.0f} "
            f"| {m['next_p50']:.1f} / {m['next_p95']:.1f} "
            f"| {m['submit_p50']:.1f} / {m['submit_p95']:.1f} "
            f"| {self.server_ms:.2f} ms | {client_ms:.2f} ms | {m['n_errors']} "
            f"| {self.resident_mb:.0f} MB | {self.load:.1f} |"
        )


@contextmanager
def project_server(
    *, sentences: int, annotators: int = 8, database_url: str | None = None, **settings: str
) -> Iterator[tuple[WebServer, dict[str, Any]]]:
    """Yield a running server and its project with a full queue."""
    with tempfile.TemporaryDirectory() as home:
        server = WebServer(Path(home), database_url, settings)
        made = server.make_project(sentences=sentences, annotators=annotators)
        with serving(server):
            server.load(made, 1.0)  # warm
            yield server, made


def measure(
    name: str,
    server: WebServer,
    made: dict[str, Any],
    seconds: float,
    rate: float | None = None,
    think: float | None = None,
) -> Run:
    """Return one run with the server's CPU per cycle."""
    before, cpu = os.getloadavg()[0], server.cpu_seconds()
    measured = server.load(made, seconds, rate, think)
    spent = server.cpu_seconds() - cpu
    server_ms = 1000 * spent / max(1, measured["cycles_in_all"])
    run = Run(name, measured, server_ms, server.resident_mb(), before)
    print(run.row, *measured["errors"], flush=True)
    return run


def run_speed(seconds: float) -> list[str]:
    """Eight annotators on SQLite, as fast as they can."""
    with project_server(sentences=40_000) as (server, made):
        return [measure("SQLite, 8 annotators, full speed", server, made, seconds).row]


def run_paced(seconds: float) -> list[str]:
    """A hundred cycles per second on SQLite, open loop."""
    with project_server(sentences=40_000) as (server, made):
        return [measure("SQLite, 8 annotators, 100 per second", server, made, seconds, 100).row]


def run_postgres(seconds: float) -> list[str]:
    """Sixty-four annotators on PostgreSQL."""
    with (
        postgres_database() as url,
        project_server(sentences=40_000, annotators=64, database_url=url) as (server, made),
    ):
        return [
            measure("PostgreSQL, 64 annotators, full speed", server, made, seconds).row,
            measure("PostgreSQL, 64 annotators, 100 per second", server, made, seconds, 100).row,
        ]


def run_people(seconds: float) -> list[str]:
    """Five hundred annotators who think about ten seconds over each sentence."""
    rows = []
    for name, is_postgres in (("SQLite", False), ("PostgreSQL", True)):
        with (
            postgres_database(is_postgres) as url,
            project_server(sentences=40_000, annotators=500, database_url=url) as (server, made),
        ):
            title = f"{name}, 500 annotators, a sentence in 10 s each"
            rows.append(measure(title, server, made, 4 * seconds, think=10).row)
    return rows


def run_flat(seconds: float) -> list[str]:
    """The same load on 10,000 and on 1,000,000 sentences, in turns."""
    with (
        project_server(sentences=10_000) as small,
        project_server(sentences=1_000_000) as large,
    ):
        runs: dict[str, list[Run]] = {"10,000": [], "1,000,000": []}
        for _ in range(3):
            for name, (server, made) in zip(runs, (small, large), strict=True):
                title = f"SQLite, {name} sentences, 40 per second"
                runs[name].append(measure(title, server, made, seconds / 2, 40))
    best = {name: min(run.server_ms for run in of) for name, of in runs.items()}
    ratio = best["1,000,000"] / best["10,000"]
    return [
        *(run.row for of in runs.values() for run in of),
        "",
        f"Server CPU per cycle at 1,000,000 sentences against 10,000 (best of 3): **{ratio:.2f}**",
    ]


PARTS = {
    "speed": run_speed,
    "paced": run_paced,
    "people": run_people,
    "postgres": run_postgres,
    "flat": run_flat,
}


def main() -> None:
    """Run the parts that are wanted and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args()
    lines = [line for name in options.only.split(",") for line in PARTS[name](options.seconds)]
    text = HEAD.format(cores=os.cpu_count()) + "\n".join(lines) + "\n"
    if options.only == ",".join(PARTS):
        RESULTS.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
