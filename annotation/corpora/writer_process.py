"""Writing a file in a process of its own, for formats whose libraries no web process should load.

Records go to the child as lines of JSON, and the file comes back whole. The child knows no database
and no secret.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import orjson

from annotation.errors import Refused
from annotation.formats.format import Format, get_format
from annotation.formats.records import (
    Confidence,
    ExportRecord,
    FormatError,
    SentenceRecord,
    WriteOptions,
)
from config.home import BASE_DIR
from mtl_engine.errors import EngineError
from mtl_engine.kinds import TaskSpec

PIECE = 1 << 20  # bytes
REFUSED = 3  # status of a child that says what was wrong
SENTENCE = ("tokens", "text", "offsets", "key", "document", "extra", "is_test")
RECORD = ("answers", "annotator", "sources", "notes")


def write_apart(
    format: Format, records: Iterable[ExportRecord], options: WriteOptions
) -> Iterator[bytes]:
    """Do what ``Format.write`` does in a child, and yield the file when all of it is written."""
    with tempfile.TemporaryFile() as file:
        with subprocess.Popen(
            [sys.executable, "-m", "annotation.corpora.writer_process"],
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=subprocess.PIPE,
            cwd=BASE_DIR,
            env={"PYTHONPATH": os.pathsep.join([str(BASE_DIR), *filter(None, sys.path)])},
        ) as child:
            try:
                said = _tell(child, format, records, options)
            finally:
                child.kill()
        if child.returncode == REFUSED:
            raise FormatError(said)
        if child.returncode:
            words = "The file could not be written; the server's log has the details."
            raise Refused(words) from RuntimeError(said)
        file.seek(0)
        while piece := file.read(PIECE):
            yield piece


def _tell(
    child: "subprocess.Popen[bytes]",
    format: Format,
    records: Iterable[ExportRecord],
    options: WriteOptions,
) -> str:
    """Send everything and return what the child has to say; a file without a fault says nothing."""
    assert child.stdin is not None
    assert child.stderr is not None
    tasks = [{**task.to_dict(), "id": task.id} for task in options.tasks]
    request = {"format": format.name, "options": {**vars(options), "tasks": tasks}}
    with suppress(BrokenPipeError):  # it has ended early and says why
        child.stdin.write(orjson.dumps(request) + b"\n")
        before = None
        for record in records:
            child.stdin.write(orjson.dumps(_packed(record, before)) + b"\n")
            before = record.sentence
    with suppress(BrokenPipeError):
        child.stdin.close()
    said = child.stderr.read().decode(errors="replace")
    child.wait()
    return said


def _packed(record: ExportRecord, before: SentenceRecord | None) -> dict[str, Any]:
    """Return a record as JSON; the sentence of several people's answers is sent once."""
    sentence = record.sentence
    values = {name: getattr(sentence, name) for name in SENTENCE}
    return {
        "sentence": None if sentence is before else values,
        "confidences": {task: sure.to_dict() for task, sure in record.confidences.items()},
        **{name: getattr(record, name) for name in RECORD},
    }


def _unpacked(lines: Iterable[bytes]) -> Iterator[ExportRecord]:
    sentence: SentenceRecord | None = None
    for line in lines:
        values = orjson.loads(line)
        if values["sentence"] is not None:
            sentence = SentenceRecord(**values["sentence"])
        assert sentence is not None
        sure = {
            task: Confidence(found["answer"], tuple(found["items"]))
            for task, found in values["confidences"].items()
        }
        given = {name: values[name] for name in RECORD}
        yield ExportRecord(sentence, confidences=sure, **given)


def _options(values: Mapping[str, Any]) -> WriteOptions:
    tasks = tuple(TaskSpec.from_dict(task) for task in values["tasks"])
    return WriteOptions(**{**values, "tasks": tasks, "annotators": tuple(values["annotators"])})


def _child() -> None:
    """Write the file that the parent describes to the output."""
    sys.modules["torch"] = None  # type: ignore[assignment]  # libraries that could use it take long
    lines = sys.stdin.buffer
    first = lines.readline()
    if not first:  # whoever asked is gone
        return
    request = orjson.loads(first)
    format = get_format(request["format"])
    try:
        for piece in format.write(_unpacked(lines), options=_options(request["options"])):
            sys.stdout.buffer.write(piece)
    except (FormatError, EngineError) as refusal:
        sys.stderr.write(str(refusal))
        sys.exit(REFUSED)


if __name__ == "__main__":
    _child()
