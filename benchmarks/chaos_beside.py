"""What goes on beside the queue under fire: imports, rounds, decisions, labels, backups.

An owner works in a second project, a worker runs its jobs and is killed too. Everything is asked
for again until it is answered; what must hold at the end is in ``left_over``.
"""

import itertools
import json
import os
import random
import re
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

import django

from benchmarks.chaos_rounds import kill_group, start_worker
from benchmarks.web_server import ROOT, WebServer
from tandem_client import ApiError, Client

ROUND: Any = {
    "encoder": "tiny", "epochs": 1, "test_size": 4, "unit": "sentences", "amount": 6,
    "has_control": False, "pool_sample": 100,
}  # fmt: skip
REFUSALS = (400, 409, 429)  # a round that runs already, a label that is there
MOST_REPLAYED = 10  # rounds that were resumed, computed again after a run
MOST_BIG = 4  # corpora that a worker imported, before the oldest one goes


@dataclass
class Beside:
    """An owner and a worker beside the annotators."""

    server: WebServer
    seed: int
    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)  # by what was asked and the reason
    errors: list[str] = field(default_factory=list)
    lane: str = ""  # of its workers; where others train, it launches no rounds
    n_workers: int = 1
    pause: tuple[float, float] = (0.1, 0.4)  # seconds between two things the owner does
    log: Path | None = None  # where workers write
    workers: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def start(self, made: dict[str, Any]) -> None:
        """Begin to work; ``made`` has the second project and its owner's token."""
        self.stopped = threading.Event()
        for _ in range(self.n_workers):
            self.start_worker()
        self.threads = [
            threading.Thread(target=self._own, args=(made["beside"], made["owner"])),
            threading.Thread(target=self._back_up),
        ]
        for thread in self.threads:
            thread.start()

    def start_worker(self) -> None:
        """Start a worker."""
        options = [f"--lane={self.lane}"] if self.lane else []
        log = self.log.open("ab") if self.log else None
        self.workers.append(start_worker(self.server, *options, log=log))

    def kill_worker(self) -> None:
        """Kill the oldest worker as a power cut would, and start another one."""
        kill_group(self.workers.pop(0))
        self.start_worker()

    def stop(self) -> None:
        """End the work."""
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        for worker in self.workers:
            kill_group(worker)

    def _own(self, project: int, token: str) -> None:
        rng = random.Random(self.seed)
        client = Client(f"http://127.0.0.1:{self.server.port}", token, timeout=60, patience=300)
        acts = [self._import, self._import_by_worker, self._decide, self._label, self._remove]
        if not self.lane:
            acts.append(self._round)
        n = 0
        while not self.stopped.is_set():
            act = rng.choice(acts)
            n += 1
            try:
                act(client, project, n)
                self.done[act.__name__.strip("_")] += 1
            except ApiError as error:
                if error.status not in REFUSALS:
                    self.errors.append(f"{act.__name__}: {error!r}")
                self.refused[f"{act.__name__.strip('_')}: {_reason(error)}"] += 1
            except (OSError, HTTPException):
                self.done["cut off"] += 1  # an upload is not sent twice: nobody was told it is done
            self.stopped.wait(rng.uniform(*self.pause))

    def _import(self, client: Client, project: int, n: int) -> None:
        lines = "".join(f"a ferry number {n} {i}\n" for i in range(40))
        client.import_corpus(project, lines.encode(), format="text", labels="none", name=f"c{n}")

    def _import_by_worker(self, client: Client, project: int, n: int) -> None:
        rows = [{"text": f"big {n} {i} " + "x " * 400, "labels": {}} for i in range(2_800)]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        client.import_corpus(project, lines.encode(), format="jsonl", labels="none", name=f"w{n}")

    def _round(self, client: Client, project: int, n: int) -> None:
        client.create_round(project, **ROUND)

    def _decide(self, client: Client, project: int, n: int) -> None:
        """Decide on some sentences, others each time, so that a model has something to learn."""
        for sentence in itertools.islice(client.sentences(project, limit=50), n % 45, n % 45 + 5):
            topic = ["travel", "other"][sentence["id"] % 2]
            client.decide(project, sentence["id"], answers={"Topic": topic})

    def _remove(self, client: Client, project: int, n: int) -> None:
        """Delete the oldest big corpus, once there are several."""
        big = [corpus for corpus in client.corpora(project) if corpus["name"].startswith("w")]
        if len(big) > MOST_BIG:
            try:
                client.delete_corpus(project, min(corpus["id"] for corpus in big))
            except ApiError as error:
                if error.status != 404:  # asked again after no answer came: it is gone
                    raise

    def _label(self, client: Client, project: int, n: int) -> None:
        """Add a label; rename or merge one that was added before."""
        task = next(t for t in client.project(project)["tasks"] if t["name"] == "Topic")
        client.labels_task(project, task["id"], names=[f"label {n}"])
        added = [one for one in task["labels"] if str(one["name"]).startswith("label ")]
        if len(added) > 1 and n % 2:
            client.merge_label(project, task["id"], added[0]["id"], into=added[1]["id"])
        elif added:
            client.change_label(project, task["id"], added[0]["id"], name=f"label {n} renamed")

    def _back_up(self) -> None:
        n = 0
        while not self.stopped.wait(10):
            path = self.server.home / f"backup{n % 2}.zip"
            n += 1
            for command in (["backup", "-o", str(path)], ["verify", str(path)]):
                done = subprocess.run(
                    [sys.executable, "-m", "manage", *command],
                    cwd=ROOT, env=self.server.environment, capture_output=True, text=True,
                    check=False,
                )  # fmt: skip
                if done.returncode:
                    self.errors.append(f"{command[0]}: {done.stderr[-300:]}")
            self.done["backup"] += 1


def _reason(error: ApiError) -> str:
    """Return why something was refused, with the same words whatever the numbers are."""
    return re.sub(r"\d+", "N", str(error))[:160]


def left_over(server: WebServer) -> list[str]:
    """Let a worker finish everything, and return what is stuck or half done."""
    server.run("manage", "worker", "--batch")
    found: list[str] = json.loads(server.run("benchmarks.chaos_beside"))
    return found


def main() -> None:
    """Print what is stuck or half done in the database of the environment."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from annotation.models import Ask, Corpus, Job, Round
    from annotation.rounds.stages import replay_round
    from config.home import home

    broken = [f"job {j.pk} ({j.kind}) is {j.state}" for j in Job.objects.all() if j.state in OPEN]
    broken += [
        f"round {r.number} is {r.state}" for r in Round.objects.filter(state__in=Round.RUNNING)
    ]
    broken += [
        f"corpus {corpus.name} has {corpus.sentences.count()} of {corpus.n_sentences} sentences"
        for corpus in Corpus.objects.all()
        if corpus.sentences.count() != corpus.n_sentences
    ]
    known = set(Round.objects.values_list("folder", flat=True))
    broken += [
        f"folder {folder.name} belongs to no round"
        for folder in Path(home().rounds).glob("[!.]*")
        if folder.name not in known
    ]
    theirs = Round.objects.filter(project__name="Rounds")  # whose sentences nobody deletes
    for opened in theirs.filter(state__in=(Round.State.LABELLING, Round.State.DONE)):
        asked = Ask.objects.filter(queue__round=opened).values_list("sentence", flat=True)
        wanted = [ask["sentence"] for ask in opened.manifest.get("asks", [])]
        if sorted(asked) != sorted(wanted) or len(set(asked)) != len(wanted) or not wanted:
            broken.append(f"round {opened.number} asks {len(asked)}, its manifest {len(wanted)}")
    resumed = theirs.filter(n_resumed__gt=0, state=Round.State.DONE).order_by("-number")
    for again in resumed[:MOST_REPLAYED]:
        if not (replay := replay_round(again)).is_same:
            broken.append(f"round {again.number} was resumed and differs: {replay.difference}")
    print(json.dumps(broken))


OPEN = ("queued", "running")

if __name__ == "__main__":
    main()
