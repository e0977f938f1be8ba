"""The statements that run for every annotator all day must cost the same at any size."""

from contextlib import closing

import pytest
from django.db import connection

from annotation.accounts.services import create_token
from annotation.models import Lease
from annotation.queue.leases import return_expired_leases
from tests.annotation.queue.conftest import ANSWERS, NOON
from tests.annotation.web.conftest import Caller

READ_BY_PLAN = ("SELECT", "UPDATE", "INSERT", "DELETE")
TOO_WIDE = ("(author_id=?)", "(annotator_id=?)", "(queue_id=?)", "(project_id=?)")
SMALL = ("CONSTANT ROW", "annotation_progress", "annotation_task", "one_current_queue")


@pytest.fixture
def call(desk, ann):
    call = Caller(create_token(user=ann, name="t", scope="annotate", now=NOON, days=3660).secret)
    call("GET", f"projects/{desk.project.pk}/peek/")  # notes the day of the token's use
    return call


def work_through_a_sentence(call, desk):
    lease = call.expect(200, "POST", f"projects/{desk.project.pk}/next/")
    body = {"token": lease["token"], "answers": ANSWERS}
    return call.expect(200, "POST", f"leases/{lease['id']}/submit/", body, idempotency_key="k")


def do_everything_else(call, desk):
    project = f"projects/{desk.project.pk}"
    lease = call.expect(200, "POST", f"{project}/next/")
    path, token = f"leases/{lease['id']}", {"token": lease["token"]}
    call.expect(200, "GET", f"{project}/peek/")
    call.expect(200, "PUT", f"{path}/draft/", {**token, "draft": {}, "version": 1})
    call.expect(200, "POST", f"{path}/heartbeat/", token)
    call.expect(200, "POST", f"{path}/skip/", {**token, "reason": "odd"})
    lease = call.expect(200, "POST", f"{project}/next/")
    assert return_expired_leases(project_id=desk.project.pk, now=NOON) == 1
    assert Lease.objects.get(pk=lease["id"]).state == Lease.State.RETURNED


class PlanReader:
    """Asks SQLite before each statement how it will find the rows, with the same values."""

    def __init__(self):
        self.plans = []

    def __call__(self, execute, sql, params, many, context):
        if sql.strip().startswith(READ_BY_PLAN):
            with closing(context["connection"].create_cursor()) as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
                rows = cursor.fetchall()
            self.plans.append((sql, [row[3] for row in rows]))
        return execute(sql, params, many, context)


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="reads the plans of SQLite")
@pytest.mark.parametrize("verbs", [work_through_a_sentence, do_everything_else])
def test_every_statement_finds_its_rows_by_a_narrow_index(call, desk, verbs):
    reader = PlanReader()
    with connection.execute_wrapper(reader):
        verbs(call, desk)
    assert len(reader.plans) > 20
    for statement, plan in reader.plans:
        steps = [step for step in plan if not any(table in step for table in SMALL)]
        assert not [step for step in steps if step.startswith("SCAN")], (statement, steps)
        assert not [step for step in steps if step.endswith(TOO_WIDE)], (statement, steps)


@pytest.mark.django_db
def test_a_cycle_runs_a_bounded_number_of_statements(call, desk, django_assert_max_num_queries):
    with django_assert_max_num_queries(30):
        work_through_a_sentence(call, desk)
