import errno

import pytest
from django.db import OperationalError
from django.test import Client as Browser

from annotation.queue import api as queue
from tests.annotation.web.conftest import Caller

pytestmark = [pytest.mark.any_database, pytest.mark.django_db]


def test_every_failure_has_the_one_shape(call, desk):
    path = f"projects/{desk.project.pk}/next/"
    call.refused(404, "not_found", "GET", "no/such/thing/")
    call.refused(404, "not_found", "POST", f"projects/{desk.project.pk}/next")  # no slash
    call.refused(404, "not_found", "GET", "projects/99999999999999999999/")
    call.refused(405, "method_not_allowed", "GET", path)
    Caller().refused(401, "not_signed_in", "POST", path)
    Caller("wrong").refused(401, "not_signed_in", "POST", path)


def test_a_body_that_is_no_json_is_malformed(call, desk):
    response = call.browser.post(
        "/api/sentences/1/flag/", b'{"comment": ', content_type="application/json",
        headers=call.headers,
    )  # fmt: skip
    assert response.status_code in (400, 404)
    sentence = desk.project.sentences.first()
    response = call.browser.post(
        f"/api/sentences/{sentence.pk}/flag/", b'{"comment": ', content_type="application/json",
        headers=call.headers,
    )  # fmt: skip
    assert (response.status_code, response.json()["error"]["code"]) == (400, "malformed")


def test_a_body_of_another_type_is_not_read(call, desk):
    sentence = desk.project.sentences.first()
    response = call.browser.post(
        f"/api/sentences/{sentence.pk}/flag/", {"comment": "x"}, headers=call.headers
    )
    assert response.json()["error"]["code"] == "unsupported_media_type"


@pytest.mark.parametrize("body", [[], "text", 3, None])
def test_a_body_that_is_no_table_is_invalid(call, desk, body):
    sentence = desk.project.sentences.first()
    call.refused(400, "invalid", "POST", f"sentences/{sentence.pk}/flag/", body)


def test_the_character_nul_is_refused(call, desk):
    sentence = desk.project.sentences.first()
    path = f"sentences/{sentence.pk}/flag/"
    call.refused(400, "malformed", "POST", path, {"comment": "a\0b"})
    call.expect(201, "POST", path, {"comment": "a \\u0000 spelt out"})


def test_a_body_beyond_the_limit_is_refused(call, desk, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    sentence = desk.project.sentences.first()
    call.refused(400, "malformed", "POST", f"sentences/{sentence.pk}/flag/", {"comment": "x" * 200})


def test_a_database_that_is_busy_is_a_503_that_may_be_retried(call, desk, monkeypatch):
    def locked(**_):
        raise OperationalError("database is locked")

    monkeypatch.setattr(queue, "claim_next", locked)
    call.refused(503, "busy", "POST", f"projects/{desk.project.pk}/next/")
    assert call.last.headers["Retry-After"] == "1"


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("database or disk is full"),
        OperationalError("disk I/O error"),
        OSError(errno.ENOSPC, "No space left on device"),
    ],
)
def test_a_full_disk_is_told_as_what_it_is(call, desk, monkeypatch, error):
    def full(**_):
        raise error

    monkeypatch.setattr(queue, "claim_next", full)
    call.refused(503, "no_room", "POST", f"projects/{desk.project.pk}/next/")


def test_the_unforeseen_is_logged_and_told_without_its_insides(call, desk, monkeypatch, caplog):
    def breaks(**_):
        raise ZeroDivisionError("the insides")

    monkeypatch.setattr(queue, "claim_next", breaks)
    error = call.refused(500, "internal", "POST", f"projects/{desk.project.pk}/next/")
    assert "insides" not in error["message"]
    assert "ZeroDivisionError" in caplog.text


def test_a_session_needs_the_csrf_token_to_change_something(desk, ann):
    browser = Browser(enforce_csrf_checks=True, headers={"host": "localhost"})
    browser.force_login(ann)
    caller = Caller(browser=browser)
    path = f"projects/{desk.project.pk}"
    caller.refused(403, "forbidden", "POST", f"{path}/next/")
    caller.expect(200, "GET", f"{path}/peek/")
    browser.cookies["csrftoken"] = "a" * 32
    caller.expect(200, "POST", f"{path}/next/", x_csrftoken="a" * 32)
