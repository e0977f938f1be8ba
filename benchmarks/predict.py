"""How fast a model answers, what annotators feel of it, and what memory many sentences take.

    python -m benchmarks.predict [--labelled 100] [--sentences 20000] [--rate 20]

A web server, a worker and a predictor run as the product runs them, on SQLite, with the demo's
travel project and one trained round. Prints one JSON object: seconds of `POST predict/` with 32
short sentences (the first, and warm ones), percentiles of next and submit of four annotators in a
second project alone and beside it, and the worker's memory while it predicts many sentences.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.rounds import LAUNCH, SETTLED, STATE
from benchmarks.web_server import ROOT, WebServer, resident_mb, serving

LOAD_SECONDS = 15
N_CALLS = 30
TEXTS = [f"book a flight to Oslo on day {n} please" for n in range(32)]
TOKEN = """
import sys, django
django.setup()
from django.contrib.auth import get_user_model
from django.utils import timezone
from annotation.accounts.services import create_token
from annotation.models import Membership, Role, Round
user = get_user_model().objects.create_user("asker")
project = Round.objects.get(pk=sys.argv[1]).project
Membership.objects.create(project=project, user=user, role=Role.OWNER)
made = create_token(user=user, name="asker", scope="predict", now=timezone.now())
print(project.pk, made.secret)
"""
FILE = """
import io, resource, sys, django
django.setup()
from annotation.models import Round
from annotation.predictions import services
n = int(sys.argv[2])
lines = "\\n".join(f"book flight number {i} to Oslo on monday" for i in range(n))
written = services.predict_file(
    round=Round.objects.get(pk=sys.argv[1]), stream=io.BytesIO(lines.encode()),
    file_name="many.txt", input_format="text", format="jsonl",
    options=services.ReadOptions(tokeniser="whitespace"),
)
n_lines = sum(piece.count(b"\\n") for piece in written)
print(n_lines, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main() -> None:
    """Train one round, ask its model, and print what was measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--labelled", type=int, default=100)
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=20.0, help="cycles per second")
    options = parser.parse_args()
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as home:
        server = WebServer(Path(home))
        queue = server.make_project(
            sentences=int(2 * LOAD_SECONDS * options.rate) + 200, annotators=4
        )
        with serving(server):
            result = measure(server, queue, options)
    print(json.dumps({**vars(options), "load_before": load_before, **result}))


def measure(server: WebServer, queue: dict[str, Any], options: Any) -> dict[str, Any]:
    """Return what asking costs: seconds, other people's percentiles, memory."""
    round_id = _run(server, LAUNCH, str(options.labelled), "50", "bundled", "{}")
    worker = _start(server, "manage.py", "worker")
    try:
        _run(server, STATE, round_id, *SETTLED)
    finally:
        worker.terminate()
        worker.wait(60)
    project, token = _run(server, TOKEN, round_id).split()
    predictor = _start(server, "manage.py", "predictor")
    try:
        first = _ask(server, project, token, patience=120)
        warm = [_ask(server, project, token) for _ in range(N_CALLS)]
        alone = server.load(queue, LOAD_SECONDS, options.rate)
        beside = _beside(server, queue, options.rate, project, token)
        memory = resident_mb(predictor.pid)
    finally:
        predictor.terminate()
        predictor.wait(60)
    few = _run(server, FILE, round_id, str(options.sentences // 10)).split()
    started = time.monotonic()
    many = _run(server, FILE, round_id, str(options.sentences)).split()
    return {
        "first_seconds": round(first, 3),
        "warm_median": round(statistics.median(warm), 3),
        "warm_most": round(max(warm), 3),
        "predictor_mb": round(memory),
        "alone": alone,
        "beside": beside,
        "many": {"sentences": int(many[0]), "seconds": round(time.monotonic() - started, 1)},
        "peak_mb": {few[0]: round(float(few[1])), many[0]: round(float(many[1]))},
    }


def _ask(server: WebServer, project: str, token: str, *, patience: float = 30) -> float:
    """Return the seconds of one call with 32 sentences; until the predictor is up, asked again."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/api/projects/{project}/predict/",
        data=json.dumps({"texts": TEXTS}).encode(),
        headers={"Authorization": f"Token {token}", "Content-Type": "application/json"},
    )
    deadline = time.monotonic() + patience
    while True:
        started = time.monotonic()
        try:
            with urllib.request.urlopen(request, timeout=patience) as answer:
                assert len(json.load(answer)["results"]) == len(TEXTS)
            return time.monotonic() - started
        except urllib.error.HTTPError as error:
            if time.monotonic() > deadline:
                raise RuntimeError(error.read().decode()) from error
            time.sleep(0.5)


def _beside(
    server: WebServer, queue: dict[str, Any], rate: float, project: str, token: str
) -> dict[str, Any]:
    """Return what annotators measure while a program asks the model once per second."""
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.wait(1):
            _ask(server, project, token)

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        return server.load(queue, LOAD_SECONDS, rate)
    finally:
        is_over.set()
        asker.join()


def _run(server: WebServer, text: str, *arguments: str) -> str:
    out, _ = _start(server, "-c", text, *arguments).communicate()
    return out.strip()


def _start(server: WebServer, *arguments: str) -> "subprocess.Popen[str]":
    environment = {**server.environment, "DJANGO_SETTINGS_MODULE": "config.settings"}
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )


if __name__ == "__main__":
    main()
