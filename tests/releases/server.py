"""A server process of this tree with a data directory of its own, and visits of people to it."""

import http.cookiejar
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "manage.py")
PASSWORD = "wind-and-tide-71"  # of everybody in the fixtures
FORM_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class Server:
    """Web and worker of this tree, as people start them."""

    def __init__(
        self,
        home: Path,
        *options: str,
        program: Sequence[str] = PROGRAM,
        cwd: Path = ROOT,
        more: Mapping[str, str] | None = None,
    ) -> None:
        bind = f"127.0.0.1:{free_port()}"
        self.address = f"http://{bind}"
        self.environment = {**environment(home), **(more or {})}
        self._process = subprocess.Popen(
            [*program, "serve", "--bind", bind, *options],
            cwd=cwd, env=self.environment, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def __enter__(self) -> Self:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                Session(self.address).get("/sign-in/")
            except OSError:
                time.sleep(0.2)
            else:
                return self
        self.__exit__()
        raise TimeoutError("The server did not answer.")

    def __exit__(self, *error: Any) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=60)

    def command(self, *words: str) -> str:
        """Run a management command and return what it says."""
        return run_command(self.environment, *words)


class Session:
    """What a browser does for one person: cookies, forms with their token, REST in a session."""

    def __init__(self, address: str, trust: ssl.SSLContext | None = None) -> None:
        self.address = address
        self._cookies = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(self._cookies),
            urllib.request.HTTPSHandler(context=trust),
        )

    def sign_in(self, name: str) -> Self:
        """Sign somebody of the fixtures in."""
        self.post_form("/sign-in/", {"username": name, "password": PASSWORD})
        return self

    def get(self, path: str) -> str:
        """Return a page."""
        with self._opener.open(self.address + path, timeout=60) as response:
            return response.read().decode()

    def post_form(self, path: str, fields: dict[str, str]) -> str:
        """Fill in the form of a page and return the page that comes next."""
        found = FORM_TOKEN.search(self.get(path))
        assert found, f"{path} shows no form"
        data = urllib.parse.urlencode({**fields, "csrfmiddlewaretoken": found[1]}).encode()
        headers = {"Referer": self.address + path}
        request = urllib.request.Request(self.address + path, data, headers)
        with self._opener.open(request, timeout=60) as response:
            page = response.read().decode()
            assert response.url != request.full_url, f"{path} did not take the form:\n{page}"
            return page

    def call(self, method: str, path: str, body=None, headers=None):
        """Return the answer of the REST API, nothing where it is empty."""
        token = next((c.value for c in self._cookies if c.name == "csrftoken"), "")
        request = urllib.request.Request(
            f"{self.address}/api/{path}",
            None if body is None else json.dumps(body).encode(),
            {
                "Content-Type": "application/json",
                "X-CSRFToken": token,
                "Referer": self.address,
                **(headers or {}),
            },
            method=method,
        )
        try:
            with self._opener.open(request, timeout=60) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()}") from error
        return json.loads(text) if text else None


def sign_up(server: Server, name: str, through: Session | None = None) -> Session:
    """Return the session of an admin who has chosen a password."""
    person = through or Session(server.address)
    link = server.command("sign_in_link", name).strip()
    person.post_form(urllib.parse.urlsplit(link).path, {})
    person.post_form("/account/password/", {"password": PASSWORD})
    return person


def environment(home: Path) -> dict[str, str]:
    """Return the environment of processes on a data directory."""
    own = {
        "TANDEM_HOME": str(home),
        "DATABASE_URL": f"sqlite:///{home / 'tandem.sqlite3'}",
        "HF_HUB_OFFLINE": "1",
        "TANDEM_WEB_PROCESSES": "1",
    }
    return {**os.environ, **own}


def run_command(environment: dict[str, str], *words: str) -> str:
    """Run a management command and return what it says."""
    done = subprocess.run(
        [*PROGRAM, *words],
        cwd=ROOT, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wait_for_round(admin: Session, project: int, launched: dict, state="labelling") -> None:
    """Return when a round has come to a state."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        found = admin.call("GET", f"projects/{project}/rounds/{launched['number']}/")
        if found["state"] == state:
            return
        assert found["state"] not in ("failed", "done"), found
        time.sleep(0.3)
    raise TimeoutError(f"Round {launched['number']} is still {found['state']}.")


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
