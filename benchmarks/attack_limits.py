"""Attacks on what a server has little of: patience, time, turns, disk."""

import json
import resource
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.attack_target import PATIENCE, Attack, Finding, counted

SLOW_CLIENTS = 200
TWIN = {"name": "Twin", "kind": "classes", "labels": ["a", "b"]}


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
    return Finding("Same moment", f"{len(acts)} operations by six at once", counted(n), found)


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
    words = f"{acknowledged} acknowledged, {kept} kept; {counted(n)}; said: {sorted(said_so)[:1]}"
    return Finding("No room on the disk", "60 writes where no file may grow", words, found)
