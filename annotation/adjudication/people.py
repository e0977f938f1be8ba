"""What is known of the people of a project: pace, agreement over time, what their votes count.

The worker computes it and stores it; pages and the final answer read what is stored.

How much each person's vote counts, per task: Dawid and Skene's EM over what people answered.

Truths are latent; each person has a confusion matrix. What is gold is known and teaches the
matrices directly (`mtl_engine/metrics/dawid_skene.py`).

Answers come apart into units on which people vote: the sentence with its labels as categories
where a sentence has one label, else every item that anybody has, which is there or not.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db.models import Count, Q
from django.utils import timezone

from annotation.adjudication.agreement import Ratio, ratio_score
from annotation.jobs.insights import (
    InsightKind,
    NoSettings,
    inputs_hash,
    keep_insight,
    newest_of,
    register_insight,
    stored_result,
)
from annotation.jobs.services import Progress
from annotation.models import Annotation, Gold, Job, Lease, Project, Role, Submission, Task
from annotation.queue.checks import checked_answers_of
from mtl_engine.kinds import KINDS
from mtl_engine.metrics.dawid_skene import MISSING, dawid_skene

FEWEST_UNITS = 20  # of a person: before, all votes count the same
FEWEST_PEOPLE = 3  # without gold, two people cannot be told apart
PRIOR_UNITS = 20.0  # by which a person's accuracy is drawn to the mean of all
LEAST_WEIGHT = 0.1
Array = np.ndarray


@dataclass(frozen=True)
class Cell:
    """One sentence: what people answered to a task, and gold where there is any."""

    answers: Mapping[int, Any]  # person -> answer
    gold: Any = None  # None: nobody knows


@dataclass(frozen=True)
class PersonWeight:
    """What a person's vote on a task counts, 1 = as much as the mean, and why."""

    weight: float
    accuracy: float  # expected share of units on which they are right
    n_units: int
    mistakes: tuple[tuple[str, str, float], ...] = ()  # (true, said, units), the most first


def estimate_weights(kind: str, cells: Sequence[Cell]) -> dict[int, PersonWeight]:
    """Return the weight of everybody's vote on a task; empty where too little is known to tell.

    The weight is the log-odds of being right, against guessing (Nitzan and Paroush 1982).
    """
    people = sorted({person for cell in cells for person in cell.answers})
    has_gold = any(cell.gold is not None for cell in cells)
    if len(people) < 2 or (len(people) < FEWEST_PEOPLE and not has_gold):
        return {}
    votes, known, names = _units(kind, cells, people)
    n_categories = max(2, len(names))
    n_units = (votes != MISSING).sum(axis=0)
    if not len(votes) or (n_units >= FEWEST_UNITS).sum() < 2:
        return {}
    found = dawid_skene(votes, n_categories, known)
    right = np.array(
        [
            found.posterior[np.flatnonzero(column != MISSING), column[column != MISSING]].sum()
            for column in votes.T
        ]
    )
    mean = right.sum() / n_units.sum()
    accuracy = (right + PRIOR_UNITS * mean) / (n_units + PRIOR_UNITS)
    clipped = np.clip(accuracy, 1e-3, 1 - 1e-3)
    odds = np.log(clipped * (n_categories - 1) / (1 - clipped))
    weights = np.maximum(odds, LEAST_WEIGHT)
    weights = np.where(n_units >= FEWEST_UNITS, weights, weights.mean())
    weights = weights / weights.mean()
    return {
        person: PersonWeight(
            weight=round(float(weights[i]), 3),
            accuracy=round(float(accuracy[i]), 4),
            n_units=int(n_units[i]),
            mistakes=_mistakes(found.posterior, votes[:, i], names),
        )
        for i, person in enumerate(people)
    }


def _units(
    kind: str, cells: Sequence[Cell], people: Sequence[int]
) -> tuple[Array, Array, tuple[str, ...]]:
    """Return votes (units, people), known truths (units,), and what the categories are called."""
    if KINDS[kind].unit == "sentence":
        return _sentence_units(cells, people)
    places = {person: i for i, person in enumerate(people)}
    votes, known = [], []
    for cell in cells:
        sets = {person: set(KINDS[kind].items(a)) for person, a in cell.answers.items()}
        truth = None if cell.gold is None else set(KINDS[kind].items(cell.gold))
        for item in sorted(set().union(*sets.values(), truth or ()), key=repr):
            row = np.full(len(people), MISSING)
            for person, items in sets.items():
                row[places[person]] = item in items
            votes.append(row)
            known.append(MISSING if truth is None else int(item in truth))
    return np.array(votes), np.array(known), ("not there", "there")


def _sentence_units(
    cells: Sequence[Cell], people: Sequence[int]
) -> tuple[Array, Array, tuple[str, ...]]:
    said = {str(a) for cell in cells for a in cell.answers.values()}
    names = sorted(said | {str(cell.gold) for cell in cells if cell.gold is not None})
    codes = {name: i for i, name in enumerate(names)}
    votes = [
        [codes[str(cell.answers[p])] if p in cell.answers else MISSING for p in people]
        for cell in cells
    ]
    known = [MISSING if cell.gold is None else codes[str(cell.gold)] for cell in cells]
    return np.array(votes), np.array(known), tuple(names)


def _mistakes(
    posterior: Array, column: Array, names: Sequence[str]
) -> tuple[tuple[str, str, float], ...]:
    """Return what a person says in place of the truth, in expected units, the most first."""
    voted = np.flatnonzero(column != MISSING)
    counts = np.zeros((len(names), len(names)))
    np.add.at(counts.T, column[voted], posterior[voted][:, : len(names)])
    np.fill_diagonal(counts, 0.0)
    order = np.argsort(-counts, axis=None)[:3]
    pairs = [divmod(int(i), len(names)) for i in order]
    return tuple(
        (names[t], names[s], round(float(counts[t, s]), 1)) for t, s in pairs if counts[t, s] >= 1
    )


NAME = "people"
MOST_ANSWERS = 50_000  # per task, the newest
FEWEST_SHARED = 10  # sentences, before an agreement is a number
MOST_WEEKS = 26
LONGEST = 3600.0  # seconds; whoever was away longer was not working
OTHERS, CHECKS, DECIDED = "others", "checks", "decided"  # with whom somebody is compared


@dataclass
class _Counts:
    """What somebody has in common with others, comparison by comparison."""

    common: list[float] = field(default_factory=list)
    total: list[float] = field(default_factory=list)
    weeks: list[str] = field(default_factory=list)

    def add(self, counts: tuple[float, float], week: str) -> None:
        self.common.append(counts[0])
        self.total.append(counts[1])
        self.weeks.append(week)

    def score(self) -> dict[str, Any] | None:
        if len(self.common) < FEWEST_SHARED:
            return None
        found = ratio_score(Ratio(np.array(self.common), np.array(self.total)))
        return None if found.value is None else {**asdict(found), "n": len(self.common)}

    def by_week(self) -> dict[str, tuple[float, float]]:
        sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for week, common, total in zip(self.weeks, self.common, self.total, strict=True):
            sums[week][0] += common
            sums[week][1] += total
        return {week: (common, total) for week, (common, total) in sums.items()}


Compared = dict[tuple[int, str, str], _Counts]  # (person, task, with whom)


def people_report(project: Project) -> dict[str, Any]:
    """Return everything that is known of the people of a project, as JSON values."""
    compared: Compared = defaultdict(_Counts)
    weights: dict[str, dict[int, Any]] = {}
    tasks = list(project.tasks.filter(is_hidden=False))
    checked = set(checked_answers_of(project).values_list("pk", flat=True))
    for task in tasks:
        cells = _read(task, checked, compared)
        weights[task.name] = estimate_weights(task.kind, cells)
    work = _work(project)
    return {
        "tasks": [task.name for task in tasks],
        "weights": {
            task: {str(person): found.weight for person, found in by_person.items()}
            for task, by_person in weights.items()
            if by_person
        },
        "people": [
            {**row, **_agreements(row["id"], tasks, compared), **_votes(row["id"], weights)}
            for row in work
        ],
    }


def stored_people(project: Project) -> dict[str, Any]:
    """Return the report that is stored; an empty one before it was first computed."""
    return stored_result(project, NAME) or {"tasks": [], "weights": {}, "people": []}


def vote_weights(project: Project) -> dict[str, dict[int, float]]:
    """Return the weights of votes that are stored: task name -> person's id -> weight."""
    return {
        task: {int(person): weight for person, weight in by_person.items()}
        for task, by_person in stored_people(project)["weights"].items()
    }


def refresh_people(project: Project) -> None:
    """Compute and store the report where it is old; for the worker."""
    inputs = inputs_hash(PEOPLE, project, {})
    stored = project.insights.filter(name=NAME).first()
    if stored is None or stored.inputs != inputs:
        keep_insight(
            project=project,
            kind=PEOPLE,
            settings={},
            inputs=inputs,
            result=people_report(project),
        )


def compute(project: Project, settings: NoSettings, progress: Progress) -> dict[str, Any]:
    """Return the report; called by the worker."""
    progress("comparing", 0, None)
    return people_report(project)


def _read(task: Task, checked: set[int], compared: Compared) -> list[Cell]:
    """Add what a task tells of people; return the sentences that votes are weighed by."""
    answers: dict[int, list[tuple[int, int, Any, str]]] = defaultdict(list)
    rows = Annotation.objects.filter(task=task).order_by("-id")
    for pk, sentence, author, value, at in rows.values_list(
        "id", "sentence_id", "author_id", "value", "created_at"
    )[:MOST_ANSWERS]:
        answers[sentence].append((pk, author, value, _week(at)))
    gold = _known(task, answers)
    kind, measure = KINDS[task.kind], KINDS[task.kind].main_metric
    cells = []
    for sentence, given in answers.items():
        truth = gold.get(sentence)
        if truth is not None:
            for pk, author, value, week in given:
                counts = kind.common_and_total(measure, value, truth)
                compared[author, task.name, CHECKS if pk in checked else DECIDED].add(counts, week)
        for i, (_, author, value, week) in enumerate(given):
            for _, other, theirs, _ in [*given[:i], *given[i + 1 :]]:
                if other != author:
                    counts = kind.common_and_total(measure, value, theirs)
                    compared[author, task.name, OTHERS].add(counts, week)
        if len(given) > 1 or truth is not None:
            cells.append(Cell({author: value for _, author, value, _ in given}, truth))
    return cells


def _known(task: Task, answers: Mapping[int, Any]) -> dict[int, Any]:
    """Return the gold of answered sentences that was not made of the answers by a vote."""
    by_vote = (Gold.Source.AGREED, Gold.Source.MAJORITY)
    rows = Gold.objects.filter(task=task).exclude(source__in=by_vote)
    found = rows.values_list("sentence_id", "value").iterator(2000)
    return {sentence: value for sentence, value in found if sentence in answers}


def _agreements(person: int, tasks: Sequence[Task], compared: Compared) -> dict[str, Any]:
    """Return a person's agreement with others and with gold: in all, by task, by week."""
    found: dict[str, Any] = {"by_task": {}}
    weeks: dict[str, dict[str, list[float]]] = {}
    for whom in (OTHERS, CHECKS, DECIDED):
        everything = _Counts()
        weeks[whom] = defaultdict(lambda: [0.0, 0.0])
        for task in tasks:
            counts = compared.get((person, task.name, whom))
            if counts is None:
                continue
            found["by_task"].setdefault(task.name, {})[whom] = counts.score()
            for common, total, week in zip(
                counts.common, counts.total, counts.weeks, strict=True
            ):  # each task counts alike: a class as much as forty arcs
                everything.add((common / total if total else 1.0, 1.0), week)
        found[whom] = everything.score()
        for week, (common, total) in everything.by_week().items():
            weeks[whom][week] = [common, total]
    found["agreement_weeks"] = {
        whom: [[week, round(c / t, 4), int(t)] for week, (c, t) in sorted(of.items())][-MOST_WEEKS:]
        for whom, of in weeks.items()
    }
    return found


def _votes(person: int, weights: Mapping[str, Mapping[int, Any]]) -> dict[str, Any]:
    own = {task: asdict(found[person]) for task, found in weights.items() if person in found}
    return {"votes": own}


def _work(project: Project) -> list[dict[str, Any]]:
    """Return what each person did and how fast, in all and by week."""
    rows = Submission.objects.filter(project=project, number=1).order_by("id")
    seconds: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    accepted: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    last: dict[int, datetime] = {}
    names: dict[int, str] = {}
    for person, name, taken, suggestions, at in rows.values_list(
        "annotator_id", "annotator__username", "seconds", "suggestions", "submitted_at"
    ).iterator(2000):
        names[person], last[person] = name, at
        seconds[person][_week(at)].append(min(taken, LONGEST))
        for counts in suggestions.values():
            accepted[person][0] += int(counts.get("accepted", 0))
            accepted[person][1] += int(counts.get("seen", 0))
    skips = dict(
        Lease.objects.filter(project=project, state=Lease.State.SKIPPED)
        .values_list("annotator_id")
        .annotate(n=Count("pk"))
    )
    return [
        {
            "id": person,
            "name": names[person],
            "n": sum(map(len, weeks.values())),
            "n_skipped": skips.get(person, 0),
            "minutes": round(sum(map(sum, weeks.values())) / 60, 1),
            "median_seconds": _median([s for of in weeks.values() for s in of]),
            "accepted": accepted[person][0] / accepted[person][1] if accepted[person][1] else None,
            "n_suggestions": accepted[person][1],
            "last_at": last[person].isoformat(),
            "weeks": [[week, len(of), _median(of)] for week, of in sorted(weeks.items())][
                -MOST_WEEKS:
            ],
        }
        for person, weeks in sorted(
            seconds.items(), key=lambda item: -sum(map(len, item[1].values()))
        )
    ]


def _median(values: Sequence[float]) -> float | None:
    timed = [value for value in values if value > 0]
    return round(float(np.median(timed)), 1) if timed else None


def _week(at: datetime) -> str:
    """Return the Monday of a moment's week."""
    day = at.astimezone(timezone.get_current_timezone()).date()
    return (day - timedelta(days=day.weekday())).isoformat()


def _inputs(project: Project) -> Any:
    answers = Annotation.objects.filter(sentence__project=project)
    gold = Gold.objects.filter(sentence__project=project)
    return [
        newest_of(answers),
        newest_of(gold),
        list(project.tasks.filter(~Q(is_hidden=True)).values_list("name", "kind")),
    ]


PEOPLE = register_insight(
    InsightKind(
        name=NAME,
        title="People",
        compute="annotation.adjudication.people.compute",
        inputs=_inputs,
        is_wanted=lambda project: Submission.objects.filter(project=project).exists(),
        role=Role.CURATOR,
        job=Job.Kind.REPORT,
        page="team",
        place="team",
    )
)
