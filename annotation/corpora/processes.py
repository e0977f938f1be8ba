"""Reading and writing files in processes of their own, which know no database and no secret.

Whatever a file holds, the process that serves people or runs other jobs neither waits for it nor
grows by it: it is read under limits on time, memory and size, and rows come back in the stage's
file. Formats whose libraries no web process should load are written by a child too: records go
to it as lines of JSON, and the file comes back whole.
"""

import hashlib
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, BinaryIO

import orjson

from annotation.corpora.report import ImportChoices
from annotation.corpora.staging import Findings, Stage, stage_records
from annotation.errors import Refused
from annotation.formats.format import Format, get_format
from annotation.formats.records import (
    Confidence,
    ExportRecord,
    FormatError,
    Limits,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
    layer_spec,
    match_layers,
)
from config.home import BASE_DIR
from mtl_engine.errors import EngineError
from mtl_engine.kinds import TaskSpec

Progress = Callable[[str, int, int], None]  # stage, done, total; may raise to stop the work
PROGRESS_EVERY = 2_000  # sentences
FIRST = 50  # sentences that show what a file has


class CorpusFile:
    """A file that can be read again where a later line changes which layer answers a task."""

    def __init__(
        self,
        stream: BinaryIO,
        *,
        name: str,
        format: Format,
        options: ReadOptions | None = None,
        progress: Progress | None = None,
        choices: ImportChoices | None = None,
        known_texts: Callable[[], set[bytes]] = set,
    ) -> None:
        self.stream, self.name, self.format = stream, name, format
        self.options, self.progress = options or ReadOptions(), progress
        self.choices, self.known_texts = choices or ImportChoices(), known_texts
        self.size = stream.seek(0, 2)

    def read(
        self, stage: Stage, tasks: Iterable[TaskSpec], mapping: Mapping[str, str]
    ) -> tuple[dict[str, str], Findings]:
        """Fill the stage and return the layer of each task in the file, and what was found.

        A format with layers of its own is matched by them, any other by those in the file. A plain
        column of a table, or key of an object, is a layer only where the mapping says so.
        """
        tasks = list(tasks)
        self.options = replace(
            self.options,
            fields=tuple(mapping.values()),
            layer_of={mapping.get(task.name, task.name): task.layer for task in tasks},
            links_across=any(task.is_document and task.parents for task in tasks),
        )
        layers: Sequence[TaskSpec] = self.format.layers or self._layers_of_first_sentence()
        names = {layer.name for layer in layers}
        here = {task: layer for task, layer in mapping.items() if layer in names}
        matched = match_layers(self._certain(layers, mapping), tasks, here)
        while True:
            found = self._stage(stage, [task for task in tasks if task.name in matched], matched)
            layers = self.format.layers or tuple(found.layers.values())
            again = matched
            if found.n_sentences or found.layers:  # else it is told why, whatever is mapped
                again = match_layers(self._certain(layers, mapping), tasks, mapping)
            if again == matched:
                found.fields = self._fields()
                found.columns = self._columns()
                return matched, found
            matched = again
            stage.clear()

    def sha256(self) -> str:
        """Return the hash of the file as it lies on the disk."""
        self.stream.seek(0)
        digest = hashlib.sha256()
        while piece := self.stream.read(1 << 20):
            digest.update(piece)
        return digest.hexdigest()

    def _stage(
        self, stage: Stage, tasks: Sequence[TaskSpec], layers: Mapping[str, str]
    ) -> Findings:
        self.stream.seek(0)
        return stage_records(
            self.format.read(self.stream, file_name=self.name, options=self.options),
            format=self.format,
            tasks=tasks,
            layers=layers,
            stage=stage,
            file_name=self.name,
            on_sentence=self._report,
            choices=self.choices,
            known_texts=self.known_texts(),
        )

    def _layers_of_first_sentence(self) -> list[TaskSpec]:
        """Return what is a good guess, as most files have the same layers on each sentence."""
        first = self._first_sentence()
        layers = first.layers if first else {}
        return [
            layer_spec(name, layer.kind, layer.parent, layer.second_parent)
            for name, layer in layers.items()
        ]

    def _fields(self) -> list[str]:
        """Return the keys of the first objects that might hold answers, if somebody says so."""
        kept = [item.extra.get(self.format.name, {}) for item in self._sentences(FIRST)]
        fields = [item for extra in kept for item in extra.get("fields", {}).items()]
        return list(dict.fromkeys(name for name, value in fields if isinstance(value, str | list)))

    def _columns(self) -> list[str]:
        self.stream.seek(0)
        return self.format.columns(self.stream, file_name=self.name, options=self.options)

    def _first_sentence(self) -> SentenceRecord | None:
        return next(self._sentences(1), None)

    def _sentences(self, n: int) -> Iterator[SentenceRecord]:
        self.stream.seek(0)
        items = self.format.read(self.stream, file_name=self.name, options=self.options)
        return islice((item for item in items if isinstance(item, SentenceRecord)), n)

    def _certain(
        self, layers: Sequence[TaskSpec], mapping: Mapping[str, str]
    ) -> Sequence[TaskSpec]:
        """Return the layers that are no chance columns: stated, with a kind, or written by us."""
        if not self.format.loose_kind or self._is_own_table:
            return layers
        stated = set(mapping.values())
        loose = self.format.loose_kind
        return [layer for layer in layers if layer.kind != loose or layer.name in stated]

    @cached_property
    def _is_own_table(self) -> bool:
        """Return whether a table has the column of words that our exports write."""
        if self.options.columns:
            return "tokens" in self.options.columns
        first = self._first_sentence()
        kept = first.extra.get(self.format.name, {}) if first else {}
        return "tokens" in kept.get("columns", ())

    def _report(self, n_sentences: int) -> None:
        if self.progress and n_sentences % PROGRESS_EVERY == 0:
            self.progress("reading", min(self.stream.tell(), self.size), self.size)


MARK = 8  # bytes of a sentence's fingerprint
PIECE = 1 << 20  # bytes
REFUSED = 3  # status of a child that says what was wrong
SENTENCE = ("tokens", "text", "offsets", "key", "document", "extra", "is_test")
RECORD = ("answers", "annotator", "sources", "notes")
SIMPLE = (
    *("n_sentences", "n_tokens", "fields", "columns", "schemes"),
    *("n_problems", "n_bad", "n_duplicates", "sample", "aside", "rules", "broken"),
)


@dataclass(frozen=True)
class ReadingLimits:
    """What reading one file may cost."""

    cpu_seconds: int = 20
    wall_seconds: int = 60
    memory_bytes: int = 1 << 30


def read_apart(
    file: CorpusFile,
    stage: Stage,
    tasks: Iterable[TaskSpec],
    mapping: Mapping[str, str],
    limits: ReadingLimits,
) -> tuple[dict[str, str], Findings]:
    """Do what ``CorpusFile.read`` does in a child, and refuse a file that costs too much."""
    files = (file.stream.fileno(), stage.fileno())
    request = {
        "stream": files[0],
        "stage": files[1],
        "name": file.name,
        "format": file.format.name,
        "options": asdict(file.options or ReadOptions()),
        "choices": file.choices.to_dict(),
        "tasks": [{**task.to_dict(), "id": task.id} for task in tasks],
        "mapping": dict(mapping),
        "limits": asdict(limits),
    }
    known = b"".join(file.known_texts())
    started = time.monotonic()
    with _child("read", stdout=subprocess.PIPE, pass_fds=files) as child:
        try:
            answer = _talk(child, request, known, file, started + limits.wall_seconds)
        finally:
            child.kill()
    if answer is None:
        raise Refused(_why_it_ended(file.name, child.returncode, limits))
    if "refused" in answer:
        raise Refused(answer["refused"])
    return answer["layers"], _findings(answer["found"])


def write_apart(
    format: Format, records: Iterable[ExportRecord], options: WriteOptions
) -> Iterator[bytes]:
    """Do what ``Format.write`` does in a child, and yield the file when all of it is written."""
    with tempfile.TemporaryFile() as file:
        with _child("write", stdout=file, stderr=subprocess.PIPE) as child:
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


def _child(work: str, **pipes: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "annotation.corpora.processes", work],
        stdin=subprocess.PIPE,
        cwd=BASE_DIR,
        env={"PYTHONPATH": os.pathsep.join([str(BASE_DIR), *filter(None, sys.path)])},
        **pipes,
    )


def _talk(
    child: "subprocess.Popen[bytes]",
    request: Mapping[str, Any],
    known: bytes,
    file: CorpusFile,
    deadline: float,
) -> dict[str, Any] | None:
    """Send the request and return the last thing the child says; nothing if it says none."""
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(json.dumps(request).encode() + b"\n" + known)
        child.stdin.close()
    except BrokenPipeError:
        return None
    heard, n_read = b"", 0
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while time.monotonic() < deadline:
            if selector.select(timeout=0.5):
                piece = os.read(child.stdout.fileno(), 1 << 16)
                heard += piece
                if not piece:
                    break
                *lines, heard = heard.split(b"\n")
                n_read = max([n_read, *(json.loads(line)["read"] for line in lines)])
            if file.progress:  # stops a job that is cancelled or parked, whatever the child does
                file.progress("reading", n_read, file.size)
        else:
            return None
    answer: dict[str, Any] | None = json.loads(heard) if heard else None
    return answer


def _why_it_ended(name: str, code: int | None, limits: ReadingLimits) -> str:
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return (
            f"Reading '{name}' took longer than {limits.cpu_seconds} seconds of computing, so it "
            "was stopped and nothing is stored. Break up very long lines, split the file, or let "
            "an admin use the command import_corpus."
        )
    return (
        f"Reading '{name}' needed more than {limits.memory_bytes >> 20:,} MB of memory, so it was "
        "stopped and nothing is stored. Split the file into smaller ones."
    )


def _findings(values: dict[str, Any]) -> Findings:
    found = Findings(**{name: values[name] for name in SIMPLE})
    found.layers = {name: TaskSpec.from_dict(layer) for name, layer in values["layers"].items()}
    found.n_answers = Counter(values["n_answers"])
    found.labels = {task: Counter(counts) for task, counts in values["labels"].items()}
    unknown = values["unknown_labels"].items()
    found.unknown_labels = {task: Counter(counts) for task, counts in unknown}
    found.problems = [Problem(*problem) for problem in values["problems"]]
    return found


def _read_here() -> None:
    """Read what the parent asks for; the last line of the output is the answer."""
    first = sys.stdin.buffer.readline()
    if not first:  # whoever asked is gone
        return
    request = json.loads(first)
    marks = sys.stdin.buffer.read()
    limits = ReadingLimits(**request["limits"])
    _limit(resource.RLIMIT_CPU, limits.cpu_seconds)
    _limit(resource.RLIMIT_AS, limits.memory_bytes)
    _limit(resource.RLIMIT_CORE, 0)
    known = {marks[i : i + MARK] for i in range(0, len(marks), MARK)}
    try:
        answer = _read(request, known)
    except (FormatError, EngineError, Refused) as refusal:
        answer = {"refused": str(refusal)}
    except MemoryError:
        answer = {"refused": _why_it_ended(request["name"], None, limits)}
    except RecursionError:
        answer = {"refused": f"'{request['name']}' is nested too deeply to be read."}
    except Exception as error:  # noqa: BLE001  (a parser that a file breaks refuses the file)
        traceback.print_exc()
        answer = {
            "refused": f"'{request['name']}' cannot be read ({type(error).__name__}: "
            f"{str(error)[:200]}). Nothing is stored; the server's log has the details."
        }
    sys.stdout.write(json.dumps(answer))


def _read(request: Mapping[str, Any], known: set[bytes]) -> dict[str, Any]:
    stream: BinaryIO = os.fdopen(request["stream"], "rb")
    raw = request["options"]
    options = ReadOptions(
        **{
            **raw,
            "columns": tuple(raw["columns"]),
            "fields": tuple(raw["fields"]),
            "limits": Limits(**raw["limits"]),
        }
    )
    stage = Stage.on_file(os.fdopen(request["stage"], "r+b"))
    file = CorpusFile(
        stream,
        name=request["name"],
        format=get_format(request["format"]),
        options=options,
        choices=ImportChoices(**request["choices"]),
        progress=lambda what, n_done, n_total: print(json.dumps({"read": n_done}), flush=True),
        known_texts=lambda: set(known),
    )
    tasks = [TaskSpec.from_dict(task) for task in request["tasks"]]
    layers, found = file.read(stage, tasks, request["mapping"])
    stage.close()
    values = {
        **{name: getattr(found, name) for name in SIMPLE},
        "layers": {name: layer.to_dict() for name, layer in found.layers.items()},
        "n_answers": found.n_answers,
        "labels": found.labels,
        "unknown_labels": found.unknown_labels,
        "problems": [[p.file, p.line, p.message] for p in found.problems],
    }
    return {"layers": layers, "found": values}


def _limit(what: int, most: int) -> None:
    """Lower a limit of this process, where the system has it."""
    try:
        resource.setrlimit(what, (most, most))
    except (ValueError, OSError):
        traceback.print_exc()


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


def _write_here() -> None:
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
    {"read": _read_here, "write": _write_here}[sys.argv[1]]()
