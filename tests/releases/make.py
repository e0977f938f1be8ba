"""Makes the fixture of a release: `python -m tests.releases.make 0.1.0` in that release's tree.

A server with two small projects is filled through its commands, its pages and its REST API, and
kept as database, files, backup and project files, with what they hold read from the tables by
plain SQL. Later versions must migrate, restore and import it without losing anything.
"""

import json
import lzma
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from tests.releases.contents import read_contents
from tests.releases.corpora import HARBOUR, TRAVEL, harbour_rows, travel_rows
from tests.releases.server import PASSWORD, Server, Session, sign_up, wait_for_round

RELEASES = Path(__file__).resolve().parents[1] / "data" / "releases"
TINY = {
    "encoder": "tiny",
    "epochs": 2,
    "test_size": 8,
    "unit": "sentences",
    "amount": 10,
    "has_control": False,
}
STUDY = """
name = "tiny_bandit"
kind = "bandit"
description = "Two policies in one small world."
seeds = [0]
[settings]
n_tasks = 3
n_steps = 50
[factors]
policy = ["RANDOM", "ORACLE"]
world = [0]
"""


def main(version: str) -> None:
    """Write tests/data/releases/VERSION."""
    folder = RELEASES / version
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch, "home")
        with Server(home) as server:
            fill(server, Path(scratch))
        server.command("backup", "-o", str(folder / "backup.zip"))
        server.command("export_project", TRAVEL["name"], "-o", str(folder / "travel.zip"))
        server.command("export_project", HARBOUR["name"], "-o", str(folder / "harbour.zip"))
        contents = read_contents(home / "tandem.sqlite3")
        text = json.dumps(contents, sort_keys=True)
        (folder / "contents.json.xz").write_bytes(lzma.compress(text.encode()))
        _pack(home / "tandem.sqlite3", folder / "tandem.sqlite3.xz")


def fill(server: Server, scratch: Path) -> None:
    """Do everything once that people do."""
    admin = sign_up(server, "admin")
    for name, scope in [("nightly export", "read"), ("scripts", "manage")]:
        admin.call("POST", "tokens/", {"name": name, "scope": scope, "days": 366})
    travel = admin.call("POST", "projects/", TRAVEL)["id"]
    harbour = admin.call("POST", "projects/", HARBOUR)["id"]
    ann, ben = (_joined(server, admin, travel, name) for name in ("ann", "ben"))
    for person in (ann, ben):
        invited = admin.call("POST", f"projects/{harbour}/invitations/", {"role": "annotator"})
        person.post_form(invited["path"], {})
    admin.call("POST", f"projects/{travel}/invitations/", {"role": "curator", "note": "for Cem"})
    ann.call("POST", "tokens/", {"name": "notebook", "scope": "annotate", "days": 366})
    _travel(server, scratch, admin, ann, ben, travel)
    _harbour(server, scratch, admin, ann, ben, harbour)
    study = _file(scratch / "tiny_bandit.toml", STUDY)
    server.command("run_sweep", study, "--workers", "1")


def _travel(
    server: Server, scratch: Path, admin: Session, ann: Session, ben: Session, project: int
) -> None:
    """A seed round whose asks two people answer, a round by a model, and a cancelled round."""
    rows = travel_rows(60)
    truth = {row["text"]: row["labels"] for row in rows}
    bare = [{key: row[key] for key in ("id", "text", "tokens")} for row in rows]
    path = _file(scratch / "questions.jsonl", _lines(bare))
    server.command("import_corpus", TRAVEL["name"], path, "--format", "jsonl", "--labels", "none")
    settings = {**TINY, "amount": 24}
    wait_for_round(admin, project, admin.call("POST", f"projects/{project}/rounds/", settings))
    first = _answer(ann, project, truth, limit=20)
    _answer(ben, project, truth, limit=20, mistake={"Slots": [], "Intent": "fare"})
    _change(ann, first, {**truth[first["text"]], "Intent": "luggage"})
    ann.call("POST", f"sentences/{first['sentence']}/flag/", {"comment": "Two questions in one."})
    _skip(ben, project, "Not English.")
    _hold_with_draft(ann, project, {"Intent": "flight"})
    _adjudicate(admin, project, truth, n=3)
    wait_for_round(admin, project, admin.call("POST", f"projects/{project}/rounds/", TINY))
    _answer(ben, project, truth, limit=4)
    third = admin.call("POST", f"projects/{project}/rounds/", TINY)
    admin.call("POST", f"projects/{project}/rounds/{third['number']}/cancel/")
    wait_for_round(admin, project, third, "cancelled")


def _harbour(
    server: Server, scratch: Path, admin: Session, ann: Session, ben: Session, project: int
) -> None:
    """All kinds of task, with gold and suggestions that came with the data."""
    rows = harbour_rows(70)
    truth = {row["text"]: row["labels"] for row in rows}
    for name, part, labels in [
        ("gold", rows[:40], "gold"),
        ("suggested", rows[40:50], "suggestions"),
        ("plain", rows[50:], "none"),
    ]:
        path = _file(scratch / f"{name}.jsonl", _lines(part))
        command = ["import_corpus", HARBOUR["name"], path, "--format", "jsonl"]
        server.command(*command, "--labels", labels)
    wait_for_round(admin, project, admin.call("POST", f"projects/{project}/rounds/", TINY))
    _answer(ann, project, truth, limit=5)
    _answer(ben, project, truth, limit=3)
    _hold_with_draft(ben, project, {"Topic": "arrival"})


def _joined(server: Server, admin: Session, project: int, name: str) -> Session:
    """Return somebody new who came by an invitation."""
    invited = admin.call("POST", f"projects/{project}/invitations/", {"role": "annotator"})
    person = Session(server.address)
    person.post_form(invited["path"], {"username": name, "password": PASSWORD})
    return person


def _answer(person: Session, project: int, truth: dict, *, limit: int, mistake=None) -> dict:
    """Answer asks from the truth, the first one wrongly if told to; return the first receipt."""
    receipts = []
    for i in range(limit):
        lease = person.call("POST", f"projects/{project}/next/")
        if lease is None:
            break
        right = truth[lease["sentence"]["text"]]
        wrong = mistake if mistake and i < 4 else {}
        body = {
            "token": lease["token"],
            "answers": {task: {**right, **wrong}[task] for task in lease["ask"]["tasks"]},
            "seconds": 4.5 + i,
            "actions": [{"at": 900, "kind": "label", "task": lease["ask"]["tasks"][0]}],
            "suggestions": {lease["ask"]["tasks"][0]: {"seen": 1, "accepted": 1}},
        }
        receipt = person.call(
            "POST", f"leases/{lease['id']}/submit/", body, {"Idempotency-Key": f"{lease['token']}"}
        )
        receipts.append(
            {
                "submission": receipt["submission"],
                "sentence": lease["sentence"]["id"],
                "text": lease["sentence"]["text"],
            }
        )
    return receipts[0]


def _change(person: Session, receipt: dict, answers: dict) -> None:
    """Reopen a submission and send another answer."""
    lease = person.call("POST", f"submissions/{receipt['submission']}/reopen/")
    body = {"token": lease["token"], "answers": answers, "seconds": 3.0}
    headers = {"Idempotency-Key": f"again-{lease['id']}"}
    person.call("POST", f"leases/{lease['id']}/submit/", body, headers)


def _skip(person: Session, project: int, reason: str) -> None:
    lease = person.call("POST", f"projects/{project}/next/")
    person.call("POST", f"leases/{lease['id']}/skip/", {"token": lease["token"], "reason": reason})


def _hold_with_draft(person: Session, project: int, draft: dict) -> None:
    """Leave an ask half answered."""
    lease = person.call("POST", f"projects/{project}/next/")
    body = {"token": lease["token"], "draft": draft, "version": 1}
    person.call("PUT", f"leases/{lease['id']}/draft/", body)


def _adjudicate(admin: Session, project: int, truth: dict, *, n: int) -> None:
    found = admin.call("GET", f"projects/{project}/adjudication/")["results"]
    assert len(found) >= n, found
    for case in found[:n]:
        path = f"projects/{project}/adjudication/{case['sentence']}/"
        admin.call("POST", path, {"answers": truth[case["text"]]})


def _file(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def _lines(rows: list[dict]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _pack(database: Path, path: Path) -> None:
    """Write the whole database as one compressed file; the backup holds the files beside it."""
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch, "whole.sqlite3")
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("VACUUM INTO ?", [str(whole)])
        path.write_bytes(lzma.compress(whole.read_bytes()))


if __name__ == "__main__":
    main(sys.argv[1])
