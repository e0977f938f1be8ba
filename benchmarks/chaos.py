"""Kills the web server under load and proves that nothing was lost, doubled or left over.

    python -m benchmarks.chaos [--kills 20] [--minutes M] [--database sqlite|postgres|both]
                               [--beside]

Eight clients drain a queue that wants two answers per sentence while workers, or master and
workers, are killed with SIGKILL and started again. Clients repeat what was not answered, and
sometimes what was. Kills come at even points of the way to the last answer, or of the minutes.
With --beside, imports, decisions, label changes and backups go on in a second project, small rounds
one after the other in a third, and the workers of both are killed too. Exits with status 1 and the
list of broken promises if there are any; a run of 100 kills or more on both databases with --beside
writes benchmarks/results/chaos.md.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.chaos_beside import Beside, left_over
from benchmarks.chaos_rounds import Rounds
from benchmarks.chaos_table import Outcome, table
from benchmarks.databases import postgres_database
from benchmarks.history import History, Sent, Served, Stored, violations
from benchmarks.queue_project import ANSWERS
from benchmarks.web_server import ROOT, WebServer
from tandem_client import ApiError, Client

RESULTS = ROOT / "benchmarks" / "results" / "chaos.md"
PATIENCE = 300.0  # seconds a client goes on retrying, on a machine with much else to do
REPEATED = 0.1  # share of acknowledged submits that are sent once more


@dataclass
class Chaos:
    """One run: a server, its clients and the kills."""

    server: WebServer
    n_sentences: int
    n_kills: int
    seed: int
    n_clients: int = 8
    overlap: int = 2
    history: History = field(default_factory=History)
    kills: list[str] = field(default_factory=list)
    n_acknowledged: int = 0
    stored: Stored = field(default_factory=lambda: Stored((), ()))
    has_beside: bool = False
    minutes: float = 0.0  # that the way takes; 0: as fast as the clients are
    beside: Beside | None = None
    rounds: Rounds | None = None

    def run(self) -> list[str]:
        """Drain the queue under fire; return the broken promises."""
        made = self.server.make_project(
            sentences=self.n_sentences, annotators=self.n_clients, overlap=self.overlap
        )
        self.server.start()
        if self.has_beside:
            self.beside = Beside(self.server, self.seed, lane="files", pause=(1, 4))
            self.beside.start(made)
            self.rounds = Rounds(self.server, self.seed)
            self.rounds.start(made)
        self.started = time.monotonic()
        try:
            clients = [
                threading.Thread(target=self._work, args=(made["project"], i, token))
                for i, token in enumerate(made["tokens"])
            ]
            for client in clients:
                client.start()
            self._kill_while(clients)
            for client in clients:
                client.join()
        finally:
            for running in (self.beside, self.rounds):
                if running:
                    running.stop()
            self.server.kill_all()
        broken = []
        if self.beside and self.rounds:
            broken = [*self.beside.errors, *self.rounds.errors, *left_over(self.server)]
        project = str(made["project"])
        rows = json.loads(self.server.run("benchmarks.queue_contents", project))
        self.stored = Stored.from_rows(rows)
        return [*violations(self.history, self.stored, is_drained=True), *broken]

    def _work(self, project: int, number: int, token: str) -> None:
        """Answer until nothing is left."""
        address = f"http://127.0.0.1:{self.server.port}"
        client = Client(address, token, timeout=10, patience=PATIENCE)
        rng = random.Random(self.seed * 1000 + number)
        person = f"annotator-{number}"
        try:
            while (lease := client.next(project)) is not None:
                ask = lease["ask"]
                self.history.served.append(Served(person, ask["id"], ask["rank"]))
                topic = rng.choice(["travel", "other"])
                key = f"{person}-{ask['id']}"
                receipts: tuple[int, ...] = ()
                for _ in range(2 if rng.random() < REPEATED else 1):
                    receipt = client.submit(
                        lease["id"],
                        token=lease["token"],
                        answers={**ANSWERS, "Topic": topic},
                        key=key,
                    )
                    receipts += (receipt["submission"],)
                self.history.sent.append(Sent(person, ask["id"], key, topic, receipts))
                self.n_acknowledged += 1
                time.sleep(rng.uniform(0, 2 * self._pause))
        except (ApiError, OSError) as error:
            self.history.errors.append(f"{person}: {error!r}")
        finally:
            client.close()

    @property
    def _pause(self) -> float:
        """Return the seconds that a client waits after an answer, on average."""
        left = 60 * self.minutes - (time.monotonic() - self.started)
        n_left = self.n_sentences * self.overlap - self.n_acknowledged
        return max(0.01, left * self.n_clients / max(1, n_left))

    @property
    def _way(self) -> float:
        """Return the share of the way that is behind."""
        if self.minutes:
            return (time.monotonic() - self.started) / (60 * self.minutes)
        return self.n_acknowledged / (self.n_sentences * self.overlap)

    def _kill_while(self, clients: Sequence[threading.Thread]) -> None:
        """Kill at even points of the way to the last answer, each at a random moment."""
        rng = random.Random(self.seed)
        for i in range(self.n_kills):
            due = (i + 0.5) / (self.n_kills + 1)
            while self._way < due and any(client.is_alive() for client in clients):
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.05))
            what = "all" if rng.random() < 0.4 else "worker"
            is_jobs = self.beside is not None and rng.random() < 0.3
            self._kill("jobs" if is_jobs else what, rng)

    def _kill(self, what: str, rng: random.Random) -> None:
        workers = self.server.pids()[1:]
        if what == "jobs" and self.beside is not None:
            self.beside.kill_worker()
        elif what == "worker" and workers:
            with suppress(ProcessLookupError):
                os.kill(rng.choice(workers), signal.SIGKILL)
        else:
            self.server.kill_all()
            self.server.start()
        self.kills.append(what)


def run_on(
    database: str,
    *,
    n_sentences: int,
    n_kills: int,
    seed: int,
    minutes: float = 0.0,
    has_beside: bool = False,
) -> Outcome:
    """Return how one run on a fresh database went."""
    with tempfile.TemporaryDirectory() as home, postgres_database(database == "postgres") as url:
        chaos = Chaos(
            server=WebServer(Path(home), url),
            n_sentences=n_sentences,
            n_kills=n_kills,
            seed=seed,
            minutes=minutes,
            has_beside=has_beside,
        )
        start = time.monotonic()
        broken = chaos.run()
        seconds = time.monotonic() - start
        seen = (chaos.history, chaos.stored, broken, seconds)
        if chaos.beside is None or chaos.rounds is None:
            return Outcome(database, chaos.kills, *seen)
        return Outcome(
            database,
            [*chaos.kills, *["rounds"] * chaos.rounds.deaths.total()],
            *seen,
            deaths=chaos.rounds.deaths,
            ended=chaos.rounds.ended,
            done=chaos.beside.done,
            refused=chaos.beside.refused + chaos.rounds.refused,
        )


def main() -> int:
    """Run the long version and say what happened."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--sentences", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--minutes", type=float, default=0.0, help="that clients take; 0: any")
    parser.add_argument("--beside", action="store_true", help="imports, rounds, backups as well")
    options = parser.parse_args()
    is_both = options.database == "both"
    outcomes = []
    for name in ["sqlite", "postgres"] if is_both else [options.database]:
        outcome = run_on(
            name,
            n_sentences=options.sentences,
            n_kills=options.kills,
            seed=options.seed,
            minutes=options.minutes,
            has_beside=options.beside,
        )
        print(f"{outcome.row}\n{outcome.rounds_row}\n{outcome.words}", flush=True)
        print("".join(f"  {line}\n" for line in outcome.broken[:20]), end="", flush=True)
        outcomes.append(outcome)
    command = " ".join(["python -m benchmarks.chaos", *sys.argv[1:]])
    text = table(outcomes, command=command, clients=Chaos.n_clients, overlap=Chaos.overlap)
    print(text)
    if is_both and options.kills >= 100 and options.beside:
        RESULTS.write_text(text)
    return 1 if any(outcome.broken for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
