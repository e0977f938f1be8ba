"""Round trips of real corpora."""

import gzip
import os
from pathlib import Path

import pytest

from annotation.formats.format import get_format
from annotation.formats.records import ExportRecord, SentenceRecord, layer_spec, match_layers
from tests.annotation.formats.reading import write

DATA = Path(os.environ["TANDEM_DATA"])
pytestmark = pytest.mark.corpora("ewt_ner", "atis", "mtod_en", "conll2003", "scierc", "webnlg")

SYNTAX = layer_spec("syntax", "tree")
ENTITIES = layer_spec("entities", "spans")
SLOTS, INTENT = layer_spec("slots", "spans"), layer_spec("intent", "classes")
POS, CHUNKS = layer_spec("pos", "tags"), layer_spec("chunks", "spans")
FEATS = layer_spec("feats", "tags")
RELATIONS = layer_spec("relations", "relations", "entities")

FILES = [
    ("conllu", "ewt_ner/train.conllu.gz", [SYNTAX, ENTITIES], 12543),
    ("conllu", "ewt_ner/dev.conllu", [SYNTAX, ENTITIES, POS, FEATS], 2001),
    ("conllu", "ewt_ner/test.conllu", [], 2077),
    ("slu", "atis/train.conll", [SLOTS, INTENT], 4478),
    ("slu", "atis/dev.conll", [INTENT], 500),
    ("slu", "atis/test.conll", [SLOTS, INTENT], 893),
    ("slu", "mtod_en/dev.conll", [SLOTS, INTENT], 4181),
    ("conll2003", "conll2003/eng.train", [layer_spec("ner", "spans")], 14041),
    ("conll2003", "conll2003/eng.testa", [ENTITIES, POS, CHUNKS], 3250),
    ("conll2003", "conll2003/eng.testb", [POS], 3453),
    ("ie", "scierc/train.jsonl", [ENTITIES, RELATIONS], 1861),
    ("ie", "scierc/dev.jsonl", [ENTITIES], 275),
    ("ie", "scierc/test.jsonl", [ENTITIES, RELATIONS], 551),
    ("ie", "webnlg/train.jsonl", [ENTITIES, RELATIONS], 4973),
    ("ie", "webnlg/dev.jsonl", [ENTITIES, RELATIONS], 500),
    ("ie", "webnlg/test.jsonl", [], 689),
]


def exported(format, path, tasks, counted):
    """The sentences of a file as they come out of a project with these tasks."""
    mapping = match_layers(format.layers, tasks)
    with path.open("rb") as stream:
        for record in format.read(stream, file_name=path.name):
            assert isinstance(record, SentenceRecord), str(record)
            counted.append(1)
            stored = SentenceRecord(
                record.tokens,
                record.text,
                record.offsets,
                record.key,
                record.document,
                extra=format.remainder(record, mapping.values()),
            )
            answers = {
                task: record.layers[layer].value
                for task, layer in mapping.items()
                if layer in record.layers
            }
            yield ExportRecord(stored, answers)


@pytest.mark.parametrize(("name", "file", "tasks", "n"), FILES, ids=[file[1] for file in FILES])
def test_a_real_corpus_comes_out_byte_for_byte(name, file, tasks, n):
    path = DATA / file
    data = path.read_bytes()
    counted: list[int] = []
    written = write(name, exported(get_format(name), path, tasks, counted), tasks)
    assert len(counted) == n
    assert written == (gzip.decompress(data) if file.endswith(".gz") else data)
