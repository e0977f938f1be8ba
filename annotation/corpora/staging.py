"""Sentences of a file, checked and turned into rows, before the database is touched.

Rows wait in a temporary file, so that memory stays flat whatever the size of the corpus, and the
transaction that stores them does nothing else.
"""

import marshal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, Self

import orjson

from annotation.corpora.report import ImportChoices
from annotation.errors import Problem as AnswerProblem
from annotation.formats.conllu import findings
from annotation.formats.format import Format
from annotation.formats.records import Layer, Problem, SentenceRecord, layer_spec
from annotation.web.security import unstorable, unusable_label
from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.kinds.checks import is_row
from mtl_engine.kinds.relations import RELATION

CHUNK = 2_000  # sentences
MAX_KEY = 200
MAX_PROBLEMS = 1_000
NUL = b"\\u0000"  # as JSON writes it
MEMORY = 16 * 1024 * 1024  # bytes of rows that are kept without a file
LISTED = 20  # broken rules that are told one by one
SAMPLED = 5  # sentences that are shown as they are cut into words

SentenceRow = tuple[str, str, str, str, str, int, str]
AnswerRow = tuple[int, int, str]  # sentence within its chunk, task id, value
Fault = tuple[int, str]  # line, message


@dataclass
class Findings:
    """What was seen while staging."""

    n_sentences: int = 0
    n_tokens: int = 0
    layers: dict[str, TaskSpec] = field(default_factory=dict)
    fields: list[str] = field(default_factory=list)  # no layers, but might hold answers
    columns: list[str] = field(default_factory=list)  # among which the text may be
    schemes: dict[str, str] = field(default_factory=dict)
    n_answers: Counter[str] = field(default_factory=Counter)
    labels: dict[str, Counter[str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    n_problems: int = 0
    n_bad: int = 0
    n_duplicates: int = 0
    aside: Counter[str] = field(default_factory=Counter)  # what no task can hold, by its sort
    rules: Counter[str] = field(default_factory=Counter)  # of Universal Dependencies, broken
    broken: list[list[Any]] = field(default_factory=list)  # line, rule, level, message: the first
    sample: list[list[str]] = field(default_factory=list)
    unknown_labels: dict[str, Counter[str]] = field(default_factory=dict)  # of closed tasks
    first_unknown: dict[str, int] = field(default_factory=dict)  # the line

    def refuse(self, problem: Problem) -> None:
        """Note a problem; only so many are listed, all are counted."""
        self.n_problems += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)


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

    @classmethod
    def on_file(cls, file: IO[bytes]) -> Self:
        """Return a stage on a file that another process has opened."""
        stage = cls.__new__(cls)
        stage._file, stage._sentences, stage._answers = file, [], []
        return stage

    def fileno(self) -> int:
        """Return the number of the stage's file, for a process that is to fill it."""
        return self._file.fileno()  # a spooled file moves to the disk for it

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
    tasks: Sequence[TaskSpec],
    layers: Mapping[str, str],
    stage: Stage,
    file_name: str,
    on_sentence: Callable[[int], None],
    choices: ImportChoices,
    known_texts: set[bytes],
) -> Findings:
    """Fill a stage with the sentences of a file and return what was found in it.

    ``layers`` names the layer that answers each task; ``known_texts`` are fingerprints of the
    sentences that are there already, to which those of the file are added. After the first problem
    nothing more is staged, unless bad sentences are skipped, but all problems are looked for.
    """
    found = Findings(labels={task.name: Counter() for task in tasks})
    checker = _Checker(tasks, layers, found, choices)
    taken = set(layers.values())
    for item in items:
        if isinstance(item, Problem):
            found.refuse(item)
            found.n_bad += 1
            continue
        _note_layers(item.layers, found)
        found.aside.update(item.aside)
        faults, answers = checker.answers(item)
        row, message = _row(item, format.remainder(item, taken))
        if message:
            faults.append((item.line, message))
        for line, words in faults:
            found.refuse(Problem(file_name, line, words))
        if choices.tells_rules:
            _note_rules(item, found)
        if len(found.sample) < SAMPLED:
            found.sample.append(item.tokens)
        is_new = _note_text(item.text, known_texts)
        found.n_duplicates += not is_new
        if not is_new and choices.duplicates == "skip":
            continue
        if (faults or row is None) and choices.skips_bad:
            found.n_bad += 1
            continue
        found.n_sentences += 1
        found.n_tokens += len(item.tokens)
        if row and (choices.skips_bad or not found.problems):
            stage.add(row, answers)
        on_sentence(found.n_sentences)
    _refuse_unknown_labels(found, file_name)
    stage.flush()
    return found


def fingerprint(text: str) -> bytes:
    """Return what two sentences share whose words are the same but for case and spaces."""
    words = " ".join(text.split()).casefold()
    return blake2b(words.encode("utf-8", "replace"), digest_size=8).digest()


def _note_text(text: str, known: set[bytes]) -> bool:
    """Return whether a text is new, and remember it."""
    mark = fingerprint(text)
    if mark in known:
        return False
    known.add(mark)
    return True


def _refuse_unknown_labels(found: Findings, file_name: str) -> None:
    """Say in one line per task which labels it does not have."""
    for task, counts in found.unknown_labels.items():
        shown = ", ".join(f"{label} ({n})" for label, n in counts.most_common(8))
        more = f" and {len(counts) - 8} more" if len(counts) > 8 else ""
        new = "1 label is new" if len(counts) == 1 else f"{len(counts)} labels are new"
        message = (
            f"task '{task}': {new}: {shown}{more}. Take them, map them to labels of the task, or "
            "correct the file."
        )
        found.refuse(Problem(file_name, found.first_unknown[task], message))


def _note_layers(layers: Mapping[str, Layer], found: Findings) -> None:
    for name, layer in layers.items():
        known = found.layers.get(name)
        # An empty list may be spans or relations: a sentence that has some tells.
        if known is None or (known.kind != layer.kind and layer.value):
            found.layers[name] = layer_spec(name, layer.kind, layer.parent, layer.second_parent)
        if layer.scheme and name not in found.schemes:
            found.schemes[name] = layer.scheme


def _note_rules(record: SentenceRecord, found: Findings) -> None:
    """Count what Universal Dependencies' rules say of a sentence; the first ones are listed."""
    values = {name: layer.value for name, layer in record.layers.items()}
    for one in findings(record.tokens, values):
        found.rules[one.rule] += 1
        if len(found.broken) < LISTED:
            lines = record.token_lines
            line = lines[one.word] if lines and one.word is not None else record.line
            found.broken.append([line, one.rule, one.level, one.message])


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

    def __init__(
        self,
        tasks: Sequence[TaskSpec],
        layers: Mapping[str, str],
        found: Findings,
        choices: ImportChoices,
    ) -> None:
        takes_all = choices.new_labels == "take"
        self.tasks = [replace(task, is_open=True) if takes_all else task for task in tasks]
        self.any_label = {task.name: replace(task, is_open=True) for task in tasks}
        self.label_map = choices.label_map
        self.skips_bad = choices.skips_bad
        self.found = found
        self.layer_of = layers
        self.seen_labels: dict[str, set[str]] = {task.name: set() for task in tasks}

    def answers(self, record: SentenceRecord) -> tuple[list[Fault], list[tuple[int, str]]]:
        """Return what is wrong with a sentence's answers, and (task id, JSON) of each."""
        faults: list[Fault] = []
        answers = []
        for task in self.tasks:
            layer = self._layer(task, record)
            if layer is None:
                continue
            faults_here = self._faults(task, layer, record)
            if faults_here:
                faults += faults_here
                continue
            value = KINDS[task.kind].canonical(layer.value)
            answers.append((task.id, orjson.dumps(value).decode()))
            self.found.n_answers[task.name] += 1
        return faults, answers

    def _layer(self, task: TaskSpec, record: SentenceRecord) -> Layer | None:
        """Return the layer that answers a task, with labels mapped to the task's own."""
        layer = record.layers.get(self.layer_of[task.name])
        if layer is not None and layer.kind == task.layer:
            layer = layer._replace(value=KINDS[task.kind].from_layer(layer.value, task.label_set))
        mapping = self.label_map.get(task.name)
        if layer is None or not mapping or not layer.value:
            return layer
        return layer._replace(value=KINDS[task.kind].replace_labels(layer.value, mapping))

    def _faults(self, task: TaskSpec, layer: Layer, record: SentenceRecord) -> list[Fault]:
        name = task.name
        if layer.kind != task.layer and layer.value:
            words = (
                f"layer '{self.layer_of[name]}' is of kind {layer.kind}, task '{name}' {task.kind}"
            )
            return [(record.line, words)]
        spans = {
            parent: record.layers.get(self.layer_of.get(parent, "")) for parent in task.parents
        }
        parent_spans = task.spans_among({k: layer.value for k, layer in spans.items() if layer})
        if task.is_document and task.parents:  # its links are checked with the whole document
            task, parent_spans = _of_its_own(task), _ends_of(layer.value)
        problems = task.check(layer.value, record.tokens, parent_spans)
        if problems and not task.is_open:
            line = _line_of(problems[0].path, task, layer, record)
            if self._has_only_unknown_labels(task, layer, record, parent_spans, problems, line):
                return []
        if problems:
            return [
                (_line_of(problem.path, task, layer, record), f"task '{name}': {problem.message}")
                for problem in problems
            ]
        used = KINDS[task.kind].labels_of(layer.value)
        self.found.labels[name].update(used)
        if not task.is_open:
            return []
        return [(record.line, message) for message in self._new_label_faults(name, used)]

    def _has_only_unknown_labels(
        self,
        task: TaskSpec,
        layer: Layer,
        record: SentenceRecord,
        parent_spans: Any,
        problems: Sequence[AnswerProblem],
        line: int,
    ) -> bool:
        """Return whether unknown labels are all that is wrong; they are counted for one line."""
        if self.skips_bad:
            return False
        if not all(problem.message.startswith("No label ") for problem in problems):
            return False
        if self.any_label[task.name].check(layer.value, record.tokens, parent_spans):
            return False
        used = KINDS[task.kind].labels_of(layer.value)
        unknown = [label for label in used if label not in task.label_set]
        if not unknown:
            return False
        self.found.unknown_labels.setdefault(task.name, Counter()).update(unknown)
        self.found.first_unknown.setdefault(task.name, line)
        return True

    def _new_label_faults(self, task: str, used: Sequence[str]) -> list[str]:
        """Return what is wrong with labels that are seen for the first time."""
        new = set(used) - self.seen_labels[task]
        if not new:
            return []
        self.seen_labels[task] |= new
        faults = map(unusable_label, sorted(new))
        return [f"task '{task}': {fault}" for fault in faults if fault]


def _of_its_own(task: TaskSpec) -> TaskSpec:
    """Return a task of which only the labels can be wrong, whatever its links link."""
    return replace(task, pairs={}, is_document=False, second_parent=None)


def _ends_of(links: Any) -> list[list[Any]]:
    """Return what links link, as spans."""
    rows = [link for link in links if is_row(link, RELATION)] if isinstance(links, list) else []
    return [[*link[k : k + 2], ""] for link in rows for k in (0, 2)]


def _line_of(path: str, task: TaskSpec, layer: Layer, record: SentenceRecord) -> int:
    """Return the line of the token that a problem is about, or else of the sentence."""
    if not path or not record.token_lines:
        return record.line
    token = KINDS[task.kind].place_of(int(path), layer.value)
    is_there = token is not None and 0 <= token < len(record.token_lines)
    return record.token_lines[token] if token is not None and is_there else record.line
