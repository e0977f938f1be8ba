"""The client against a server process with web and worker."""

import http.client
import json
import re
import socket
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from tandem_client import ApiError, Client
from tests.releases.corpora import TRAVEL, travel_rows
from tests.releases.make import TINY
from tests.releases.server import PASSWORD, Server, Session, sign_up

pytestmark = pytest.mark.xdist_group("client")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("home")) as server:
        sign_up(server, "admin")
        yield server


@pytest.fixture(scope="module")
def manager(server):
    """A client by a token that was made in a session."""
    with Client.signed_in(server.address, "admin", PASSWORD) as session:
        secret = session.create_token(name="tests", scope="manage")["secret"]
        assert [token["name"] for token in session.tokens()] == ["tests"]
    with Client(server.address, secret, patience=10) as client:
        yield client


@pytest.fixture
def project(manager, tmp_path, request):
    """A project with twelve sentences that are answered by no one yet."""
    spec = {**TRAVEL, "name": request.node.name[:100], "overlap": 1}
    made = manager.create_project(**spec)["id"]
    rows = [{"text": row["text"], "tokens": row["tokens"]} for row in travel_rows(12)]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    manager.import_corpus(made, path, format="jsonl", labels="none")
    return made


@pytest.fixture
def annotator(manager, server, project):
    """A client of somebody who joined by invitation."""
    name = f"ann{project}"
    invited = manager.invite(project, role="annotator")
    Session(server.address).post_form(invited["path"], {"username": name, "password": PASSWORD})
    with Client.signed_in(server.address, name, PASSWORD) as client:
        yield client


def answers_to(lease):
    truth = {row["text"]: row["labels"] for row in travel_rows(12)}
    return {task: truth[lease["sentence"]["text"]][task] for task in lease["ask"]["tasks"]}


def launch(manager, project):
    launched = manager.create_round(project, **{**TINY, "test_size": 2, "amount": 8})
    found = manager.wait_for_round(project, launched["number"], patience=300)
    assert found["state"] == "labelling", found
    return found["number"]


def test_a_project_is_made_filled_changed_and_exported(manager, project, tmp_path):
    assert [row["name"] for row in manager.corpora(project)] == ["questions"]
    assert len(list(manager.sentences(project, limit=5))) == 12
    assert manager.change_project(project, guidelines="Short.")["guidelines"] == "Short."
    assert project in [row["id"] for row in manager.projects()]
    path = tmp_path / "out.jsonl"
    n_bytes = manager.save(manager.export(project, format="jsonl", labels="none"), path)
    assert n_bytes == path.stat().st_size
    assert len(path.read_text().splitlines()) == 12
    names = [task["name"] for task in manager.project(project)["tasks"]]
    assert len(names) > 1
    one = b"".join(manager.export(project, format="jsonl", labels="none", task=names))
    assert one == path.read_bytes()
    report = manager.import_corpus(
        project, path.read_bytes(), format="jsonl", labels="none", name="again", is_dry_run=True
    )
    assert report["n_sentences"] == 12


def test_members_come_by_invitation_and_go(manager, project, annotator):
    members = {row["user"]: row for row in manager.members(project)}
    assert {row["role"] for row in members.values()} == {"owner", "annotator"}
    own = members[f"ann{project}"]["id"]
    assert manager.change_member(project, own, role="curator")["role"] == "curator"
    manager.delete_member(project, own)
    assert len(list(manager.members(project))) == 1
    with pytest.raises(ApiError, match="not_found"):
        annotator.project(project)


def test_what_is_deleted_for_good_is_named(manager, project):
    first, *rest = [row["id"] for row in manager.sentences(project)]
    assert manager.delete_sentence(project, sentences=[first]) == {"n_sentences": 1}
    assert [row["id"] for row in manager.sentences(project)] == rest
    with pytest.raises(ApiError, match="Nothing was deleted"):
        manager.delete_project(project, name="another")
    manager.delete_project(project, name=manager.project(project)["name"])
    with pytest.raises(ApiError, match="not_found"):
        manager.project(project)


def test_a_round_is_launched_followed_and_worked_through(manager, project, annotator):
    number = launch(manager, project)
    assert [row["number"] for row in manager.rounds(project)] == [number]
    assert manager.round(project, number)["progress"]["state"] == "done"
    asks = list(manager.round_asks(project, number, limit=3))
    assert [ask["rank"] for ask in asks] == list(range(1, len(asks) + 1))

    lease = annotator.next(project)
    assert annotator.peek(project)["ask"]["rank"] == 2
    annotator.save_draft(lease["id"], token=lease["token"], draft={"Intent": "fare"}, version=1)
    assert "expires_at" in annotator.heartbeat(lease["id"], token=lease["token"])
    right = answers_to(lease)
    receipt = annotator.submit(lease["id"], token=lease["token"], answers=right, seconds=2.5)
    reopened = annotator.reopen(receipt["submission"])
    assert reopened["answers"] == right
    annotator.release(reopened["id"], token=reopened["token"])
    second = annotator.next(project)
    annotator.flag(second["sentence"]["id"], comment="A twin of the one before.")
    annotator.skip(second["id"], token=second["token"], reason="A twin.")
    while lease := annotator.next(project):
        annotator.submit(lease["id"], token=lease["token"], answers=answers_to(lease))
    states = [row["state"] for row in annotator.history(project)]
    assert sorted(states) == ["skipped"] + ["submitted"] * (len(asks) - 1)
    assert manager.agreement(project)
    assert manager.dashboard(project)
    assert manager.disputes(project)["results"] == []
    decided = manager.decide(project, asks[0]["sentence"], answers={"Intent": "fare"})
    assert decided["gold"] == {"Intent": 1}
    assert manager.dispute(project, asks[0]["sentence"])["tasks"]


def test_an_error_carries_code_and_fields(manager, project, annotator):
    launch(manager, project)
    lease = annotator.next(project)
    with pytest.raises(ApiError, match="invalid") as caught:
        annotator.submit(lease["id"], token=lease["token"], answers={"Intent": "fare"})
    assert (caught.value.status, caught.value.code) == (400, "invalid")
    assert set(caught.value.fields) == {"Slots"}
    with pytest.raises(ApiError, match="403"):
        list(manager.tokens())


def test_a_wrong_password_is_told(server):
    with pytest.raises(ApiError, match="Wrong name or password"):
        Client.signed_in(server.address, "admin", "guessed")


def lose_the_first_answer(client, monkeypatch):
    send, n_calls = client._send, []

    def loses(*request):
        n_calls.append(1)
        answer = send(*request)
        if len(n_calls) == 1:
            raise http.client.RemoteDisconnected("gone")
        return answer

    monkeypatch.setattr(client, "_send", loses)
    return n_calls


def test_a_request_without_an_answer_is_sent_again_where_that_does_no_harm(
    manager, project, monkeypatch
):
    n_calls = lose_the_first_answer(manager, monkeypatch)
    assert manager.project(project)["id"] == project
    assert len(n_calls) == 2


def test_a_request_that_might_be_done_twice_is_not_sent_again(manager, monkeypatch):
    n_calls = lose_the_first_answer(manager, monkeypatch)
    with pytest.raises(http.client.RemoteDisconnected):
        manager.create_project(**{**TRAVEL, "name": "Only once"})
    assert len(n_calls) == 1
    assert sum(row["name"] == "Only once" for row in manager.projects()) == 1


def test_a_server_that_stays_away_is_an_error():
    client = Client("http://127.0.0.1:9", "x", patience=0.1)
    with pytest.raises(OSError, match="refused"):
        client.next(1)


def read_request(connection):
    """Read one request whole: headers and body may come in pieces."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    while length and len(body) < int(length[1]):
        body += connection.recv(65536)


@contextmanager
def server_that_says(*connections):
    """A client of a server that gives each connection its answers and closes it."""

    def serve():
        for answers in connections:
            connection, _ = listener.accept()
            for answer in answers:
                read_request(connection)
                connection.sendall(answer)
            connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        with Client(f"http://127.0.0.1:{listener.getsockname()[1]}", "x", patience=5) as client:
            yield client
        thread.join()


def test_a_server_that_asks_to_wait_is_asked_again():
    wait = b"HTTP/1.1 429 Too Many\r\nRetry-After: 0\r\nContent-Length: 2\r\n\r\n{}"
    made = b"HTTP/1.1 201 Created\r\nContent-Length: 8\r\n\r\n" + b'{"id":1}'
    with server_that_says([wait, made]) as client:
        assert client.invite(1, role="annotator") == {"id": 1}


def test_an_answer_that_breaks_off_is_asked_for_again():
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n" + b'{"id":1}'
    with server_that_says([whole[:-3]], [whole]) as client:
        assert client.next(1) == {"id": 1}


def test_an_address_that_is_none_is_refused_at_once():
    with pytest.raises(ValueError, match="no address of a server"):
        Client("localhost:8000")


def test_the_readme_of_the_client_is_true(manager, server, tmp_path, monkeypatch):
    text = (Path(__file__).parents[2] / "tandem_client" / "README.md").read_text()
    code = text.partition("```python\n")[2].partition("```")[0]
    rows = [{"text": row["text"]} for row in travel_rows(12)]
    (tmp_path / "notices.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tandem_client.Client", lambda address, secret: manager)
    exec(compile("from pathlib import Path\n" + code, "README.md", "exec"), {})
    assert len((tmp_path / "labelled.jsonl").read_text().splitlines()) == 12
