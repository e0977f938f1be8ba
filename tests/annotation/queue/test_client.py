"""The Python client against a server in a thread."""

import http.client

import pytest
from django.utils import timezone

from annotation.client import ApiError, Client
from annotation.models import Annotation
from annotation.services.api_tokens import create_token
from annotation.services.asking import ask_everything
from tests.annotation.queue.conftest import ANSWERS, Desk, new_project


@pytest.fixture
def work(live_server):
    """A client of an annotator, and the project."""
    project = new_project(n_sentences=4)
    ask_everything(project=project)
    ann = Desk(project).person("ann")
    secret = create_token(user=ann, name="t", scope="annotate", now=timezone.now()).secret
    client = Client(live_server.url, secret, patience=5)
    yield client, project.pk
    client.close()


def test_the_client_walks_through_the_queue(work):
    client, project = work
    assert client.project(project)["name"] == "Journeys"
    lease = client.next(project)
    assert lease.tasks == ["entities", "links", "topic"]
    assert client.peek(project)["ask"]["rank"] == 2
    client.save_draft(lease, {"topic": "tra"}, 1)
    assert "expires_at" in client.heartbeat(lease)
    receipt = client.submit(lease, ANSWERS, seconds=2.5)
    reopened = client.reopen(receipt["submission"])
    assert reopened.answers == ANSWERS
    client.release(reopened)
    second = client.next(project)
    client.flag(second.sentence["id"], "A twin of the one before.")
    client.skip(second, "A twin.")
    while lease := client.next(project):
        client.submit(lease, ANSWERS)
    assert len(list(client.history(project))) == 3
    assert Annotation.objects.count() == 9


def test_an_error_carries_code_and_fields(work):
    client, project = work
    lease = client.next(project)
    with pytest.raises(ApiError, match="invalid") as caught:
        client.submit(lease, {"topic": "travel"})
    assert (caught.value.status, caught.value.code) == (400, "invalid")
    assert set(caught.value.fields) == {"entities", "links"}


def test_a_request_without_an_answer_is_sent_again(work, monkeypatch):
    client, project = work
    send, n_calls = client._send, []

    def loses_the_first_answer(*request):
        n_calls.append(1)
        answer = send(*request)
        if len(n_calls) == 1:
            raise http.client.RemoteDisconnected("gone")
        return answer

    monkeypatch.setattr(client, "_send", loses_the_first_answer)
    assert client.next(project).described["ask"]["rank"] == 1
    assert len(n_calls) == 2


def test_a_server_that_stays_away_is_an_error(monkeypatch):
    client = Client("http://127.0.0.1:9", "x", patience=0.1)
    with pytest.raises(OSError, match="refused"):
        client.next(1)
