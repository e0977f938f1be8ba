"""Lets annotators, workers and an owner work for a long time and looks whether anything grows.

    python -m benchmarks.soak [--minutes 60] [--database sqlite|postgres]

Eight annotators answer at a person's pace, two workers run jobs, and an owner imports, launches
rounds, decides, changes labels and backs up beside them. What web and workers hold in memory, what
an answer costs the web processes and how long it takes is written down in twelve spells of equal
length. Processor time tells whether answers become dearer also where other work shares the machine.
Exits with status 1 if memory or costs grew, if something was refused that should not be, or if the
log has an error.
"""

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.chaos_beside import Beside, left_over
from benchmarks.databases import postgres_database
from benchmarks.queue_project import ANSWERS
from benchmarks.web_server import ROOT, WebServer, resident_mb
from tandem_client import ApiError, Client

RESULTS = ROOT / "benchmarks" / "results" / "soak.md"
N_ANNOTATORS, N_WORKERS, N_SPELLS = 8, 2, 12
PAUSE = (0.5, 2.5)  # seconds that somebody looks at a sentence
OWN = "Pss_Anon"  # memory that only the process itself can give back
MOST_GROWTH = 1.5  # of the last third over the second; the first one warms up
HEAD = """# Hours of work

`python -m benchmarks.soak --minutes {minutes:g}` on {database}, {n_annotators} annotators at a person's pace, {n_workers} workers, imports, rounds, decisions, label changes and backups beside: {beside}.
Refused to the owner: {refused}. {n_answers:,} answers, {n_errors} errors in the log, {n_left} jobs or rounds left over. {verdict} Load of the machine (two cores) when it ended: {load:.1f}; times by the clock include waiting for other work, the web processes' CPU per answer does not. How fast Tandem is: [queue.md](queue.md).

| minute | web (MB) | workers (MB) | database (MB) | answers | web CPU per answer (ms) | median (ms) | p95 (ms) |
|---|---|---|---|---|---|---|---|
"""  # noqa: E501


@dataclass(frozen=True)
class Spell:
    """What was measured in one spell."""

    minute: float
    web_mb: float
    worker_mb: float
    database_mb: float
    times: Sequence[float]  # seconds of taking and submitting one sentence
    web_cpu: float  # seconds of the web processes, the owner's requests included

    def percentile(self, share: float) -> float:
        """Return how many milliseconds this share of the sentences took at most."""
        ranked = sorted(self.times) or [0.0]
        return 1000 * ranked[min(len(ranked) - 1, int(share * len(ranked)))]

    @property
    def cpu_ms(self) -> float:
        """Return the milliseconds of processor time that the web processes took per answer."""
        return 1000 * self.web_cpu / max(1, len(self.times))

    @property
    def row(self) -> str:
        """Return a line of the table."""
        cells = [f"{self.minute:.0f}", f"{self.web_mb:.0f}", f"{self.worker_mb:.0f}"]
        cells += [f"{self.database_mb:.1f}", f"{len(self.times):,}", f"{self.cpu_ms:.1f}"]
        cells += [f"{self.percentile(0.5):.0f}", f"{self.percentile(0.95):.0f}"]
        return f"| {' | '.join(cells)} |"


@dataclass
class Soak:
    """A server, its people, and what was measured."""

    server: WebServer
    minutes: float
    errors: list[str] = field(default_factory=list)
    spells: list[Spell] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def run(self) -> Beside:
        """Work, measure, and look at what is left."""
        n_sentences = int(self.minutes * 60 * N_ANNOTATORS)  # more than they can answer
        made = self.server.make_project(sentences=n_sentences, annotators=N_ANNOTATORS, overlap=1)
        self.server.start()
        beside = Beside(
            self.server, seed=1, n_workers=N_WORKERS, log=self.server.log, pause=(5, 15)
        )
        beside.start(made)
        stopped = threading.Event()
        people = [
            threading.Thread(target=self._work, args=(made["project"], i, token, stopped))
            for i, token in enumerate(made["tokens"])
        ]
        for person in people:
            person.start()
        try:
            self._measure(beside)
        finally:
            stopped.set()
            for person in people:
                person.join()
            beside.stop()
            self.server.stop()
        self.errors += beside.errors
        self.left = left_over(self.server)
        return beside

    def _work(self, project: int, number: int, token: str, stopped: threading.Event) -> None:
        client = Client(f"http://127.0.0.1:{self.server.port}", token, timeout=60, patience=120)
        rng = random.Random(number)
        try:
            while not stopped.is_set():
                started = time.perf_counter()
                lease = client.next(project)
                if lease is None:
                    return
                taken = time.perf_counter() - started
                stopped.wait(rng.uniform(*PAUSE))
                started = time.perf_counter()
                client.submit(
                    lease["id"],
                    token=lease["token"],
                    answers=ANSWERS,
                    key=f"{number}-{lease['id']}",
                )
                self.times.append(taken + time.perf_counter() - started)
        except (ApiError, OSError) as error:
            self.errors.append(f"annotator {number}: {error!r}")
        finally:
            client.close()

    def _measure(self, beside: Beside) -> None:
        seconds = self.minutes * 60 / N_SPELLS
        cpu = self.server.cpu_seconds()
        for i in range(N_SPELLS):
            time.sleep(seconds)
            times, self.times = self.times, []
            before, cpu = cpu, self.server.cpu_seconds()
            path = self.server.home / "tandem.sqlite3"
            spell = Spell(
                minute=(i + 1) * seconds / 60,
                web_mb=sum(resident_mb(pid, OWN) for pid in self.server.pids()),
                worker_mb=sum(resident_mb(worker.pid, OWN) for worker in beside.workers),
                database_mb=path.stat().st_size / 2**20 if path.exists() else 0.0,
                times=times,
                web_cpu=cpu - before,
            )
            self.spells.append(spell)
            print(spell.row, flush=True)

    @property
    def broken(self) -> list[str]:
        """Return what should not have happened."""
        found = [*self.errors, *self.left, *_errors_of(self.server.log)]
        third = N_SPELLS // 3
        middle, last = self.spells[third : 2 * third], self.spells[2 * third :]
        for name, of in (
            ("web memory", lambda spell: spell.web_mb),
            ("worker memory", lambda spell: spell.worker_mb),
            ("CPU per answer", lambda spell: spell.cpu_ms),
            ("median time", lambda spell: spell.percentile(0.5)),
            ("p95 time", lambda spell: spell.percentile(0.95)),
        ):
            before, after = _middle(map(of, middle)), _middle(map(of, last))
            if after > MOST_GROWTH * before:
                found.append(f"{name} grew from {before:.0f} to {after:.0f}")
        return found


def _middle(values: Any) -> float:
    ranked = sorted(values)
    return float(ranked[len(ranked) // 2])


def _errors_of(log: Path | None) -> list[str]:
    text = log.read_text(errors="replace") if log and log.exists() else ""
    signs = (" ERROR ", " CRITICAL ", "Traceback")
    return [line[:200] for line in text.splitlines() if any(sign in line for sign in signs)]


def _refusals(beside: Beside) -> str:
    found = beside.refused.most_common(6)
    return "; ".join(f"{n} times {why.rstrip('.')}" for why, n in found) or "nothing"


def main() -> int:
    """Soak, and write what was measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with (
        tempfile.TemporaryDirectory() as home,
        postgres_database(options.database == "postgres") as url,
    ):
        server = WebServer(Path(home), url, log=Path(home) / "log")
        soak = Soak(server, options.minutes)
        beside = soak.run()
        broken = soak.broken
        n_errors = len(_errors_of(server.log))
    verdict = "Nothing grew." if not broken else f"Not as it should be: {'; '.join(broken[:5])}."
    text = HEAD.format(
        minutes=options.minutes,
        database=options.database,
        n_annotators=N_ANNOTATORS,
        n_workers=N_WORKERS,
        beside=", ".join(f"{n} {what}" for what, n in sorted(beside.done.items())),
        refused=_refusals(beside),
        n_answers=sum(len(spell.times) for spell in soak.spells),
        n_errors=n_errors,
        n_left=len(soak.left),
        load=os.getloadavg()[0],
        verdict=verdict,
    ) + "".join(f"{spell.row}\n" for spell in soak.spells)
    print(text)
    print("\n".join(broken[:30]))
    if options.minutes >= 10:
        RESULTS.write_text(text)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
