"""A DocBin that spaCy reads without Tandem."""

import json
import subprocess
import sys

from annotation.formats.format import get_format
from annotation.formats.records import Confidence, ExportRecord, WriteOptions
from tests.annotation.formats.test_datasets_folder import ANSWERS, BOB, TASKS, TEST

LOAD = """
import json, sys, spacy
from spacy.tokens import DocBin
first, second = DocBin().from_disk(sys.argv[1]).get_docs(spacy.blank("en").vocab)
assert not {"annotation", "mtl_engine", "django"} & set(sys.modules), "needs Tandem"
spans = {n: [(s.start, s.end, s.label_) for s in g] for n, g in first.spans.items()}
print(json.dumps({
    "text": first.text,
    "ents": [(e.start, e.end, e.label_) for e in first.ents],
    "spans": spans,
    "cats": first.cats,
    "tags": [t.tag_ for t in first],
    "heads": [(t.head.i, t.dep_) for t in first],
    "data": {k: v for k, v in first.user_data.items()},
    "second": [second.text, [t.ent_iob_ for t in second], second.has_annotation("DEP"),
               second.has_annotation("TAG"), second.cats, second.user_data["is_test"]],
}))
"""


def test_spacy_alone_reads_every_kind_and_knows_what_is_missing(tmp_path):
    records = [
        ExportRecord(
            BOB,
            ANSWERS,
            sources={"ner": "gold: imported"},
            confidences={"intent": Confidence(0.5, (0.5,))},
        ),
        ExportRecord(TEST, {"topics": ["food"]}),
    ]
    path = tmp_path / "corpus.spacy"
    options = WriteOptions(tasks=TASKS)
    path.write_bytes(b"".join(get_format("spacy").write(records, options=options)))
    run = subprocess.run(
        [sys.executable, "-I", "-c", LOAD, str(path)], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["text"] == "Bob left"
    assert found["ents"] == [[0, 1, "PER"], [1, 2, "LOC"]]
    assert found["spans"] == {
        "ner": [[0, 1, "PER"], [1, 2, "LOC"]],
        "things": [[0, 2, "X"], [1, 2, "X"]],
    }
    assert found["cats"] == {
        "intent:ask": 0.0, "intent:tell": 1.0, "topics:food": 0.0, "topics:travel": 0.0,
    }  # fmt: skip
    assert found["tags"] == ["N", "V"]
    assert found["heads"] == [[1, "nsubj"], [1, "ROOT"]]
    assert found["data"]["labels"] == ANSWERS
    assert found["data"]["sources"] == {"ner": "gold: imported"}
    assert found["data"]["confidences"] == {"intent": {"answer": 0.5, "items": [0.5]}}
    assert found["second"] == [
        "🙂 كتب", ["", ""], False, False, {"topics:food": 1.0, "topics:travel": 0.0}, True,
    ]  # fmt: skip
