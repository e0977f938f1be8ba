"""Attacks a server of its own on 127.0.0.1 and writes what was tried and what was found.

    python -m benchmarks.attack [--part access ...] [--database sqlite|postgres] [--scale 1.0]

Everything goes to a server that this script starts and stops, bounded in count and time. A finding
is a wrong success, a word of another project, an answer of 500 or above, or a server that others
wait for. Exits with status 1 if there are any; all parts together write
benchmarks/results/attack.md.
"""

import argparse
import gzip
import http.client
import io
import json
import random
import re
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.attack_victim import CANARIES, PASSWORD
from benchmarks.databases import postgres_database
from benchmarks.web_server import ROOT, WebServer

RESULTS = ROOT / "benchmarks" / "results" / "attack.md"
LOG = Path(tempfile.gettempdir()) / "tandem-attack.log"
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
BOUNDARY = "tandem-attack"
SLOW_CLIENTS = 200
PATIENCE = 10.0  # seconds that somebody innocent may wait while the server is attacked
HEAD = """# Attacks

`python -m benchmarks.attack` starts a server of its own on this machine, attacks it and writes this table. A finding is a wrong success, a word of another project, an answer of 500 or above, an answer that
was lost, or a server that others wait for longer than {patience:.0f} s. Kills are in [chaos.md](chaos.md); attacks on the pages' scripts and markup are tests in a browser (`tests/browser`, `tests/annotation/accounts/test_who_may_open.py`).

Database: {database}. {seconds:.0f} s in all.

| attack | tried | found |
|---|---|---|
"""  # noqa: E501


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
        for route, holes in self.made["routes"]:

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


def attack_access(attack: Attack) -> Finding:
    """Ask for everything of B as everybody else, and for B's things inside A."""
    ids, found, n = attack.made["ids"], [], Counter[str]()
    crossed = {**ids["B"], "project_id": ids["A"]["project_id"]}
    outsiders = ["stranger", "closed", "owner-A", "curator-A", "annotator-A", ""]
    jobs = []
    for person in outsiders:
        ways: dict[str, str] = attack.made["people"].get(person, {"nobody": ""})
        for way, secret in ways.items():
            how = {"session": secret} if way == "session" else {"token": secret}
            for kind, values in (("of B", ids["B"]), ("of B inside A", crossed)):
                for path, holes in attack.addresses(values):
                    if kind == "of B inside A" and len(holes) < 2:
                        continue  # A's own page
                    if "project_id" not in holes and not set(holes) & set(OWNED):
                        continue  # belongs to no project: what it may say is in the tests
                    jobs += [(person, way, how, kind, m, path, holes) for m in METHODS]
    attack.rng.shuffle(jobs)
    jobs = jobs[: int(len(jobs) * min(attack.scale, 1))]

    def one(job: Any) -> str | None:
        person, way, how, kind, method, path, holes = job
        status, body, _ = attack.ask(method, path, **how)
        n[str(status)] += 1
        who = f"{person or 'nobody'} by {way}: {method} {path} ({kind})"
        if status >= 500 or status == 0:
            return f"{who} answered {status}"
        if CANARIES["B"].encode() in body:
            return f"{who} shows a word of B"
        is_listing = kind == "of B inside A" and not set(holes) & set(OWNED)
        if 200 <= status < 300 and method != "OPTIONS" and not is_listing:
            return f"{who} answered {status}"
        return None

    with ThreadPoolExecutor(4) as pool:
        found = [words for words in pool.map(one, jobs) if words]
    # A number that both projects have (a round's) is A's own inside A.
    found = [words for words in found if not ("inside A" in words and "/rounds/1/" in words)]
    return Finding(
        "Access by role and scope",
        f"{len(jobs):,} requests: {len(attack.made['routes'])} routes, 7 methods, "
        f"{len(outsiders)} people who are not in B by session and tokens of 4 scopes, "
        "B's ids and B's ids inside A",
        f"answers: {_counts(n)}",
        found,
    )


OWNED = (
    "sentence_id", "corpus_id", "task_id", "label_id", "job_id", "lease_id", "ask_id",
    "membership_id", "invitation_id", "flag_id", "submission_id", "token_id",
)  # fmt: skip


def attack_csrf(attack: Attack) -> Finding:
    """Send what changes something in an owner's session, without the token of a form."""
    session = attack.made["people"]["owner-A"]["session"]
    tricks: list[tuple[str, list[tuple[str, str]]]] = [
        ("no token", []),
        (
            "wrong token",
            [("X-CSRFToken", "a" * 32 + "b" * 32), ("Cookie", f"csrftoken={'a' * 64}")],
        ),
        ("foreign origin", [("Origin", "https://evil.example"), *RIGHT_TOKEN]),
        ("form type", [("Content-Type", "text/plain")]),
    ]
    found, n = [], 0
    for path, _ in attack.addresses(attack.made["ids"]["A"]):
        if path.startswith(("/sign-in/x", "/invitations/")):
            continue  # for people without a session
        for method in UNSAFE:
            for name, headers in tricks:
                n += 1
                status, _, _ = attack.ask(method, path, session=session, headers=headers)
                if status not in (400, 403, 404, 405, 413, 415):
                    found.append(f"{method} {path} with {name} answered {status}")
    return Finding("CSRF", f"{n:,} requests in an owner's session", found=found)


RIGHT_TOKEN = [("X-CSRFToken", "a" * 64), ("Cookie", f"csrftoken={'a' * 64}")]


def attack_sign_in(attack: Attack) -> Finding:
    """Guess in parallel, use one link twelve times at once, and ask for foreign pages."""
    found = []

    def csrf() -> tuple[str, str]:
        _, body, headers = attack.ask("GET", "/sign-in/")
        cookie = re.search(r"csrftoken=(\w+)", headers.get("Set-Cookie", ""))
        field_value = re.search(rb'csrfmiddlewaretoken" value="(\w+)"', body)
        assert cookie is not None
        assert field_value is not None
        return cookie[1], field_value[1].decode()

    def post(path: str, **values: str) -> tuple[int, bytes, dict[str, str]]:
        cookie, value = csrf()
        body = urlencode({**values, "csrfmiddlewaretoken": value}).encode()
        headers = [
            ("Cookie", f"csrftoken={cookie}"),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ]
        return attack.ask("POST", path, body=body, headers=headers)

    with ThreadPoolExecutor(12) as pool:
        guesses = list(
            pool.map(
                lambda i: post("/sign-in/", username="curator-B", password=f"wrong {i}"), range(40)
            )
        )
    checked = sum(status == 200 for status, _, _ in guesses)
    if checked > 10 or any(status not in (200, 429) for status, _, _ in guesses):
        found.append(f"{checked} of 40 guesses were looked at")
    link = attack.server.run("manage", "sign_in_link", "annotator-B").strip().split("/sign-in/")[1]
    with ThreadPoolExecutor(12) as pool:
        uses = list(pool.map(lambda _: post(f"/sign-in/{link}")[0], range(12)))
    if uses.count(302) != 1:
        found.append(f"one link signed in {uses.count(302)} times")
    for page in NEXT_PAGES:
        status, _, headers = post("/sign-in/", username="owner-B", password=PASSWORD, next=page)
        if status != 302 or re.match(r"(https?:)?[/\\]{2}", headers.get("Location", "//")):
            found.append(f"next={page}: {status} to {headers.get('Location')}")
    return Finding(
        "Guessing, links, redirects",
        f"40 guesses at once; 12 uses of one link at once; {len(NEXT_PAGES)} foreign `next` pages",
        f"{checked} guesses were looked at, the link worked once",
        found,
    )


NEXT_PAGES = (
    "https://evil.example/", "//evil.example", "///evil.example", "\\\\evil.example",
    "/\\evil.example", "http:evil.example", "javascript:alert(1)", "data:text/html,x",
    "https:evil.example", " //evil.example", "\t//evil.example", "//evil.example/%2f..",
    "http://127.0.0.1.evil.example/", "https://user@evil.example/",
)  # fmt: skip


def hostile_bodies(rng: random.Random) -> list[bytes]:
    """Return JSON that breaks programs."""
    values = [
        '"\\ud800"', "[" * 200_000, "9" * 5_000, "-1e999", "NaN", '"\\u0000"', "null", "[]", "{}",
        "true", '"' + "x" * 100_000 + '"', "1e400", "-9223372036854775809", '"\u202e"', '"a\\tb"',
        "[[[[1]]]]", '{"": 1}', '"=1+1"', '"../../etc/passwd"', '"a\\n\\n1\\tX"', '"\\u0007"',
    ]  # fmt: skip
    names = [
        "name", "answers", "token", "key", "tasks", "labels", "role", "names", "comment", "amount",
        "unit", "strategy", "text", "texts", "sentences", "format", "overlap", "state", "columns",
        "scope", "days", "into", "settings", "seconds", "actions", "draft", "version", "reason",
    ]  # fmt: skip
    bodies = [b"", b"\xff\xfe", b"{", b'{"a":1}{', b'{"a":1,"a":2}', b"\x00", b'"x"']
    for value in values:
        chosen = rng.sample(names, 8)
        inside = ",".join(f'"{name}":{value}' for name in chosen)
        bodies += [value.encode(), ("{" + inside + "}").encode()]
        bodies.append(('{"answers":{"Topic":' + value + ',"Names":[[' + value + "]]}}").encode())
    return bodies


def attack_json(attack: Attack) -> Finding:
    """Send hostile JSON and forms to everything, as an owner; then back up and export."""
    found: list[str] = []
    n, limit = Counter[str](), int(3_000 * attack.scale)
    token, session = attack.token("owner-A"), attack.made["people"]["owner-A"]["session"]
    bodies = hostile_bodies(attack.rng)
    routes = [path for path, _ in attack.addresses(attack.made["ids"]["A"])]
    allowed = {path: _allowed(attack, path, token) for path in routes}
    jobs = [
        (method, path, body)
        for path in routes
        for method in allowed[path]
        for body in bodies
        if not path.startswith(("/sign-", "/people", "/account", "/invitations"))
    ]
    attack.rng.shuffle(jobs)

    def one(job: tuple[str, str, bytes]) -> str | None:
        method, path, body = job
        if path.startswith("/api/"):
            kind = [("Content-Type", "application/json")]
            status, said, _ = attack.ask(method, path, token=token, body=body, headers=kind)
        else:
            form = urlencode({"csrfmiddlewaretoken": "c" * 64, "sentence": "1", "answers": body})
            status, said, _ = attack.ask(
                "POST",
                path,
                session=session,
                body=form.encode("utf-8", "surrogatepass"),
                headers=[
                    ("Content-Type", "application/x-www-form-urlencoded"),
                    ("Cookie", f"csrftoken={'c' * 64}"),
                ],
            )
        n[str(status)] += 1
        if status >= 500 or status == 0:
            return f"{method} {path} {body[:40]!r}: {status} {said[:80]!r}"
        return None

    with ThreadPoolExecutor(4) as pool:
        found += [words for words in pool.map(one, jobs[:limit]) if words]
    for limit_words in ("0000001000000", "000000001" + "0" * 30, "-1", "1e9", "²"):
        path = f"/api/projects/{attack.project}/sentences/?{urlencode({'limit': limit_words})}"
        status, said, _ = attack.ask("GET", path, token=token)
        if status != 400:
            found.append(f"limit={limit_words}: {status}")
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/after.zip"
        for command in (["backup", "-o", file], ["verify", file]):
            if words := _fails(attack, *command):
                found.append(f"{command[0]} after it: {words}")
    for format in ("jsonl", "tsv", "csv", "conllu"):
        path = f"/api/projects/{attack.project}/export/?format={format}"
        status, said, _ = attack.ask("GET", path, token=token)
        if status >= 500 or status == 0:
            found.append(f"export {format} after it: {status} {said[:80]!r}")
    tried = f"{min(limit, len(jobs)):,} hostile bodies, then backup, verify and 4 exports"
    return Finding("JSON and form fuzz", tried, f"answers: {_counts(n)}", found)


def _allowed(attack: Attack, path: str, token: str) -> tuple[str, ...]:
    """Return the methods by which an address takes a body."""
    if not path.startswith("/api/"):
        return ("POST",)
    allow = attack.ask("OPTIONS", path, token=token)[2].get("Allow", "")
    return tuple(method for method in ("POST", "PUT", "PATCH") if method in allow)


def attack_imports(attack: Attack) -> Finding:
    """Send mutated files over HTTP; nothing may be half stored."""
    from benchmarks.attack_victim import mutate

    found, n = [], Counter[str]()
    token, rng = attack.token("owner-A"), attack.rng
    before = _n_sentences(attack)
    samples = {}
    for format in ("jsonl", "tsv", "csv", "conllu", "text"):
        path = f"/api/projects/{attack.project}/export/?format={format}"
        status, body, _ = attack.ask("GET", path, token=token)
        samples[format] = body if status == 200 and body else b"a line\nanother one\n"
    for i in range(int(60 * attack.scale)):
        format = rng.choice(list(samples))
        fields = {"format": format, "labels": rng.choice(["none", "gold"]), "is_dry_run": "true"}
        status, said = _upload(attack, mutate(samples[format], rng), f"f{i}.{format}", **fields)
        n[str(status)] += 1
        if status == 202:
            _job_of(attack, said)
        if status >= 500 or status == 0:
            found.append(f"{format}: {status} {said[:100]!r}")
    if _n_sentences(attack) != before:
        found.append("a dry run stored something")
    values = json.loads(
        attack.server.run(
            "benchmarks.attack_victim", "readers", str(int(3_000 * attack.scale)), "1"
        )
    )
    found += [f"{words} ({times} times)" for words, times in values["crashes"].items()]
    tried = f"{sum(n.values())} files over HTTP; {values['n']:,} read as a library"
    notes = f"HTTP answers: {_counts(n)}; library: {_counts(values['outcomes'])}"
    return Finding("Importer fuzz", f"{tried} in {values['formats']} formats", notes, found)


def attack_bombs(attack: Attack) -> Finding:
    """Send small files that cost much, while somebody innocent looks at a page."""
    found, notes = [], []
    for name, (body, fields) in bombs().items():
        with _innocent(attack) as waits:
            started = time.monotonic()
            status, said = _upload(attack, body, f"{name}.txt", is_dry_run="true", **fields)
            ended = _job_of(attack, said) if status == 202 else said
            seconds = time.monotonic() - started
        memory = attack.server.resident_mb()
        words = re.search(rb'"message":"([^"]{,60})', ended)
        notes.append(
            f"{name} ({len(body):,} bytes): {status} in {seconds:.0f} s"
            + (f" ({words[1].decode(errors='replace')}...)" if words else "")
        )
        if status == 202 and b'"state":"failed"' not in ended and b'"state":"done"' not in ended:
            found.append(f"{name}: its job did not end")
        if status >= 500 or status == 0:
            found.append(f"{name}: {status} {said[:100]!r}")
        if max(waits, default=0) > PATIENCE:
            found.append(f"{name}: somebody waited {max(waits):.0f} s")
        if memory > 1_500:
            found.append(f"{name}: the server has {memory:.0f} MB")
    return Finding("Bombs and ReDoS", f"{len(notes)} files", "; ".join(notes), found)


def bombs() -> dict[str, tuple[bytes, dict[str, str]]]:
    """Return files that froze or filled a server once, and how to send them."""

    def zipped(**files: str) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name.replace("_", "."), text)
        return out.getvalue()

    brat = {"format": "brat", "labels": "none"}
    text = {"format": "text", "labels": "none"}
    return {
        "brat relation": (zipped(a_txt="a b c", a_ann="R1\tr " + "a:" * 400_000), brat),
        "brat spaces": (zipped(a_txt="a b c", a_ann="T1\tX" + " 0 1;" * 100_000 + "\ta"), brat),
        "zip of lines": (zipped(a_txt="a\n" * 15_000_000), brat),
        "apostrophes": (b"'" * 300_000, {**text, "tokeniser": "en"}),
        "addresses": (b"http://a.b/" * 27_000, {**text, "tokeniser": "en"}),
        "punycode": (b"a-" * 500_000, {**text, "encoding": "punycode"}),
        "one line of words": (b"word " * 2_000_000, text),
        "gzip as text": (gzip.compress(b"a b c\n" * 15_000_000), text),
        "json nesting": (b'{"text": ' + b"[" * 500_000, {"format": "jsonl", "labels": "none"}),
        "digits": (b"1\t" + b"9" * 1_000_000 + b"\tX\n", {"format": "conllu", "labels": "none"}),
    }


def attack_slowly(attack: Attack) -> Finding:
    """Hold connections that send a byte now and then, while others work."""
    found = []
    half = b"POST /sign-in/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n"
    held = []
    try:
        for i in range(SLOW_CLIENTS):
            client = socket.create_connection(("127.0.0.1", attack.server.port), 10)
            client.sendall(half if i % 2 else half + b"Content-Length: 50000\r\n\r\nx")
            held.append(client)
        waits = []
        for _ in range(40):
            for client in held[:: max(1, len(held) // 20)]:
                try:
                    client.sendall(b"x")
                except OSError:
                    continue  # the server has hung up, as it may
            started = time.monotonic()
            status, _, _ = attack.ask("GET", "/sign-in/", timeout=30)
            waits.append(time.monotonic() - started)
            if status != 200:
                found.append(f"somebody was answered {status}")
    finally:
        for client in held:
            client.close()
    if max(waits) > PATIENCE:
        found.append(f"somebody waited {max(waits):.1f} s")
    large = b"x" * (4 << 20)
    status, _, _ = attack.ask("POST", "/sign-in/", body=large)
    if status not in (413, 0):
        found.append(f"4 MB without an account: {status}")
    notes = f"40 requests beside them took {sorted(waits)[20]:.2f} s, at most {max(waits):.2f} s"
    return Finding("Slow clients", f"{SLOW_CLIENTS} at once; 4 MB to a closed door", notes, found)


def attack_archives(attack: Attack) -> Finding:
    """Flip bits of a backup; nothing else than the content may be accepted."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "backup.zip")
        attack.server.run("manage", "backup", "-o", path)
        n = str(int(600 * attack.scale))
        values = json.loads(attack.server.run("benchmarks.attack_victim", "flips", path, n, "1"))
    return Finding(
        "Bits flipped in a backup", f"{values['n']}", _counts(values["outcomes"]), values["wrong"]
    )


def attack_clock(attack: Attack) -> Finding:
    """Work while the clock jumps."""
    n = str(int(600 * attack.scale))
    values = json.loads(attack.server.run("benchmarks.attack_victim", "clock", n, "1"))
    tried = f"{values['n']} steps of the queue, the clock at random within a day to either side"
    return Finding("Jumping clock", tried, f"{values['answers']} answers", values["broken"])


def attack_at_once(attack: Attack) -> Finding:
    """Do the same thing six times at the same moment."""
    token, project = attack.token("owner-A"), attack.project
    ids = attack.made["ids"]["A"]
    sentence, task = ids["sentence_id"], ids["task_id"]
    here = f"/api/projects/{project}"
    acts: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/api/projects/", {"name": "Twin", "tasks": [TWIN]}),
        ("POST", f"{here}/tasks/", TWIN),
        ("POST", f"{here}/tasks/{task}/labels/", {"names": ["twin"]}),
        ("POST", f"{here}/adjudication/{sentence}/", {"answers": {"Topic": "twin two"}}),
        ("POST", f"/api/sentences/{sentence}/flag/", {"comment": "twin"}),
        ("POST", f"{here}/invitations/", {"role": "annotator"}),
        ("POST", f"{here}/next/", {}),
        ("POST", f"{here}/rounds/", {"unit": "sentences", "amount": 2, "encoder": "tiny"}),
        ("PATCH", f"{here}/", {"overlap": 2}),
        ("PUT", f"{here}/sentences/{sentence}/pool/", {}),
        ("DELETE", f"{here}/corpora/{ids['corpus_id']}/", {}),
        ("DELETE", f"{here}/", {"name": "x"}),
    ]
    found, n = [], Counter[str]()
    for method, path, body in acts:
        start = threading.Barrier(6)

        def one(_: int, method: str = method, path: str = path, body: Any = body) -> str | None:
            start.wait(60)  # noqa: B023  (all six end before the next act)
            status, said, _ = attack.ask(
                method,
                path,
                token=token,
                body=json.dumps(body).encode(),
                headers=[("Content-Type", "application/json")],
            )
            n[str(status)] += 1
            return (
                f"{method} {path}: {status} {said[:90]!r}" if status >= 500 or not status else None
            )

        with ThreadPoolExecutor(6) as pool:
            found += [words for words in pool.map(one, range(6)) if words]
    return Finding("Same moment", f"{len(acts)} operations by six at once", _counts(n), found)


TWIN = {"name": "Twin", "kind": "classes", "labels": ["a", "b"]}


def attack_disk(attack: Attack) -> Finding:
    """Let no file grow any further, as on a full disk; then take the limit away and look."""
    found, n = [], Counter[str]()
    made = attack.made
    size = (attack.server.home / "tandem.sqlite3").stat().st_size
    attack.server.stop()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + (64 << 10), before[1]))
    try:
        attack.server.start()  # inherits the limit
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    acknowledged = 0
    said_so = set()
    for i in range(60):
        body = json.dumps({"comment": f"full {i} " + "x" * 3000}).encode()
        path = f"/api/sentences/{made['ids']['B']['sentence_id']}/flag/"
        kind = [("Content-Type", "application/json")]
        status, said, _ = attack.ask(
            "POST", path, token=attack.token("annotator-B"), body=body, headers=kind
        )
        n[str(status)] += 1
        acknowledged += status in (200, 201)
        if status >= 500:
            said_so.add(said.decode(errors="replace")[:160])
    status, _, _ = attack.ask("GET", "/health/")
    if status not in (200, 503):
        found.append(f"/health/ answered {status}")
    attack.server.stop()
    attack.server.start()
    _, page, _ = attack.ask(
        "GET",
        f"/api/projects/{made['ids']['B']['project_id']}/flags/?limit=100",
        token=attack.token("owner-B"),
    )
    kept = page.count(b'"full ') or page.count(b"full ")
    if kept < acknowledged:
        found.append(f"{acknowledged} remarks acknowledged, {kept} kept")
    if n["500"]:
        found.append(f"{n['500']} answers of 500: {sorted(said_so)[:1]}")
    words = f"{acknowledged} acknowledged, {kept} kept; {_counts(n)}; said: {sorted(said_so)[:1]}"
    return Finding("No room on the disk", "60 writes where no file may grow", words, found)


PARTS: dict[str, Callable[[Attack], Finding]] = {
    "access": attack_access,
    "csrf": attack_csrf,
    "sign_in": attack_sign_in,
    "slow": attack_slowly,
    "bombs": attack_bombs,
    "imports": attack_imports,
    "archives": attack_archives,
    "clock": attack_clock,
    "at_once": attack_at_once,
    "json": attack_json,
    "disk": attack_disk,
}


class _innocent:
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


def _upload(attack: Attack, body: bytes, name: str, **fields: str) -> tuple[int, bytes]:
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


def _job_of(attack: Attack, said: bytes) -> bytes:
    """Return what a job says of itself when it has ended, or after two minutes."""
    path = f"/api/projects/{attack.project}/jobs/{json.loads(said)['id']}/"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        _, said, _ = attack.ask("GET", path, token=attack.token("owner-A"))
        if re.search(rb'"state":"(failed|done|cancelled)"', said):
            break
        time.sleep(0.5)
    return said


def _n_sentences(attack: Attack) -> int:
    path = f"/api/projects/{attack.project}/corpora/"
    _, body, _ = attack.ask("GET", path, token=attack.token("owner-A"))
    return sum(map(int, re.findall(rb'"n_sentences":(\d+)', body)))


def _fails(attack: Attack, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "manage", *command],
        cwd=ROOT, env=attack.server.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stderr[-200:] if done.returncode else ""


def _counts(counts: Any) -> str:
    return ", ".join(f"{key}: {n:,}" for key, n in sorted(dict(counts).items()))


def main() -> int:
    """Attack, and say what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=list(PARTS), nargs="*", default=list(PARTS))
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started, rows = time.monotonic(), []
    is_postgres = options.database == "postgres"
    with tempfile.TemporaryDirectory() as home, postgres_database(is_postgres) as url:
        server = WebServer(Path(home), url, settings={"TANDEM_RATE_LIMIT": "0"}, log=LOG)
        made = json.loads(server.run("benchmarks.attack_victim", "make"))
        server.start()
        worker = subprocess.Popen(
            [sys.executable, "-m", "manage", "worker", "--lane", "files"],
            cwd=ROOT, env=server.environment, stderr=LOG.open("ab"),
        )  # fmt: skip
        attack = Attack(server, made, options.scale, random.Random(options.seed))
        try:
            for name in options.part:
                if name == "disk" and is_postgres:
                    continue  # its files are not the server's
                rows.append(PARTS[name](attack))
                print(rows[-1].row, flush=True)
                print("".join(f"  {words}\n" for words in rows[-1].found[:40]), end="", flush=True)
        finally:
            worker.terminate()
            worker.wait(60)
            server.stop()
    seconds = time.monotonic() - started
    head = HEAD.format(patience=PATIENCE, database=options.database, seconds=seconds)
    text = head + "".join(f"{row.row}\n" for row in rows)
    if len(rows) >= len(PARTS) - 1 and not is_postgres:
        RESULTS.write_text(text)
    return 1 if any(row.found for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
