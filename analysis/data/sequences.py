"""Labels and actions as sequences, for the study of shared behaviours."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from annotation.models import Annotation, Gold, Project, Submission, Task

OUTSIDE = "O"
Sequence = tuple[str, list[str]]  # the name of its task or annotator, and the symbols


def label_sequences(project: Project) -> list[Sequence]:
    """Return (task name, labels) for every answered sentence; empty ones are left out.

    The answer is the gold one, else that of the person who answered first. Spans count once a
    token, with "O" outside of them; sentence classes form one sequence a document.
    """
    sequences: list[Sequence] = []
    for task in project.tasks.all():
        answers = list(_answers(task))
        if task.kind == Task.Kind.CLASSES:
            sequences += _by_document(task, answers)
            continue
        for *_, n_tokens, value in answers:
            labels = _labels(task.kind, value, n_tokens)
            if labels:
                sequences.append((task.name, labels))
    return sequences


def action_sequences(project: Project) -> list[Sequence]:
    """Return (annotator name, kinds of actions) for every submission that has any."""
    submissions = (
        Submission.objects.filter(project=project)
        .order_by("id")
        .values_list("annotator__username", "actions")
    )
    return [
        (name, [action["kind"] for action in actions])
        for name, actions in submissions.iterator()
        if actions
    ]


def _answers(task: Task) -> Iterator[tuple[int, str, int, Any]]:
    """Yield (corpus, document, number of tokens, value) of each answered sentence, in order."""
    columns = (
        "sentence__corpus_id", "sentence__position", "sentence__document", "sentence__n_tokens",
        "value",
    )  # fmt: skip
    first = Annotation.objects.filter(task=task).order_by("-id").values_list(*columns)
    gold = Gold.objects.filter(task=task).values_list(*columns)
    chosen = {row[:2]: row[2:] for source in (first, gold) for row in source.iterator()}
    for (corpus, _), (document, n_tokens, value) in sorted(chosen.items()):
        yield corpus, document, n_tokens, value


def _by_document(task: Task, answers: list[tuple[int, str, int, Any]]) -> Iterator[Sequence]:
    for _, rows in groupby(answers, key=lambda answer: answer[:2]):
        yield task.name, [value for *_, value in rows]


def _labels(kind: str, value: Any, n_tokens: int) -> list[str]:
    if kind == Task.Kind.SPANS:
        labels = [OUTSIDE] * n_tokens
        for start, end, label in value:
            labels[start:end] = [label] * (end - start)
        return labels
    return list(value) if kind == Task.Kind.TAGS else [row[-1] for row in value]
