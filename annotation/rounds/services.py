"""The life of a round: launched, carried through its stages, labelled, done."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Max
from django.utils import timezone

from annotation.accounts.log import record
from annotation.errors import Conflict, Refused
from annotation.jobs import services as jobs
from annotation.jobs.insights import queue_insights
from annotation.models import Gold, Job, Project, Queue, Round, Sentence
from annotation.notifications.outbox import ROUND_READY, TARGET_REACHED, notify
from annotation.queue.asks import AskRow, put_asks
from annotation.queue.suggestions import MODEL, Suggested, offer_suggestions
from annotation.rounds.selectors import draw_test_slice, earlier_scores, plan_round, round_job
from annotation.rounds.settings import RoundSettings, read_settings, shown_settings
from annotation.rounds.workspace import StoredSuggestion, Workspace

logger = logging.getLogger(__name__)

ENOUGH_TO_TEST = 50  # labelled sentences that make a test slice without further work
ENDED = (Round.State.FAILED, Round.State.CANCELLED)


def launch_round(*, project: Project, changes: Mapping[str, Any], created_by: Any) -> Round:
    """Queue a new round for the worker, or say why it cannot start.

    ``changes`` are the settings that differ from the project's defaults.
    """
    settings = read_settings(project, changes)
    plan = plan_round(project, settings)
    if plan.problems:
        raise Conflict(" ".join(plan.problems))
    try:
        with transaction.atomic():
            last = project.rounds.aggregate(last=Max("number"))["last"] or 0
            new = Round.objects.create(
                project=project, number=last + 1, config=settings.to_dict(), created_by=created_by
            )
            _enqueue(new, created_by)
            record("round.launched", project=project, actor=created_by, number=new.number)
    except IntegrityError:
        running = project.rounds.filter(state__in=Round.RUNNING).first()
        words = f"Round {running.number} is {running.state}" if running else "A round has started"
        raise Conflict(f"{words}: one at a time. Wait for it or cancel it.") from None
    return new


def repeat_round(*, round: Round, created_by: Any) -> Round:
    """Queue a new round with the settings of an earlier one."""
    return launch_round(project=round.project, changes=shown_settings(round), created_by=created_by)


@transaction.atomic
def set_default_settings(*, project: Project, values: Mapping[str, Any]) -> RoundSettings:
    """Keep what new rounds of a project are set to; only what differs from the product's."""
    project.round_defaults = {}
    settings = read_settings(project, values)
    product = RoundSettings().to_dict()
    chosen = settings.to_dict()
    project.round_defaults = {key: v for key, v in chosen.items() if v != product[key]}
    project.save(update_fields=["round_defaults"])
    return settings


def retry_round(*, round: Round, created_by: Any) -> Round:
    """Queue a failed or cancelled round again; the stages that it finished are kept."""
    if round.state not in ENDED:
        raise Conflict(f"Round {round.number} is {round.state}: only a failed one can be retried.")
    try:
        _enqueue(round, created_by)
    except IntegrityError:
        raise Conflict("Another round of this project is running.") from None
    round.refresh_from_db()
    return round


def cancel_round(*, round: Round, now: datetime) -> Round:
    """Stop a round that is queued or running; the queue that serves now goes on serving."""
    job = round_job(round)
    if round.state not in Round.RUNNING or job is None:
        raise Conflict(f"Round {round.number} is {round.state} and cannot be cancelled.")
    jobs.cancel_job(job=job, now=now)
    round.refresh_from_db()
    return round


def follow_job(job: Job) -> None:
    """Bring a round where its job is: waiting, labelled by people, failed or cancelled.

    This and ``enter_stage`` are all that moves a round until its queue is open.
    """
    state, message = {
        Job.State.QUEUED: (Round.State.QUEUED, ""),
        Job.State.DONE: (Round.State.LABELLING, ""),
        Job.State.FAILED: (Round.State.FAILED, job.message),
        Job.State.CANCELLED: (
            Round.State.CANCELLED,
            "Cancelled. The queue before it goes on serving.",
        ),
    }[Job.State(job.state)]
    has_ended = state in ENDED
    Round.objects.filter(pk=job.arguments["round"]).update(
        state=state, message=message, finished_at=job.finished_at if has_ended else None
    )


def enter_stage(*, round: Round, state: Round.State) -> None:
    """Record that a round is at a stage."""
    _set(round, state=state)


def keep_stage(
    *, round: Round, name: str, facts: Mapping[str, Any], files: Mapping[str, str]
) -> None:
    """Record what a finished stage found and wrote, so that it is never computed again."""
    _set(round, stages={**round.stages, name: dict(facts)}, files=dict(files))


def share_files(*, round: Round, workspace: Workspace) -> None:
    """Put what was written into the store, and record it."""
    files = workspace.publish()
    if files != round.files:
        _set(round, files=dict(files))
    workspace.recorded(files)


def note_resumed(*, round: Round) -> None:
    """Count that a worker goes on where another one stopped."""
    Round.objects.filter(pk=round.pk).update(n_resumed=F("n_resumed") + 1)
    round.refresh_from_db(fields=["n_resumed"])


@transaction.atomic
def freeze_labelled_tests(
    *, project: Project, size: int, seed: int, splits_documents: bool = False
) -> int:
    """Set sentences aside for testing, once in a project's life; return how many."""
    Project.objects.select_for_update().get(pk=project.pk)
    return _mark_as_test(
        draw_test_slice(project, size=size, seed=seed, splits_documents=splits_documents)
    )


def n_tests_wanted(*, project: Project, size: int) -> int:
    """Return how many sentences the test slice still wants; none where enough came labelled."""
    tests = Sentence.objects.filter(project=project, is_test=True)
    n_tests = tests.count()
    imported = Gold.objects.filter(sentence__in=tests, source=Gold.Source.IMPORTED)
    if imported.values("sentence").distinct().count() >= ENOUGH_TO_TEST:
        return 0
    n_sentences = Sentence.objects.filter(project=project, left_out="").count()
    wanted = min(size, n_sentences // 2)
    if 2 * n_tests >= wanted and not tests.filter(document="").exists():
        return 0  # whole documents were drawn; single sentences would cut others
    return max(0, wanted - n_tests)


def open_labelling(
    *,
    round: Round,
    job: Job,
    rows: Iterable[AskRow],
    suggestions: Sequence[StoredSuggestion],
    test_sentences: Sequence[int],
    overlap: int,
    budget_minutes: float | None,
    now: datetime,
) -> None:
    """Offer the suggestions, swap the new queue in, and close the rounds before this one.

    The job is done in the same transaction: a round whose queue is open is never run again.
    """

    def finish() -> None:
        earlier = Round.objects.filter(project=round.project, state=Round.State.LABELLING)
        earlier.update(state=Round.State.DONE, finished_at=now)
        jobs.finish_job(job=job, result={"round": round.pk}, now=now)
        _tell(round, now)

    _store_suggestions(round, suggestions, now)
    _mark_as_test(test_sentences)
    put_asks(
        project=round.project,
        round=round,
        rows=rows,
        overlap=overlap,
        budget_minutes=budget_minutes,
        now=now,
        on_swapped=finish,
    )
    round.refresh_from_db()


def _tell(round: Round, now: datetime) -> None:
    """Tell people and programs that a round asks, and which tasks have come to their target."""
    project = round.project
    queue = Queue.objects.filter(round=round).first()
    n_asks = queue.n_asks if queue else 0
    if n_asks:
        people = [membership.user for membership in project.memberships.select_related("user")]
        asked = {"round": round.number, "n": n_asks}
        notify(ROUND_READY, project=project, now=now, facts=asked, page="annotate", people=people)
    earlier = earlier_scores(round)
    before = earlier[-1] if earlier else {}
    for task in project.tasks.filter(is_hidden=False, target_score__isnull=False):
        target = task.target_score or 0.0
        score = round.stages["training"].get("scores", {}).get(task.name)
        if score is None or score["score"] < target:
            continue
        if before.get(task.name, -1.0) >= target:
            continue  # it was told then
        facts: dict[str, Any] = {"round": round.number, "task": task.name, "score": score["score"]}
        facts["target"] = target
        notify(TARGET_REACHED, project=project, now=now, facts=facts)


def keep_manifest(*, round: Round, manifest: Mapping[str, Any]) -> None:
    """Record what is needed to replay a round."""
    _set(round, manifest=dict(manifest))


def keep_up(*, now: datetime) -> None:
    """Close the rounds that are answered, and launch those that are due."""
    launch_due_rounds(now=now)
    close_answered_rounds()


def launch_due_rounds(*, now: datetime) -> list[Round]:
    """Launch the next round of every project whose queue is answered as far as it asked for."""
    launched = []
    for current in Round.objects.filter(state=Round.State.LABELLING).select_related("project"):
        percent = shown_settings(current)["next_at_percent"]
        if not percent or not _is_answered(current, percent):
            continue
        try:
            launched.append(repeat_round(round=current, created_by=current.created_by))
        except Refused as refusal:
            logger.info("round after %s is not launched: %s", current, refusal)
    return launched


def close_answered_rounds() -> int:
    """Mark labelling rounds whose queue is answered as done; return how many."""
    n_closed = 0
    for round in Round.objects.filter(state=Round.State.LABELLING):
        queue = Queue.objects.filter(round=round, is_current=True).first()
        if queue is not None and not queue.asks.filter(is_open=True).exists():
            is_closed = Round.objects.filter(pk=round.pk, state=Round.State.LABELLING).update(
                state=Round.State.DONE, finished_at=timezone.now()
            )
            if is_closed:
                queue_insights(project=round.project)
            n_closed += is_closed
    return n_closed


def _is_answered(round: Round, percent: float) -> bool:
    queue = Queue.objects.filter(round=round, is_current=True).first()
    if queue is None or not queue.n_asks:
        return False
    n_open = queue.asks.filter(is_open=True).count()
    return 100 * (queue.n_asks - n_open) / queue.n_asks >= percent


def _enqueue(round: Round, created_by: Any) -> None:
    jobs.enqueue_job(
        project=round.project,
        kind=Job.Kind.ROUND,
        arguments={"round": round.pk},
        created_by=created_by,
    )


def _set(round: Round, **values: Any) -> None:
    for name, value in values.items():
        setattr(round, name, value)
    round.save(update_fields=list(values))


def _mark_as_test(ids: Sequence[int]) -> int:
    for first in range(0, len(ids), 500):
        Sentence.objects.filter(pk__in=ids[first : first + 500]).update(is_test=True)
    return len(ids)


def _store_suggestions(
    round: Round, suggestions: Sequence[StoredSuggestion], now: datetime
) -> None:
    suggested = [
        Suggested(one.sentence, one.task, one.value, one.confidence, one.details)
        for one in suggestions
    ]
    offer_suggestions(
        project_id=round.project_id, source=MODEL, suggested=suggested, round=round, now=now
    )
