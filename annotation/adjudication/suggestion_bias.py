"""What suggestions do to answers: people against the model and each other, shown or blind.

Blind asks are drawn by chance from the chosen ones, so a difference is the suggestions' doing.
Every source is measured in the same way: our own model, imports, and whatever suggests from
outside.
"""

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Count

from annotation.adjudication.agreement import Score, measure_agreement
from annotation.models import Annotation, Project, Submission, Suggestion, Task
from annotation.queue.suggestions import MODEL as OWN
from annotation.queue.suggestions import drawn_row, source_words
from config.home import home
from config.store import RoundFiles
from mtl_engine.kinds import KINDS

logger = logging.getLogger(__name__)
PERSON, MODEL = "person", "model"
MOST_SENTENCES = 1000  # newest first, of each side
MOST_WORK = 3000  # submissions, newest first
LEAST_TIMED = 8  # submissions of each side before times are compared
HELPS, HURTS, UNDECIDED, UNKNOWN = "helps", "hurts", "no difference shown", "not enough to tell"


@dataclass(frozen=True)
class Compared:
    """One measure where suggestions were shown, and where they were withheld."""

    shown: Score
    blind: Score
    n_shown: int
    n_blind: int


@dataclass(frozen=True)
class TaskBias:
    """How close people come to the model, and to each other, with and without seeing it."""

    task: str
    measure: str
    to_model: Compared
    to_each_other: Compared


def suggestion_bias(project: Project) -> list[TaskBias]:
    """Return the comparison of each task that has blind asks; nothing before the first."""
    withheld = _withheld(project)
    return [
        _task_bias(task, withheld[task.name]) for task in project.tasks.all() if withheld[task.name]
    ]


def _task_bias(task: Task, withheld: dict[int, Any]) -> TaskBias:
    rows = Suggestion.objects.filter(task=task, round__isnull=False)
    shown = {
        sentence_id: value
        for sentence_id, value in rows.values_list("sentence_id", "value")
        if sentence_id not in withheld
    }
    measure = KINDS[task.kind].main_metric
    sides = [_side(task, shown), _side(task, withheld)]
    return TaskBias(
        task.name,
        measure,
        *(
            Compared(a.scores.get(measure, Score(None)), b.scores.get(measure, Score(None)), n, m)
            for (a, n), (b, m) in zip(*sides, strict=True)
        ),
    )


def _side(task: Task, model: dict[int, Any]) -> list[tuple[Any, int]]:
    """Return the agreement with the model and among people, each with its number of cases."""
    newest = sorted(model, reverse=True)[:MOST_SENTENCES]
    answers: dict[int, dict[str, Any]] = defaultdict(dict)
    sizes: dict[int, int] = {}
    rows = Annotation.objects.filter(task=task, sentence__in=newest)
    for sentence_id, person, value, n_tokens in rows.values_list(
        "sentence_id", "author__username", "value", "sentence__n_tokens"
    ):
        answers[sentence_id][person] = value
        sizes[sentence_id] = n_tokens
    cases = [
        (sentence_id, {PERSON: value, MODEL: model[sentence_id]})
        for sentence_id, by_person in answers.items()
        for value in by_person.values()
    ]
    with_model = measure_agreement(task.kind, [c for _, c in cases], [sizes[i] for i, _ in cases])
    among = measure_agreement(task.kind, list(answers.values()), [sizes[i] for i in answers])
    return [(with_model, len(cases)), (among, among.n_sentences)]


def _withheld(project: Project) -> dict[str, dict[int, Any]]:
    """Return the model's answers to blind asks, by task and sentence."""
    found: dict[str, dict[int, Any]] = defaultdict(dict)
    for folder, digests in project.rounds.order_by("number").values_list("folder", "files"):
        path = home().withheld_answers(folder)
        RoundFiles(folder, digests).bring(path.name)
        if path.exists():
            try:
                rows = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:  # cut or damaged: the comparison does without this round
                logger.warning("'%s' is damaged and left out of the comparison", path)
                continue
            for row in rows:
                found[row["task"]][row["sentence"]] = row["value"]
    return found


@dataclass(frozen=True)
class SourceReport:
    """What one source of suggestions is worth for one task."""

    task: str
    source: str
    measure: str
    n_suggestions: int
    with_people: Compared  # the source and people who saw it, or did not
    seen: int  # items
    accepted: int
    edited: int
    rejected: int
    seconds_saved: Score  # of a whole sentence, length, tasks and person held equal
    n_timed: int  # submissions that saw it
    n_timed_blind: int
    verdict: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class _Work:
    """One submission: on what, by whom, how long, and what was shown."""

    ask: int
    sentence: int
    n_tokens: int
    person: int
    tasks: Sequence[str]
    seconds: float
    is_blind: bool
    at: datetime
    counts: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class _Row:
    """A suggestion of a source on a sentence."""

    source: str
    words: str  # what annotators read
    value: Any
    at: datetime


def measure_sources(project: Project) -> list[SourceReport]:
    """Return what each source is worth for each task, those that hurt first."""
    works = _works(project)
    withheld = _withheld(project)
    found = [
        report
        for task in project.tasks.all()
        for report in _task_sources(project, task, works, withheld[task.name])
    ]
    order = (HURTS, HELPS, UNDECIDED, UNKNOWN)
    return sorted(found, key=lambda row: (order.index(row.verdict), row.task, row.source))


def _works(project: Project) -> list[_Work]:
    rows = Submission.objects.filter(project=project, number=1).order_by("-id")[:MOST_WORK]
    return [
        _Work(*row)
        for row in rows.values_list(
            *("lease__ask_id", "lease__ask__sentence_id", "lease__ask__sentence__n_tokens"),
            *("annotator_id", "lease__ask__tasks", "seconds", "lease__ask__is_blind"),
            *("submitted_at", "suggestions"),
        )
    ]


def _task_sources(
    project: Project, task: Task, works: Sequence[_Work], withheld: Mapping[int, Any]
) -> list[SourceReport]:
    rows = Suggestion.objects.filter(task=task)
    totals = dict(rows.values_list("source").annotate(n=Count("id")))
    if withheld and OWN not in totals:
        totals[OWN] = 0
    if not totals:
        return []
    mine = [work for work in works if task.name in work.tasks]
    sentences = sorted({work.sentence for work in mine})
    offered: dict[int, list[_Row]] = defaultdict(list)
    for sentence, source, number, value, at in (
        rows.filter(sentence__in=sentences)
        .order_by("source")
        .values_list("sentence_id", "source", "round__number", "value", "created_at")
    ):
        offered[sentence].append(_Row(source, source_words(source, number), value, at))
    given = Annotation.objects.filter(task=task, sentence__in=sentences)
    answers = {
        (sentence, person): value
        for sentence, person, value in given.values_list("sentence_id", "author_id", "value")
    }
    shown = {
        work.ask: {} if not project.shows_suggestions else _shown(work, task.name, offered)
        for work in mine
    }
    return [
        _report(task, source, n, mine, offered, withheld, answers, shown)
        for source, n in sorted(totals.items())
    ]


def _shown(work: _Work, task: str, offered: Mapping[int, Sequence[_Row]]) -> dict[str, Any]:
    """Return the name of the source that stood on a sentence, as recorded or as drawn."""
    if work.is_blind:
        return {}
    if "source" in work.counts.get(task, {}):
        return {"words": work.counts[task]["source"]}
    there = [row for row in offered.get(work.sentence, ()) if row.at <= work.at]
    return {"words": there[drawn_row(work.ask, task, len(there))].words} if there else {}


def _report(
    task: Task,
    source: str,
    n_suggestions: int,
    works: Sequence[_Work],
    offered: Mapping[int, Sequence[_Row]],
    withheld: Mapping[int, Any],
    answers: Mapping[tuple[int, int], Any],
    shown: Mapping[int, Mapping[str, Any]],
) -> SourceReport:
    sides: dict[bool, list[tuple[int, dict[str, Any]]]] = {True: [], False: []}
    counts: Counter[str] = Counter()
    timed: list[tuple[_Work, bool]] = []
    for work in works:
        row = next((r for r in offered.get(work.sentence, ()) if r.source == source), None)
        words = shown[work.ask].get("words")
        is_seen = row is not None and words == row.words
        value = row.value if row is not None else None
        if source == OWN:
            if work.is_blind:
                value = withheld.get(work.sentence, value)
            elif words and words.startswith("round ") and not is_seen:
                continue  # what an earlier round said is not kept
        if value is None:
            continue
        if is_seen:
            given = work.counts.get(task.name, {})
            counts.update({key: n for key, n in given.items() if isinstance(n, int)})
        if is_seen or work.is_blind:
            timed.append((work, is_seen))
        answer = answers.get((work.sentence, work.person))
        if answer is not None:
            sides[is_seen].append((work.n_tokens, {PERSON: answer, MODEL: value}))
    kind = KINDS[task.kind]
    scores = {}
    for is_seen, cases in sides.items():
        newest = cases[:MOST_SENTENCES]
        found = measure_agreement(task.kind, [c for _, c in newest], [n for n, _ in newest])
        scores[is_seen] = found.scores.get(kind.main_metric, Score(None))
    saved = _seconds_saved(timed)
    compared = Compared(scores[True], scores[False], len(sides[True]), len(sides[False]))
    verdict, reasons = judge(compared, saved)
    return SourceReport(
        task=task.name,
        source="our model" if source == OWN else source,
        measure=kind.main_metric,
        n_suggestions=n_suggestions,
        with_people=compared,
        seen=counts["seen"],
        accepted=counts["accepted"],
        edited=counts["edited"],
        rejected=counts["rejected"],
        seconds_saved=saved,
        n_timed=sum(is_seen for _, is_seen in timed),
        n_timed_blind=sum(not is_seen for _, is_seen in timed),
        verdict=verdict,
        reasons=reasons,
    )


def judge(with_people: Compared, saved: Score) -> tuple[str, tuple[str, ...]]:
    """Return whether a source helps or hurts, and why; only what intervals show counts."""
    hurts, helps, others = [], [], []
    shown, blind = with_people.shown, with_people.blind
    if saved.high is not None and saved.high < 0 and saved.value is not None:
        hurts.append(f"costs {-saved.value:.1f} seconds per sentence")
    if blind.high is not None and blind.high < 0.5:
        hurts.append("people who do not see it say something else more often than not")
    if saved.low is not None and saved.low > 0 and saved.value is not None:
        helps.append(f"saves {saved.value:.1f} seconds per sentence")
    if shown.low is not None and blind.high is not None and shown.low > blind.high:
        others.append("people who see it follow it where others do not")
    if hurts:
        return HURTS, tuple(hurts + others)
    if helps:
        return HELPS, tuple(helps + others)
    if saved.value is None and blind.low is None:
        return UNKNOWN, tuple(others)
    return UNDECIDED, tuple(others)


def _seconds_saved(timed: Sequence[tuple[_Work, bool]]) -> Score:
    """Return how much longer sentences take blind, by least squares with robust intervals.

    Words, the number of tasks and the person are held equal. Times of blind asks have the model's
    and other sources' answers withheld too, so the difference is between a source and nothing.
    """
    n_seen = sum(is_seen for _, is_seen in timed)
    if min(n_seen, len(timed) - n_seen) < LEAST_TIMED:
        return Score(None)
    people = sorted({work.person for work, _ in timed})
    seconds = np.array([work.seconds for work, _ in timed])
    seconds = np.minimum(seconds, np.quantile(seconds, 0.98))  # somebody went for coffee
    columns = [np.array([not is_seen for _, is_seen in timed], float)]
    columns += [np.array([work.person == one for work, _ in timed], float) for one in people]
    for about in ([w.n_tokens for w, _ in timed], [len(w.tasks) for w, _ in timed]):
        if len(set(about)) > 1:
            columns.append(np.array(about, float))
    x = np.column_stack(columns)  # (n, p)
    if len(timed) <= x.shape[1] or np.linalg.matrix_rank(x) < x.shape[1]:
        return Score(None)
    inverse = np.linalg.inv(x.T @ x)
    beta = inverse @ x.T @ seconds
    left = seconds - x @ beta
    n, p = x.shape
    middle = x.T @ (x * (left**2)[:, None])  # HC1: times of long sentences vary more
    error = float(np.sqrt((inverse @ middle @ inverse)[0, 0] * n / (n - p)))
    value = float(beta[0])
    return Score(value, value - 1.96 * error, value + 1.96 * error)
