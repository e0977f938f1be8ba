"""The API's description: it is the committed one, and nothing it allows breaks the server."""

import io
import os
from pathlib import Path

import pytest
import requests
import schemathesis
import yaml
from django.core.management import call_command
from django.db import transaction
from django.http import JsonResponse
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode

from annotation.accounts.log import record
from annotation.accounts.services import create_token
from annotation.jobs.services import enqueue_job
from annotation.models import Annotation, Flag, Job, Role, Round
from annotation.queue.asks import ask_everything
from annotation.rounds.settings import RoundSettings
from tests.annotation.queue.conftest import Desk, new_project
from tests.openapi import WATCH, Checker

FILE = Path(__file__).resolve().parents[3] / "docs" / "openapi.yaml"
# an operation; on PostgreSQL some, for what its types refuse otherwise
N_EXAMPLES = 5 if os.environ.get("TANDEM_TEST_DATABASE") == "postgres" else 12
UNSENT = {"Authorization", "Cookie", "Content-Type", "Content-Length"}  # the browser's own

schema = schemathesis.openapi.from_path(FILE)
OPERATIONS = [result.ok() for result in schema.get_all_operations()]


def test_the_committed_description_is_what_the_code_describes():
    out = io.StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=out)
    is_same = out.getvalue() == FILE.read_text(encoding="utf-8")
    assert is_same, "The API has changed: make api"


def _free_places(schema, place=""):
    """Yield where a description leaves open what may stand there."""
    if isinstance(schema, list):
        for number, part in enumerate(schema):
            yield from _free_places(part, f"{place}/{number}")
    elif isinstance(schema, dict):
        kind = schema.get("type")
        inner = schema.get("additionalProperties")
        if kind == "object" and "properties" not in schema and not inner:
            yield place
        if inner in ({}, True) or (kind == "array" and not schema.get("items")):
            yield place
        for name, part in schema.items():
            if name == "properties":
                for key, value in part.items():
                    if not {"type", "$ref", "oneOf", "anyOf", "allOf", "enum"} & set(value):
                        yield f"{place}/{key}"
            if name not in ("default", "enum", "required"):
                yield from _free_places(part, f"{place}/{name}")


def test_no_message_leaves_open_what_it_holds():
    described = yaml.load(FILE.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    assert list(_free_places(described["components"]["schemas"])) == []
    assert list(_free_places(described["paths"])) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "additionalProperties": {}},
        {"type": "object", "additionalProperties": True},
        {"type": "array", "items": {}},
        {"type": "object", "properties": {"a": {"description": "Anything."}}},
        {"type": "array", "items": {"type": "object"}},
    ],
)
def test_a_message_that_leaves_something_open_is_found(schema):
    assert list(_free_places({"Body": schema}))


PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
}
DESCRIBED = {
    "paths": {
        "/api/people/{person_id}/": {
            "get": {
                "responses": {
                    "200": {
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Person"}}
                        }
                    }
                }
            }
        }
    },
    "components": {"schemas": {"Person": PERSON}},
}


@pytest.mark.parametrize(
    ("method", "path", "status", "body", "words"),
    [
        ("GET", "/api/people/1/", 200, {"name": "Ada"}, ""),
        ("GET", "/api/people/1/", 200, {}, "is a required property"),
        ("GET", "/api/people/1/", 200, {"name": 3}, "at 'name': 3 is not"),
        ("GET", "/api/people/1/", 200, {"name": "Ada", "born": 1815}, "was unexpected"),
        ("GET", "/api/people/1/", 201, {"name": "Ada"}, "answered 201, which is not described"),
        ("PUT", "/api/people/1/", 200, {"name": "Ada"}, "PUT /api/people/1/ is not described"),
        ("GET", "/api/men/", 200, {}, "GET /api/men/ is not described"),
        ("GET", "/api/men/", 404, {}, ""),
        ("GET", "/api/people/1/", 500, {}, ""),
        ("GET", "/people/1/", 200, {"born": 1815}, ""),
    ],
)
def test_a_response_that_is_not_as_described_is_found(method, path, status, body, words):
    found = Checker(DESCRIBED).mismatch(method, path, JsonResponse(body, status=status))
    assert (words in found) if words else (found == "")


@pytest.mark.django_db
def test_every_handler_is_watched(monkeypatch, ada, live_server):
    monkeypatch.setattr(WATCH, "checker", lambda: Checker(DESCRIBED))
    Client().get("/api/people/")
    assert WATCH.found == []  # 404
    browser = Client()
    browser.force_login(ada)
    browser.get("/api/projects/")
    assert WATCH.found == ["GET /api/projects/ is not described."]
    secret = create_token(user=ada, name="mine", scope="read", now=timezone.now()).secret
    headers = {"Authorization": f"Token {secret}"}
    assert requests.get(f"{live_server.url}/api/projects/", headers=headers).status_code == 200
    assert WATCH.found == ["GET /api/projects/ is not described."] * 2
    WATCH.found.clear()


@pytest.fixture
def world(db):
    """An owner, and what is theirs: work in hand, a submission, a token, a round and a job."""
    project, now = new_project(n_sentences=30), timezone.now()
    ask_everything(project=project)
    desk = Desk(project)
    owner = desk.person("owner", Role.OWNER)
    other = desk.person("other")
    done = desk.submit(owner, desk.take(owner, now), now=now)
    lease = desk.take(owner, now)
    failed = Round.objects.create(
        project=project, number=1, state=Round.State.FAILED, config=RoundSettings().to_dict()
    )
    job = enqueue_job(project=project, kind=Job.Kind.EXPORT, arguments={}, created_by=owner)
    token = create_token(user=owner, name="mine", scope="read", now=now).token
    task = project.tasks.get(name="topic")
    ids = {
        "project_id": project.pk,
        "task_id": task.pk,
        "corpus_id": project.corpora.first().pk,
        "label_id": task.labels.first().pk,
        "flag_id": Flag.objects.create(
            sentence=project.sentences.first(), author=owner, comment="odd", created_at=now
        ).pk,
        "answer_id": Annotation.objects.latest("id").pk,
        "entry_id": record("project.changed", project=project, actor=owner).pk,
        "membership_id": project.memberships.get(user=other).pk,
        "number": failed.number,
        "sentence_id": lease["sentence"]["id"],
        "job_id": job.pk,
        "lease_id": lease["id"],
        "submission_id": done.submission,
        "token_id": token.pk,
    }
    return owner, ids, lease["token"]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_request_breaks_the_server(operation, world):
    owner, ids, secret = world
    browser = Client(raise_request_exception=False)
    browser.force_login(owner)
    names = {name for name in ids if f"{{{name}}}" in operation.path}
    real = {name: ids[name] for name in names}
    fitting = operation.as_strategy(path_parameters=real)
    broken = operation.as_strategy(
        generation_mode=GenerationMode.NEGATIVE, path_parameters=real or None
    )
    lost = operation.as_strategy()

    @settings(
        max_examples=N_EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=fitting | broken | lost)
    def ask(case):
        if isinstance(case.body, dict) and "token" in case.body:
            case.body["token"] = secret
        status = _send(browser, case)
        assert status < 500, (status, case)

    ask()


def _send(browser, case):
    """Return the status of a request, and leave the database as it was."""
    wanted = requests.Request(**case.as_transport_kwargs(base_url="http://localhost")).prepare()
    headers = {name: value for name, value in wanted.headers.items() if name not in UNSENT}
    with transaction.atomic():
        answer = browser.generic(
            wanted.method,
            wanted.url.removeprefix("http://localhost"),
            data=wanted.body or b"",
            content_type=wanted.headers.get("Content-Type", "application/json"),
            headers=headers,
        )
        transaction.set_rollback(True)
    return answer.status_code
