"""Tasks of several classes: from files that have them and back, whatever the format."""

import io
import os
from pathlib import Path

import pytest

from annotation.corpora.exports import export_corpus
from annotation.corpora.imports import import_corpus
from annotation.corpora.report import ImportChoices, ImportRefused
from annotation.formats.records import ReadOptions
from annotation.models import Gold
from annotation.projects.services import create_project

pytestmark = [pytest.mark.any_database, pytest.mark.django_db]
SLU = (
    b"# intent = flight#airfare\nfares\tO\nplease\tO\n\n"
    b"# intent = flight\ngo\tO\n\n# intent = #\nhello\tO\n\n"
)
DOCCANO = (
    b'{"text": "fares please", "label": ["flight", "airfare"]}\n'
    b'{"text": "go", "label": ["flight"]}\n'
)
JSONL = (
    b'{"text": "fares please", "intent": ["flight", "airfare"]}\n'
    b'{"text": "go", "intent": "flight"}\n'
)


def _project(name, labels=("airfare", "flight")):
    task = {"name": "intent", "kind": "multiclasses", "labels": list(labels)}
    return create_project(spec={"name": name, "tasks": [task]})


def _take(project, content, format, **more):
    import_corpus(
        project=project,
        stream=io.BytesIO(content),
        file_name="f",
        format=format,
        labels="gold",
        **more,
    )
    rows = Gold.objects.filter(task__project=project).order_by("sentence__position")
    return list(rows.values_list("value", flat=True))


@pytest.mark.parametrize(
    ("format", "content"), [("slu", SLU), ("doccano", DOCCANO), ("jsonl", JSONL)]
)
def test_files_with_several_labels_are_read(format, content):
    values = _take(_project("a"), content, format)
    assert values[:2] == [["airfare", "flight"], ["flight"]]
    assert values[2:] in ([], [[]])


@pytest.mark.parametrize("format", ["slu", "jsonl", "csv", "labelstudio", "conllu"])
def test_they_come_back_from_every_format_as_they_were(format):
    project = _project("a")
    before = _take(project, SLU, "slu")
    written = b"".join(export_corpus(project=project, format=format, labels="final"))
    assert (
        _take(_project("b"), written, format) == before == [["airfare", "flight"], ["flight"], []]
    )


def test_a_label_that_joins_labels_is_refused():
    with pytest.raises(Exception, match="'#' stands between labels"):
        _project("a", ["flight#airfare"])


@pytest.mark.corpora("atis")
def test_the_intents_of_atis_come_in_apart_and_go_out_together():
    content = (Path(os.environ["TANDEM_DATA"]) / "atis" / "test.conll").read_bytes()
    lines = [line for line in content.decode().splitlines() if line.startswith("# intent = ")]
    written = [line.removeprefix("# intent = ").split("#") for line in lines]
    project = _project("atis", sorted({label for row in written for label in row}))
    assert _take(project, content, "slu") == [sorted(row) for row in written]
    assert sum(len(row) > 1 for row in written) == 15
    back = b"".join(export_corpus(project=project, format="slu", labels="final")).decode()
    after = [line for line in back.splitlines() if line.startswith("# intent = ")]
    assert after == lines  # several intents in the order in which the file had them


@pytest.mark.parametrize("cell", ["flight|airfare", "flight; airfare", "flight,airfare"])
def test_labels_of_a_cell_are_told_apart_where_all_of_them_are_known(cell):
    content = f'text,intent\nfares please,"{cell}"\ngo,flight\n'.encode()
    found = _take(_project("a"), content, "csv", mapping={"intent": "intent"})
    assert found == [["airfare", "flight"], ["flight"]]


def test_what_stands_between_labels_can_be_said_where_they_are_new():
    found = _take(
        _project("a"),
        b"text,intent\nfares please,a | b\ngo,a\n",
        "csv",
        mapping={"intent": "intent"},
        options=ReadOptions(label_separator="|"),
        choices=ImportChoices(new_labels="take"),
    )
    assert found == [["a", "b"], ["a"]]


def test_several_classes_are_a_list_among_labels_by_task_too():
    content = (
        b'{"text": "fares please", "labels": {"intent": ["flight", "airfare"]}}\n'
        b'{"text": "go now please", "labels": {"intent": ["flight", "airfare"]}}\n'
        b'{"text": "hello", "labels": {"intent": []}}\n'
        b'{"text": "go", "labels": {"intent": "flight"}}\n'
    )
    both = ["airfare", "flight"]
    assert _take(_project("a"), content, "jsonl") == [both, both, [], ["flight"]]
    one = b'{"text": "go now please", "labels": {"topics": ["flight", "airfare"]}}\n'
    assert _take(_project("b"), one, "jsonl", mapping={"intent": "topics"}) == [both]
    tags = {"name": "pos", "kind": "tags", "labels": ["V"]}
    project = create_project(spec={"name": "c", "tasks": [tags]})
    with pytest.raises(ImportRefused, match="one label per token: 2, not 1"):
        _take(project, b'{"text": "go now", "labels": {"pos": ["V"]}}\n', "jsonl")


def test_a_table_whose_text_is_not_found_says_so_whatever_is_mapped():
    content = b"utterance,intent\nfares please,flight\n"
    project = _project("a")
    with pytest.raises(ImportRefused, match="utterance, intent"):
        _take(project, content, "csv", mapping={"intent": "intent"})
