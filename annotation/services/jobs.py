"""The life of a job: queued, running, then done, failed or cancelled."""

from datetime import datetime
from typing import Any

from annotation.errors import Conflict
from annotation.models import Job, Project, Worker

MAX_LOG = 200_000  # characters; the newest are kept
OPEN = (Job.State.QUEUED, Job.State.RUNNING)


class JobCancelled(Exception):
    """Raised inside a job that somebody has cancelled."""


def create_job(
    *, project: Project, kind: Job.Kind, arguments: dict[str, Any], created_by: Any
) -> Job:
    """Record work to be done by a worker; ``annotation.jobs.enqueue_job`` also queues it."""
    return Job.objects.create(
        project=project, kind=kind, arguments=arguments, created_by=created_by
    )


def start_job(*, job: Job, worker: str, now: datetime) -> bool:
    """Mark a job as running, again if its worker died; return whether there is work to do."""
    if job.worker != worker and Worker.objects.filter(name=job.worker).exists():
        return False
    return bool(
        Job.objects.filter(pk=job.pk, state__in=OPEN, wants_cancel=False).update(
            state=Job.State.RUNNING,
            worker=worker,
            started_at=job.started_at or now,
            heartbeat_at=now,
            n_tries=job.n_tries + 1,
            message="",
        )
    )


def report_progress(
    *, job: Job, stage: str, n_done: int, n_total: int | None, now: datetime
) -> None:
    """Record how far a job is; raise JobCancelled if somebody wants it to stop."""
    Job.objects.filter(pk=job.pk).update(
        stage=stage, n_done=n_done, n_total=n_total, heartbeat_at=now
    )
    if Job.objects.filter(pk=job.pk, wants_cancel=True).exists():
        raise JobCancelled(f"Job {job.pk} was cancelled.")


def add_to_log(*, job: Job, text: str) -> None:
    """Append lines to what a job tells about itself."""
    job.log = f"{job.log}{text.rstrip()}\n"[-MAX_LOG:]
    job.save(update_fields=["log"])


def finish_job(*, job: Job, result: dict[str, Any], now: datetime, message: str = "") -> None:
    """Mark a job as done, with what came out of it."""
    _close(job, Job.State.DONE, now, result=result, message=message)


def fail_job(
    *, job: Job, message: str, now: datetime, result: dict[str, Any] | None = None
) -> None:
    """Mark a job as failed, with what to tell people."""
    _close(job, Job.State.FAILED, now, result=result or {}, message=message)


def park_job(*, job: Job) -> None:
    """Put a running job back into the queue, to be begun again by another worker."""
    Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).update(state=Job.State.QUEUED, worker="")


def cancel_job(*, job: Job, now: datetime) -> Job:
    """Stop a job: at once while it waits, at its next safe point when it runs."""
    waiting = Job.objects.filter(pk=job.pk, state=Job.State.QUEUED)
    running = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING)
    stopped = waiting.update(state=Job.State.CANCELLED, wants_cancel=True, finished_at=now)
    if not stopped and not running.update(wants_cancel=True):
        raise Conflict("This job has ended already.")
    job.refresh_from_db()
    return job


def confirm_cancelled(*, job: Job, now: datetime) -> None:
    """Mark a job as stopped on request."""
    _close(job, Job.State.CANCELLED, now, result={}, message="Cancelled.")


def _close(
    job: Job, state: Job.State, now: datetime, *, result: dict[str, Any], message: str
) -> None:
    """End a job that has not ended yet."""
    Job.objects.filter(pk=job.pk, state__in=OPEN).update(
        state=state, result=result, message=message, finished_at=now, heartbeat_at=now
    )
    job.refresh_from_db()
