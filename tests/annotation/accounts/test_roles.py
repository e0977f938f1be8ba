"""One table: what each role gets from each REST route; a route without a row fails."""

import json
import re

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from analysis.web.urls import RESOURCES as above
from annotation.accounts.services import create_token
from annotation.jobs.services import enqueue_job
from annotation.models import Annotation, Flag, Job, Role, Round
from annotation.projects.labels import add_labels
from annotation.queue.asks import ask_everything
from annotation.web.urls import RESOURCES as own
from tests.annotation.queue.conftest import Desk, new_project

pytestmark = pytest.mark.django_db

ROLES = ("anonymous", "stranger", "annotator", "curator", "owner", "admin")

# Bodies are the smallest that get through where the role suffices. Leases, the submission and the
# token are the annotator's own: to everybody else they do not exist, whatever their role.
TABLE = """
                                                    anonymous stranger annotator curator owner admin
GET    schema/                                            200      200       200     200   200   200
GET    docs/                                              200      200       200     200   200   200
GET    tokens/                                            403      200       200     200   200   200
POST   tokens/                                            403      201       201     201   201   201
DELETE tokens/{token_id}/                                 403      404       204     404   404   404
GET    projects/                                          401      200       200     200   200   200
POST   projects/                                          401      201       201     201   201   201
GET    projects/{project_id}/                             401      404       200     200   200   200
PATCH  projects/{project_id}/                             401      404       403     403   200   200
DELETE projects/{project_id}/                             401      404       403     403   400   400
POST   projects/{project_id}/tasks/                       401      404       403     403   400   400
PATCH  projects/{project_id}/tasks/{task_id}/             401      404       403     403   200   200
DELETE projects/{project_id}/tasks/{task_id}/             401      404       403     403   409   409
POST   projects/{project_id}/tasks/{task_id}/labels/      401      404       403     403   400   400
GET    projects/{project_id}/tasks/{task_id}/labels/{label_id}/        401 404 403 200 200 200
PATCH  projects/{project_id}/tasks/{task_id}/labels/{label_id}/        401 404 403 403 200 200
DELETE projects/{project_id}/tasks/{task_id}/labels/{label_id}/        401 404 403 403 204 204
POST   projects/{project_id}/tasks/{task_id}/labels/{label_id}/merge/  401 404 403 403 400 400
GET    projects/{project_id}/log/                         401      404       403     403   200   200
POST   projects/{project_id}/log/{entry_id}/undo/         401      404       403     403   409   409
GET    projects/{project_id}/corpora/                     401      404       403     200   200   200
POST   projects/{project_id}/corpora/                     401      404       403     400   400   400
DELETE projects/{project_id}/corpora/{corpus_id}/         401      404       403     403   409   409
GET    projects/{project_id}/sentences/                   401      404       403     200   200   200
DELETE projects/{project_id}/sentences/                   401      404       403     403   400   400
DELETE projects/{project_id}/answers/                     401      404       403     403   400   400
GET    people/                                            401      404       404     404   404   200
PATCH  people/{person_id}/                                401      404       404     404   404   200
DELETE people/{person_id}/                                401      404       404     404   404   400
POST   people/{person_id}/anonymise/                      401      404       404     404   404   200
GET    projects/{project_id}/export/                      401      404       403     200   200   200
GET    projects/{project_id}/members/                     401      404       403     403   200   200
PATCH  projects/{project_id}/members/{membership_id}/     401      404       403     403   200   200
DELETE projects/{project_id}/members/{membership_id}/     401      404       403     403   204   204
GET    projects/{project_id}/groups/                      401      404       403     200   200   200
POST   projects/{project_id}/groups/                      401      404       403     403   201   201
PUT    projects/{project_id}/groups/{group_id}/           401      404       403     403   200   200
DELETE projects/{project_id}/groups/{group_id}/           401      404       403     403   204   204
GET    projects/{project_id}/team/                        401      404       403     200   200   200
POST   projects/{project_id}/invitations/                 401      404       403     403   201   201
GET    projects/{project_id}/webhooks/                    401      404       403     403   200   200
POST   projects/{project_id}/webhooks/                    401      404       403     403   400   400
PATCH  projects/{project_id}/webhooks/{webhook_id}/       401      404       403     403   200   200
DELETE projects/{project_id}/webhooks/{webhook_id}/       401      404       403     403   204   204
POST   projects/{project_id}/webhooks/{webhook_id}/test/  401      404       403     403   202   202
GET    projects/{project_id}/webhooks/{webhook_id}/deliveries/  401 404 403 403 200 200
GET    projects/{project_id}/rounds/                      401      404       403     200   200   200
POST   projects/{project_id}/rounds/                      401      404       403     403   201   201
GET    projects/{project_id}/rounds/defaults/             401      404       403     200   200   200
PUT    projects/{project_id}/rounds/defaults/             401      404       403     403   200   200
GET    projects/{project_id}/rounds/{number}/             401      404       403     200   200   200
GET    projects/{project_id}/rounds/{number}/asks/        401      404       403     200   200   200
POST   projects/{project_id}/rounds/{number}/cancel/      401      404       403     403   409   409
POST   projects/{project_id}/rounds/{number}/retry/       401      404       403     403   200   200
GET    projects/{project_id}/rounds/{number}/model/       401      404       403     400   400   400
PUT    projects/{project_id}/suggestions/                 401      404       403     400   400   400
POST   projects/{project_id}/suggestions/                 401      404       403     403   400   400
POST   projects/{project_id}/predict/                     401      404       403     400   400   400
POST   projects/{project_id}/predictions/                 401      404       403     400   400   400
GET    projects/{project_id}/adjudication/                401      404       403     200   200   200
GET    projects/{project_id}/adjudication/{sentence_id}/  401      404       403     200   200   200
POST   projects/{project_id}/adjudication/{sentence_id}/  401      404       403     200   200   200
GET    projects/{project_id}/advice/                      401      404       403     200   200   200
POST   projects/{project_id}/advice/                      401      404       403     403   202   202
GET    projects/{project_id}/flags/                       401      404       403     200   200   200
POST   projects/{project_id}/flags/{flag_id}/resolve/     401      404       403     200   200   200
POST   projects/{project_id}/flags/{flag_id}/reopen/      401      404       403     200   200   200
GET    projects/{project_id}/skipped/                     401      404       403     200   200   200
GET    projects/{project_id}/reviews/                     401      404       403     200   200   200
POST   projects/{project_id}/answers/{answer_id}/         401      404       403     201   201   201
POST   projects/{project_id}/sentences/{sentence_id}/words/    401 404 403 400 400 400
POST   projects/{project_id}/sentences/{sentence_id}/borders/  401 404 403 400 400 400
PUT    projects/{project_id}/sentences/{sentence_id}/pool/     401 404 403 200 200 200
POST   projects/{project_id}/sentences/{sentence_id}/another/  401 404 403 200 200 200
GET    projects/{project_id}/sentences/{sentence_id}/history/  401 404 403 200 200 200
GET    projects/{project_id}/agreement/                   401      404       403     200   200   200
POST   projects/{project_id}/agreement/                   401      404       403     202   202   202
GET    projects/{project_id}/dashboard/                   401      404       403     200   200   200
GET    projects/{project_id}/suggestion-bias/             401      404       403     200   200   200
GET    projects/{project_id}/forecast/                    401      404       403     200   200   200
POST   projects/{project_id}/forecast/                    401      404       403     202   202   202
GET    projects/{project_id}/insights/                    401      404       403     200   200   200
GET    projects/{project_id}/policy/                      401      404       403     200   200   200
POST   projects/{project_id}/policy/                      401      404       403     403   400   400
GET    projects/{project_id}/preview/                     401      404       403     200   200   200
POST   projects/{project_id}/preview/                     401      404       403     403   409   409
GET    projects/{project_id}/quote/                       401      404       403     200   200   200
POST   projects/{project_id}/quote/                       401      404       403     202   202   202
POST   projects/{project_id}/quote/wish/                  401      404       403     409   409   409
POST   projects/{project_id}/quote/plan/                  401      404       403     403   409   409
GET    projects/{project_id}/quotes/                      401      404       403     200   200   200
POST   projects/{project_id}/quotes/                      401      404       403     409   409   409
GET    projects/{project_id}/what-ifs/                    401      404       403     200   200   200
POST   projects/{project_id}/what-ifs/                    401      404       403     400   400   400
GET    projects/{project_id}/ledger/                      401      404       403     200   200   200
POST   projects/{project_id}/ledger/                      401      404       403     202   202   202
GET    projects/{project_id}/proposals/                   401      404       403     200   200   200
POST   projects/{project_id}/proposals/                   401      404       403     403   400   400
POST   projects/{project_id}/proposals/apply/             401      404       403     403   409   409
GET    projects/{project_id}/suspects/                    401      404       403     200   200   200
POST   projects/{project_id}/suspects/                    401      404       403     400   400   400
POST   projects/{project_id}/suspects/{number}/           401      404       403     400   400   400
GET    projects/{project_id}/working-styles/              401      404       403     403   200   200
POST   projects/{project_id}/working-styles/              401      404       403     403   400   400
GET    projects/{project_id}/jobs/{job_id}/               401      404       403     200   200   200
GET    projects/{project_id}/jobs/{job_id}/file/          401      404       403     400   400   400
POST   projects/{project_id}/jobs/{job_id}/cancel/        401      404       403     200   200   200
POST   projects/{project_id}/next/                        401      404       200     200   200   200
GET    projects/{project_id}/peek/                        401      404       200     200   200   200
GET    projects/{project_id}/asks/{ask_id}/hints/         401      404       200     200   200   200
GET    projects/{project_id}/news/                        401      404       200     200   200   200
POST   projects/{project_id}/news/                        401      404       200     200   200   200
GET    projects/{project_id}/history/                     401      404       200     200   200   200
PUT    leases/{lease_id}/draft/                           401      404       200     404   404   404
POST   leases/{lease_id}/findings/                        401      404       200     404   404   404
POST   leases/{lease_id}/heartbeat/                       401      404       200     404   404   404
POST   leases/{lease_id}/submit/                          401      404       200     404   404   404
DELETE leases/{lease_id}/skip/                            401      404       200     404   404   404
POST   leases/{lease_id}/skip/                            401      404       200     404   404   404
POST   leases/{lease_id}/release/                         401      404       200     404   404   404
POST   leases/{lease_id}/later/                           401      404       200     404   404   404
GET    sentences/{sentence_id}/document/                  401      404       200     200   200   200
GET    submissions/{submission_id}/                       401      404       200     404   404   404
POST   submissions/{submission_id}/reopen/                401      404       200     404   404   404
POST   sentences/{sentence_id}/flag/                      401      404       201     201   201   201
"""


def _rows():
    header, *lines = TABLE.strip().splitlines()
    assert header.split() == list(ROLES)
    return {
        (method, route): dict(zip(ROLES, map(int, statuses), strict=True))
        for method, route, *statuses in map(str.split, lines)
    }


EXPECTED = _rows()


def test_every_rest_route_and_method_has_a_row_and_every_row_a_route():
    assert _served() == set(EXPECTED)


def _served():
    """Return the method and route of everything that the API's views answer."""
    pairs = set()
    for pattern in (*own, *above):
        view = pattern.callback.view_class
        route = re.sub(r"<\w+:(\w+)>", r"{\1}", str(pattern.pattern))
        names = set(view.http_method_names) - {"head", "options"}
        pairs |= {(name.upper(), route) for name in names if hasattr(view, name)}
    return pairs


@pytest.fixture
def world():
    """A project with all roles, work in hand, a finished submission, a round and a job."""
    project = new_project(n_sentences=40)
    ask_everything(project=project)
    desk = Desk(project)
    people = {name: desk.person(name, Role(name)) for name in ("annotator", "curator", "owner")}
    people["stranger"] = get_user_model().objects.create_user("stranger")
    people["admin"] = get_user_model().objects.create_superuser("admin")
    annotator, now = people["annotator"], timezone.now()
    done = desk.submit(annotator, desk.take(annotator, now), now=now)
    lease = desk.take(annotator, now)
    token = create_token(user=annotator, name="mine", scope="read", now=now).token
    Round.objects.create(project=project, number=1, state=Round.State.FAILED)
    job = enqueue_job(project=project, kind=Job.Kind.EXPORT, arguments={}, created_by=None)
    task = project.tasks.get(name="topic")
    label = add_labels(task=task, names=["unused"], actor=people["owner"])[0]
    ids = {
        "project_id": project.pk,
        "task_id": task.pk,
        "label_id": label.pk,
        "corpus_id": project.corpora.get().pk,
        "entry_id": project.log.latest("id").pk,
        "flag_id": Flag.objects.create(
            sentence=project.sentences.first(), author=annotator, comment="odd", created_at=now
        ).pk,
        "answer_id": Annotation.objects.filter(task=task).latest("id").pk,
        "person_id": annotator.pk,
        "membership_id": project.memberships.get(user=annotator).pk,
        "group_id": project.groups.create(name="readers").pk,
        "number": 1,
        "webhook_id": project.webhooks.create(url="https://hooks.example.org/").pk,
        "sentence_id": lease["sentence"]["id"],
        "job_id": job.pk,
        "ask_id": lease["ask"]["id"],
        "lease_id": lease["id"],
        "submission_id": done.submission,
        "token_id": token.pk,
    }
    return people, ids, _bodies(lease)


def _bodies(lease):
    held = {"token": lease["token"]}
    answers = {"entities": [], "links": [], "topic": "travel"}
    task = {"name": "Topic", "kind": "classes", "labels": ["a", "b"]}
    return {
        ("POST", "tokens/"): {"name": "script", "scope": "read"},
        ("POST", "projects/"): {"name": "Another", "tasks": [task]},
        ("PATCH", "projects/{project_id}/"): {"overlap": 2},
        ("PATCH", "people/{person_id}/"): {"is_active": False},
        ("POST", "projects/{project_id}/answers/{answer_id}/"): {"decision": "kept"},
        ("PATCH", "projects/{project_id}/members/{membership_id}/"): {"role": "curator"},
        ("POST", "projects/{project_id}/groups/"): {"name": "new", "people": []},
        ("PUT", "projects/{project_id}/groups/{group_id}/"): {"name": "same", "people": []},
        ("POST", "projects/{project_id}/invitations/"): {"role": "annotator"},
        ("POST", "projects/{project_id}/adjudication/{sentence_id}/"): {"answers": answers},
        ("PUT", "leases/{lease_id}/draft/"): {**held, "draft": {}, "version": 1},
        ("POST", "leases/{lease_id}/findings/"): {"answers": answers},
        ("POST", "leases/{lease_id}/heartbeat/"): held,
        ("POST", "leases/{lease_id}/submit/"): {**held, "answers": answers},
        ("POST", "leases/{lease_id}/skip/"): {**held, "reason": "unclear"},
        ("POST", "leases/{lease_id}/release/"): held,
        ("POST", "leases/{lease_id}/later/"): held,
        ("POST", "sentences/{sentence_id}/flag/"): {"comment": "A broken line."},
    }


@pytest.mark.parametrize("role", ROLES)
def test_each_role_gets_what_the_table_says(client, world, role):
    people, ids, bodies = world
    if role != "anonymous":
        client.force_login(people[role])
    got = {}
    for method, route in EXPECTED:
        path = "/api/" + route.format(**ids)
        path += "?format=jsonl&labels=none" if route.endswith("export/") else ""
        got[method, route] = _ask(client, method, path, bodies.get((method, route), {}))
    assert got == {row: statuses[role] for row, statuses in EXPECTED.items()}


def _ask(client, method, path, body):
    """Return the status of a request, and leave the database as it was."""
    is_upload = method == "POST" and path.endswith("/corpora/")
    with transaction.atomic():
        response = client.generic(
            method,
            path,
            data=b"" if method == "GET" or is_upload else json.dumps(body),
            content_type="multipart/form-data; boundary=x" if is_upload else "application/json",
            headers={"Idempotency-Key": "once"},
        )
        transaction.set_rollback(True)
    return response.status_code


def test_a_stranger_gets_the_same_answer_for_what_is_there_and_what_is_not(client, world):
    people, ids, bodies = world
    client.force_login(people["stranger"])
    nowhere = dict.fromkeys(ids, 999_999)
    for method, route in EXPECTED:
        if "{" in route:
            body = bodies.get((method, route), {})
            there = _ask(client, method, "/api/" + route.format(**ids), body)
            not_there = _ask(client, method, "/api/" + route.format(**nowhere), body)
            assert there == not_there == 404, (method, route)
