"""Suggestions from outside: checked, kept by source, asked only where an admin allows it."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

import orjson
import pytest
from rest_framework.test import APIClient

from annotation.errors import Refused
from annotation.formats.records import ReadOptions
from annotation.models import Sentence, Suggestion
from annotation.notifications import transport
from annotation.predictions.outside import import_suggestions
from annotation.predictions.sources import ask_source, find_endpoint
from annotation.queue.suggestions import shown_suggestions
from tests.annotation.rounds.conftest import import_demo

pytestmark = [pytest.mark.any_database, pytest.mark.django_db]


@pytest.fixture
def filled(project):
    import_demo(project, n=6, labelled=False)
    return project


@pytest.fixture
def task(filled):
    return filled.tasks.get(kind="classes")


@pytest.fixture
def endpoint(settings):
    """Run a server that answers as the test says, and allow its address."""
    made = type("Endpoint", (), {"answers": [], "asked": []})()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            made.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            answer = made.answers[(len(made.asked) - 1) % len(made.answers)]
            status, body, headers = answer if isinstance(answer, tuple) else (200, answer, {})
            if isinstance(body, dict):
                message = {"message": {"content": json.dumps(body)}}
                body = json.dumps({"choices": [message]}).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if callable(body):
                body(self.wfile)
            else:
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    made.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    settings.SUGGESTION_SOURCES = [made.url]
    yield made
    server.shutdown()
    server.server_close()


def ask(project, endpoint, **options):
    return ask_source(
        project=project,
        source="llama",
        url=endpoint.url,
        model="m",
        told=lambda *_: None,
        **options,
    )


def test_good_answers_become_suggestions_and_bad_ones_are_dropped_and_counted(
    filled, task, endpoint
):
    label = task.labels.first().name
    endpoint.answers = [
        {task.name: label},
        {task.name: "no such label"},
        (200, b'{"choices": [{"message": {"content": "I think it is a flight"}}]}', {}),
        (200, b"not even json", {}),
        (302, b"", {"Location": "http://127.0.0.1:1/"}),
        {task.name: {"nested": [1]}, "drop table": 1},
    ]
    report = ask(filled, endpoint, tasks=[task.name])
    assert report.n_stored == 1
    assert Suggestion.objects.get().source == "llama"
    assert report.counts["no JSON"] == 1
    assert report.counts["not the protocol"] == 1
    assert report.counts["redirect"] == 1
    assert report.counts["does not fit the task"] >= 1
    prompt = endpoint.asked[0]["messages"][0]["content"]
    assert label in prompt
    assert endpoint.asked[0]["response_format"] == {"type": "json_object"}


def test_what_cannot_be_stored_is_dropped_wherever_it_stands(filled, task, endpoint):
    task.is_open = True
    task.save()
    endpoint.answers = [{task.name: "\ud800"}, {"\ud83d": "x"}, {task.name: "a\0b"}]
    report = ask(filled, endpoint, tasks=[task.name], limit=3)
    assert report.n_stored == 0
    assert report.counts == {"not to be stored": 3}
    assert orjson.dumps(report.to_dict())
    rows = [{"text": f"{word} here", "labels": {task.name: "x"}} for word in ("\ud800", "new")]
    rows.append({"text": filled.sentences.first().text, "labels": {task.name: "\udfff"}})
    report = import_suggestions(
        project=filled,
        source="file",
        stream=BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode()),
        file_name="f.jsonl",
        format="jsonl",
        options=ReadOptions(tokeniser="whitespace"),
    )
    assert report.n_stored == 0
    assert orjson.dumps(report.to_dict())


def test_endless_and_slow_answers_are_cut(filled, task, endpoint, monkeypatch):
    monkeypatch.setattr(transport, "MAX_ANSWER", 50_000)
    hold = threading.Event()
    endpoint.answers = [
        (200, lambda out: out.write(b" " * 200_000), {}),
        (200, lambda out: (out.write(b" "), out.flush(), hold.wait(20)), {}),
    ]
    report = ask(filled, endpoint, tasks=[task.name], limit=2, seconds=1.0)
    hold.set()
    assert report.n_stored == 0
    assert report.counts == {"too long": 1, "time-out": 1}


def test_only_listed_addresses_are_asked_and_names_may_not_lead_inside(settings, monkeypatch):
    settings.SUGGESTION_SOURCES = ["http://models.example/v1", "http://gpu.lan/v1=10.0.0.0/8"]
    with pytest.raises(Refused, match="TANDEM_SUGGESTION_SOURCES"):
        find_endpoint("http://169.254.169.254/v1")

    def leads_to(address):
        rows = [(2, 1, 6, "", (address, 80))]
        monkeypatch.setattr(transport.socket, "getaddrinfo", lambda *_, **__: rows)

    for inside in ("127.0.0.1", "10.0.0.7", "169.254.169.254"):
        leads_to(inside)
        with pytest.raises(Refused, match="not allowed"):
            find_endpoint("http://models.example/v1").address()
    leads_to("10.0.0.7")
    assert find_endpoint("http://gpu.lan/v1").address() == "10.0.0.7"
    leads_to("192.168.0.7")
    with pytest.raises(Refused, match="not allowed"):
        find_endpoint("http://gpu.lan/v1").address()


def test_sources_stand_side_by_side_and_the_one_shown_is_named(filled, task, people):
    sentence = Sentence.objects.first()
    first, second = task.labels.all()[:2]
    client = APIClient()
    client.force_authenticate(people[0])

    def put(source, value):
        row = {"sentence": sentence.pk, "task": task.name, "value": value, "confidence": 0.5}
        body = {"source": source, "suggestions": [row]}
        return client.put(f"/api/projects/{filled.pk}/suggestions/", body, format="json")

    assert put("llama", first.name).status_code == 200
    assert put("gliner", second.name).status_code == 200
    shown = {
        shown_suggestions(sentence.pk, [task.name], draw)[task.name]["source"] for draw in range(40)
    }
    assert shown == {"llama", "gliner"}
    assert put("llama", "no such label").status_code == 400
    assert put("model", first.name).status_code == 400
    assert Suggestion.objects.count() == 2
