"""The statements that run for every annotator all day must cost the same at any size."""

import pytest
from django.db import connection

from annotation import queue_sql
from annotation.selectors import answer_rules, api_tokens, leases, queue
from annotation.services import drafting, leasing, recording, submitting
from annotation.services.api_tokens import create_token
from tests.annotation.api.conftest import Caller
from tests.annotation.queue.conftest import ANSWERS, NOON

HOT = {
    "token": api_tokens._FIND,
    "standing": queue._STANDING,
    "own lease": queue._OWN_LEASE,
    "counts": queue._COUNTS,
    "lease": leases._LEASE,
    "peek": leases._ASK_ALONE,
    "offered": leases._OFFERED,
    "rules": answer_rules._RULES,
    "choice": queue_sql._CHOICE,
    "left": queue_sql._LEFT,
    "tally": queue_sql._TALLY,
    "held": queue_sql._HELD[connection.vendor],
    "claim": queue_sql._CLAIM[connection.vendor, False],
    "claim of several": queue_sql._CLAIM[connection.vendor, True],
    "take": queue_sql._TAKE,
    "count": queue_sql._COUNT,
    "renew": leasing._RENEW,
    "draft": drafting._SAVE,
    "present": recording._PRESENT,
    "earlier": submitting._EARLIER,
    "close": submitting._CLOSE,
    "receipt": submitting._RECEIPT,
}
VALUES = dict.fromkeys(
    ("annotator", "answers", "ask", "closed", "done", "first_rank", "lease", "leases", "project",
     "queue", "sentence", "skipped", "user", "version"), 1,
) | dict.fromkeys(("hash", "key", "request_hash", "token"), "x") | dict.fromkeys(
    ("actions", "counts", "draft", "suggestions"), "{}",
) | dict.fromkeys(("expires", "now"), "2030-01-01 00:00:00") | {
    "is_admin": False, "seconds": 1.0,
}  # fmt: skip


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="reads the plans of SQLite")
@pytest.mark.parametrize("name", HOT)
def test_a_hot_statement_finds_its_rows_by_a_narrow_index(name):
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {HOT[name]}", VALUES)
        plan = [row[3] for row in cursor.fetchall()]
    assert not [step for step in plan if step.startswith("SCAN")], plan
    too_wide = ("(author_id=?)", "(annotator_id=?)", "(queue_id=?)", "l USING INDEX lease_by")
    wide = [step for step in plan if step.endswith(too_wide) and "progress" not in step]
    assert wide == []


@pytest.mark.django_db
def test_a_cycle_runs_a_bounded_number_of_statements(desk, ann, django_assert_max_num_queries):
    secret = create_token(user=ann, name="t", scope="annotate", now=NOON, days=3660).secret
    call = Caller(secret)
    call("POST", f"projects/{desk.project.pk}/next/")  # notes the day of the token's use
    with django_assert_max_num_queries(30):
        lease = call.expect(200, "POST", f"projects/{desk.project.pk}/next/")
        body = {"token": lease["token"], "answers": ANSWERS}
        call.expect(200, "POST", f"leases/{lease['id']}/submit/", body, idempotency_key="k")
