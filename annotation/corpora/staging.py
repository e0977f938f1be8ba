"""Sentences of a file, checked and turned into rows, before the database is touched.

Rows wait in a temporary file, so that memory stays flat whatever the size of the corpus, and the
transaction that stores them does nothing else.
"""

import marshal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from annotation.answers import AnswerRules, check_answer, normalise_answer
from annotation.formats.format import Format
from annotation.formats.records import Layer, LayerSpec, Problem, SentenceRecord
from annotation.storable import unstorable

CHUNK = 2_000  # sentences
MAX_KEY = 200
MAX_PROBLEMS = 1_000
NUL = b"\\u0000"  # as JSON writes it
MEMORY = 16 * 1024 * 1024  # bytes of rows that are kept without a file

SentenceRow = tuple[str, str, str, str, str, int, str]
AnswerRow = tuple[int, int, str]  # sentence within its chunk, task id, value
Fault = tuple[int, str]  # line, message


@dataclass(frozen=True)
class StagedTask:
    """A task of the project and the layer of the file that answers it."""

    id: int
    spec: LayerSpec
    rules: AnswerRules
    layer: str


@dataclass
class Findings:
    """What was seen while staging."""

    n_sentences: int = 0
    n_tokens: int = 0
    layers: dict[str, LayerSpec] = field(default_factory=dict)
    schemes: dict[str, str] = field(default_factory=dict)
    n_answers: Counter[str] = field(default_factory=Counter)
    labels: dict[str, Counter[str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


class Stage:
    """Rows of sentences and answers, written once and read once, in chunks.

    They wait in the directory on the disk, not where temporary files may lie in memory; the file
    has no name and goes with the process, however that ends.
    """

    def __init__(self, directory: Path) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(  # noqa: SIM115
            max_size=MEMORY, dir=str(directory)
        )
        self._sentences: list[SentenceRow] = []
        self._answers: list[AnswerRow] = []

    def add(self, row: SentenceRow, answers: Iterable[tuple[int, str]]) -> None:
        """Append a sentence and its answers (task id, value as JSON)."""
        index = len(self._sentences)
        self._sentences.append(row)
        self._answers += [(index, task_id, value) for task_id, value in answers]
        if index + 1 == CHUNK:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting."""
        if self._sentences:
            rows = marshal.dumps((self._sentences, self._answers))
            self._file.write(len(rows).to_bytes(8) + rows)
            self._sentences, self._answers = [], []

    def chunks(self) -> Iterator[tuple[list[SentenceRow], list[AnswerRow]]]:
        """Yield the rows in the order in which they came."""
        self._file.seek(0)
        while size := self._file.read(8):
            yield marshal.loads(self._file.read(int.from_bytes(size)))

    def clear(self) -> None:
        """Forget all rows, to begin again."""
        self._sentences, self._answers = [], []
        self._file.seek(0)
        self._file.truncate()

    def close(self) -> None:
        """Forget all rows."""
        self._file.close()


def stage_records(
    items: Iterable[SentenceRecord | Problem],
    *,
    format: Format,
    tasks: Sequence[StagedTask],
    stage: Stage,
    file_name: str,
    on_sentence: Callable[[int], None],
) -> Findings:
    """Fill a stage with the sentences of a file and return what was found in it.

    After the first problem nothing more is staged, but all problems are looked for.
    """
    found = Findings(labels={task.spec.name: Counter() for task in tasks})
    checker = _Checker(tasks, found)
    taken = {task.layer for task in tasks}
    for item in items:
        if isinstance(item, Problem):
            found.problems.append(item)
            continue
        _note_layers(item.layers, found)
        faults, answers = checker.answers(item)
        row, message = _row(item, format.remainder(item, taken))
        if message:
            faults.append((item.line, message))
        if faults and len(found.problems) < MAX_PROBLEMS:
            found.problems += [Problem(file_name, line, message) for line, message in faults]
        found.n_sentences += 1
        found.n_tokens += len(item.tokens)
        if row and not found.problems:
            stage.add(row, answers)
        on_sentence(found.n_sentences)
    stage.flush()
    return found


def _note_layers(layers: Mapping[str, Layer], found: Findings) -> None:
    for name, layer in layers.items():
        known = found.layers.get(name)
        # An empty list may be spans or relations: a sentence that has some tells.
        if known is None or (known.kind != layer.kind and layer.value):
            found.layers[name] = LayerSpec(name, layer.kind, layer.parent)
        if layer.scheme and name not in found.schemes:
            found.schemes[name] = layer.scheme


def _row(record: SentenceRecord, extra: Mapping[str, Any]) -> tuple[SentenceRow | None, str]:
    """Return the row of a sentence, or nothing and why the database cannot hold it."""
    key, document, text, tokens = record.key, record.document, record.text, record.tokens
    for name, value in (("id", key), ("document", document)):
        if len(value) > MAX_KEY:
            return None, f"{name} {value[:40]!r}... has {len(value)} characters; at most {MAX_KEY}"
    try:
        written, kept = orjson.dumps(tokens), orjson.dumps(extra)
        if not (key.isascii() and document.isascii() and text.isascii()):
            f"{key}{document}{text}".encode()
    except (orjson.JSONEncodeError, UnicodeEncodeError):
        return None, unstorable([key, document, text, tokens, extra])
    if NUL in written or NUL in kept or "\0" in text or "\0" in key or "\0" in document:
        message = unstorable([key, document, text, tokens, extra])
        if message:
            return None, message
    offsets = orjson.dumps(record.offsets).decode()
    return (key, document, text, written.decode(), offsets, len(tokens), kept.decode()), ""


class _Checker:
    """Checks the answers of sentences and counts their labels."""

    def __init__(self, tasks: Sequence[StagedTask], found: Findings) -> None:
        self.tasks = tasks
        self.found = found
        self.layer_of = {task.spec.name: task.layer for task in tasks}
        self.seen_labels: dict[str, set[str]] = {task.spec.name: set() for task in tasks}

    def answers(self, record: SentenceRecord) -> tuple[list[Fault], list[tuple[int, str]]]:
        """Return what is wrong with a sentence's answers, and (task id, JSON) of each."""
        faults: list[Fault] = []
        answers = []
        for task in self.tasks:
            layer = record.layers.get(task.layer)
            if layer is None:
                continue
            faults_here = self._faults(task, layer, record)
            if faults_here:
                faults += faults_here
                continue
            value = normalise_answer(task.spec.kind, layer.value)
            answers.append((task.id, orjson.dumps(value).decode()))
            self.found.n_answers[task.spec.name] += 1
        return faults, answers

    def _faults(self, task: StagedTask, layer: Layer, record: SentenceRecord) -> list[Fault]:
        name, kind, parent = task.spec
        if layer.kind != kind and layer.value:
            words = f"layer '{task.layer}' is of kind {layer.kind}, task '{name}' {kind}"
            return [(record.line, words)]
        spans = record.layers.get(self.layer_of.get(parent, "")) if parent else None
        problems = check_answer(
            task.rules, layer.value, record.tokens, spans.value if spans else None
        )
        if problems:
            return [
                (_line_of(problem.path, layer, record), f"task '{name}': {problem.message}")
                for problem in problems
            ]
        used = labels_of(kind, layer.value)
        self.found.labels[name].update(used)
        if not task.rules.is_open:
            return []
        return [(record.line, message) for message in self._new_label_faults(name, used)]

    def _new_label_faults(self, task: str, used: Sequence[str]) -> list[str]:
        """Return what is wrong with labels that are seen for the first time."""
        new = set(used) - self.seen_labels[task]
        if not new:
            return []
        self.seen_labels[task] |= new
        return [
            f"task '{task}': the label {label[:60]!r} cannot be used; a label has at most 120 "
            "characters, all of them printable"
            for label in sorted(new)
            if len(label) > 120 or not label.isprintable()
        ]


def _line_of(path: str, layer: Layer, record: SentenceRecord) -> int:
    """Return the line of the token that a problem is about, or else of the sentence."""
    if not path or not record.token_lines:
        return record.line
    item = int(path)
    token = item if layer.kind in ("tags", "tree") else layer.value[item][0]
    return record.token_lines[token] if 0 <= token < len(record.token_lines) else record.line


def labels_of(kind: str, value: Any) -> list[str]:
    """Return every label in an answer, as often as it is there."""
    if kind == "classes":
        return [value]
    if kind == "tags":
        return list(value)
    return [item[-1] for item in value]
