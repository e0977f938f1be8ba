"""Tasks of several classes: from files that have them and back, whatever the format."""

import io

import pytest

from annotation.corpora.exports import export_corpus
from annotation.corpora.imports import import_corpus
from annotation.models import Gold
from annotation.projects.services import create_project

pytestmark = pytest.mark.django_db
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


def _take(project, content, format):
    import_corpus(
        project=project,
        stream=io.BytesIO(content),
        file_name="f",
        format=format,
        labels="gold",
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
