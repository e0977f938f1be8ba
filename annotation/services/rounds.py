"""The life of a round: launched, carried through its stages, labelled, done."""

import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Max
from django.utils import timezone

from annotation.errors import Conflict
from annotation.jobs import enqueue_job
from annotation.models import Gold, Job, Project, Queue, Round, Sentence, Suggestion, Task
from annotation.round_config import read_round_config
from annotation.selectors.round_plan import plan_round
from annotation.services import jobs
from annotation.services.asking import AskRow, put_asks

ENOUGH_TO_TEST = 50  # labelled sentences that make a test slice without further work
ENDED = (Round.State.FAILED, Round.State.CANCELLED)


def launch_round(*, project: Project, config: Mapping[str, Any], created_by: Any) -> Round:
    """Queue a new round for the worker, or say why it cannot start."""
    names = list(project.tasks.values_list("name", flat=True))
    chosen = read_round_config(config, names)
    plan = plan_round(project, chosen)
    if plan.problems:
        raise Conflict(" ".join(plan.problems))
    try:
        with transaction.atomic():
            last = project.rounds.aggregate(last=Max("number"))["last"] or 0
            new = Round.objects.create(
                project=project, number=last + 1, config=chosen.to_dict(), created_by=created_by
            )
            _enqueue(new, created_by)
    except IntegrityError:
        running = project.rounds.filter(state__in=Round.RUNNING).first()
        words = f"Round {running.number} is {running.state}" if running else "A round has started"
        raise Conflict(f"{words}: one at a time. Wait for it or cancel it.") from None
    return new


def retry_round(*, round: Round, created_by: Any) -> Round:
    """Queue a failed or cancelled round again; the stages that it finished are kept."""
    if round.state not in ENDED:
        raise Conflict(f"Round {round.number} is {round.state}: only a failed one can be retried.")
    try:
        with transaction.atomic():
            _set(round, state=Round.State.QUEUED, message="", finished_at=None)
            _enqueue(round, created_by)
    except IntegrityError:
        raise Conflict("Another round of this project is running.") from None
    return round


def cancel_round(*, round: Round, now: datetime) -> Round:
    """Stop a round that is queued or running; the queue that serves now goes on serving."""
    job = round_job(round)
    if round.state not in Round.RUNNING or job is None:
        raise Conflict(f"Round {round.number} is {round.state} and cannot be cancelled.")
    with transaction.atomic():
        jobs.cancel_job(job=job, now=now)
        if job.state == Job.State.CANCELLED:
            end_round(round=round, state=Round.State.CANCELLED, message="Cancelled.", now=now)
    return round


def round_job(round: Round) -> Job | None:
    """Return the newest job of a round."""
    return Job.objects.filter(kind=Job.Kind.ROUND, arguments={"round": round.pk}).first()


def enter_stage(*, round: Round, state: Round.State) -> None:
    """Record that a round is at a stage."""
    _set(round, state=state)


def keep_stage(*, round: Round, name: str, facts: Mapping[str, Any]) -> None:
    """Record what a finished stage found, so that it is never computed again."""
    _set(round, stages={**round.stages, name: dict(facts)})


def park_round(*, round: Round) -> None:
    """Put a round back into the queue for the next worker."""
    _set(round, state=Round.State.QUEUED)


def note_resumed(*, round: Round) -> None:
    """Count that a worker goes on where another one stopped."""
    Round.objects.filter(pk=round.pk).update(n_resumed=F("n_resumed") + 1)
    round.refresh_from_db(fields=["n_resumed"])


def end_round(*, round: Round, state: Round.State, message: str, now: datetime) -> None:
    """Close a round that failed or was cancelled, with what to tell people."""
    _set(round, state=state, message=message, finished_at=now)


@transaction.atomic
def freeze_test_slice(*, project: Project, size: int, seed: int) -> int:
    """Set sentences aside for testing, once in a project's life; return how many they are.

    They are drawn by chance: first from sentences that have gold for every task, at most half of
    those, because they cost nothing. Only where these are fewer than 50, the rest of the slice is
    drawn from all others, to be labelled.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    frozen = Sentence.objects.filter(project=project, is_test=True).count()
    if frozen:
        return frozen
    labelled = _fully_labelled(project)
    labelled_set = set(labelled)
    others = [
        i
        for i in Sentence.objects.filter(project=project)
        .order_by("id")
        .values_list("id", flat=True)
        if i not in labelled_set
    ]
    rng = random.Random(seed)
    size = min(size, (len(labelled) + len(others)) // 2)
    from_labelled = rng.sample(labelled, min(size, len(labelled) // 2))
    n_missing = size - len(from_labelled) if len(from_labelled) < ENOUGH_TO_TEST else 0
    from_others = rng.sample(others, min(n_missing, len(others)))
    return _mark_as_test([*from_labelled, *from_others])


def open_labelling(
    *,
    round: Round,
    rows: Iterable[AskRow],
    suggestions: Sequence[Suggestion],
    overlap: int,
    budget_minutes: float | None,
    now: datetime,
) -> None:
    """Offer the suggestions, swap the new queue in, and close the rounds before this one."""
    if not Queue.objects.filter(round=round, is_current=True).exists():
        _store_suggestions(suggestions)
        put_asks(
            project=round.project,
            round=round,
            rows=rows,
            overlap=overlap,
            budget_minutes=budget_minutes,
            now=now,
        )
    with transaction.atomic():
        earlier = Round.objects.filter(project=round.project, state=Round.State.LABELLING)
        earlier.exclude(pk=round.pk).update(state=Round.State.DONE, finished_at=now)
        _set(round, state=Round.State.LABELLING)


def keep_manifest(*, round: Round, manifest: Mapping[str, Any]) -> None:
    """Record what is needed to replay a round."""
    _set(round, manifest=dict(manifest))


def close_answered_rounds() -> int:
    """Mark labelling rounds whose queue is answered as done; return how many."""
    n_closed = 0
    for round in Round.objects.filter(state=Round.State.LABELLING):
        queue = Queue.objects.filter(round=round, is_current=True).first()
        if queue is not None and not queue.asks.filter(is_open=True).exists():
            n_closed += Round.objects.filter(pk=round.pk, state=Round.State.LABELLING).update(
                state=Round.State.DONE, finished_at=timezone.now()
            )
    return n_closed


def _enqueue(round: Round, created_by: Any) -> None:
    enqueue_job(
        project=round.project,
        kind=Job.Kind.ROUND,
        arguments={"round": round.pk},
        created_by=created_by,
    )


def _set(round: Round, **values: Any) -> None:
    for name, value in values.items():
        setattr(round, name, value)
    round.save(update_fields=list(values))


def _fully_labelled(project: Project) -> list[int]:
    n_tasks = Task.objects.filter(project=project).count()
    counts: dict[int, int] = {}
    for sentence_id in Gold.objects.filter(sentence__project=project).values_list(
        "sentence_id", flat=True
    ):
        counts[sentence_id] = counts.get(sentence_id, 0) + 1
    return sorted(i for i, n in counts.items() if n == n_tasks)


def _mark_as_test(ids: Sequence[int]) -> int:
    for first in range(0, len(ids), 500):
        Sentence.objects.filter(pk__in=ids[first : first + 500]).update(is_test=True)
    return len(ids)


def _store_suggestions(suggestions: Sequence[Suggestion]) -> None:
    Suggestion.objects.bulk_create(
        suggestions,
        update_conflicts=True,
        unique_fields=["sentence", "task"],
        update_fields=["value", "confidence", "details", "source", "round", "created_at"],
        batch_size=500,
    )
