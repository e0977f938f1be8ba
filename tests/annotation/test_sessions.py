"""Sessions and accounts read by hand must be what Django would have read."""

from datetime import timedelta

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from annotation.sessions import AccountBackend, SessionStore

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return get_user_model().objects.create_user("ann", password="long-enough-secret")


@pytest.fixture
def session():
    store = SessionStore()
    store["basket"] = ["a", 1]
    store.save()
    return store.session_key


def test_a_session_comes_back_as_it_was_saved(session):
    store = SessionStore(session)
    assert store["basket"] == ["a", 1]
    store["basket"].append(2)
    store.modified = True
    store.save()
    assert SessionStore(session)["basket"] == ["a", 1, 2]


def test_an_ended_or_unknown_session_is_empty(session):
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert SessionStore(session).load() == {}
    unknown = SessionStore("n" * 32)
    assert unknown.load() == {}
    assert unknown.session_key is None


def test_an_account_is_the_one_that_django_finds(user):
    found = AccountBackend().get_user(user.pk)
    assert found == user
    assert found.get_session_auth_hash() == user.get_session_auth_hash()
    assert (found.is_superuser, found.is_staff, found.is_active) == (False, False, True)
    assert found.date_joined == user.date_joined  # read when it is wanted


def test_a_locked_account_is_nobody(user):
    user.is_active = False
    user.save()
    assert AccountBackend().get_user(user.pk) is None
    assert authenticate(username="ann", password="long-enough-secret") is None


def test_a_new_password_ends_the_sessions_of_the_old_one(user):
    browser = Client(headers={"host": "localhost"})
    browser.force_login(user)
    assert browser.get("/api/tokens/").status_code == 200
    user.set_password("another-long-secret")
    user.save()
    assert browser.get("/api/tokens/").status_code in (401, 403)
