"""An import that meets a project half-way: new labels, duplicates, bad rows, existing sentences."""

import io
import json
import re

import pytest
from django.core.management import call_command

from annotation.corpora.imports import import_corpus
from annotation.corpora.report import ImportChoices, ImportRefused
from annotation.erasure.services import delete_corpus
from annotation.errors import Conflict, Refused
from annotation.models import (
    Annotation,
    AnnotationVersion,
    Gold,
    GoldVersion,
    Project,
    Sentence,
)


def rows(*pairs):
    lines = [
        json.dumps({"tokens": text.split(), "labels": labels, **({"id": key} if key else {})})
        for key, text, labels in pairs
    ]
    return "\n".join(lines) + "\n"


def load(project, text, *, labels="gold", author=None, name="c", is_dry_run=False, **choices):
    return import_corpus(
        project=project, stream=io.BytesIO(text.encode()), file_name="a.jsonl", format="jsonl",
        labels=labels, author=author, name=name, is_dry_run=is_dry_run,
        choices=ImportChoices(**choices),
    )  # fmt: skip


NEW = rows(
    ("", "Ada sailed", {"entities": [[0, 1, "SHIP"]], "topic": "storm"}),
    ("", "Bob slept", {"entities": [[0, 1, "SHIP"], [1, 2, "BAY"]], "topic": "delay"}),
)


def test_new_labels_are_one_line_per_task_until_they_are_taken(project):
    report = load(project, NEW, is_dry_run=True)
    assert [problem.message.split(".")[0] for problem in report.problems] == [
        "task 'entities': 2 labels are new: SHIP (2), BAY (1)",
        "task 'topic': 1 label is new: storm (1)",
    ]
    load(project, NEW, new_labels="take")
    assert set(project.tasks.get(name="entities").labels.values_list("name", flat=True)) == {
        "PER", "LOC", "SHIP", "BAY",
    }  # fmt: skip
    assert Gold.objects.count() == 4


def test_labels_are_mapped_to_the_tasks_own(project):
    label_map = {"entities": {"SHIP": "PER", "BAY": "LOC"}, "topic": {"storm": "delay"}}
    load(project, NEW, label_map=label_map)
    assert Gold.objects.filter(task__name="entities").last().value == [
        [0, 1, "PER"],
        [1, 2, "LOC"],
    ]


def test_what_is_good_comes_in_and_the_rest_is_told(project):
    text = rows(
        ("", "Ada sailed", {"entities": [[0, 1, "PER"]]}),
        ("", "Bob slept", {"entities": [[0, 9, "PER"]]}),
        ("", "Cyd ran", {"entities": [[0, 1, "WHO"]]}),
    )
    with pytest.raises(ImportRefused):
        load(project, text)
    report = load(project, text, skips_bad=True)
    assert (report.n_sentences, report.n_bad) == (1, 2)
    assert Sentence.objects.get().text == "Ada sailed"
    assert len(report.problems) == 2


def test_duplicates_are_counted_and_may_be_left_out(project):
    text = rows(("", "Ada sailed", {}), ("", "ada  Sailed", {}), ("", "Bob slept", {}))
    assert load(project, text, labels="none").n_duplicates == 1
    again = rows(("", "Ada sailed", {}), ("", "Cyd ran", {}))
    report = load(project, again, labels="none", name="d", duplicates="skip")
    assert (report.n_duplicates, report.n_sentences) == (1, 1)
    assert Sentence.objects.count() == 4


def test_a_split_that_came_with_the_data_is_the_test_slice(project):
    load(project, rows(("", "Ada sailed", {"topic": "delay"})), is_test=True)
    assert Sentence.objects.get().is_test


def test_problems_are_summed_up_by_kind(project):
    text = rows(*(("", f"word{i} x", {"entities": [[0, 9, "PER"]]}) for i in range(7)))
    report = load(project, text, is_dry_run=True)
    (kind,) = report.problem_kinds()
    assert (kind.n, kind.lines) == (7, (1, 2, 3, 4, 5))


def test_a_check_shows_the_words_as_they_are_cut(project):
    report = load(project, rows(("", "Ada sailed .", {})), labels="none", is_dry_run=True)
    assert report.sample == [["Ada", "sailed", "."]]


def test_labels_go_onto_sentences_that_are_there_by_id_or_text(project, ada):
    load(project, rows(("s1", "Ada sailed", {}), ("", "Bob slept", {})), labels="none")
    late = rows(("s1", "Ada sailed", {"topic": "delay"}), ("", "Bob slept", {"topic": "arrival"}))
    load(project, late, is_onto_existing=True)
    assert Sentence.objects.count() == 2
    values = Gold.objects.order_by("sentence_id").values_list("value", flat=True)
    assert list(values) == ["delay", "arrival"]
    other = rows(("s1", "Ada sailed", {"topic": "arrival"}))
    load(project, other, is_onto_existing=True)
    assert GoldVersion.objects.get().value == "delay"
    for value in ("delay", "arrival"):
        text = rows(("s1", "Ada sailed", {"topic": value}))
        load(project, text, labels="annotations", author=ada, is_onto_existing=True)
    assert Annotation.objects.get().value == "arrival"
    assert AnnotationVersion.objects.get().value == "delay"


def test_labels_for_sentences_that_are_not_there_are_refused(project):
    load(project, rows(("s1", "Ada sailed", {})), labels="none")
    text = rows(("s9", "Cyd ran", {"topic": "delay"}))
    with pytest.raises(ImportRefused, match="has the id 's9' or the words 'Cyd ran'"):
        load(project, text, is_onto_existing=True)
    with pytest.raises(Refused, match="nothing to put"):
        load(project, text, labels="none", is_onto_existing=True)


def test_a_deleted_corpus_takes_its_sentences_and_answers_along(project, ada):
    load(project, rows(("s1", "Ada sailed", {"topic": "delay"})))
    load(project, rows(("s2", "Bob slept", {"topic": "delay"})), name="d")
    assert delete_corpus(corpus=project.corpora.get(name="c"), actor=ada) == 1
    assert Sentence.objects.get().key == "s2"
    assert Gold.objects.count() == 1
    assert project.log.get(action="corpus.deleted").details["n"] == 1


@pytest.mark.parametrize("choice", [{"new_labels": "tak"}, {"duplicates": "no"}])
def test_unknown_choices_are_refused(choice):
    with pytest.raises(Refused, match="Known:"):
        ImportChoices(**choice)


TABLE = "text,topic,mood\nAda sailed,delay,happy\nBob slept,delay,sad\n"


def load_table(project, text, name, **more):
    return import_corpus(
        project=project, stream=io.BytesIO(text.encode()), file_name="a.csv", format="csv",
        labels="gold", name=name, **more,
    )  # fmt: skip


def test_a_column_becomes_gold_only_when_somebody_says_so(project):
    report = load_table(project, TABLE, "unsaid")
    assert not Gold.objects.exists()
    assert report.layers == {"topic": "", "mood": ""}
    assert any("--column 'topic=TASK'" in line for line in report.lines())
    assert project.corpora.get().n_sentences == 2  # in the queue instead
    load_table(project, TABLE.replace("Ada", "Eve"), "said", mapping={"topic": "topic"})
    assert [gold.value for gold in Gold.objects.all()] == ["delay", "delay"]


def test_a_stated_column_may_be_empty_in_the_first_rows(project):
    table = "text;mood\nNobody came.;\nAda sailed.;delay\n"
    load_table(project, table, "said", mapping={"topic": "mood"})
    assert [(gold.sentence.text, gold.value) for gold in Gold.objects.all()] == [
        ("Ada sailed.", "delay")
    ]
    with pytest.raises(Refused, match="No layer 'weather'"):
        load_table(project, table, "nowhere", mapping={"topic": "weather"})


def test_a_key_of_an_object_becomes_gold_only_when_somebody_says_so(project):
    lines = [
        {"text": "Nobody came.", "note": "later"},
        {"text": "Ada sailed.", "subject": "delay", "who": [[0, 3, "PER"]]},
    ]
    text = "\n".join(map(json.dumps, lines))
    report = load(project, text, name="unsaid")
    assert not Gold.objects.exists()
    offered = {"note": "", "subject": "", "who": ""}  # and kept with the sentences
    assert report.layers == offered
    import_corpus(
        project=project, stream=io.BytesIO(text.encode()), file_name="a.jsonl", format="jsonl",
        labels="gold", name="said", mapping={"topic": "subject", "entities": "who"},
    )  # fmt: skip
    assert {gold.task.name: gold.value for gold in Gold.objects.all()} == {
        "topic": "delay", "entities": [[0, 1, "PER"]],
    }  # fmt: skip


def test_the_format_is_recognised_and_words_are_cut_alike_at_every_door(
    project, ada, client, tmp_path
):
    client.force_login(ada)
    text = "Ada's ship sailed, didn't it?"
    (tmp_path / "a.txt").write_text(text)
    with (tmp_path / "a.txt").open("rb") as file:
        sent = {"labels": "none", "name": "rest", "file": file}
        assert client.post(f"/api/projects/{project.pk}/corpora/", sent).status_code == 201
    call_command("import_corpus", str(project.pk), str(tmp_path / "a.txt"), "--labels", "none")
    rest, command = Sentence.objects.order_by("id")
    assert rest.tokens == command.tokens
    assert rest.tokens[:3] == ["Ada", "'s", "ship"]
    unknown = io.BytesIO(b"[1, 2]")
    unknown.name = "a.bin"
    answer = client.post(
        f"/api/projects/{project.pk}/corpora/", {"labels": "none", "file": unknown}
    )
    assert answer.status_code == 400
    assert "is not recognised" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "nr;review;shop\n1;Ada's ship; gone.;web\n".replace("; g", " g")),
        ("a.jsonl", '{"nr": 1, "review": "Ada\'s ship gone.", "shop": "web"}\n'),
    ],
)
def test_the_check_asks_which_column_holds_the_sentences(project, ada, client, name, content):
    client.force_login(ada)
    file = io.BytesIO(content.encode())
    file.name = name
    page = client.post(f"/projects/{project.pk}/import/", {
        "file": file, "format": "auto", "labels": "gold", "tokeniser": "en", "encoding": "utf-8",
    })  # fmt: skip
    assert "<option>review</option>" in page.content.decode()
    sent = hidden_fields(page) | {"labels": "gold", "format": name[2:], "text_column": "review"}
    page = client.post(f"/projects/{project.pk}/import/", sent)
    words = re.findall(r'class="cut-word">([^<]+)', page.content.decode())
    assert words == ["Ada", "&#x27;s", "ship", "gone", "."]  # by the language, as before


def hidden_fields(page):
    """The values that a page sends along."""
    inputs = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.content.decode())
    return {name: value for name, value in inputs if name != "csrfmiddlewaretoken"}


def test_columns_are_stated_by_rest_and_by_command(project, ada, client, tmp_path):
    client.force_login(ada)
    body = {"format": "csv", "labels": "gold", "name": "by rest", "columns": '{"mood": "topic"}'}
    file = io.BytesIO(TABLE.replace("happy", "delay").replace("sad", "delay").encode())
    file.name = "t.csv"
    answer = client.post(f"/api/projects/{project.pk}/corpora/", {**body, "file": file})
    assert answer.status_code == 201, answer.content
    assert Gold.objects.count() == 2
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    call_command(
        "import_corpus", str(project.pk), str(path), "--format", "csv", "--labels", "gold",
        "--column", "topic=topic",
    )  # fmt: skip
    assert Gold.objects.count() == 4


def test_an_archived_project_takes_nothing_in(project):
    project.state = Project.State.ARCHIVED
    project.save()
    with pytest.raises(Conflict, match="archived"):
        load(project, NEW, labels="none")
