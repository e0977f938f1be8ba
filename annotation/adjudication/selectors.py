"""Where people differ and how far they agree: the sentences to decide, cases, the stored report."""

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import combinations
from typing import Any

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils.translation import gettext

from annotation.adjudication.agreement import Agreement, measure_agreement
from annotation.adjudication.final import spans_of_documents
from annotation.adjudication.suggestion_bias import measure_sources, suggestion_bias
from annotation.errors import NotFound
from annotation.jobs.insights import (
    InsightKind,
    NoSettings,
    newest_of,
    register_insight,
    stored_result,
)
from annotation.jobs.services import Progress
from annotation.models import Annotation, Gold, Job, Project, Role, Sentence, Suggestion, Task
from mtl_engine.kinds import KINDS

DECIDED = (Gold.Source.ADJUDICATED, Gold.Source.MAJORITY)
MOST_SENTENCES = 2000  # newest first: intervals are narrow long before
NEWEST = 300  # where one number per person is enough
AT_A_TIME = 5_000  # sentences whose answers are read in one query
REPORT = "agreement"


@dataclass(frozen=True)
class Dispute:
    """A sentence on which people differ, and how much."""

    sentence_id: int
    disagreement: float  # mean over its disputed tasks, 0 to 1
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """One item that not everybody has: who has it, who has not."""

    item: list[Any]
    people: tuple[str, ...]


@dataclass(frozen=True)
class TaskCase:
    """The answers to one task side by side."""

    task: str
    kind: str
    answers: dict[str, Any]  # by person
    differences: tuple[Difference, ...]
    n_common: int
    disagreement: float
    gold: Any | None
    gold_source: str
    suggestion: Any | None


def disputes(project: Project, *, task: str = "", corpus: str = "") -> list[Dispute]:
    """Return the sentences with different answers and no gold, most disagreement first.

    With a task, those that differ in it; with a corpus, those of it.
    """
    tasks = {task.pk: task for task in project.tasks.all()}
    rows = Annotation.objects.filter(sentence__project=project)
    if corpus:
        rows = rows.filter(sentence__corpus__name=corpus)
    if task:
        rows = rows.filter(task__name=task)
    cells = _cells_that_differ(rows)
    answers: dict[tuple[int, int], list[Any]] = defaultdict(list)
    ids = sorted({sentence for sentence, _ in cells})
    for start in range(0, len(ids), AT_A_TIME):
        part = rows.filter(sentence__in=ids[start : start + AT_A_TIME])
        for sentence_id, task_id, value in part.values_list("sentence_id", "task_id", "value"):
            if (sentence_id, task_id) in cells:
                answers[sentence_id, task_id].append(value)
    by_sentence: dict[int, list[tuple[str, float]]] = defaultdict(list)
    for (sentence_id, task_id), given in answers.items():
        apart = disagreement(tasks[task_id].kind, given)
        if apart > 0:
            by_sentence[sentence_id].append((tasks[task_id].name, apart))
    found = [
        Dispute(i, sum(d for _, d in rows) / len(rows), tuple(name for name, _ in rows))
        for i, rows in by_sentence.items()
    ]
    return sorted(found, key=lambda dispute: (-dispute.disagreement, dispute.sentence_id))


def _cells_that_differ(answers: QuerySet[Annotation]) -> set[tuple[int, int]]:
    """Return sentence and task where answers are not the same and no gold is, by the database."""
    settled = Gold.objects.filter(sentence=OuterRef("sentence"), task=OuterRef("task"))
    cells = answers.order_by().values("sentence_id", "task_id")
    counted = cells.annotate(n=Count("id"), n_values=Count("value", distinct=True))
    differing = counted.filter(n__gte=2, n_values__gte=2).filter(~Exists(settled))
    return set(differing.values_list("sentence_id", "task_id"))


@dataclass(frozen=True)
class Decision:
    """A sentence that a curator decided on, and who it was."""

    sentence_id: int
    tasks: tuple[str, ...]
    decided_by: str
    decided_at: datetime
    source: str


def decisions(project: Project, *, task: str = "", corpus: str = "") -> list[Decision]:
    """Return the sentences that curators decided on, the newest first."""
    rows = Gold.objects.filter(sentence__project=project, source__in=DECIDED)
    if corpus:
        rows = rows.filter(sentence__corpus__name=corpus)
    if task:
        rows = rows.filter(task__name=task)
    by_sentence: dict[int, list[Any]] = {}
    for row in rows.order_by("-updated_at", "-id").values_list(
        "sentence_id", "task__name", "decided_by__username", "updated_at", "source"
    ):
        by_sentence.setdefault(row[0], []).append(row)
    return [
        Decision(pk, tuple(r[1] for r in found), found[0][2] or "", found[0][3], found[0][4])
        for pk, found in by_sentence.items()
    ]


def without_names(cases: Sequence[TaskCase], *, seed: int) -> tuple[list[TaskCase], dict[str, str]]:
    """Return cases with letters in place of people's names, and who is whom.

    The letters of each sentence are dealt anew, so that nobody is known by theirs.
    """
    people = sorted({person for case in cases for person in case.answers})
    random.Random(f"{settings.SECRET_KEY} {seed}").shuffle(people)  # nobody can work it out
    called = gettext("Person {letter}")
    letters = {p: called.format(letter=chr(ord("A") + i % 26)) for i, p in enumerate(people)}
    hidden = [
        replace(
            case,
            answers=dict(sorted((letters[p], value) for p, value in case.answers.items())),
            differences=tuple(
                replace(one, people=tuple(sorted(letters[p] for p in one.people)))
                for one in case.differences
            ),
        )
        for case in cases
    ]
    return hidden, letters


def disagreement(kind: str, values: list[Any]) -> float:
    """Return 1 minus the mean F1 over pairs of answers; 0 where all are the same."""
    sets = [set(KINDS[kind].items(value)) for value in values]
    shares = []
    for a, b in combinations(sets, 2):
        total = len(a) + len(b)
        shares.append(2 * len(a & b) / total if total else 1.0)
    return 1 - sum(shares) / len(shares)


def adjudication_case(
    project: Project, sentence: Sentence, *, is_whole: bool = False
) -> list[TaskCase]:
    """Return every task of a sentence that two or more people have answered, or that has gold.

    A whole case has every task that is asked of such a row and shown, answered or not.
    """
    answers: dict[int, dict[str, Any]] = defaultdict(dict)
    for task_id, person, value in Annotation.objects.filter(sentence=sentence).values_list(
        "task_id", "author__username", "value"
    ):
        answers[task_id][person] = value
    gold = {row.task_id: row for row in Gold.objects.filter(sentence=sentence)}
    suggested = dict(Suggestion.objects.filter(sentence=sentence).values_list("task_id", "value"))
    return [
        _case(task, answers[task.pk], gold.get(task.pk), suggested.get(task.pk))
        for task in project.tasks.all()
        if (is_whole and not task.is_hidden and task.is_document == sentence.is_document)
        or len(answers[task.pk]) >= 2
        or (answers[task.pk] and task.pk in gold)
    ]


def is_undecided(case: TaskCase) -> bool:
    """Return whether people differ and nobody has decided."""
    return bool(case.differences) and not case.gold_source


def shown_cases(
    project: Project, sentence: Sentence, *, is_whole: bool = False
) -> tuple[list[TaskCase], bool]:
    """Return the cases of a sentence as curators may see them, and whether names are hidden."""
    cases = adjudication_case(project, sentence, is_whole=is_whole)
    if project.hides_names and not is_whole and any(map(is_undecided, cases)):
        return without_names(cases, seed=sentence.pk)[0], True
    return cases, False


def find_sentence(project: Project, sentence_id: int) -> Sentence:
    """Return a sentence of the project."""
    sentence = Sentence.objects.filter(project=project, pk=sentence_id).first()
    if sentence is None:
        raise NotFound("No such sentence.")
    return sentence


def texts_of(sentence_ids: Sequence[int]) -> dict[int, str]:
    """Return the texts of sentences by id."""
    return dict(Sentence.objects.filter(pk__in=sentence_ids).values_list("id", "text"))


def has_pairs(project: Project) -> bool:
    """Return whether two people have answered one task on one sentence."""
    answered = Annotation.objects.filter(sentence__project=project).order_by()
    by_cell = answered.values("sentence_id", "task_id").annotate(n_people=Count("id"))
    return by_cell.filter(n_people__gte=2).exists()


def gold_values(sentence: Sentence) -> dict[str, Any]:
    """Return the gold of a sentence by the names of its tasks.

    That of a document has the final spans of its sentences beside it, on which its links stand.
    """
    own = dict(Gold.objects.filter(sentence=sentence).values_list("task__name", "value"))
    if not sentence.is_document:
        return own
    return {**spans_of_documents(sentence.project, [sentence.pk]).get(sentence.pk, {}), **own}


def _case(task: Task, answers: dict[str, Any], gold: Gold | None, suggestion: Any) -> TaskCase:
    sets = {person: set(KINDS[task.kind].items(value)) for person, value in answers.items()}
    everything: set[Any] = set().union(*sets.values())
    common = set.intersection(*sets.values()) if sets else set()
    differences = tuple(
        Difference(list(item), tuple(sorted(p for p, items in sets.items() if item in items)))
        for item in sorted(everything - common, key=lambda unit: json.dumps(unit))
    )
    return TaskCase(
        task=task.name,
        kind=task.kind,
        answers=dict(sorted(answers.items())),
        differences=differences,
        n_common=len(common),
        disagreement=disagreement(task.kind, list(answers.values())) if len(answers) > 1 else 0.0,
        gold=gold.value if gold else None,
        gold_source=gold.source if gold else "",
        suggestion=suggestion,
    )


def task_agreement(task: Task, most_sentences: int = MOST_SENTENCES) -> Agreement:
    """Return the agreement on one task over the sentences that two or more people answered."""
    answers: dict[int, dict[str, Any]] = defaultdict(dict)
    sizes: dict[int, int] = {}
    rows = Annotation.objects.filter(task=task).order_by("-sentence_id")
    for sentence_id, person, value, n_tokens in rows.values_list(
        "sentence_id", "author__username", "value", "sentence__n_tokens"
    ).iterator(2000):
        answers[sentence_id][person] = value
        sizes[sentence_id] = n_tokens
    shared = [i for i in answers if len(answers[i]) >= 2][:most_sentences]
    kept = shared or list(answers)[:1]
    return measure_agreement(task.kind, [answers[i] for i in kept], [sizes[i] for i in kept])


def agreement_with_others(project: Project) -> dict[str, float]:
    """Return how far each person agrees with the others: the mean over tasks and shared sentences.

    Of the newest sentences only; people who share none with anybody are left out.
    """
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for task in project.tasks.all():
        measure = KINDS[task.kind].main_metric
        for pair in task_agreement(task, NEWEST).pairs:
            value = pair.scores[measure].value
            if value is not None:
                for person in (pair.first, pair.second):
                    sums[person][0] += value * pair.n
                    sums[person][1] += pair.n
    return {person: total / n for person, (total, n) in sums.items()}


def project_agreement(project: Project) -> dict[str, Agreement]:
    """Return the agreement on every task of a project, by name."""
    return {task.name: task_agreement(task) for task in project.tasks.all()}


def compute_agreement(project: Project, settings: NoSettings, progress: Progress) -> dict[str, Any]:
    """Return agreement by task, with and without suggestions, and by source of suggestions."""
    progress("comparing", 0, None)
    return {
        "tasks": {name: asdict(found) for name, found in project_agreement(project).items()},
        "bias": [asdict(row) for row in suggestion_bias(project)],
        "sources": [asdict(row) for row in measure_sources(project)],
    }


def stored_agreement(project: Project) -> dict[str, Any]:
    """Return the report that is stored; an empty one before it was first computed."""
    return stored_result(project, REPORT) or {"tasks": {}, "bias": [], "sources": []}


def _inputs(project: Project) -> Any:
    answers = Annotation.objects.filter(sentence__project=project)
    suggestions = Suggestion.objects.filter(sentence__project=project)
    return [
        newest_of(answers),
        newest_of(suggestions, "pk"),
        list(project.tasks.values_list("name", "kind")),
    ]


AGREEMENT = register_insight(
    InsightKind(
        name=REPORT,
        title="Agreement",
        compute="annotation.adjudication.selectors.compute_agreement",
        inputs=_inputs,
        is_wanted=lambda project: Annotation.objects.filter(sentence__project=project).exists(),
        role=Role.CURATOR,
        job=Job.Kind.REPORT,
        page="agreement",
        place="agreement",
    )
)
