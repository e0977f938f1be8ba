"""What runs in the worker. Nothing here imports torch: what needs it is named by its path."""

import logging
import time
import traceback
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks import task
from django_tasks_db.models import DBTaskResult

from annotation.errors import Refused
from annotation.import_report import ImportRefused
from annotation.models import Job, Project
from annotation.services import jobs
from annotation.worker import Parked, is_stopping

logger = logging.getLogger(__name__)

RUNNERS = {  # kind -> function(job, progress) that does the work and finishes the job
    Job.Kind.IMPORT: "annotation.corpus_jobs.run_import",
    Job.Kind.EXPORT: "annotation.corpus_jobs.run_export",
    Job.Kind.ROUND: "annotation.rounds.running.run_round",
    Job.Kind.ADVICE: "annotation.advice_jobs.run_advice",
}
MAX_TRIES = 5
REPORT_SECONDS = 1.0

Progress = Callable[[str, int, int | None], None]


@transaction.atomic
def enqueue_job(
    *, project: Project, kind: Job.Kind, arguments: dict[str, Any], created_by: Any
) -> Job:
    """Record a job and queue it for the next free worker, both or neither."""
    job = jobs.create_job(project=project, kind=kind, arguments=arguments, created_by=created_by)
    run_job.enqueue(job.pk)
    return job


@task(takes_context=True)
def run_job(context: Any, job_id: int) -> None:
    """Run one job to its end; a job that was interrupted is begun again."""
    job = Job.objects.select_related("project", "created_by").filter(pk=job_id).first()
    worker = (context.task_result.worker_ids or [""])[-1]
    if job is None or not jobs.start_job(job=job, worker=worker, now=timezone.now()):
        return
    job.refresh_from_db()
    try:
        import_string(RUNNERS[Job.Kind(job.kind)])(job, _progress_of(job))
    except Parked:
        jobs.park_job(job=job)
        raise
    except jobs.JobCancelled:
        jobs.confirm_cancelled(job=job, now=timezone.now())
    except Refused as refusal:
        result = refusal.report.as_json() if isinstance(refusal, ImportRefused) else {}
        jobs.fail_job(job=job, message=str(refusal), result=result, now=timezone.now())
    except Exception as error:
        logger.exception("job %d failed", job.pk)
        jobs.add_to_log(job=job, text=traceback.format_exc())
        words = f"{type(error).__name__}: {error}"
        jobs.fail_job(job=job, message=f"The worker met an error: {words}", now=timezone.now())
        raise


def rescue_jobs() -> int:
    """Queue or fail the jobs whose task is gone, and return how many those were."""
    n_rescued = 0
    for job in Job.objects.filter(state__in=jobs.OPEN):
        if _has_task(job):  # most have one, and looking takes no write lock
            continue
        with transaction.atomic():
            if _has_task(job):
                continue
            n_rescued += 1
            if job.n_tries < MAX_TRIES:
                jobs.park_job(job=job)
                run_job.enqueue(job.pk)
            else:
                words = f"{job.n_tries} workers died while they ran this job."
                jobs.fail_job(job=job, message=words, now=timezone.now())
    return n_rescued


def _has_task(job: Job) -> bool:
    """Return whether a task that waits or runs will bring the job to its end."""
    return DBTaskResult.objects.filter(
        task_path=run_job.module_path,
        status__in=("READY", "RUNNING"),
        args_kwargs={"args": [job.pk], "kwargs": {}},
    ).exists()


def _progress_of(job: Job) -> Progress:
    """Return a function that records progress, once a second at most, and stops a job."""
    last = 0.0

    def progress(stage: str, n_done: int, n_total: int | None) -> None:
        nonlocal last
        if is_stopping():
            raise Parked(f"Job {job.pk} waits for another worker.")
        is_new_second = time.monotonic() - last >= REPORT_SECONDS
        if is_new_second and not transaction.get_connection().in_atomic_block:
            last = time.monotonic()
            now = timezone.now()
            jobs.report_progress(job=job, stage=stage, n_done=n_done, n_total=n_total, now=now)

    return progress
