"""No file freezes or fills the process that serves people."""

import io
import time
import zipfile

import pytest

from annotation.corpora import jobs
from annotation.corpora.imports import import_corpus
from annotation.corpora.jobs import Upload
from annotation.corpora.processes import ReadingLimits
from annotation.errors import Refused
from annotation.formats.brat_standoff import BadLine, read_standoff, still_valid
from annotation.formats.format import get_format
from annotation.formats.records import FormatError, ReadOptions
from annotation.models import Gold, Sentence
from annotation.web.security import read_json, unusable_label
from tests.annotation.corpora.test_imports import CONLLU

pytestmark = pytest.mark.any_database

apart = pytest.mark.apart


def read_apart(project, tmp_path, content, **changes):
    path = tmp_path / "file"
    path.write_bytes(content)
    wanted = {"format": "text", "labels": "none", "file_name": "file", **changes}
    with path.open("rb") as stream:
        return import_corpus(project=project, stream=stream, **wanted)


@apart
def test_a_file_read_apart_is_stored_as_if_it_were_read_here(project, tmp_path):
    wanted = {"format": "conllu", "labels": "gold"}
    here = import_corpus(
        project=project, stream=io.BytesIO(CONLLU.encode()), file_name="file", name="here", **wanted
    )
    there = read_apart(
        project, tmp_path, CONLLU.encode(), name="there", reading=ReadingLimits(), **wanted
    )
    there.corpus_id, there.new_labels = here.corpus_id, here.new_labels  # the first one made them
    there.corpus_name, there.n_duplicates = here.corpus_name, here.n_duplicates
    assert there.as_json() == here.as_json()
    texts = Sentence.objects.order_by("id").values_list("corpus__name", "text", "tokens", "offsets")
    assert [row[1:] for row in texts if row[0] == "here"] == [
        row[1:] for row in texts if row[0] == "there"
    ]
    golds = Gold.objects.order_by("sentence", "task").values_list("sentence__corpus__name", "value")
    assert [value for name, value in golds if name == "here"] == [
        value for name, value in golds if name == "there"
    ]


@apart
def test_a_small_archive_of_millions_of_sentences_is_refused_for_its_memory(project, tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", "a\n" * 3_000_000)
        archive.writestr("a.ann", "")
    limits = ReadingLimits(60, 120, 300 << 20)
    with pytest.raises(Refused, match="300 MB of memory"):
        read_apart(project, tmp_path, packed.getvalue(), format="brat", reading=limits)
    assert not Sentence.objects.exists()


@apart
def test_a_file_that_takes_long_is_stopped(project, tmp_path):
    content = b"a b c\n" * 1_000_000
    with pytest.raises(Refused, match="seconds of computing"):
        read_apart(project, tmp_path, content, reading=ReadingLimits(1, 60))
    seen = []

    def cancelled(stage, n_done, n_total):
        seen.append(stage)
        raise KeyboardInterrupt

    started = time.process_time()
    with pytest.raises(KeyboardInterrupt):  # as a cancelled or parked job does
        read_apart(project, tmp_path, content, reading=ReadingLimits(), progress=cancelled)
    assert seen == ["reading"]
    assert time.process_time() - started < 5


@apart
def test_the_child_knows_no_secret(project, tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_SECRET_KEY", "x" * 50)
    seen = {}
    popen = jobs.import_corpus.__globals__["read_apart"].__globals__["subprocess"].Popen

    def watched(*args, **kwargs):
        seen.update(kwargs["env"])
        return popen(*args, **kwargs)

    monkeypatch.setattr("annotation.corpora.processes.subprocess.Popen", watched)
    read_apart(project, tmp_path, b"a b\n", reading=ReadingLimits())
    assert set(seen) == {"PYTHONPATH"}


@pytest.mark.parametrize(
    "line", ["R1\tr " + "a:" * 400_000, "R1\tr " + "a: " * 400_000, "T1\tx " + "1" * 500_000]
)
def test_hostile_lines_of_brat_are_refused_in_linear_time(line):
    started = time.process_time()
    with pytest.raises(BadLine):
        read_standoff([line])
    assert time.process_time() - started < 5


def test_chains_of_notes_are_followed_in_linear_time():
    lines = [f"A{i}\tx A{i + 1}" for i in range(100_000)]
    started = time.process_time()
    assert still_valid(lines, set()) == []
    assert still_valid([*lines, "A100000\tx T1"], {"T1"})[-1] == "A100000\tx T1"
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (b"a b", {"encoding": "punycode"}, "No text encoding"),
        (b"a b", {"encoding": "undefined"}, "No text encoding"),
        (b"a b c", {"encoding": "utf-32"}, "save the file as UTF-8"),
        (b"a b c d", {"encoding": "utf-16"}, "utf-16-le"),
        (b"a b", {"tokeniser": "punctuation"}, "cannot be had"),
        (b"'" * 300_000, {"tokeniser": "en"}, "without a space"),
    ],
)
def test_options_that_crashed_a_reader_are_refused_in_words(content, options, words):
    read = get_format("text").read(
        io.BytesIO(content), file_name="f", options=ReadOptions(**options)
    )
    try:
        found = " ".join(str(item) for item in read)
    except FormatError as error:
        found = str(error)
    assert words in found


def test_compression_is_seen_in_the_file_not_in_its_name(tmp_path):
    path = tmp_path / "plain.txt"
    path.write_bytes(b"\x1f\x8b" + b"x" * 500_000)
    with jobs.reading_here(Upload("id", path, path.stat().st_size)) as is_turn:
        assert not is_turn
    path.write_bytes(b"x" * 500_000)
    with jobs.reading_here(Upload("id", path, path.stat().st_size)) as is_turn:
        assert is_turn
        with jobs.reading_here(Upload("id", path, path.stat().st_size)) as is_second:
            assert not is_second


@pytest.mark.parametrize(
    "text",
    ['{"a": "\\ud800"}', '{"a": "\\u0000"}', "[" * 200_000, '{"a": ' + "9" * 5_000, "nonsense"],
)
def test_what_cannot_be_stored_is_refused_at_the_door(text):
    with pytest.raises(Refused):
        read_json(text)
    with pytest.raises(Refused):
        read_json(text.encode())


@pytest.mark.parametrize("name", ["", " ", "a\tb", "a\n\n1\tX", "\u0007", " a", "x" * 121])
def test_labels_that_break_files_cannot_be_used(name):
    assert unusable_label(name)
    assert not unusable_label("Ärger 😀 عربي")
