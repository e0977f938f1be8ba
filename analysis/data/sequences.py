"""Labels and actions as sequences, for the study of shared behaviours."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from annotation.models import Annotation, Gold, Project, Submission, Task
from mtl_engine.kinds import KINDS

Sequence = tuple[str, list[str]]  # the name of its task or annotator, and the symbols


def label_sequences(project: Project) -> list[Sequence]:
    """Return (task name, labels) for every answered sentence; empty ones are left out.

    The answer is the gold one, else that of the person who answered first. Spans count once
    per token, with "O" outside of them; labels of sentences form one sequence per document.
    """
    sequences: list[Sequence] = []
    for task in project.tasks.all():
        answers = list(_answers(task))
        if KINDS[task.kind].labels_on == "sentence":
            sequences += _by_document(task, answers)
            continue
        for *_, n_tokens, value in answers:
            labels = KINDS[task.kind].label_sequence(value, n_tokens)
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
    kind = KINDS[task.kind]
    for _, rows in groupby(answers, key=lambda answer: answer[:2]):
        yield task.name, [label for *_, value in rows for label in kind.labels_of(value)]
