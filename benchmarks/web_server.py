"""A web server of the product on a free port, with its own data directory and database."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class WebServer:
    """gunicorn as the product runs it; it can be killed and started again on the same port."""

    home: Path
    database_url: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    log: Path | None = None  # where it writes; else where this process does
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of every process of this server."""
        database = self.database_url or f"sqlite:///{self.home / 'tandem.sqlite3'}"
        return {
            **os.environ,
            "TANDEM_HOME": str(self.home),
            "DATABASE_URL": database,
            "TANDEM_LOG_LEVEL": "WARNING",
            "TANDEM_STATIC_FROM_SOURCE": "1",
            **self.settings,
        }

    def run(self, *arguments: str) -> str:
        """Return what a Python module of this repository prints, run on this database."""
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def make_project(self, **options: int) -> dict[str, Any]:
        """Return a new project with a full queue: its id and its annotators' tokens."""
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        made: dict[str, Any] = json.loads(self.run("benchmarks.queue_project", *flags))
        return made

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        self.port = self.port or _free_port()
        (self.home / "static").mkdir(exist_ok=True)  # WhiteNoise warns about a missing one
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "--config", "config/gunicorn.py",
             "--bind", f"127.0.0.1:{self.port}", "--log-level", "critical"],
            cwd=ROOT,
            env=self.environment,
            start_new_session=True,
            stderr=self.log.open("ab") if self.log else None,
        )  # fmt: skip
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.02)
        raise TimeoutError(f"The web server did not listen on port {self.port}.")

    def load(
        self,
        made: dict[str, Any],
        seconds: float,
        rate: float | None = None,
        think: float | None = None,
    ) -> dict[str, Any]:
        """Return what annotators at work measured, in a process of their own."""
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.load", str(self.port), str(made["project"]),
             str(seconds), *([f"--rate={rate}"] if rate else []),
             *([f"--think={think}"] if think else [])],
            cwd=ROOT,
            input="\n".join(made["tokens"]),
            capture_output=True,
            text=True,
            check=True,
        )  # fmt: skip
        measured: dict[str, Any] = json.loads(done.stdout)
        return measured

    def pids(self) -> list[int]:
        """Return the master and its workers."""
        if self.process is None or self.process.poll() is not None:
            return []
        return [self.process.pid, *_children(self.process.pid)]

    def kill_all(self) -> None:
        """Kill master and workers with SIGKILL, as a power cut would."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def stop(self) -> None:
        """End the server in good order."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.kill_all()

    def cpu_seconds(self) -> float:
        """Return the CPU seconds that master and workers have used so far."""
        return sum(cpu_seconds(pid) for pid in self.pids())

    def resident_mb(self) -> float:
        """Return the memory of master and workers, shared pages counted once (PSS)."""
        return sum(map(resident_mb, self.pids()))


@contextmanager
def serving(server: WebServer) -> Iterator[WebServer]:
    """Run a server for the length of a block."""
    server.start()
    try:
        yield server
    finally:
        server.stop()


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of one process, those of its dead children included."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(int(n) for n in fields[11:15]) / TICKS


def resident_mb(pid: int, what: str = "Pss") -> float:
    """Return the memory of one process, its share of shared pages; 0 if it is gone.

    "Pss_Anon" leaves out files that are mapped, as SQLite's is: the system takes those back.
    """
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith(f"{what}:")) / 1024


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
