"""Predicting everything that people have not answered."""

import io
import json
import tracemalloc

import numpy as np
import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.corpora.exports import export_corpus
from annotation.corpora.jobs import export_file
from annotation.formats.format import formats, get_format
from annotation.jobs.worker import JobWorker
from annotation.models import Annotation, Delivery, Job, Sentence, Suggestion
from annotation.predictions import services
from annotation.predictions.model_files import write_model
from annotation.predictions.predictor import Predictor
from annotation.predictions.services import Pieces, start_prediction
from annotation.projects.labels import update_label
from annotation.projects.services import add_webhook
from annotation.projects.tasks import rename_task
from config.home import home
from tests.annotation.rounds.conftest import import_demo

pytestmark = pytest.mark.django_db


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_command_writes_the_models_answers_to_what_nobody_answered(trained, tmp_path):
    out = tmp_path / "out.jsonl"
    call_command("predict", trained.name, format="jsonl", output=out)
    rows = read(out)
    assert len(rows) == 30
    for row in rows:
        assert set(row["sources"].values()) == {"model: round 1"}
        for task, sure in row["confidences"].items():
            assert 0 <= sure["answer"] <= 1
            n_items = len(row["labels"][task]) if isinstance(row["labels"][task], list) else 1
            assert len(sure["items"]) == n_items
    assert list(tmp_path.iterdir()) == [out]


def test_people_first_and_the_model_for_the_rest_is_one_file_with_the_source_of_each(
    trained,
    people,
    work,
):
    open_one = Sentence.objects.filter(gold__isnull=True).first()
    task = trained.tasks.get(kind="classes")
    label = task.labels.first().name
    now = timezone.now()
    Annotation.objects.create(
        sentence=open_one, task=task, author=people[1], value=label, created_at=now, updated_at=now
    )
    job = start_prediction(
        project=trained, created_by=people[0], format="jsonl", labels="final+model"
    )
    work()
    job.refresh_from_db()
    rows = read(export_file(job))
    assert len(rows) == 90
    by_people = [r for r in rows if not r.get("confidences")]
    assert len(by_people) == 60
    mixed = next(r for r in rows if r["sources"].get(task.name, "").startswith("single"))
    assert mixed["labels"][task.name] == label
    assert task.name not in mixed["confidences"]
    assert "model: round 1" in mixed["sources"].values()
    final = json.loads(
        b"".join(export_corpus(project=trained, format="jsonl", labels="final")).splitlines()[0]
    )
    assert final["labels"] == rows[0]["labels"]


def test_every_format_that_has_room_writes_predictions_that_it_reads_back(trained, tmp_path):
    round = trained.rounds.get()
    pieces = services.predict_project(
        round=round, corpora=(), tasks=(), folder=tmp_path / "pieces", told=lambda *_: None
    )
    for name, format in formats().items():
        tasks = [t.name for t in trained.tasks.all() if t.kind in format.kinds]
        if not tasks or name in ("conll2003", "brat"):  # the demo's labels have spaces in them
            continue
        written = b"".join(
            services.write_predictions(
                pieces=pieces,
                project=trained,
                format=name,
                labels="model",
                corpora=(),
                tasks=tasks,
                told=lambda *_: None,
            )
        )
        if format.parse is None:
            assert len(written) > 1_000, name
            continue
        again = list(get_format(name).read(io.BytesIO(written), file_name="again"))
        assert len(again) == 30, name
        if name in ("jsonl", "csv", "tsv", "slu", "conllu", "labelstudio"):
            assert b"model: round 1" in written, name


def test_a_killed_prediction_goes_on_with_the_pieces_that_are_missing(
    trained,
    people,
    monkeypatch,
):
    monkeypatch.setattr(services, "SIZE", 10)
    monkeypatch.setattr("annotation.predictions.services.SIZE", 10)
    job = start_prediction(project=trained, created_by=people[0], format="jsonl")
    saved = Pieces.save

    def save_one_then_die(self, number, ids, answers):
        if number == 1:
            raise KeyboardInterrupt
        saved(self, number, ids, answers)

    monkeypatch.setattr(Pieces, "save", save_one_then_die)
    with pytest.raises(KeyboardInterrupt):
        JobWorker().run_all()
    Job.objects.filter(pk=job.pk).update(state="queued", worker="")
    numbers = []

    def save_and_tell(self, number, ids, answers):
        numbers.append(number)
        saved(self, number, ids, answers)

    monkeypatch.setattr(Pieces, "save", save_and_tell)
    JobWorker().run_all()
    job.refresh_from_db()
    assert job.state == "done"
    assert numbers == [1, 2]
    assert len(read(export_file(job))) == 30


def test_the_export_page_has_the_models_answers_for_the_rest(trained, people, client, work):
    client.force_login(people[0])
    address = f"/projects/{trained.pk}/export/"
    assert 'value="final+model"' in client.get(address).content.decode()
    wanted = {"format": "jsonl", "labels": "final+model", "as_suggestions": "on"}
    part = client.post(address, {**wanted, "sentences": "labelled"})
    assert part.status_code == 400
    assert "answers all sentences" in part.content.decode()
    place = client.post(address, wanted).url
    work()
    page = client.get(place).content.decode()
    assert "The model of round 1 answered 30 sentences." in page
    assert "Annotators are offered" in page
    file = client.get(f"{place}file/")
    assert len(b"".join(file.streaming_content).splitlines()) == 90


def test_a_file_with_the_models_answers_is_an_export_that_programs_are_told_of(
    trained, people, work, settings
):
    settings.WEBHOOK_HOSTS = ["127.0.0.1:9"]
    url = "http://127.0.0.1:9/hook"
    add_webhook(project=trained, url=url, events=["export.done"], actor=people[0])
    job = start_prediction(
        project=trained, format="jsonl", labels="final+model", created_by=people[0]
    )
    work()
    told = Delivery.objects.get(webhook__project=trained, event="export.done").payload
    assert (told["job"], told["labels"], told["n_sentences"]) == (job.pk, "final+model", 90)


def test_predictions_are_offered_as_suggestions_but_not_on_test_sentences(
    trained,
    people,
    work,
):
    test = Sentence.objects.filter(gold__isnull=True).first()
    Sentence.objects.filter(pk=test.pk).update(is_test=True)
    Suggestion.objects.all().delete()
    start_prediction(project=trained, created_by=people[0], as_suggestions=True)
    work()
    offered = set(Suggestion.objects.values_list("sentence_id", "source", "round__number"))
    assert {source for _, source, _ in offered} == {"model"}
    assert {number for *_, number in offered} == {1}
    assert len({i for i, *_ in offered}) == 29
    assert test.pk not in {i for i, *_ in offered}


def test_what_another_database_left_under_the_number_of_a_job_is_not_taken(trained, people, work):
    job = start_prediction(project=trained, created_by=people[0], format="jsonl")
    Pieces(home().exports / str(job.pk) / "pieces", "model").set_sentences(np.array([1, 2, 3]))
    work()
    job.refresh_from_db()
    assert len(read(export_file(job))) == 30


def test_a_file_that_is_not_in_the_project_is_predicted(trained, tmp_path):
    source = tmp_path / "new.txt"
    source.write_text("book a flight to Oslo\n\nrain tomorrow ?\n")
    out = tmp_path / "out.jsonl"
    call_command(
        "predict", trained.name, input=source, input_format="text", format="jsonl", output=out
    )
    rows = read(out)
    assert [row["text"] for row in rows] == ["book a flight to Oslo", "rain tomorrow ?"]
    assert all(row["confidences"] for row in rows)
    assert Sentence.objects.count() == 90


def test_memory_stays_flat_over_many_sentences(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(services, "SIZE", 500)
    monkeypatch.setattr("annotation.predictions.services.SIZE", 500)
    lines = "\n".join(f"book flight number {n} to Oslo" for n in range(4_000))

    def peak(n):
        tracemalloc.start()
        written = services.predict_file(
            round=trained.rounds.get(),
            stream=io.BytesIO("\n".join(lines.splitlines()[:n]).encode()),
            file_name="many.txt",
            input_format="text",
            format="jsonl",
            options=services.ReadOptions(tokeniser="whitespace"),
        )
        n_lines = sum(piece.count(b"\n") for piece in written)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert n_lines == n
        return most

    peak(500)
    assert peak(4_000) < 1.5 * peak(1_000)


def test_a_project_without_a_model_says_what_to_do(project, people):
    import_demo(project, n=5, labelled=False)
    with pytest.raises(services.Refused, match="launch a round"):
        start_prediction(project=project, created_by=people[0], format="jsonl")


def test_the_model_speaks_of_labels_and_tasks_by_the_names_they_have_now(trained, people, tmp_path):
    tokens = [Sentence.objects.filter(gold__isnull=False).first().tokens]
    predictor = Predictor(trained.rounds.get())
    before = predictor.answer(tokens)[0]
    intent = trained.tasks.get(name="Intent")
    said = before["Intent"]["value"]
    update_label(label=intent.labels.get(name=said), changes={"name": "ours"}, actor=people[0])
    rename_task(task=intent, name="Purpose", actor=people[0])
    after = predictor.answer(tokens)[0]
    assert after["Purpose"]["value"] == "ours"
    assert after["Purpose"]["confidence"] == before["Intent"]["confidence"]
    assert after["Slots"] == before["Slots"]
    write_model(trained.rounds.get(), tmp_path)  # and so does one that leaves
    names = json.loads((tmp_path / "names.json").read_text())
    assert names == {"tasks": {"Intent": "Purpose"}, "labels": {"Purpose": {said: "ours"}}}
    card = (tmp_path / "README.md").read_text()
    assert "| Purpose | classes |" in card
    assert "ours" in card
