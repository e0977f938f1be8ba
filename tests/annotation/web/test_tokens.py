from datetime import timedelta

import pytest
from django.test import Client as Browser
from django.utils import timezone

from annotation.accounts.access import find_token
from annotation.accounts.services import create_token
from annotation.models import ApiToken
from tests.annotation.web.conftest import Caller, token_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(ann):
    browser = Browser(headers={"host": "localhost"})
    browser.force_login(ann)
    return Caller(browser=browser)


def test_a_token_is_its_owner_and_nobody_more(ann):
    token = find_token(token_for(ann), timezone.now())
    assert token.user == ann
    assert (token.user.username, token.user.is_superuser, token.user.is_staff) == (
        "ann",
        False,
        False,
    )
    assert token.scope == "annotate"


def test_only_the_hash_of_a_token_is_stored(ann):
    secret = token_for(ann)
    row = ApiToken.objects.values().get()
    assert secret not in str(row)


def test_a_token_ends_with_its_days_its_owner_or_its_withdrawal(session, ann):
    now = timezone.now()
    new = create_token(user=ann, name="t", scope="read", now=now, days=3)
    assert find_token(new.secret, now + timedelta(days=2)) is not None
    assert find_token(new.secret, now + timedelta(days=4)) is None
    ann.is_active = False
    ann.save()
    assert find_token(new.secret, now) is None


def test_a_withdrawn_token_is_useless_at_once(session, ann):
    made = session.expect(201, "POST", "tokens/", {"name": "laptop", "scope": "read", "days": 7})
    program = Caller(made["secret"])
    assert program("GET", "projects/0/") is not None
    assert program.last.status_code == 404
    session.expect(204, "DELETE", f"tokens/{made['id']}/")
    program.refused(401, "not_signed_in", "GET", "projects/0/")


def test_tokens_are_listed_without_their_secrets(session):
    session.expect(201, "POST", "tokens/", {"name": "laptop", "scope": "read"})
    listed = session.expect(200, "GET", "tokens/")
    assert [token["name"] for token in listed["results"]] == ["laptop"]
    assert "secret" not in listed["results"][0]


def test_nobody_withdraws_anothers_token(session, desk):
    token_for(desk.person("ben"))
    session.refused(404, "not_found", "DELETE", f"tokens/{ApiToken.objects.get().pk}/")


def test_a_token_cannot_make_tokens(ann):
    Caller(token_for(ann, "manage")).refused(
        403, "forbidden", "POST", "tokens/", {"name": "x", "scope": "manage"}
    )


def test_a_wrong_scope_or_name_is_told(session):
    error = session.refused(400, "invalid", "POST", "tokens/", {"name": "", "scope": "all"})
    assert set(error["fields"]) == {"name", "scope"}


def test_a_scope_bounds_what_a_token_does(desk, ann):
    path = f"projects/{desk.project.pk}"
    reader = Caller(token_for(ann, "read"))
    reader.expect(200, "GET", f"{path}/peek/")
    error = reader.refused(403, "forbidden", "POST", f"{path}/next/")
    assert "'annotate'" in error["message"]
    Caller(token_for(ann, "manage")).expect(200, "POST", f"{path}/next/")


def test_the_day_of_the_last_use_is_noted(desk, ann, call):
    call("GET", f"projects/{desk.project.pk}/peek/")
    assert ApiToken.objects.get().last_used_on == timezone.now().date()
