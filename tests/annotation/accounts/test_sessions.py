"""Who stays signed in, and who does not."""

from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth import BACKEND_SESSION_KEY, authenticate, get_user_model
from django.test import Client

pytestmark = [pytest.mark.any_database, pytest.mark.django_db]
migration = import_module("annotation.migrations.0007_django_sessions")


@pytest.fixture
def user():
    return get_user_model().objects.create_user("ann", password="long-enough-secret")


@pytest.fixture
def browser(user):
    browser = Client(headers={"host": "localhost"})
    browser.force_login(user)
    return browser


def test_a_locked_account_is_nobody(user, browser):
    user.is_active = False
    user.save()
    assert browser.get("/api/tokens/").status_code in (401, 403)
    assert authenticate(username="ann", password="long-enough-secret") is None


def test_a_new_password_ends_the_sessions_of_the_old_one(user, browser):
    assert browser.get("/api/tokens/").status_code == 200
    user.set_password("another-long-secret")
    user.save()
    assert browser.get("/api/tokens/").status_code in (401, 403)


@pytest.mark.parametrize("backend", [migration.EARLIEST, migration.EARLIER])
def test_whoever_was_signed_in_before_the_upgrade_stays_signed_in(browser, backend):
    session = browser.session
    session[BACKEND_SESSION_KEY] = backend
    session["came_by_link"] = True
    session.save()
    assert browser.get("/api/tokens/").status_code in (401, 403)
    migration.name_the_backend(apps, None)
    assert browser.get("/api/tokens/").status_code == 200
    assert browser.session["came_by_link"] is True
