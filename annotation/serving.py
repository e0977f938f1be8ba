"""Web server and worker as two processes under one command."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from django.conf import settings

RESTART_SECONDS = 3


def serve(*, bind: str) -> int:
    """Run web and worker until Ctrl+C or until the web server ends; return its exit status."""
    stop = _StopFlag()
    web = _start(_web_command(bind))
    worker = _start([sys.executable, "manage.py", "worker"])
    try:
        while not stop.is_set and web.poll() is None:
            time.sleep(0.3)
            if worker.poll() is not None and not stop.is_set:
                print(f"The worker ended with status {worker.returncode}: starting another one.")
                time.sleep(RESTART_SECONDS)
                worker = _start([sys.executable, "manage.py", "worker"])
    finally:
        _stop(worker)
        _stop(web)
    return 0 if stop.is_set else int(web.returncode or 0)


def _web_command(bind: str) -> list[str]:
    config = Path(settings.BASE_DIR) / "config" / "gunicorn.py"
    return [
        sys.executable, "-m", "gunicorn", "config.wsgi",
        "--config", str(config), "--bind", bind,
    ]  # fmt: skip


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, so that Ctrl+C reaches it only through us."""
    return subprocess.Popen(
        command, cwd=settings.BASE_DIR, env=dict(os.environ), start_new_session=True
    )


def _stop(process: subprocess.Popen[bytes], patience: float = 20.0) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class _StopFlag:
    """Set by SIGINT or SIGTERM."""

    def __init__(self) -> None:
        self.is_set = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._set)

    def _set(self, number: int, frame: FrameType | None) -> None:
        self.is_set = True
