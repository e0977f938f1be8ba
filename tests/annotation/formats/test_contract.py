"""What holds for every registered format."""

import gzip
import io
import itertools
import json
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.formats.format import detect, get_format, readable_formats
from annotation.formats.records import (
    ExportRecord,
    Limits,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
)
from annotation.formats.source import Source
from tests.annotation.formats.generated import exports
from tests.annotation.formats.reading import answered, layers_in, read, tasks_of, write
from tests.annotation.formats.samples import SAMPLES

EVERY = sorted(readable_formats())
TEXTUAL = [name for name in EVERY if name != "brat"]  # brat is a zip: it has no lines or encoding
properties = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def test_every_format_has_a_sample():
    assert sorted(SAMPLES) == EVERY


@pytest.mark.parametrize("name", EVERY)
def test_the_sample_is_read_without_problems(name):
    records, problems = read(name, SAMPLES[name])
    assert problems == []
    assert len(records) >= 2


@pytest.mark.parametrize("name", EVERY)
def test_offsets_cover_the_tokens_or_a_multi_word_around_them(name):
    for record in read(name, SAMPLES[name])[0]:
        assert len(record.offsets) == len(record.tokens)
        for index, (start, end) in enumerate(record.offsets):
            shares = [start, end] in record.offsets[:index] + record.offsets[index + 1 :]
            assert shares or record.text[start:end] == record.tokens[index]


@pytest.mark.parametrize("name", EVERY)
def test_what_was_read_is_written_back_and_read_the_same(name):
    format = get_format(name)
    records, _ = read(name, SAMPLES[name])
    tasks = layers_in(records) if format.is_open else format.layers
    data = write(name, [answered(format, record, tasks) for record in records], tasks)
    again, problems = read(name, data)
    assert problems == []
    assert again == records


@pytest.mark.parametrize("name", ["text", "conll2003", "conllu", "slu", "ie"])
def test_formats_with_one_spelling_come_out_byte_for_byte(name):
    format = get_format(name)
    tasks = tasks_of(format)
    records, _ = read(name, SAMPLES[name])
    data = write(name, [answered(format, record, tasks) for record in records], tasks)
    assert data.decode() == SAMPLES[name].decode()


@pytest.mark.parametrize("name", ["conll2003", "conllu", "slu", "ie"])
def test_layers_that_no_task_takes_are_written_back_as_they_came(name):
    format = get_format(name)
    records, _ = read(name, SAMPLES[name])
    data = write(name, [answered(format, record, ()) for record in records])
    assert data.decode() == SAMPLES[name].decode()


@pytest.mark.parametrize("name", EVERY)
def test_records_survive_being_stored_as_json(name):
    for record in read(name, SAMPLES[name])[0]:
        stored = get_format(name).remainder(record, ())
        assert json.loads(json.dumps(stored)) == stored
        for layer in record.layers.values():
            assert json.loads(json.dumps(layer.value)) == layer.value


@pytest.mark.parametrize("name", EVERY)
def test_an_empty_file_is_one_problem(name):
    records, problems = read(name, b"")
    assert records == []
    assert len(problems) == 1
    assert problems[0].startswith("f:1: ")


@pytest.mark.parametrize("name", TEXTUAL)
def test_crlf_line_ends_are_read_like_lf(name):
    lf = SAMPLES[name]
    assert read(name, lf.replace(b"\n", b"\r\n")) == read(name, lf)


@pytest.mark.parametrize("name", TEXTUAL)
def test_a_byte_order_mark_is_not_text(name):
    assert read(name, b"\xef\xbb\xbf" + SAMPLES[name]) == read(name, SAMPLES[name])


@pytest.mark.parametrize("name", EVERY)
def test_gzip_is_read_like_the_plain_file(name):
    assert read(name, gzip.compress(SAMPLES[name])) == read(name, SAMPLES[name])


@pytest.mark.parametrize("name", EVERY)
def test_a_cut_gzip_is_a_problem_and_no_traceback(name):
    _, problems = read(name, gzip.compress(SAMPLES[name])[:-20])
    assert "the gzip data ends too early" in problems[-1]


@pytest.mark.parametrize("name", TEXTUAL)
def test_another_encoding_is_read_when_it_is_stated(name):
    utf16 = SAMPLES[name].decode().encode("utf-16")
    assert read(name, utf16, encoding="utf-16") == read(name, SAMPLES[name])


@pytest.mark.parametrize("name", TEXTUAL)
def test_another_encoding_is_a_problem_when_it_is_not_stated(name):
    records, problems = read(name, SAMPLES[name].decode().encode("utf-16"))
    assert records == []
    assert "state its encoding: utf-16" in problems[0]


@pytest.mark.parametrize("name", EVERY)
def test_the_format_of_a_file_is_detected_by_name_and_content(name):
    suffix = get_format(name).suffixes[0]
    assert detect(f"corpus{suffix}", SAMPLES[name][:4096]) == name
    assert detect(f"corpus{suffix}.gz", gzip.compress(SAMPLES[name])[:4096]) == name


@pytest.mark.parametrize("name", EVERY)
def test_too_many_problems_end_the_reading(name):
    class Bad:
        def __iter__(self):
            return (Problem("f", n, "bad") for n in itertools.count(1))

    from annotation.formats.format import checked

    options = ReadOptions(limits=Limits(problems=5))
    source = Source(io.BytesIO(b""), file_name="f", options=options)
    found = list(checked(iter(Bad()), source))
    assert len(found) == 6
    assert "the rest was not read" in found[-1].message


class _Endless(io.RawIOBase):
    """A file that begins with ``head`` and then repeats ``body`` for ever."""

    def __init__(self, head: bytes, body: bytes) -> None:
        self._left = head
        self._body = body * (1 + 100_000 // len(body))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        while len(self._left) < len(buffer):
            self._left += self._body
        data, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


BODIES = {
    "csv": (b"text,intent\n", b"one two three,x\n"),
    "tsv": (b"text\tintent\n", b"one two three\tx\n"),
    "labelstudio": (b"[", b'{"data":{"text":"a b","tokens":["a","b"]},"annotations":[]},\n'),
    "jsonl": (b"", b'{"text":"one two three","labels":{"intent":"x"}}\n'),
    "conllu": (b"", b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"),
    "doccano": (b"", b'{"text":"a b","tokens":["a","b"],"label":[[0,1,"X"]]}\n'),
    "ie": (b"", b'{"sentences":[["a","b"]],"ner":[[[0,0,"X"]]]}\n'),
    "text": (b"", b"one two three\n"),
    "slu": (b"", b"# intent = x\na\tO\n\n"),
    "conll2003": (b"", b"a NN O O\n\n"),
}


@pytest.mark.parametrize("name", TEXTUAL)
def test_reading_a_file_without_end_needs_little_memory(name):
    stream = io.BufferedReader(_Endless(*BODIES[name]))
    items = get_format(name).read(stream, file_name="f")
    for _ in itertools.islice(items, 2_000):
        pass
    tracemalloc.start()
    for item in itertools.islice(items, 4_000):
        assert isinstance(item, SentenceRecord)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8_000_000


@pytest.mark.parametrize("name", EVERY)
def test_writing_without_end_needs_little_memory(name):
    format = get_format(name)
    sentence = read(name, SAMPLES[name])[0][0]

    def records():
        for number in itertools.count():
            key = str(number) if format.keeps_keys else ""
            document = str(number // 50) if format.keeps_documents else ""
            yield ExportRecord(
                SentenceRecord(sentence.tokens, sentence.text, sentence.offsets, key, document)
            )

    pieces = format.write(records(), options=WriteOptions(tasks=tasks_of(format)))
    for _ in itertools.islice(pieces, 10):
        pass
    tracemalloc.start()
    for _ in itertools.islice(pieces, 500):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3_000_000


@pytest.mark.parametrize("name", EVERY)
@properties
@given(data=st.data())
def test_generated_sentences_and_answers_come_back(name, data):
    format = get_format(name)
    records = data.draw(exports(format))
    written = write(name, records, tasks_of(format))
    tokeniser = "whitespace"
    found, problems = read(name, written, tokeniser=tokeniser)
    assert problems == []
    assert len(found) == len(records)
    for record, back in zip(records, found, strict=True):
        assert (back.tokens, back.offsets) == (record.sentence.tokens, record.sentence.offsets)
        assert back.text == record.sentence.text
        assert {name: layer.value for name, layer in back.layers.items()} == record.answers
        if format.keeps_keys:
            assert back.key == record.sentence.key
        if format.keeps_documents:
            assert back.document == record.sentence.document
