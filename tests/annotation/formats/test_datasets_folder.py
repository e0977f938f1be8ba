"""A zip that ``datasets.load_dataset`` reads: features, splits, a card."""

import io
import json
import os
import subprocess
import sys
import tracemalloc
import zipfile

import pytest

from annotation.formats.format import get_format
from annotation.formats.records import (
    CannotWrite,
    Confidence,
    ExportRecord,
    SentenceRecord,
    WriteOptions,
)
from mtl_engine.kinds import TaskSpec

TASKS = (
    TaskSpec("ner", "spans", ("PER", "LOC")),
    TaskSpec("things", "spans", ("X",), is_nested=True),
    TaskSpec("pos", "tags", ("N", "V")),
    TaskSpec("intent", "classes", ("ask", "tell")),
    TaskSpec("topics", "multiclasses", ("food", "travel")),
    TaskSpec("syntax", "tree", ("root", "nsubj")),
    TaskSpec("rel", "relations", ("likes",), parent="ner"),
)
BOB = SentenceRecord(["Bob", "left"], "Bob  left", [[0, 3], [5, 9]], "s1", "d1")
TEST = SentenceRecord(["🙂", "كتب"], "🙂 كتب", [[0, 1], [2, 5]], "s2", is_test=True)
ANSWERS = {
    "ner": [[0, 1, "PER"], [1, 2, "LOC"]],
    "things": [[0, 2, "X"], [1, 2, "X"]],
    "pos": ["N", "V"],
    "intent": "tell",
    "topics": [],
    "syntax": [[2, "nsubj"], [0, "root"]],
    "rel": [[0, 1, 1, 2, "likes"]],
}
LOAD = """
import json, sys, datasets
found = datasets.load_dataset(sys.argv[1])
assert not {"annotation", "mtl_engine", "django"} & set(sys.modules), "needs Tandem"
names = {split: str(rows.features["intent"]) for split, rows in found.items()}
tags = found["train"].features["ner_tags"].feature.names
print(json.dumps({"rows": {s: list(rows) for s, rows in found.items()}, "tags": tags,
                  "intent": found["test"].features["intent"].names}))
"""


def write(records, tasks=TASKS, **options):
    pieces = get_format("datasets").write(records, options=WriteOptions(tasks=tasks, **options))
    return b"".join(pieces)


def test_the_public_library_alone_reads_features_splits_and_every_kind(tmp_path):
    sure = {"intent": Confidence(0.5)}
    sources = {"intent": "model: round 1", "pos": "gold: imported"}
    records = [
        ExportRecord(BOB, ANSWERS, sources=sources, confidences=sure),
        ExportRecord(TEST, {"intent": "retired"}),
    ]
    data = write(records, title="Harbour: notices", about="Two sentences.", language="en")
    zipfile.ZipFile(io.BytesIO(data)).extractall(tmp_path / "folder")
    run = subprocess.run(
        [sys.executable, "-I", "-c", LOAD, str(tmp_path / "folder")],
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["tags"] == ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    assert found["intent"] == ["ask", "tell", "retired"]
    (first,), (second,) = found["rows"]["train"], found["rows"]["test"]
    assert first == {
        "id": "s1",
        "document": "d1",
        "text": "Bob  left",
        "tokens": ["Bob", "left"],
        "offsets": [[0, 3], [5, 9]],
        "ner": [{"start": 0, "end": 1, "label": 0}, {"start": 1, "end": 2, "label": 1}],
        "ner_tags": [1, 3],
        "things": [{"start": 0, "end": 2, "label": 0}, {"start": 1, "end": 2, "label": 0}],
        "pos": [0, 1],
        "intent": 1,
        "topics": [],
        "syntax": [{"head": 2, "label": 1}, {"head": 0, "label": 0}],
        "rel": [{"start": 0, "end": 1, "to_start": 1, "to_end": 2, "label": 0}],
        "sources": {
            **dict.fromkeys(("ner", "things", "topics", "syntax", "rel")),
            "intent": "model: round 1",
            "pos": "gold: imported",
        },
        "confidences": {**dict.fromkeys(ANSWERS), "intent": 0.5},
    }
    assert second["tokens"] == ["🙂", "كتب"]
    assert second["intent"] == 2
    assert second["ner"] is second["ner_tags"] is second["pos"] is second["topics"] is None
    card = (tmp_path / "folder" / "README.md").read_text()
    assert "# Harbour: notices" in card
    assert "| intent | classes | 2 | ask, tell, retired |" in card


def test_everybody_side_by_side_is_a_row_each():
    import pyarrow.parquet as pq

    records = [ExportRecord(BOB, {"intent": "ask"}, "ada"), ExportRecord(BOB, {}, "bob")]
    data = write(records, tasks=TASKS[3:4], annotators=("ada", "bob"))
    with zipfile.ZipFile(io.BytesIO(data)).open("data/train.parquet") as file:
        rows = pq.read_table(io.BytesIO(file.read())).to_pylist()
    assert [(row["annotator"], row["intent"]) for row in rows] == [("ada", 0), ("bob", None)]


def test_two_columns_of_one_name_are_refused_and_nothing_at_all_is_an_empty_split():
    with pytest.raises(CannotWrite, match="Two columns would be called 'text'"):
        write([], tasks=(TaskSpec("text", "classes", ("a",)),))
    with pytest.raises(CannotWrite, match="'ner_tags'"):
        write([], tasks=(TASKS[0], TaskSpec("ner_tags", "tags", ("a",))))
    assert write([], tasks=()).startswith(b"PK")


def test_memory_is_that_of_a_row_group():
    def many():
        for number in range(5_000):
            yield ExportRecord(SentenceRecord(["a"] * 12, "a", [[0, 1]] * 12, str(number)))

    tracemalloc.start()
    pieces = get_format("datasets").write(many(), options=WriteOptions())
    assert sum(map(len, pieces)) > 5_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 1024 * 1024
