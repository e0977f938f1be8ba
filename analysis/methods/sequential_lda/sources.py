"""Sequences from files: TSV or JSONL rows of (task, sequence)."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError

SHOWN_PROBLEMS = 10


@dataclass(frozen=True)
class NamedTasks:
    """Tasks in the order they first appeared, and their names."""

    names: list[str]
    tasks: list[list[Any]]

    @property
    def n_sequences(self) -> int:
        """Number of sequences of all tasks."""
        return sum(map(len, self.tasks))


@dataclass(frozen=True)
class Layout:
    """How a file spells its rows.

    The task is the value of the `task` columns, joined by " / "; the steps of the `sequence`
    column are separated by spaces, or are its characters. Numbers are for continuous families:
    in TSV the coordinates of a step are separated by commas.
    """

    task: tuple[str, ...] = ("task",)
    sequence: str = "sequence"
    characters: bool = False
    numbers: bool = False


class _BadRow(Exception):
    """A row that cannot be read; the message says why."""


def group_by_task(pairs: Iterable[tuple[str, Any]]) -> NamedTasks:
    """Pairs of (task name, sequence) as tasks."""
    found: dict[str, list[Any]] = {}
    for name, sequence in pairs:
        found.setdefault(name, []).append(sequence)
    return NamedTasks(list(found), list(found.values()))


def read_sequences(path: Path | str, layout: Layout | None = None) -> NamedTasks:
    """The tasks of a .tsv or .jsonl file; all bad lines are named, nothing is half-read."""
    path = Path(path)
    readers = {".tsv": _tsv_rows, ".jsonl": _jsonl_rows}
    if path.suffix not in readers:
        raise AnalysisError(f"{path} ends in {path.suffix!r}; readable are .tsv and .jsonl.")
    layout = layout or Layout()
    pairs: list[tuple[str, Any]] = []
    problems: list[str] = []
    for line, row in readers[path.suffix](path, layout):
        try:
            if isinstance(row, _BadRow):
                raise row
            pairs.append(_pair(row, layout))
        except _BadRow as problem:
            problems.append(f"{path}:{line}: {problem}")
    if problems:
        more = len(problems) - SHOWN_PROBLEMS
        tail = [f"and {more} more"] if more > 0 else []
        raise AnalysisError("\n".join(problems[:SHOWN_PROBLEMS] + tail))
    if not pairs:
        raise AnalysisError(f"{path} holds no sequences.")
    return group_by_task(pairs)


Row = dict[str, Any] | _BadRow


def _tsv_rows(path: Path, layout: Layout) -> Iterator[tuple[int, Row]]:
    """Rows by column name; two columns without a header are task and sequence."""
    wanted = [*layout.task, layout.sequence]
    header: Sequence[str] = ()
    with path.open(encoding="utf-8", newline="") as stream:
        for line, cells in enumerate(csv.reader(stream, delimiter="\t", quoting=3), start=1):
            if line == 1:
                has_header = all(name in cells for name in wanted)
                if not has_header and len(cells) != len(wanted):
                    raise AnalysisError(
                        f"{path}:1: columns {', '.join(cells)}; needed are {', '.join(wanted)}."
                    )
                header = cells if has_header else wanted
                if has_header:
                    continue
            if not cells:
                continue
            if len(cells) != len(header):
                yield line, _BadRow(f"{len(cells)} columns, the first line has {len(header)}")
            else:
                yield line, dict(zip(header, cells, strict=True))


def _jsonl_rows(path: Path, layout: Layout) -> Iterator[tuple[int, Row]]:
    with path.open(encoding="utf-8") as stream:
        for line, text in enumerate(stream, start=1):
            if not text.strip():
                continue
            try:
                row = json.loads(text)
            except json.JSONDecodeError as error:
                yield line, _BadRow(f"not JSON: {error}")
                continue
            missing = [
                name
                for name in (*layout.task, layout.sequence)
                if not isinstance(row, dict) or name not in row
            ]
            yield line, _BadRow(f"no {', '.join(missing)}") if missing else row


def _pair(row: dict[str, Any], layout: Layout) -> tuple[str, Any]:
    name = " / ".join(str(row[column]) for column in layout.task)
    steps = row[layout.sequence]
    if isinstance(steps, str):
        steps = list(steps.strip()) if layout.characters else steps.split()
        if layout.numbers:
            steps = [_point(step) for step in steps]
    if not isinstance(steps, list) or not steps:
        raise _BadRow("the sequence is empty" if steps in ([], None) else "not a sequence")
    if not layout.numbers and not all(isinstance(s, str | int | float | bool) for s in steps):
        raise _BadRow(f"a step is neither text nor a number: {steps!r:.60}")
    return name, steps


def _point(step: str) -> list[float]:
    try:
        return [float(number) for number in step.split(",")]
    except ValueError as error:
        raise _BadRow(f"{step!r} is not a number") from error
