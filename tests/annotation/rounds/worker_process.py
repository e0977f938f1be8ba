"""A real worker process on the tests' database."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from django.db import connection

from annotation.models import Round

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 500  # seconds: a worker is lowered below everything else on a busy machine


def database_url():
    """Return the address of the database that the tests write to."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


def start_worker(home=None):
    """Start ``manage.py worker`` on the tests' data, or on those of another machine."""
    environment = {**os.environ, "DATABASE_URL": database_url()}
    if home is not None:
        environment["TANDEM_HOME"] = str(home)
    return subprocess.Popen(
        [sys.executable, "manage.py", "worker"], cwd=ROOT, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


@contextmanager
def working(home=None):
    """Keep a worker at work; at the end it stops in good order."""
    worker = start_worker(home)
    try:
        yield worker
        worker.send_signal(signal.SIGTERM)
        out, _ = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 0, out
    finally:
        worker.kill()
        worker.wait()
        worker.stdout.close()


def wait_for(launched, worker, *states):
    """Return the round as soon as it is in one of the states."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        state = Round.objects.values_list("state", flat=True).get(pk=launched.pk)
        if state in states:
            launched.refresh_from_db()
            return launched
        assert worker.poll() is None, worker.communicate()[0]
        assert state in Round.RUNNING, (state, Round.objects.get(pk=launched.pk).message)
        time.sleep(0.01)
    raise TimeoutError(f"The round is still {state}, not {' or '.join(states)}.")


def kill_at(launched, stage, home=None):
    """Start a worker and kill it with SIGKILL while the round is at a stage."""
    worker = start_worker(home)
    try:
        wait_for(launched, worker, stage)
        worker.send_signal(signal.SIGSTOP)  # so that it is at this stage when it is killed
        launched.refresh_from_db()
        return launched.state
    finally:
        worker.kill()
        worker.wait()
        worker.stdout.close()
