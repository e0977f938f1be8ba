"""Attacks by what is sent: bodies, files, bombs, archives."""

import gzip
import io
import json
import random
import re
import tempfile
import time
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.attack_target import (
    PATIENCE,
    Attack,
    Finding,
    Innocent,
    counted,
    ended_job,
    failure_of,
    n_sentences,
    upload,
)

FIELD = re.compile(rb'<(?:input|select|textarea|button)[^>]*\sname="(\w+)"')
VALUES = (
    "9999-12-31", "0001-01-01", "2026-02-30", "-1", "0", "1", "9" * 20, "9" * 5_000, "1e400", "nan",
    "-inf", "\u00b2", "\u0663", "", " ", "\x00", "a\u2028b", "\x1b[31m", "x" * 50_000,
    "[" * 50_000, '{"a":', '{"a": [1, {"b": null}]}', "[]", "null", "%s%n{0}", "../../etc/passwd",
    "<script>alert(1)</script>", "javascript:alert(1)", "on", "\ud800", "=1+1", "Topic", "1,2,3",
    "2026-11-19", "a:b", "1-2", "*", "(", "[a", "\\", "minutes", "0.5", "-0.5", "1e-320",
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
            if words := failure_of(attack, *command):
                found.append(f"{command[0]} after it: {words}")
    for format in ("jsonl", "tsv", "csv", "conllu"):
        path = f"/api/projects/{attack.project}/export/?format={format}"
        status, said, _ = attack.ask("GET", path, token=token)
        if status >= 500 or status == 0:
            found.append(f"export {format} after it: {status} {said[:80]!r}")
    tried = f"{min(limit, len(jobs)):,} hostile bodies, then backup, verify and 4 exports"
    return Finding("JSON and form fuzz", tried, f"answers: {counted(n)}", found)


def attack_forms(attack: Attack) -> Finding:
    """Send hostile values under every name that pages and lists read, as an owner."""
    found: set[str] = set()
    n, rng = Counter[str](), attack.rng
    session = attack.made["people"]["owner-A"]["session"]
    names = {
        path: [*read, *_fields(attack, path, session)]
        for (path, _), (_, _, read) in zip(
            attack.addresses(attack.made["ids"]["A"]), attack.made["routes"], strict=True
        )
        if not path.startswith(("/sign-", "/people", "/account", "/invitations"))
        and "/delete" not in path
    }
    named = [path for path in names if names[path]]
    for _ in range(int(3_000 * attack.scale)):
        path = rng.choice(named)
        chosen = rng.sample(names[path], min(len(names[path]), rng.randint(1, 5)))
        values = [(name, rng.choice(VALUES).encode("utf-8", "surrogatepass")) for name in chosen]
        is_form = not path.startswith("/api/") and rng.random() < 0.6
        started = time.monotonic()
        if is_form:
            token = [("csrfmiddlewaretoken", b"c" * 64)]
            status, said, headers = attack.ask(
                "POST", path, session=session, body=urlencode([*token, *values]).encode(),
                headers=[("Content-Type", "application/x-www-form-urlencoded"),
                         ("Cookie", f"csrftoken={'c' * 64}")],
            )  # fmt: skip
        else:
            status, said, headers = attack.ask("GET", f"{path}?{urlencode(values)}"[:60_000],
                                               session=session)  # fmt: skip
        n[str(status)] += 1
        what = f"{'POST' if is_form else 'GET'} {path} {[(k, v[:30]) for k, v in values]}"
        if status >= 500 or status == 0:
            found.add(f"{what}: {status} {said[:80]!r}")
        if b"<script>alert(1)" in said and "html" in headers.get("Content-Type", ""):
            found.add(f"{what}: markup comes back as it was sent")
        if time.monotonic() - started > PATIENCE:
            found.add(f"{what}: took {time.monotonic() - started:.0f} s")
    tried = f"{sum(n.values()):,} requests, {len(named)} addresses, {len(VALUES)} values"
    return Finding("Queries and fields of forms", tried, f"answers: {counted(n)}", sorted(found))


def _fields(attack: Attack, path: str, session: str) -> list[str]:
    """Return the names of the fields on a page."""
    if path.startswith("/api/"):
        return []
    _, body, _ = attack.ask("GET", path, session=session)
    return [name.decode() for name in set(FIELD.findall(body))]


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
    before = n_sentences(attack)
    samples = {}
    for format in ("jsonl", "tsv", "csv", "conllu", "text"):
        path = f"/api/projects/{attack.project}/export/?format={format}"
        status, body, _ = attack.ask("GET", path, token=token)
        samples[format] = body if status == 200 and body else b"a line\nanother one\n"
    for i in range(int(60 * attack.scale)):
        format = rng.choice(list(samples))
        fields = {"format": format, "labels": rng.choice(["none", "gold"]), "is_dry_run": "true"}
        status, said = upload(attack, mutate(samples[format], rng), f"f{i}.{format}", **fields)
        n[str(status)] += 1
        if status == 202:
            ended_job(attack, said)
        if status >= 500 or status == 0:
            found.append(f"{format}: {status} {said[:100]!r}")
    if n_sentences(attack) != before:
        found.append("a dry run stored something")
    values = json.loads(
        attack.server.run(
            "benchmarks.attack_victim", "readers", str(int(3_000 * attack.scale)), "1"
        )
    )
    found += [f"{words} ({times} times)" for words, times in values["crashes"].items()]
    tried = f"{sum(n.values())} files over HTTP; {values['n']:,} read as a library"
    notes = f"HTTP answers: {counted(n)}; library: {counted(values['outcomes'])}"
    return Finding("Importer fuzz", f"{tried} in {values['formats']} formats", notes, found)


def attack_bombs(attack: Attack) -> Finding:
    """Send small files that cost much, while somebody innocent looks at a page."""
    found, notes = [], []
    for name, (body, fields) in bombs().items():
        with Innocent(attack) as waits:
            started = time.monotonic()
            status, said = upload(attack, body, f"{name}.txt", is_dry_run="true", **fields)
            ended = ended_job(attack, said) if status == 202 else said
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


def attack_archives(attack: Attack) -> Finding:
    """Flip bits of a backup; nothing else than the content may be accepted."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "backup.zip")
        attack.server.run("manage", "backup", "-o", path)
        n = str(int(600 * attack.scale))
        values = json.loads(attack.server.run("benchmarks.attack_victim", "flips", path, n, "1"))
    return Finding(
        "Bits flipped in a backup", f"{values['n']}", counted(values["outcomes"]), values["wrong"]
    )
