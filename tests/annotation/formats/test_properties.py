"""No file makes a parser raise, and whatever a parser accepts it can write and read again."""

import io
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.formats.format import get_format, readable_formats
from annotation.formats.records import ExportRecord, Problem, ReadOptions, SentenceRecord
from annotation.formats.source import bundle
from tests.annotation.formats.reading import answered, layers_in, read, write
from tests.annotation.formats.samples import SAMPLES

EVERY = sorted(readable_formats())
properties = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
FRAGMENTS = [
    "\n", "\n\n", "\t", " ", "\r\n", "\0", "0", "99", "-1", "1-2", "2.1", "_", "O", "B-X", "I-X",
    "# text = x\n", "# newdoc\n", "{", "}", "[", "]", "[]", "null", "true", '"', ",", ":",
    "\\ud800", "\\u0000", '"tokens":[""]', '"labels":{"a":[[0,1]]}', "NER=", "|", "🙂", "\u2028",
    "\ufeff", "=",
]  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, sample: str) -> str:
    """A file with some pieces cut out, doubled or put in."""
    text = sample
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        piece = draw(st.one_of(st.sampled_from(FRAGMENTS), st.just(text[start:end] * 2)))
        text = text[:start] + piece + text[end:]
    return text


def _check_all(name: str, data: bytes, **options: object) -> None:
    """Read a file, store what it has as JSON, write it and read it again."""
    format = get_format(name)
    options = {"tokeniser": "whitespace", **options}
    items = list(format.read(io.BytesIO(data), file_name="f", options=ReadOptions(**options)))
    assert items
    records = [item for item in items if isinstance(item, SentenceRecord)]
    assert all(item.line >= 1 for item in items if isinstance(item, Problem))
    if not records:
        return
    tasks = layers_in(records) if format.is_open else format.layers
    exported = []
    for record in records:
        record = SentenceRecord(
            record.tokens,
            record.text,
            record.offsets,
            record.key,
            record.document,
            record.layers,
            json.loads(json.dumps(record.extra)),
        )
        exported.append(answered(format, record, tasks))
    again, problems = read(name, write(name, exported, tasks), **options)
    assert problems == []
    assert [(r.tokens, r.offsets, r.text) for r in again] == [
        (r.tokens, r.offsets, r.text) for r in records
    ]
    for record, back in zip(records, again, strict=True):
        assert {n: layer.value for n, layer in back.layers.items()} == {
            n: layer.value for n, layer in record.layers.items()
        }


@pytest.mark.parametrize("name", EVERY)
@properties
@given(content=st.one_of(st.text(), st.binary()))
def test_arbitrary_content_never_raises(name, content):
    _check_all(name, content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize("name", [name for name in EVERY if name != "brat"])
@properties
@given(data=st.data())
def test_a_damaged_file_is_read_as_far_as_it_is_good(name, data):
    _check_all(name, data.draw(damaged(SAMPLES[name].decode())).encode())


@properties
@given(
    text=damaged("👩‍👩‍👧 flew to Zürich\n\nكتب أحمد\n"),
    annotations=damaged(
        "T1\tPER 0 5\t👩‍👩‍👧\nT2\tLOC 14 20\tZürich\nR1\tto Arg1:T1 Arg2:T2\nA1\tSure T2\n"
    ),
    notes=st.one_of(
        st.none(), damaged('{"start":0,"end":20,"tokens":["👩‍👩‍👧","flew to","Zürich"]}\n')
    ),
)
def test_a_damaged_brat_document_is_read_as_far_as_it_is_good(text, annotations, notes):
    files = [("d.txt", text), ("d.ann", annotations), ("d.sentences.jsonl", notes)]
    members = [(name, io.BytesIO(t.encode())) for name, t in files if t is not None]
    _check_all("brat", bundle(members).read())


@properties
@given(data=st.data())
def test_a_damaged_archive_never_raises(data):
    records = [ExportRecord(SentenceRecord(["a"], "a", [[0, 1]], "k"), {"entities": [[0, 1, "X"]]})]
    packed = write("brat", records, get_format("brat").layers)
    sample = data.draw(st.sampled_from([SAMPLES["brat"], packed]))
    at = data.draw(st.integers(0, len(sample) - 1))
    _check_all("brat", sample[:at] + data.draw(st.binary(max_size=4)) + sample[at + 1 :])


@pytest.mark.parametrize("name", ["conll2003", "conllu", "slu"])
@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "IO", "BIOES"])
@settings(deadline=None, max_examples=10)
@given(data=st.data())
def test_a_stated_scheme_never_raises(name, scheme, data):
    content = data.draw(damaged(SAMPLES[name].decode())).encode()
    options = ReadOptions(scheme=scheme)
    assert list(get_format(name).read(io.BytesIO(content), file_name="f", options=options))
