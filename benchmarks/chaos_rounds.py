"""Small rounds one after the other, whose workers are killed while they train, score and choose.

A project of its own, with an owner and a worker of the lane that trains. Before each round it is
drawn how many workers will die of it and in which stages; where that is the last one a job may
have, the round must fail, and be retried or followed by another. Some rounds are cancelled. What a
round was doing is read from the database after the kill: nobody else can have moved it by then. A
worker that had not taken the round yet, as it was still starting, did not die of it.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPException
from typing import Any

import psycopg

from benchmarks.web_server import ROOT, WebServer
from tandem_client import ApiError, Client

SETTINGS: Any = {
    "encoder": "tiny", "epochs": 4, "test_size": 6, "unit": "sentences", "amount": 6,
    "has_control": False, "pool_sample": 300, "strategy": "MT-EEC",
}  # fmt: skip
STAGES = {"training": 1.0, "scoring": 0.3, "selecting": 0.3}  # seconds in which a kill may fall
RUNNING = ("queued", *STAGES)
MOST_DEATHS = 5  # of workers: then a round fails (annotation/jobs/services.py)
PATIENCE = 900.0  # seconds until a round that nobody kills must have ended
LATEST = """SELECT number, state FROM annotation_round WHERE project_id = {}
            ORDER BY number DESC LIMIT 1"""
HOLDER = """SELECT worker FROM annotation_job WHERE project_id = {} AND kind = 'round'
            AND state = 'running' ORDER BY id DESC LIMIT 1"""


@dataclass(frozen=True)
class Seen:
    """A round as it stands in the database."""

    number: int
    state: str


@dataclass
class Rounds:
    """An owner who launches one round after the other, and the death of its workers."""

    server: WebServer
    seed: int
    deaths: Counter[str] = field(default_factory=Counter)  # by what the round was doing
    ended: Counter[str] = field(default_factory=Counter)  # rounds, by how they ended
    errors: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    worker: "subprocess.Popen[bytes] | None" = None
    reading: Any = None  # of the thread that follows the rounds

    def start(self, made: dict[str, Any]) -> None:
        """Begin; ``made`` has the third project and its owner's token."""
        self.stopped = threading.Event()
        self.project, self.token = made["rounds"], made["owner"]
        self.rng = random.Random(self.seed)
        self.start_worker()
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def stop(self) -> None:
        """Let the round that runs come to its end, and end."""
        self.stopped.set()
        self.thread.join()
        if self.worker is not None:
            kill_group(self.worker)

    def start_worker(self) -> None:
        """Start a worker that trains."""
        self.worker = start_worker(self.server, "--lane=training")

    def kill_worker(self) -> bool:
        """Kill the worker as a power cut would; return whether it died of a round."""
        worker = self.worker
        if worker is None:
            return False
        kill_group(worker)
        seen, holder = self._latest(), self._read(HOLDER)
        is_hit = holder is not None and f":{worker.pid}:" in str(holder[0])
        self.deaths[seen.state if seen and is_hit else "not yet at it, or done"] += 1
        self.start_worker()
        return is_hit

    def _work(self) -> None:
        client = Client(f"http://127.0.0.1:{self.server.port}", self.token, timeout=20)
        try:
            n = 0
            while not self.stopped.is_set():
                n += 1
                self._asked(partial(self._label, client, n))
                self._one_round(client)
        except (ApiError, OSError, HTTPException, sqlite3.Error, psycopg.Error) as error:
            self.errors.append(f"rounds ended early: {error!r}")
        finally:
            client.close()
            if self.reading is not None:
                self.reading.close()

    def _one_round(self, client: Client) -> None:
        """Launch a round, kill its workers as drawn, and see it end."""
        before = self._latest()
        self._asked(lambda: client.create_round(self.project, **SETTINGS))
        seen = self._latest()
        if seen is None or seen == before or (before and seen.number == before.number):
            return  # cut off before it was stored: the next turn launches
        n_deaths = self.rng.choices([0, 1, 2, 3, MOST_DEATHS], [1, 4, 4, 3, 2])[0]
        is_cancelled = self.rng.random() < 0.1
        n_kills, n_fatal = self._kill_in_stages(seen.number, n_deaths)
        if is_cancelled:
            self._asked(lambda: client.cancel_round(self.project, seen.number))
        end = self._wait(seen.number)
        self._judge(seen.number, end, n_kills, n_fatal, is_cancelled)
        if end == "failed":
            self._retry(client, seen.number)
            again = self._wait(seen.number)
            self.ended[f"failed, retried: {again}"] += 1
            if again not in ("labelling", "done"):
                self.errors.append(f"round {seen.number} was retried and is {again}")

    def _retry(self, client: Client, number: int) -> None:
        """Ask for another try until it is there: the server may be killed before it is stored."""
        deadline = time.monotonic() + PATIENCE
        while self._latest() == Seen(number, "failed") and time.monotonic() < deadline:
            self._asked(lambda: client.retry_round(self.project, number))
            time.sleep(0.2)

    def _kill_in_stages(self, number: int, n_deaths: int) -> tuple[int, int]:
        """Kill workers in the stages that are drawn; return how many, and how many of the round."""
        n_kills = n_fatal = 0
        names = list(STAGES)  # in their order: what is finished is not done again
        for stage in sorted(self.rng.choices(names, k=n_deaths), key=names.index):
            self._wait_for_worker()
            if self._wait(number, stage) != stage:
                break  # the round has ended
            time.sleep(self.rng.uniform(0, STAGES[stage]))
            n_kills += 1
            n_fatal += self.kill_worker()
        return n_kills, n_fatal

    def _judge(self, number: int, end: str, n_kills: int, n_fatal: int, is_cancelled: bool) -> None:
        self.ended[end] += 1
        if end == "failed" and n_kills < MOST_DEATHS:
            self.errors.append(f"round {number} failed after {n_kills} workers were killed")
        elif n_fatal >= MOST_DEATHS and end != "failed" and not is_cancelled:
            self.errors.append(f"round {number} took {n_fatal} workers and is {end}")
        elif end == "cancelled" and not is_cancelled:
            self.errors.append(f"round {number} is cancelled and nobody wanted that")
        elif end not in ("labelling", "done", "failed", "cancelled"):
            self.errors.append(f"round {number} is still {end} after {PATIENCE:g} s")

    def _wait(self, number: int, wanted: str = "") -> str:
        """Return a round's state when it is the wanted one, when it has ended, or at last."""
        deadline = time.monotonic() + PATIENCE
        while True:
            seen = self._latest()
            state = seen.state if seen and seen.number == number else "gone"
            if state == wanted or state not in RUNNING or time.monotonic() > deadline:
                return state
            time.sleep(0.01)

    def _wait_for_worker(self) -> None:
        """Wait until the worker has the round, or nobody: it starts for some seconds."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            holder = self._read(HOLDER)
            seen = self._latest()
            is_over = seen is None or seen.state not in RUNNING
            if is_over or (self.worker and holder and f":{self.worker.pid}:" in str(holder[0])):
                return
            time.sleep(0.01)

    def _label(self, client: Client, n: int) -> None:
        """Add a label to the task and rename one that was added before, as no round runs."""
        task = next(t for t in client.project(self.project)["tasks"] if t["name"] == "Topic")
        added = [one for one in task["labels"] if str(one["name"]).startswith("label ")]
        if len(added) < 3:
            client.labels_task(self.project, task["id"], names=[f"label {n}"])
        else:
            client.change_label(self.project, task["id"], added[0]["id"], name=f"label {n}")

    def _asked(self, ask: Callable[[], object]) -> None:
        """Ask once; a request that is cut off or refused is counted."""
        try:
            ask()
        except ApiError as error:
            self.refused[f"{error.status} {error}"[:120]] += 1
            if error.status not in (400, 404, 409, 429):
                self.errors.append(f"refused: {error!r}")
        except (OSError, HTTPException):
            self.refused["cut off"] += 1

    def _latest(self) -> Seen | None:
        """Return the newest round, past the server, which may be dead."""
        row = self._read(LATEST)
        return Seen(*row) if row else None

    def _read(self, query: str) -> Any:
        if self.reading is None:
            url, path = self.server.database_url, self.server.home / "tandem.sqlite3"
            self.reading = (
                psycopg.connect(url, autocommit=True)
                if url
                else sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
            )
        return self.reading.execute(query.format(int(self.project))).fetchone()


def start_worker(server: WebServer, *options: str, log: Any = None) -> "subprocess.Popen[bytes]":
    """Start a worker in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "manage", "worker", *options],
        cwd=ROOT, env=server.environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=log or subprocess.DEVNULL,
    )  # fmt: skip


def kill_group(worker: "subprocess.Popen[bytes]") -> None:
    """Kill a worker and its children as a power cut would."""
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
