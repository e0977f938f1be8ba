"""Deciding what counts: gold where people agree, and a curator's word where they do not.

What waits for a curator besides: a flag is answered, corrected, or closed, and its author sees what
became of it. A sentence that is left out of the pool stays in the project and in exports; nobody is
asked about it, and nothing is learned from it.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation.accounts.log import record
from annotation.adjudication.people import vote_weights
from annotation.adjudication.selectors import disputes, gold_values
from annotation.bridge import tasks_by_name
from annotation.errors import MOST_TOLD, Conflict, InvalidInput, Problem, unknown_name
from annotation.models import Annotation, Flag, Gold, GoldVersion, Lease, Project, Sentence, Task
from annotation.models.project import LONGEST
from annotation.notifications.outbox import FLAG_ANSWERED, notify
from annotation.projects.documents import misplaced, words_of
from annotation.projects.services import update_task
from annotation.queue.asks import leave_out, take_back
from annotation.queue.checks import asked_again
from annotation.queue.submissions import DECIDES, checked_answers
from mtl_engine.kinds import KINDS, TaskSpec

FEWEST_VOTES = 3  # of which most can be told
QUOTED = 200  # characters of a sentence in guidelines


@transaction.atomic
def decide(
    *,
    project: Project,
    sentence: Sentence,
    answers: Mapping[str, Any],
    decided_by: Any,
    now: datetime,
    source: Gold.Source = Gold.Source.ADJUDICATED,
) -> list[Gold]:
    """Make answers gold, all of them or none; earlier gold is kept as a version.

    Relations are checked against the spans decided with them, or else against the spans' gold.
    """
    tasks = tasks_by_name(project.pk)
    unknown = [name for name in answers if name not in tasks][:MOST_TOLD]
    if unknown:
        raise InvalidInput([Problem(name, unknown_name("task", name, tasks)) for name in unknown])
    strange = {name: misplaced(tasks[name], is_document=sentence.is_document) for name in answers}
    if any(strange.values()):
        raise InvalidInput([Problem(name, why) for name, why in strange.items() if why])
    checked = checked_answers(
        answers=answers,
        wanted=[name for name in tasks if name in answers],
        tasks=tasks,
        tokens=words_of(sentence),
        context=gold_values(sentence),
    )
    Sentence.objects.select_for_update(no_key=True).get(pk=sentence.pk)  # one at a time
    loose = _loosened(sentence, tasks, checked)
    return [
        put_gold(sentence, tasks[name], value, source, decided_by, now)
        for name, value in {**checked, **loose}.items()
    ]


def _loosened(
    sentence: Sentence, tasks: Mapping[str, TaskSpec], decided: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the gold that hung on spans which go, without what hung on them."""
    gold = gold_values(sentence)
    found = {}
    for name, value in gold.items():
        task = tasks[name]
        if name not in decided and not task.is_document and {*task.parents} & {*decided}:
            left = tied(task, value, {**gold, **decided})
            if left != KINDS[task.kind].canonical(value):
                found[name] = left
    return found


def tied(task: TaskSpec, value: Any, answers: Mapping[str, Any]) -> Any:
    """Return what of an answer hangs on spans of other answers; all where these are missing."""
    spans = task.spans_among(answers)
    return value if spans is None else KINDS[task.kind].merge([value], parent_spans=spans)


DECIDES.append(decide)  # curators' answers to looks of the queue


@transaction.atomic
def settle_agreed(*, project: Project, now: datetime) -> int:
    """Make gold of every answer that two or more people gave alike, and return how many.

    Relations count only where the people's spans are settled too, and all that they link is there:
    links between spans that are still in dispute would hang in the air.
    """
    tasks = {task.id: task for task in tasks_by_name(project.pk).values()}
    numbers = {task.name: number for number, task in tasks.items()}
    rows = Gold.objects.filter(sentence__project=project)
    settled = set(rows.values_list("sentence_id", "task_id"))
    parents = {numbers[name] for task in tasks.values() for name in task.parents}
    spans: dict[int, dict[str, Any]] = defaultdict(dict)
    for sentence_id, task_id, value in rows.filter(task__in=parents).values_list(
        "sentence_id", "task_id", "value"
    ):
        spans[sentence_id][tasks[task_id].name] = value
    answers: dict[tuple[int, int], list[str]] = defaultdict(list)
    values: dict[tuple[int, int], Any] = {}
    for sentence_id, task_id, value in Annotation.objects.filter(
        sentence__project=project
    ).values_list("sentence_id", "task_id", "value"):
        answers[sentence_id, task_id].append(json.dumps(value))
        values[sentence_id, task_id] = value
    agreed = [
        cell
        for cell, given in answers.items()
        if cell not in settled and len(given) >= 2 and len(set(given)) == 1
    ]
    agreed.sort(key=lambda cell: tasks[cell[1]].parent is not None)
    new = []
    for sentence_id, task_id in agreed:
        task, value = tasks[task_id], values[sentence_id, task_id]
        if task.parents and not task.is_document:
            known, whole = spans[sentence_id], KINDS[task.kind].canonical(value)
            if task.spans_among(known) is None or tied(task, value, known) != whole:
                continue
        spans[sentence_id][task.name] = value
        new.append(
            Gold(
                sentence_id=sentence_id,
                task_id=task_id,
                value=value,
                source=Gold.Source.AGREED,
                updated_at=now,
            )
        )
    Gold.objects.bulk_create(new, ignore_conflicts=True, batch_size=500)
    return len(new)


@transaction.atomic
def settle_by_votes(
    *, project: Project, decided_by: Any, now: datetime, task: str = "", corpus: str = ""
) -> int:
    """Make gold of what most people say where they differ; return of how many answers.

    Three or more must have answered, and more than half of the weight must stand behind every item:
    what is tied stays open. Relations follow where their spans are gold.
    """
    tasks = tasks_by_name(project.pk)
    weights = vote_weights(project)
    open_ones = {
        found.sentence_id: found.tasks for found in disputes(project, task=task, corpus=corpus)
    }
    rows = Annotation.objects.filter(sentence__in=open_ones).order_by("created_at", "id")
    given: dict[tuple[int, str], list[tuple[int, Any]]] = defaultdict(list)
    for sentence, name, author, value in rows.values_list(
        "sentence_id", "task__name", "author_id", "value"
    ):
        if name in open_ones[sentence]:
            given[sentence, name].append((author, value))
    sentences = Sentence.objects.in_bulk(list(open_ones))
    n_settled = 0
    for (sentence_id, name), votes in sorted(
        given.items(), key=lambda cell: tasks[cell[0][1]].parent is not None
    ):
        spans = tasks[name].spans_among(gold_values(sentences[sentence_id]))
        if spans is None and tasks[name].parents:
            continue
        own = [weights.get(name, {}).get(author, 1.0) for author, _ in votes]
        merged = clear_majority(tasks[name].kind, [value for _, value in votes], own, spans)
        if merged is not None:
            found, source = sentences[sentence_id], Gold.Source.MAJORITY
            put_gold(found, tasks[name], merged, source, decided_by, now)
            n_settled += 1
    record("gold.majority", project=project, actor=decided_by, n=n_settled, task=task)
    return n_settled


def clear_majority(
    kind: str, values: Sequence[Any], weights: Sequence[float], parent_spans: Any = None
) -> Any:
    """Return what more than half of the weight says item by item, None where that is not clear."""
    if len(values) < FEWEST_VOTES:
        return None
    known = KINDS[kind]
    merged = known.merge(values, weights, parent_spans=parent_spans)
    half = sum(weights) / 2
    votes: dict[Any, float] = defaultdict(float)
    for value, weight in zip(values, weights, strict=True):
        for item in set(known.items(value)):
            votes[item] += weight
    kept = set(known.items(merged))
    is_clear = all(votes[item] > half * (1 + 1e-9) for item in kept) and all(
        weight < half * (1 - 1e-9) for item, weight in votes.items() if item not in kept
    )
    return merged if is_clear else None


def put_gold(
    sentence: Sentence, task: TaskSpec, value: Any, source: str, decided_by: Any, now: datetime
) -> Gold:
    """Store a gold answer; the one before it is kept as a version. The caller has checked it."""
    gold = Gold.objects.select_for_update().filter(sentence=sentence, task_id=task.id).first()
    if gold is None:
        return Gold.objects.create(
            sentence=sentence,
            task_id=task.id,
            value=value,
            source=source,
            decided_by=decided_by,
            updated_at=now,
        )
    GoldVersion.objects.create(
        gold=gold,
        version=gold.version,
        value=gold.value,
        source=gold.source,
        decided_by=gold.decided_by,
        created_at=gold.updated_at,
    )
    gold.value, gold.source, gold.decided_by = value, source, decided_by
    gold.version, gold.updated_at = gold.version + 1, now
    gold.save()
    return gold


@dataclass(frozen=True)
class SkippedSentence:
    """A sentence that people skipped, with their reasons."""

    sentence: Sentence
    reasons: tuple[tuple[str, str, str], ...]  # person, kind, words


def flags_of(project: Project, *, is_open: bool | None = None) -> QuerySet[Flag]:
    """Return the flags on a project's sentences, newest first."""
    flags = Flag.objects.filter(sentence__project=project).select_related(
        "sentence", "sentence__corpus", "author", "resolved_by"
    )
    if is_open is not None:
        flags = flags.filter(resolved_at__isnull=is_open)
    return flags.order_by("-id")


def skipped_sentences(project: Project, *, most: int = 200) -> list[SkippedSentence]:
    """Return the sentences in the pool that people skipped, most skipped first.

    Those that somebody else has answered since, or is asked about, wait for nobody.
    """
    skips = Lease.objects.filter(project=project, state=Lease.State.SKIPPED).filter(
        ~Exists(Annotation.objects.filter(sentence=OuterRef("ask__sentence"))),
        ~Exists(Gold.objects.filter(sentence=OuterRef("ask__sentence"))),
        ~Exists(asked_again("ask__sentence")),
    )
    counts = (
        skips.filter(ask__sentence__left_out="")
        .values("ask__sentence")
        .annotate(n=Count("annotator", distinct=True))
        .order_by("-n", "ask__sentence")[:most]
    )
    ids = [row["ask__sentence"] for row in counts]
    sentences = Sentence.objects.select_related("corpus").in_bulk(ids)
    reasons: dict[int, list[tuple[str, str, str]]] = {i: [] for i in ids}
    for sentence_id, name, kind, words in skips.filter(ask__sentence__in=ids).values_list(
        "ask__sentence_id", "annotator__username", "skip_kind", "skip_reason"
    ):
        reasons[sentence_id].append((name, kind, words))
    return [SkippedSentence(sentences[i], tuple(reasons[i])) for i in ids]


@transaction.atomic
def add_to_guidelines(
    *, task: Task, sentence: Sentence, answer: str, actor: Any, now: datetime
) -> None:
    """Write a curator's answer behind the guidelines of a task, with its sentence and the day."""
    quoted = " ".join(sentence.text.split())[:QUOTED].replace("`", "'")
    added = f"`{quoted}` ({now:%Y-%m-%d}): {answer}"
    guidelines = f"{task.guidelines.rstrip()}\n\n{added}".strip()
    if len(guidelines) > LONGEST:
        message = f"The guidelines of {task.name} would be longer than {LONGEST:,} characters."
        raise InvalidInput([Problem("guidelines", message)])
    update_task(task=task, changes={"guidelines": guidelines}, actor=actor)


@transaction.atomic
def resolve_flag(
    *,
    flag: Flag,
    outcome: Flag.Outcome,
    answer: str,
    resolved_by: Any,
    now: datetime,
    gold: dict[str, Any] | None = None,
) -> Flag:
    """Close a flag with what was done about it; corrected gold comes along."""
    flag = Flag.objects.select_for_update().select_related("sentence__project").get(pk=flag.pk)
    if flag.resolved_at is not None:
        raise Conflict("This flag is resolved already.")
    if outcome == Flag.Outcome.CORRECTED and not gold:
        raise InvalidInput([Problem("gold", "Give the corrected answers by task name.")])
    if outcome == Flag.Outcome.ANSWERED and not answer:
        raise InvalidInput([Problem("answer", "Write an answer, or close the flag.")])
    project = flag.sentence.project
    if gold:
        decide(
            project=project,
            sentence=flag.sentence,
            answers=gold,
            decided_by=resolved_by,
            now=now,
        )
    if outcome == Flag.Outcome.LEFT_OUT:
        leave_out(sentence=flag.sentence, reason=flag.comment, actor=resolved_by)
    flag.outcome, flag.answer = outcome, answer
    flag.resolved_by, flag.resolved_at = resolved_by, now
    flag.save(update_fields=["outcome", "answer", "resolved_by", "resolved_at"])
    notify(
        FLAG_ANSWERED,
        project=project,
        now=now,
        facts={},
        page="annotate",
        people=[flag.author] if flag.author != resolved_by else [],
    )
    record("flag.resolved", project=project, actor=resolved_by, flag=flag.pk, outcome=outcome)
    return flag


@transaction.atomic
def reopen_flag(*, flag: Flag, actor: Any) -> Flag:
    """Open a flag again; a sentence that was left out because of it comes back."""
    if flag.outcome == Flag.Outcome.LEFT_OUT and flag.sentence.left_out:
        take_back(sentence=flag.sentence, actor=actor)
    flag.outcome, flag.answer = "", ""
    flag.resolved_by, flag.resolved_at, flag.seen_at = None, None, None
    flag.save()
    record("flag.reopened", project=flag.sentence.project, actor=actor, flag=flag.pk)
    return flag
