"""Questions to models: the predictor's process, and the web process that asks it."""

import io
import json
import threading
import zipfile
from http.server import ThreadingHTTPServer

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.accounts.services import create_token
from annotation.predictions.predictor import Models, _handler
from config.home import home

pytestmark = [pytest.mark.any_database, pytest.mark.django_db]


@pytest.fixture
def client(people):
    made = APIClient()
    token = create_token(user=people[0], name="t", scope="predict", days=1, now=timezone.now())
    made.credentials(HTTP_AUTHORIZATION=f"Token {token.secret}")
    return made


@pytest.fixture
def predictor(trained, monkeypatch):
    """Run the predictor's server in a thread; its answers come from this test's database."""
    models = Models()
    answers = {}

    def answer(question):
        key = json.dumps(question, sort_keys=True)
        return answers[key] if key in answers else pytest.fail(f"no answer to {question}")

    def prepare(**question):
        whole = {"project": trained.pk, **question}
        answers[json.dumps(whole, sort_keys=True)] = models.answer(whole)

    monkeypatch.setattr(models, "answer", models.answer)
    served = Models()
    monkeypatch.setattr(served, "answer", answer)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(served))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    file = home().predictor
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"address": f"127.0.0.1:{server.server_address[1]}"}))
    yield prepare
    file.unlink(missing_ok=True)
    server.shutdown()
    server.server_close()


def ask(client, project, **body):
    return client.post(f"/api/projects/{project.pk}/predict/", body, format="json")


def test_words_and_texts_are_answered_for_every_task_with_confidences(trained, client, predictor):
    predictor(sentences=[["fly", "to", "Oslo"], ["rain", "?"]])
    found = ask(client, trained, sentences=[["fly", "to", "Oslo"], ["rain", "?"]])
    assert found.status_code == 200, found.content
    assert found.json()["round"] == 1
    names = set(trained.tasks.values_list("name", flat=True))
    for row in found.json()["results"]:
        assert set(row["answers"]) == names
        assert all(0 <= one["confidence"] <= 1 for one in row["answers"].values())
    predictor(texts=["Fly to Oslo."], round=1)
    row = ask(client, trained, texts=["Fly to Oslo."], round=1).json()["results"][0]
    assert row["tokens"] == ["Fly", "to", "Oslo", "."]
    assert row["offsets"] == [[0, 3], [4, 6], [7, 11], [11, 12]]


def test_without_a_predictor_the_answer_is_503_and_says_what_to_start(trained, client):
    home().predictor.unlink(missing_ok=True)
    found = ask(client, trained, texts=["fly"])
    assert found.status_code == 503
    assert found.json()["error"]["code"] == "no_predictor"
    assert "serve" in found.json()["error"]["message"]


def test_a_stranger_on_the_machine_gets_no_answer(trained, client, predictor, settings):
    settings.SECRET_KEY = "another key than the predictor's, long enough to be one"
    assert ask(client, trained, sentences=[["fly"]]).status_code in (401, 503)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"texts": ["a"], "sentences": [["a"]]},
        {"texts": ["a"] * 513},
        {"sentences": [["a"] * 20_000, ["b"] * 20_000]},
        {"sentences": "a"},
    ],
)
def test_too_much_or_nothing_is_refused_before_anybody_is_asked(trained, client, body):
    assert ask(client, trained, **body).status_code == 400


def test_a_token_to_predict_does_nothing_else(trained, client):
    assert client.get(f"/api/projects/{trained.pk}/").status_code == 403
    assert client.post(f"/api/projects/{trained.pk}/predictions/", {}).status_code == 403


def test_the_model_is_downloaded_with_card_and_loader(trained, people):
    made = APIClient()
    made.force_authenticate(people[0])
    found = made.get(f"/api/projects/{trained.pk}/rounds/1/model/")
    assert found.status_code == 200
    archive = zipfile.ZipFile(io.BytesIO(b"".join(found.streaming_content)))
    root = archive.namelist()[0].split("/")[0]
    names = {name.removeprefix(f"{root}/") for name in archive.namelist()}
    assert {"README.md", "tandem_model.py", "tandem_spacy.py", "model/model.safetensors"} <= names
    card = archive.read(f"{root}/README.md").decode()
    for words in ("frozen test slice", "95 %", "bibtex", "license", "calibration"):
        assert words in card
