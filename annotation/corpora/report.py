"""What an import found and did, for people and for programs."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from annotation.errors import Refused, unknown_name
from annotation.formats.records import CUT, Problem

LabelsAs = Literal["gold", "suggestions", "annotations", "none"]
LABELS_AS: tuple[LabelsAs, ...] = get_args(LabelsAs)
NEW_LABELS = ("refuse", "take")
DUPLICATES = ("keep", "skip")
VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|\b\d[\d.,]*\b")  # what differs between alike problems
FIRST_LINES = 5
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,2}")


@dataclass(frozen=True)
class ImportChoices:
    """How an import meets the project that it comes into."""

    new_labels: str = "refuse"  # labels that a task does not have: refuse or take
    label_map: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Task -> {label in the file: label of the task}."""
    duplicates: str = "keep"  # sentences that are there already, or twice in the file
    skips_bad: bool = False  # import what is good and report the rest
    is_test: bool = False  # the sentences are a test slice: never asked, never trained on
    language: str = ""  # of the file's sentences; empty = the project's
    tells_rules: bool = False  # of Universal Dependencies; the project says so
    is_onto_existing: bool = False  # labels for sentences that are there, found by id or text

    def __post_init__(self) -> None:
        if self.new_labels not in NEW_LABELS:
            raise Refused(unknown_name("way to treat new labels", self.new_labels, NEW_LABELS))
        if self.duplicates not in DUPLICATES:
            raise Refused(unknown_name("way to treat duplicates", self.duplicates, DUPLICATES))
        if self.language and not LANGUAGE.fullmatch(self.language):
            raise Refused(
                f"'{self.language}' is no code of a language; write one such as en, de or zh."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the choices as plain values."""
        return {**vars(self), "label_map": {k: dict(v) for k, v in self.label_map.items()}}


@dataclass(frozen=True)
class ProblemKind:
    """Problems that differ only in names and numbers."""

    message: str  # the first of them
    n: int
    lines: tuple[int, ...]  # the first ones


@dataclass(frozen=True)
class BrokenRule:
    """A rule of Universal Dependencies that a sentence of a file breaks."""

    line: int
    rule: str
    level: str  # error or warning
    message: str


@dataclass
class ImportReport:
    """Counts, layers, labels and problems of one file; ``corpus_id`` is None if nothing was kept.

    ``layers`` is the task of each layer in the file, "" where no task took it; such a layer stays
    with its sentences and is written back by an export in the same format.
    """

    file_name: str
    format: str
    corpus_name: str
    is_dry_run: bool = False
    corpus_id: int | None = None
    n_sentences: int = 0
    n_tokens: int = 0
    layers: dict[str, str] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)  # among which the text may be
    schemes: dict[str, str] = field(default_factory=dict)  # layer -> tagging scheme
    n_answers: dict[str, int] = field(default_factory=dict)  # by task
    labels: dict[str, Counter[str]] = field(default_factory=dict)  # by task
    new_labels: dict[str, list[str]] = field(default_factory=dict)  # of open tasks
    unknown_labels: dict[str, Counter[str]] = field(default_factory=dict)  # of closed tasks
    tasks_without_layer: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    n_problems: int = 0  # also those beyond the ones listed
    n_bad: int = 0  # sentences that were left out because of problems
    n_duplicates: int = 0
    aside: dict[str, int] = field(default_factory=dict)  # kept, but no task's answers; by sort
    rules: dict[str, int] = field(default_factory=dict)  # how often each is broken
    broken: list[BrokenRule] = field(default_factory=list)  # the first ones
    sample: list[list[str]] = field(default_factory=list)  # sentences, as they are cut into words
    choices: ImportChoices = field(default_factory=ImportChoices)

    @property
    def is_good(self) -> bool:
        """Whether the file can be imported as it is."""
        return not self.problems or (self.choices.skips_bad and self.n_sentences > 0)

    def problem_kinds(self) -> list[ProblemKind]:
        """Return the problems by kind, most frequent first."""
        kinds: dict[str, list[Problem]] = {}
        for problem in self.problems:
            kinds.setdefault(VARYING.sub("…", problem.message), []).append(problem)
        found = [
            ProblemKind(rows[0].message, len(rows), tuple(p.line for p in rows[:FIRST_LINES]))
            for rows in kinds.values()
        ]
        return sorted(found, key=lambda kind: -kind.n)

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            **vars(self),
            "choices": self.choices.to_dict(),
            "broken": [vars(one) for one in self.broken],
            "problem_kinds": [vars(kind) for kind in self.problem_kinds()],
            "labels": {task: dict(counts) for task, counts in self.labels.items()},
            "unknown_labels": {task: dict(found) for task, found in self.unknown_labels.items()},
            "problems": [
                {"file": p.file, "line": p.line, "message": p.message} for p in self.problems
            ],
            "is_good": self.is_good,
        }

    def told_aside(self) -> dict[str, int]:
        """Return what is told of a file beside its answers, in words, and how often."""
        fate = " are kept and written back, but not asked or learned"
        return {what if what == CUT else what + fate: n for what, n in self.aside.items()}

    def lines(self) -> list[str]:
        """Return the report as lines to read, without the problems."""
        lines = [f"{self.n_sentences:,} sentences, {self.n_tokens:,} tokens ({self.format})"]
        if self.n_duplicates:
            fate = "left out" if self.choices.duplicates == "skip" else "kept; --duplicates skip"
            lines.append(f"{self.n_duplicates:,} sentences are there already ({fate})")
        if self.n_bad:
            lines.append(f"{self.n_bad:,} sentences with problems are left out")
        lines += [f"{n:,} {what}" for what, n in self.told_aside().items()]
        for layer, task in self.layers.items():
            scheme = f" [{self.schemes[layer]}]" if self.schemes.get(layer) else ""
            fate = f"task {task}" if task else "no task; kept with the sentences"
            if not task and self.format in ("csv", "tsv") and self.tasks_without_layer:
                fate += f" (--column '{layer}=TASK' makes it a task's answers)"
            lines.append(f"layer {layer}{scheme} -> {fate}")
        lines += [f"task {task}: no layer in the file" for task in self.tasks_without_layer]
        for task, counts in self.labels.items():
            shown = ", ".join(f"{label} {n:,}" for label, n in counts.most_common(20))
            more = f", and {len(counts) - 20} more" if len(counts) > 20 else ""
            n = f"{self.n_answers[task]:,}"
            told = f"task {task}: {n} answers; {shown}{more}"
            lines.append(told if shown else f"task {task}: {n} answers without labels")
        if self.rules:
            told = ", ".join(f"{rule} {n:,}" for rule, n in self.rules.items())
            lines.append(f"rules of Universal Dependencies that are broken: {told}")
            lines += [f"  line {b.line}: {b.level}: {b.message}" for b in self.broken]
        for task, names in self.new_labels.items():
            lines.append(f"task {task}: {len(names)} new labels: {', '.join(names[:20])}")
        return lines


class ImportRefused(Refused):
    """A file with problems, of which nothing was imported; carries the report."""

    def __init__(self, report: ImportReport) -> None:
        self.report = report
        super().__init__("\n".join(map(str, report.problems)))

    @property
    def result(self) -> dict[str, Any]:
        """Return the report."""
        return self.report.as_json()
