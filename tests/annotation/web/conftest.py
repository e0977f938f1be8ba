"""A project with a queue, and people who reach it by REST."""

import json

import pytest
from django.test import Client as Browser
from django.utils import timezone

from annotation.accounts.services import create_token
from annotation.queue.asks import ask_everything
from tests.annotation.queue.conftest import Desk, new_project


class Caller:
    """Sends JSON as one person; ``last`` is the whole response."""

    def __init__(self, token=None, browser=None):
        self.browser = browser or Browser(headers={"host": "localhost"})
        self.headers = {"authorization": f"Token {token}"} if token else {}
        self.last = None

    def __call__(self, method, path, body=None, **headers):
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        self.last = self.browser.generic(
            method,
            f"/api/{path}",
            data=b"" if body is None else json.dumps(body),
            content_type="application/json",
            headers={**self.headers, **names},
        )
        return self.last.json() if self.last.content else None

    def expect(self, status, method, path, body=None, **headers):
        answer = self(method, path, body, **headers)
        assert self.last.status_code == status, (self.last.status_code, answer)
        return answer

    def refused(self, status, code, method, path, body=None, **headers):
        """Return the error of a request that must fail with this status and code."""
        error = self.expect(status, method, path, body, **headers)["error"]
        assert error["code"] == code, error
        assert error["message"]
        return error


def token_for(user, scope="annotate"):
    return create_token(user=user, name="test", scope=scope, now=timezone.now()).secret


@pytest.fixture
def desk(db):
    project = new_project()
    ask_everything(project=project)
    return Desk(project)


@pytest.fixture
def ann(desk):
    return desk.person("ann")


@pytest.fixture
def call(ann):
    """Requests of ann, by token."""
    return Caller(token_for(ann))
