"""What an import found and did, for people and for programs."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from annotation.errors import Refused
from annotation.formats.records import Problem


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
    schemes: dict[str, str] = field(default_factory=dict)  # layer -> tagging scheme
    n_answers: dict[str, int] = field(default_factory=dict)  # by task
    labels: dict[str, Counter[str]] = field(default_factory=dict)  # by task
    new_labels: dict[str, list[str]] = field(default_factory=dict)  # of open tasks
    tasks_without_layer: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether the file can be imported as it is."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            **vars(self),
            "labels": {task: dict(counts) for task, counts in self.labels.items()},
            "problems": [
                {"file": p.file, "line": p.line, "message": p.message} for p in self.problems
            ],
            "is_good": self.is_good,
        }

    def lines(self) -> list[str]:
        """Return the report as lines to read, without the problems."""
        lines = [f"{self.n_sentences:,} sentences, {self.n_tokens:,} tokens ({self.format})"]
        for layer, task in self.layers.items():
            scheme = f" [{self.schemes[layer]}]" if self.schemes.get(layer) else ""
            fate = f"task {task}" if task else "no task; kept with the sentences"
            lines.append(f"layer {layer}{scheme} -> {fate}")
        lines += [f"task {task}: no layer in the file" for task in self.tasks_without_layer]
        for task, counts in self.labels.items():
            shown = ", ".join(f"{label} {n:,}" for label, n in counts.most_common(20))
            more = f", and {len(counts) - 20} more" if len(counts) > 20 else ""
            lines.append(f"task {task}: {self.n_answers[task]:,} answers; {shown or 'empty'}{more}")
        for task, names in self.new_labels.items():
            lines.append(f"task {task}: {len(names)} new labels: {', '.join(names[:20])}")
        return lines


class ImportRefused(Refused):
    """A file with problems, of which nothing was imported; carries the report."""

    def __init__(self, report: ImportReport) -> None:
        self.report = report
        super().__init__("\n".join(map(str, report.problems)))
