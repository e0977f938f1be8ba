"""The server under attack: asking it, handing it files, and what was found."""

import http.client
import json
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.web_server import ROOT, WebServer

BOUNDARY = "tandem-attack"
PATIENCE = 10.0  # seconds that somebody innocent may wait while the server is attacked


@dataclass
class Finding:
    """One attack: what was tried, what is worth knowing about it, and what was found."""

    name: str
    tried: str
    notes: str = ""
    found: list[str] = field(default_factory=list)

    @property
    def row(self) -> str:
        """Return a line of the table."""
        found = f"**{len(self.found)}**: " + "; ".join(self.found[:4]) if self.found else "nothing"
        notes = f". {self.notes}" if self.notes else ""
        return f"| {self.name} | {self.tried} | {_cell(found + notes)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


@dataclass
class Attack:
    """A server, what is known about it, and how much is tried."""

    server: WebServer
    made: dict[str, Any]
    scale: float
    rng: random.Random

    def ask(
        self,
        method: str,
        path: str,
        *,
        session: str = "",
        token: str = "",
        body: bytes = b"",
        headers: Iterable[tuple[str, str]] = (),
        timeout: float = 60,
    ) -> tuple[int, bytes, dict[str, str]]:
        """Return status, body and headers of one request; 0 where there was no answer."""
        sent = dict(headers)
        if session:
            sent["Cookie"] = f"sessionid={session}; {sent.get('Cookie', '')}"
        if token:
            sent["Authorization"] = f"Token {token}"
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=timeout)
        try:
            connection.request(method, path, body=body or None, headers=sent)
            answer = connection.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())
        except (OSError, http.client.HTTPException) as error:
            return 0, repr(error).encode(), {}
        finally:
            connection.close()

    def addresses(self, ids: dict[str, int]) -> list[tuple[str, list[str]]]:
        """Return every route with these ids in its holes, and which holes it has."""
        filled = []
        for route, holes, _ in self.made["routes"]:

            def value(match: re.Match[str]) -> str:
                name = match[1].rpartition(":")[2]
                return str(ids.get(name, "forecast" if name == "name" else "x" * 43))

            filled.append((re.sub(r"<([^>]+)>", value, route), holes))
        return filled

    def token(self, person: str, scope: str = "manage") -> str:
        """Return a token of somebody."""
        return str(self.made["people"][person][scope])

    @property
    def project(self) -> int:
        """Return the project that its own people may hurt."""
        return int(self.made["ids"]["A"]["project_id"])


class Innocent:
    """Somebody who looks at a page again and again for the length of a block."""

    def __init__(self, attack: Attack) -> None:
        self.attack, self.waits = attack, list[float]()
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._look)

    def __enter__(self) -> list[float]:
        self.thread.start()
        return self.waits

    def __exit__(self, *error: object) -> None:
        self.stopped.set()
        self.thread.join()

    def _look(self) -> None:
        while not self.stopped.is_set():
            started = time.monotonic()
            self.attack.ask("GET", "/sign-in/")
            self.waits.append(time.monotonic() - started)
            self.stopped.wait(0.2)


def upload(attack: Attack, body: bytes, name: str, **fields: str) -> tuple[int, bytes]:
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in fields.items()
    ]
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    whole = b"".join([*parts, head.encode(), body, f"\r\n--{BOUNDARY}--\r\n".encode()])
    status, said, _ = attack.ask(
        "POST",
        f"/api/projects/{attack.project}/corpora/",
        token=attack.token("owner-A"),
        body=whole,
        headers=[("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")],
        timeout=180,
    )
    return status, said


def ended_job(attack: Attack, said: bytes) -> bytes:
    """Return what a job says of itself when it has ended, or after two minutes."""
    path = f"/api/projects/{attack.project}/jobs/{json.loads(said)['id']}/"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        _, said, _ = attack.ask("GET", path, token=attack.token("owner-A"))
        if re.search(rb'"state":"(failed|done|cancelled)"', said):
            break
        time.sleep(0.5)
    return said


def n_sentences(attack: Attack) -> int:
    path = f"/api/projects/{attack.project}/corpora/"
    _, body, _ = attack.ask("GET", path, token=attack.token("owner-A"))
    return sum(map(int, re.findall(rb'"n_sentences":(\d+)', body)))


def failure_of(attack: Attack, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "manage", *command],
        cwd=ROOT, env=attack.server.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stderr[-200:] if done.returncode else ""


def counted(counts: Any) -> str:
    return ", ".join(f"{key}: {n:,}" for key, n in sorted(dict(counts).items()))
