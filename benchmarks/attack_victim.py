"""What benchmarks/attack.py attacks: two projects, their people, and probes inside the process.

    python -m benchmarks.attack_victim make | readers N SEED | clock N SEED | flips FILE N SEED

Each prints JSON. Run as a process of its own, on the database of the environment.
"""

import inspect
import io
import json
import os
import random
import re
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import django

CANARIES = {"A": "canaryalpha", "B": "canarybravo"}
PASSWORD = "a phrase that nobody guesses"
ROLES = ("owner", "curator", "annotator")


def make() -> dict[str, Any]:
    """Return ids, sessions, tokens and routes of a fresh server."""
    from django.contrib.auth import get_user_model
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    admin = get_user_model()._default_manager.create_superuser("admin", password=PASSWORD)
    made: dict[str, Any] = {"ids": {}, "people": {"admin": _ways_in(admin)}}
    for letter in CANARIES:
        made["ids"][letter], people = _make_project(letter)
        made["people"].update(people)
    stranger = get_user_model()._default_manager.create_user("stranger", password=PASSWORD)
    closed = get_user_model()._default_manager.create_user("closed", password=PASSWORD)
    made["people"]["stranger"], made["people"]["closed"] = _ways_in(stranger), _ways_in(closed)
    closed.is_active = False
    closed.save()
    return {**made, "routes": _routes()}


def _make_project(letter: str) -> tuple[dict[str, int], dict[str, dict[str, str]]]:
    """Make a project whose every word is a canary; return its ids and its people."""
    from django.contrib.auth import get_user_model
    from django.utils import timezone

    from analysis.sweep.store import StudyRecord
    from analysis.web.selectors import replay_names
    from analysis.web.services import index_study, run_store
    from annotation.accounts.services import create_token, invite
    from annotation.adjudication.services import decide
    from annotation.jobs.services import enqueue_job
    from annotation.models import Annotation, Corpus, Lease, Membership, Role, Round, Sentence
    from annotation.predictions.outside import put_suggestions
    from annotation.projects.services import create_project
    from annotation.queue.asks import ask_everything
    from annotation.queue.groups import save_group
    from annotation.queue.history import flag_sentence
    from annotation.queue.leases import claim_next
    from annotation.rounds.settings import RoundSettings

    word, now = CANARIES[letter], timezone.now()
    people, users = {}, {}
    for role in ROLES:
        name = f"{role}-{letter}"
        users[role] = get_user_model()._default_manager.create_user(name, password=PASSWORD)
        people[name] = _ways_in(users[role])
    spec = {
        "name": f"Project {word}",
        "tasks": [
            {"name": "Topic", "kind": "classes", "labels": [word, "other"], "open": True},
            {"name": "Names", "kind": "spans", "labels": ["PLACE", "TIME"]},
        ],
    }
    project = create_project(spec=spec, owner=users["owner"])
    members = {
        role: Membership.objects.create(project=project, user=users[role], role=Role(role))
        for role in ROLES[1:]
    }
    corpus = Corpus.objects.create(project=project, name=word, format="text", n_sentences=30)
    tokens = [word, "is", "said"]
    ends = [[0, len(word)], [len(word) + 1, len(word) + 3], [len(word) + 4, len(word) + 8]]
    Sentence.objects.bulk_create(
        Sentence(project=project, corpus=corpus, position=i, text=" ".join(tokens), tokens=tokens,
                 offsets=ends, n_tokens=3)
        for i in range(30)
    )  # fmt: skip
    ask_everything(project=project)
    lease = claim_next(project=project, annotator_id=users["annotator"].pk, now=now)
    assert lease is not None
    sentence = project.sentences.last()
    assert sentence is not None
    decide(
        project=project,
        sentence=sentence,
        answers={"Topic": word},
        decided_by=users["curator"],
        now=now,
    )
    flag = flag_sentence(sentence=sentence, author=users["annotator"], comment=word, now=now)
    job = enqueue_job(project=project, kind="export", arguments={}, created_by=users["owner"])
    made_round = Round.objects.create(
        project=project, number=1, state="failed", config=RoundSettings().to_dict()
    )
    invited = invite(project=project, role=Role.CURATOR, invited_by=users["owner"], now=now)
    token = create_token(user=users["owner"], name=word, scope="read", now=now).token
    submission, lease = _answer(project, users["annotator"], lease)
    answer = Annotation.objects.filter(sentence__project=project).first()
    team = [users["annotator"].get_username()]
    group = save_group(project=project, name=f"Group {word}", people=team, actor=users["owner"])
    webhook = project.webhooks.create(url=f"https://{word}.example/", events=[])
    rows = [{"sentence": sentence.pk, "task": "Topic", "value": word}]
    put_suggestions(project=project, source=f"source {word}", rows=rows)
    record = StudyRecord(replay_names(project.pk)[0], "", "replay", f"of {word}", "", (), ())
    run_store().keep_study(record)
    study = index_study(run_store(), record)
    topic = project.tasks.get(name="Topic")
    label = topic.labels.first()
    ids = {
        "project_id": project.pk, "sentence_id": sentence.pk, "corpus_id": corpus.pk,
        "task_id": topic.pk, "label_id": label.pk if label else 0, "job_id": job.pk,
        "lease_id": lease, "ask_id": Lease.objects.get(pk=lease).ask_id,
        "membership_id": members["annotator"].pk, "person_id": users["annotator"].pk,
        "user_id": users["annotator"].pk, "invitation_id": invited.invitation.pk,
        "flag_id": flag.pk, "number": made_round.number,
        "token_id": token.pk, "submission_id": submission.pk, "group_id": group.pk,
        "webhook_id": webhook.pk, "entry_id": project.log.latest("pk").pk,
        "answer_id": answer.pk if answer else 0, "study_id": study.pk,
    }  # fmt: skip
    return ids, people


def _answer(project: Any, person: Any, lease: int) -> tuple[Any, int]:
    """Submit a lease's answers; return the submission, and the lease of the next sentence."""
    from django.utils import timezone

    from annotation.models import Submission
    from annotation.queue.leases import claim_next
    from annotation.queue.selectors import describe_lease, get_lease
    from annotation.queue.submissions import Work, submit

    key = f"made-{project.pk}"
    submit(
        lease=get_lease(person, lease), token=describe_lease(lease)["token"],
        work=Work(answers={"Topic": "other", "Names": []}), key=key, request_hash=key,
        now=timezone.now(),
    )  # fmt: skip
    next_one = claim_next(project=project, annotator_id=person.pk, now=timezone.now())
    assert next_one is not None
    return Submission.objects.get(key=key), next_one


def _ways_in(user: Any) -> dict[str, str]:
    """Return a session and a token of each scope."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore
    from django.utils import timezone

    from annotation.accounts.services import create_token

    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    ways = {"session": str(session.session_key)}
    for scope in ("read", "annotate", "manage", "predict"):
        ways[scope] = create_token(user=user, name=scope, scope=scope, now=timezone.now()).secret
    return ways


def _routes() -> list[list[Any]]:
    """Return every route of the server: its address with holes, the holes, and what it reads."""
    from django.urls import URLPattern, URLResolver, get_resolver

    found: list[list[Any]] = []

    def walk(patterns: list[Any], before: str, holes: list[str]) -> None:
        for one in patterns:
            route = getattr(one.pattern, "_route", None)
            if route is None:  # "anything else" below /api/
                continue
            inner = [*holes, *one.pattern.converters]
            if isinstance(one, URLResolver):
                walk(one.url_patterns, before + route, inner)
            elif isinstance(one, URLPattern):
                found.append(["/" + before + route, inner, _names_read_by(one.callback)])

    walk(get_resolver().url_patterns, "", [])
    return found


def _names_read_by(view: Any) -> list[str]:
    """Return the names of query and form that a view's module reads."""
    shown = getattr(view, "view_class", getattr(view, "cls", None)) or inspect.unwrap(view)
    source = inspect.getsource(sys.modules[shown.__module__])
    read = r"""(?:GET|POST|query|query_params)(?:\.get|\.getlist|\.pop)?[(\[]"(\w+)\""""
    return sorted({*re.findall(read, source), *re.findall(r'OpenApiParameter\(\s*"(\w+)"', source)})


def readers(n: int, seed: int) -> dict[str, Any]:
    """Read mutated files of every format in this process; return what went wrong."""
    from annotation.corpora.exports import export_corpus
    from annotation.formats.format import readable_formats
    from annotation.formats.records import FormatError, Limits, ReadOptions
    from annotation.models import Project
    from mtl_engine.errors import EngineError

    rng, crashes, outcomes = random.Random(seed), Counter[str](), Counter[str]()
    project = Project.objects.get(name=f"Project {CANARIES['A']}")
    samples = {}
    for name in readable_formats():
        try:
            samples[name] = b"".join(export_corpus(project=project, format=name, labels="final"))
        except Exception as error:  # noqa: BLE001  (a format that lacks a task of this project)
            outcomes[f"no sample of {name}: {type(error).__name__}"] += 1
    limits = Limits(file_bytes=1 << 26)
    options = ReadOptions(tokeniser="whitespace", limits=limits)
    for i in range(n):
        name = list(samples)[i % len(samples)]
        body = mutate(samples[name], rng)
        try:
            format = readable_formats()[name]
            for _ in format.read(io.BytesIO(body), file_name=f"f{i}", options=options):
                pass
            outcomes["read"] += 1
        except (FormatError, EngineError):
            outcomes["refused"] += 1
        except Exception as error:  # noqa: BLE001  (that is what is looked for)
            crashes[f"{name}: {type(error).__name__}: {str(error)[:80]}"] += 1
    return {"n": n, "formats": len(samples), "outcomes": outcomes, "crashes": crashes}


def mutate(body: bytes, rng: random.Random) -> bytes:
    """Return bytes that were hurt in one to five places."""
    data = bytearray(body[: rng.choice([200, 2_000, 20_000])] or b"x")
    for _ in range(rng.randint(1, 5)):
        at = rng.randrange(len(data))
        kind = rng.randrange(5)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at : at + rng.randint(1, 40)]
        elif kind == 2:
            data[at:at] = rng.choice(
                [b"\x00", b"\xff\xfe", b"\t", b"\n\n", b"9" * 5000, b"[" * 3000, b'"', b"\\ud800",
                 b"{", b"R1\tr a:b c:d", "\u202e".encode(), b"-1", b"1e999"]
            )  # fmt: skip
        elif kind == 3:
            data[at:at] = data[: rng.randint(1, 400)]
        else:
            data = data[: at + 1]
        if not data:
            data = bytearray(b"x")
    return bytes(data)


def clock(n: int, seed: int) -> dict[str, Any]:
    """Take, answer and give back while the clock jumps a day to and fro; return what broke."""
    from django.contrib.auth import get_user_model
    from django.utils import timezone

    from annotation.accounts.access import hash_token
    from annotation.errors import Refused
    from annotation.models import Ask, Membership, Project, Role, Submission
    from annotation.queue.leases import claim_next
    from annotation.queue.selectors import describe_lease, get_lease
    from annotation.queue.submissions import Work, submit

    rng, base = random.Random(seed), timezone.now()
    project = Project.objects.get(name=f"Project {CANARIES['B']}")
    people = [get_user_model()._default_manager.create_user(f"jumper-{i}") for i in range(4)]
    for person in people:
        Membership.objects.create(project=project, user=person, role=Role.ANNOTATOR)
    broken, n_answers, held = [], 0, {}
    answers = {"Topic": "other", "Names": []}
    for i in range(n):
        now = base + timedelta(hours=rng.uniform(-24, 24))
        person = rng.choice(people)
        try:
            if person.pk in held and rng.random() < 0.6:
                lease = held.pop(person.pk)
                submit(
                    lease=get_lease(person, lease["id"]), token=lease["token"],
                    work=Work(answers=answers), key=f"jump-{i}",
                    request_hash=hash_token(str(i)), now=now,
                )  # fmt: skip
                n_answers += 1
            else:
                found = claim_next(project=project, annotator_id=person.pk, now=now)
                if found is not None:
                    held[person.pk] = describe_lease(found)
        except Refused:
            pass
        except Exception as error:  # noqa: BLE001  (that is what is looked for)
            broken.append(f"{type(error).__name__}: {error}")
    stored = Submission.objects.filter(annotator__in=people).count()
    if stored != n_answers:
        broken.append(f"{n_answers} answers acknowledged, {stored} stored")
    for ask in Ask.objects.filter(queue__project=project):
        if ask.n_answers > ask.overlap or ask.n_leases < 0:
            broken.append(f"ask {ask.pk}: {ask.n_answers} answers, {ask.n_leases} leases")
    return {"n": n, "answers": n_answers, "broken": broken}


def flips(path: str, n: int, seed: int) -> dict[str, Any]:
    """Flip one bit of an archive, n times; return what was accepted or ended in a traceback."""
    from annotation.archive.files import ArchiveReader
    from annotation.archive.services import verify_archive
    from annotation.errors import Refused

    rng, whole = random.Random(seed), Path(path).read_bytes()
    with ArchiveReader(Path(path)) as archive:
        content = {name: list(archive.rows(name)) for name in archive.tables}
    hurt = Path(path).with_suffix(".hurt.zip")
    outcomes, wrong = Counter[str](), []
    for at in rng.sample(range(len(whole)), min(n, len(whole))):
        data = bytearray(whole)
        data[at] ^= 1 << rng.randrange(8)
        hurt.write_bytes(data)
        try:
            verify_archive(path=hurt)
            with ArchiveReader(hurt) as archive:
                same = content == {name: list(archive.rows(name)) for name in archive.tables}
            outcomes["accepted, content equal" if same else "accepted, content changed"] += 1
            if not same:
                wrong.append(f"byte {at}: other content accepted")
        except Refused:
            outcomes["refused in words"] += 1
        except Exception as error:  # noqa: BLE001  (that is what is looked for)
            wrong.append(f"byte {at}: {type(error).__name__}: {error}")
    hurt.unlink(missing_ok=True)
    return {"n": sum(outcomes.values()) + len(wrong), "outcomes": outcomes, "wrong": wrong[:20]}


def main(arguments: list[str]) -> None:
    """Print what one of the verbs returns."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    verb, *rest = arguments
    verbs = {"make": make, "readers": readers, "clock": clock, "flips": flips}
    values = [int(value) if value.isdigit() else value for value in rest]
    print(json.dumps(verbs[verb](*values)))  # type: ignore[operator]


if __name__ == "__main__":
    main(sys.argv[1:])
