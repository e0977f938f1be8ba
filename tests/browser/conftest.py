"""A real Chromium on a live server; a test fails on any script error or refused resource."""

import os
import re
import shutil
import threading
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.staticfiles.finders import get_finder
from django.db import connection
from drf_spectacular.generators import SchemaGenerator
from playwright.sync_api import Error, expect, sync_playwright

from annotation.jobs.worker import JobWorker
from annotation.projects.services import create_project
from mtl_engine.kinds import KINDS
from tests.browser.annotate_fixtures import make_queue, modules  # noqa: F401
from tests.openapi import WATCH, Checker
from tests.throwaway.stars import StarsKind

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()
# The first is the same engine without a window's furniture: a page costs it half the time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
IS_CI = os.environ.get("CI", "").lower() in ("1", "true")
EXPECTED_FAILURE = re.compile(
    r"status of (400|401|403|404|409|410|422|429|503)|net::ERR_INTERNET_DISCONNECTED"
)
HERE = Path(__file__).parent

expect.set_options(timeout=15_000)


def pytest_collection_modifyitems(items):
    """Mark the browser's tests, and keep them in one process: they share the browser."""
    for item in items:
        if HERE in Path(item.path).parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session")
def browser():
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    with sync_playwright() as playwright:
        try:
            chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        except Error as error:
            reason = f"no Chromium: run `make browser` ({str(error).splitlines()[0]})"
            pytest.fail(reason) if IS_CI else pytest.skip(reason)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, live_server):
    """A function that opens a page as somebody; at the end no page may have had an error."""
    contexts, errors = [], []

    def open_page(person=None, **options):
        context = browser.new_context(base_url=live_server.url, **options)
        contexts.append(context)
        context.set_default_timeout(15_000)
        if person is not None:
            context.add_cookies([_session_cookie(person, live_server.url)])
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(f"{page.url}: {error}"))
        page.on("console", lambda message: _note(message, page, errors))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def person(transactional_db):
    """A function that makes a person who has no password and signs in by cookie."""

    def person(name, **values):
        return get_user_model().objects.create_user(name, **values)

    return person


@pytest.fixture
def make_project(transactional_db):
    """A function that makes a project of an owner with the given tasks."""

    def make_project(owner, *, name="Harbour notices", tasks=None, **values):
        tasks = tasks or [
            {"name": "entities", "kind": "spans", "labels": ["PER", "ORG", "LOC"]},
            {"name": "topic", "kind": "classes", "labels": ["delay", "arrival", "other"]},
        ]
        return create_project(spec={"name": name, "tasks": tasks, **values}, owner=owner)

    return make_project


@pytest.fixture
def stars_kind(monkeypatch, settings, tmp_path):
    """A kind of one file of Python and one of JavaScript, where a release would have them."""
    kind = StarsKind()
    monkeypatch.setitem(KINDS, kind.name, kind)
    kinds = tmp_path / "static" / "annotation" / "annotate" / "kinds"
    kinds.mkdir(parents=True)
    shutil.copy(HERE / "stars.js", kinds)
    settings.STATICFILES_DIRS = [tmp_path / "static"]
    get_finder.cache_clear()
    monkeypatch.setattr(  # a process of its own would know the kinds of the release alone
        "annotation.corpora.imports.read_apart",
        lambda file, stage, tasks, mapping, limits: file.read(stage, tasks, mapping),
    )
    described = Checker(SchemaGenerator().get_schema(request=None, public=True))
    monkeypatch.setattr(WATCH, "checker", lambda: described)
    yield
    get_finder.cache_clear()


@pytest.fixture
def work():
    """A function that starts a worker beside the test, which ends when nothing is left to do."""
    threads = []

    def run():
        JobWorker(interval=0.1, batch=True).run()
        connection.close()

    def start():
        threads.append(threading.Thread(target=run))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join()


def _session_cookie(person, url):
    """Return the cookie of a fresh session of a person."""
    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    return {"name": settings.SESSION_COOKIE_NAME, "value": session.session_key, "url": url}


def _note(message, page, errors):
    if message.type == "error" and not EXPECTED_FAILURE.search(message.text):
        errors.append(f"{page.url}: {message.text}")
