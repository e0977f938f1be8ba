"""How long people wait for new asks, stage by stage, and how fast the queue stays meanwhile.

    python -m benchmarks.rounds [--labelled 200] [--pool 5000] [--rate 20] [--encoder bundled]

A web server and a worker run as the product runs them, on SQLite, with the demo's travel project.
A round is launched; while it trains and scores, four annotators take and submit at a steady rate
in a second project on the same server. Prints one JSON object: seconds of each stage, CPU seconds
of the worker (its start included), and the percentiles of next and submit. A second round with the
same labels then tells what is saved by the kept outputs of frozen layers.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.web_server import ROOT, WebServer, cpu_seconds, serving

LOAD_SECONDS = 20
SETTLED = ("labelling", "done", "failed", "cancelled")
LAUNCH = """
import io, json, sys, django
django.setup()
from annotation.demo.services import TRAVEL_DESK, corpus_lines
from annotation.corpora.imports import import_corpus
from annotation.projects.services import create_project
from annotation.rounds.services import launch_round
labelled, pool, encoder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
project = create_project(spec=TRAVEL_DESK.spec)
for first, last, labels in ((0, 2 * labelled, "gold"), (2 * labelled, 2 * labelled + pool, "none")):
    lines = corpus_lines(TRAVEL_DESK, first=first, last=last, labelled=labels == "gold")
    import_corpus(
        project=project, stream=io.BytesIO("".join(lines).encode()), file_name=f"{labels}.jsonl",
        format="jsonl", labels=labels,
    )
config = {"encoder": encoder, "test_size": labelled, "has_control": False}
config |= json.loads(sys.argv[4])
print(launch_round(project=project, changes=config, created_by=None).pk)
"""
AGAIN = """
import sys, django
django.setup()
from annotation.models import Round
from annotation.rounds.services import launch_round
last = Round.objects.get(pk=sys.argv[1])
print(launch_round(project=last.project, changes=last.config, created_by=None).pk)
"""
STATE = """
import sys, time, django
django.setup()
from annotation.models import Round
shown = ""
while shown not in sys.argv[2:]:
    found = Round.objects.get(pk=sys.argv[1])
    if found.state != shown:
        shown = found.state
        print(time.time(), shown, found.message, sep="\\t", flush=True)
    time.sleep(0.05)
"""


def main() -> None:
    """Run one round under load and print what was measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--labelled", type=int, default=200)
    parser.add_argument("--pool", type=int, default=5000)
    parser.add_argument("--rate", type=float, default=20.0, help="cycles per second")
    parser.add_argument("--encoder", default="bundled")
    parser.add_argument("--settings", default="{}", help="of the round, as a JSON object")
    options = parser.parse_args()
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as home:
        server = WebServer(Path(home))
        n_cycles = int(2 * LOAD_SECONDS * options.rate)  # idle, and while it trains
        queue = server.make_project(sentences=n_cycles + 100, annotators=4)
        with serving(server):
            result = measure(server, queue, options)
    print(json.dumps({**vars(options), "load_before": load_before, **result}))


def measure(server: WebServer, queue: dict[str, Any], options: Any) -> dict[str, Any]:
    """Return the stages' seconds, the worker's CPU, and the load's percentiles."""
    sizes = [str(options.labelled), str(options.pool), options.encoder, options.settings]
    round_id = _script(server, LAUNCH, *sizes).communicate()[0].strip()
    idle = server.load(queue, LOAD_SECONDS, options.rate)
    worker = _process(server, "manage.py", "worker")
    try:
        marks, beside = _follow(server, queue, round_id, options.rate)
        cpu = cpu_seconds(worker.pid)
        again = _script(server, AGAIN, round_id).communicate()[0].strip()
        _wait(server, again)
        second_cpu = cpu_seconds(worker.pid) - cpu
    finally:
        worker.terminate()
        worker.wait(60)
    return {
        "state": marks[-1].state,
        "message": marks[-1].message,
        "stages": {a.state: round(b.at - a.at, 2) for a, b in itertools.pairwise(marks)},
        "seconds_to_asks": round(marks[-1].at - marks[0].at, 2),
        "worker_cpu": round(cpu, 2),
        "second_round_cpu": round(second_cpu, 2),
        "idle": idle,
        "while_training": beside,
    }


class Mark(NamedTuple):
    """When a round was first seen in a state."""

    at: float
    state: str
    message: str


def _follow(
    server: WebServer, queue: dict[str, Any], round_id: str, rate: float
) -> tuple[list[Mark], dict[str, Any]]:
    """Return when each state began, and what annotators measured from the training on."""
    watcher = _script(server, STATE, round_id, *SETTLED)
    marks: list[Mark] = []
    with ThreadPoolExecutor(1) as pool:
        beside: Future[dict[str, Any]] | None = None
        for line in watcher.stdout or ():
            at, state, message = line.rstrip("\n").split("\t")
            marks.append(Mark(float(at), state, message))
            if state == "training":
                beside = pool.submit(server.load, queue, LOAD_SECONDS, rate)
        watcher.wait()
        return marks, beside.result() if beside else {}


def _wait(server: WebServer, round_id: str) -> None:
    """Wait until a round has come to its end."""
    _script(server, STATE, round_id, *SETTLED).communicate()


def _script(server: WebServer, text: str, *arguments: str) -> "subprocess.Popen[str]":
    return _process(server, "-c", text, *arguments)


def _process(server: WebServer, *arguments: str) -> "subprocess.Popen[str]":
    environment = {**server.environment, "DJANGO_SETTINGS_MODULE": "config.settings"}
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )


if __name__ == "__main__":
    main()
