"""Real corpora through the database and back."""

import gzip
import io
import json
import os
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

from annotation.corpora.exports import export_corpus
from annotation.corpora.imports import import_corpus
from annotation.projects.services import create_project

pytestmark = pytest.mark.any_database

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


@pytest.mark.corpora("scierc")
def test_coreference_of_scierc_comes_back_as_links_across_sentences(db):
    lines = (DATA / "scierc" / "dev.jsonl").read_bytes().splitlines()
    before = b"".join(json.dumps(with_coreference(json.loads(x))).encode() + b"\n" for x in lines)
    tasks = [*PROJECTS["scierc"][:1], {**PROJECTS["scierc"][1], "document": True, "window": 50}]
    written, source = before, "ie"
    for name, format in (("first", "ie"), ("second", "brat"), ("third", "jsonl"), ("last", "ie")):
        project = create_project(spec={"name": name, "tasks": tasks})
        suffix = "zip" if source == "brat" else "jsonl"
        import_corpus(
            project=project,
            stream=io.BytesIO(written),
            file_name=f"f.{suffix}",
            format=source,
            labels="gold",
        )
        written = b"".join(export_corpus(project=project, format=format, labels="gold"))
        source = format
    found, wanted = read_ie(written), read_ie(before)
    n_across = sum(
        crosses(row, link) for row in wanted for part in row["relations"] for link in part
    )
    assert n_across > 100
    for one, other in zip(found, wanted, strict=True):
        assert {**one, "clusters": None} == {**other, "clusters": None}


def with_coreference(row):
    """Return a document with links from each mention to the one before it of its cluster."""
    places = {(s, e) for spans in row["ner"] for s, e, _ in spans}
    for cluster in row["clusters"]:
        mentions = sorted(m for m in map(tuple, cluster) if m in places)
        for first, second in pairwise(mentions):
            row["relations"][sentence_of(row, second[0])].append([*second, *first, "Same-As"])
    return row


def sentence_of(row, word):
    """Return the number of the sentence that a word of a document stands in."""
    ends = accumulate(map(len, row["sentences"]))
    return next(number for number, end in enumerate(ends) if word < end)


def crosses(row, link):
    """Return whether a link joins two sentences."""
    return sentence_of(row, link[0]) != sentence_of(row, link[2])


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
