"""Real corpora through the database and back."""

import gzip
import io
import json
import os
from pathlib import Path

import pytest

from annotation.corpora.exports import export_corpus
from annotation.corpora.imports import import_corpus
from annotation.projects.services import create_project

DATA = Path(os.environ["TANDEM_DATA"])

SPANS = {"kind": "spans", "open": True}
PROJECTS = {
    "ewt_ner": [
        {"name": "tree", "kind": "tree", "labels": []},
        {"name": "ner", "kind": "spans", "labels": ["PER", "LOC", "ORG"]},
    ],
    "atis": [
        {"name": "slots", **SPANS},
        {"name": "intent", "kind": "classes", "open": True},
    ],
    "conll2003": [
        {"name": "ner", "kind": "spans", "labels": ["PER", "LOC", "ORG", "MISC"]},
        {"name": "pos", "kind": "tags", "open": True},
    ],
    "scierc": [
        {"name": "ner", **SPANS},
        {"name": "relations", "kind": "relations", "parent": "ner", "labels": []},
    ],
    "webnlg": [
        {"name": "entities", "kind": "spans", "labels": ["Entity"]},
        {"name": "relations", "kind": "relations", "parent": "entities", "labels": []},
    ],
}


def through_the_database(corpus, file, format):
    """Return the bytes of a file, and those that come out after an import as gold."""
    raw = (DATA / corpus / file).read_bytes()
    project = create_project(spec={"name": corpus, "tasks": PROJECTS[corpus]})
    report = import_corpus(
        project=project, stream=io.BytesIO(raw), file_name=file, format=format, labels="gold"
    )
    assert report.n_answers.keys() == {task["name"] for task in PROJECTS[corpus]}
    out = b"".join(export_corpus(project=project, format=format))
    return gzip.decompress(raw) if file.endswith(".gz") else raw, out


@pytest.mark.corpora("ewt_ner")
@pytest.mark.parametrize("file", ["dev.conllu", "test.conllu", "train.conllu.gz"])
def test_ewt_comes_back_byte_for_byte(db, file):
    before, after = through_the_database("ewt_ner", file, "conllu")
    assert after == before


@pytest.mark.corpora("atis")
@pytest.mark.parametrize("file", ["dev.conll", "test.conll", "train.conll"])
def test_atis_comes_back_with_equal_slots_and_intents(db, file):
    before, after = through_the_database("atis", file, "slu")
    assert read_atis(after) == read_atis(before)


@pytest.mark.corpora("conll2003")
@pytest.mark.parametrize("file", ["eng.testa", "eng.testb"])
def test_conll2003_comes_back_with_equal_columns(db, file):
    before, after = through_the_database("conll2003", file, "conll2003")
    assert [line.split() for line in after.split(b"\n")] == [
        line.split() for line in before.split(b"\n")
    ]


@pytest.mark.corpora("scierc", "webnlg")
@pytest.mark.parametrize("corpus", ["scierc", "webnlg"])
@pytest.mark.parametrize("file", ["dev.jsonl", "test.jsonl", "train.jsonl"])
def test_relations_come_back_between_the_same_spans(db, corpus, file):
    before, after = through_the_database(corpus, file, "ie")
    assert read_ie(after) == read_ie(before)


def read_atis(raw):
    """Return (intent, rows) of each utterance, read without the product."""
    blocks = raw.decode().strip().split("\n\n")
    return [[line.split("\t") for line in block.split("\n")] for block in blocks]


def read_ie(raw):
    """Return documents with spans and relations as sets, read without the product."""
    documents = []
    for line in raw.decode().splitlines():
        row = json.loads(line)
        documents.append(
            {
                "sentences": row["sentences"],
                "clusters": row.get("clusters"),
                "ner": [sorted(map(tuple, spans)) for spans in row["ner"]],
                "relations": [sorted(map(tuple, links)) for links in row["relations"]],
            }
        )
    return documents
