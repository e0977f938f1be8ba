"""The queue of jobs: a job waits, is claimed by one worker, and is done, failed or cancelled.

Every change of state is one conditional UPDATE; what depends on the job (a round) follows in the
same transaction. A claim is a fence: a worker that lost its job to another changes nothing more.

A room, or an app above this one, registers its kinds of jobs when Django starts. Everything is
named by its path and loaded when it is needed: nothing here imports torch or knows a room by name.
"""

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string

from annotation.accounts.access import get_project
from annotation.errors import Conflict, NotFound
from annotation.models import Job, Project, Role, Worker
from mtl_engine.errors import UnknownName

Progress = Callable[[str, int, int | None], None]  # stage, done, of how many

TRAINING, FILES, RESEARCH = "training", "files", "research"
LANES = (TRAINING, FILES, RESEARCH)
# Rounds and what they need; what needs no model and never waits for one; studies and advice, which
# may train for hours and hold nobody up.


@dataclass(frozen=True)
class JobKind:
    """A kind of job, by the paths of its functions.

    ``run(job, progress)`` does the work and finishes the job; it may be called again for a job that
    a worker left unfinished. ``follow(job)`` is called in the transaction in which the job's state
    changed. ``upkeep(now)`` is called by every worker every few seconds. ``forget(project_id)``
    removes what jobs of a deleted project left outside of the database and the project's folders.
    ``page(request, project, job)`` shows an ended job. ``home`` is the page that leads there.
    ``lane`` says which workers take it. One that ``stops_at_once`` keeps by itself what it has
    finished: cancelled, it is not waited for.
    """

    name: str
    title: str
    run: str
    follow: str = ""
    upkeep: str = ""
    forget: str = ""
    page: str = ""
    home: str = "data"
    lane: str = TRAINING
    stops_at_once: bool = False


JOB_KINDS: dict[str, JobKind] = {}


def register_job(kind: JobKind) -> None:
    """Add a kind of job."""
    JOB_KINDS[kind.name] = kind


def get_job_kind(name: str) -> JobKind:
    """Return the kind of that name."""
    if name not in JOB_KINDS:
        raise UnknownName("kind of job", name, JOB_KINDS)
    return JOB_KINDS[name]


def kinds_of(lane: str) -> list[str]:
    """Return the names of a lane's kinds of jobs."""
    return [kind.name for kind in JOB_KINDS.values() if kind.lane == lane]


def run_kind(job: Job, progress: Progress) -> None:
    """Do the work of a job."""
    import_string(get_job_kind(job.kind).run)(job, progress)


def follow_job(job: Job) -> None:
    """Tell whatever depends on a job that its state has changed."""
    path = get_job_kind(job.kind).follow
    if path:
        import_string(path)(job)


def keep_up(*, now: datetime) -> None:
    """Do what the kinds want done between jobs."""
    for kind in JOB_KINDS.values():
        if kind.upkeep:
            import_string(kind.upkeep)(now=now)


def forget_project(project_id: int) -> None:
    """Remove what jobs have left of a project that is gone."""
    for kind in JOB_KINDS.values():
        if kind.forget:
            import_string(kind.forget)(project_id)


def job_response(request: HttpRequest, project: Project, job: Job) -> HttpResponse | None:
    """Return the page of a job, if its kind has one for it."""
    path = get_job_kind(job.kind).page
    response: HttpResponse | None = import_string(path)(request, project, job) if path else None
    return response


def waits_for(job: Job) -> str:
    """Return what a queued job waits for: jobs of its lane that were there before, by their kind.

    Which projects they are of is nobody's business.
    """
    lane = get_job_kind(job.kind).lane
    ahead = Job.objects.filter(kind__in=kinds_of(lane), state__in=OPEN, pk__lt=job.pk)
    kinds = list(ahead.order_by("pk").values_list("kind", flat=True))
    if not kinds:
        return "Waiting for a free worker."
    titles = ", ".join(dict.fromkeys(get_job_kind(kind).title for kind in kinds))
    if len(kinds) == 1:
        return f"Waiting for a free worker; one job comes before it: {titles}."
    return f"Waiting for a free worker; {len(kinds)} jobs come before it: {titles}."


def job_titles() -> dict[str, str]:
    """Return what people call each kind of job."""
    return {kind.name: kind.title for kind in JOB_KINDS.values()}


Arguments = dict[str, Any]  # of a job, plain JSON values that its kind understands


MAX_LOG = 200_000  # characters; the newest are kept
MAX_TRIES = 5  # workers that may die of one job
CLAIMABLE = 50  # waiting jobs that a worker looks at; others may take the first ones before it does
MOST_OPEN = 50  # jobs of one project
BEAT_SECONDS = 5
DEAD_AFTER = timedelta(seconds=30)  # of silence, where nobody can see the worker's process
STUCK_AFTER = timedelta(minutes=10)  # of silence, where its process is there: the machine is busy
OPEN = (Job.State.QUEUED, Job.State.RUNNING)


class JobCancelled(Exception):
    """Raised inside a job that somebody has cancelled."""


class ClaimLost(Exception):
    """Raised inside a job that is another worker's by now."""


@transaction.atomic
def enqueue_job(*, project: Project, kind: str, arguments: Arguments, created_by: Any) -> Job:
    """Queue work for the next free worker; a project has so many jobs waiting and no more."""
    if Job.objects.filter(project=project, state__in=OPEN).count() >= MOST_OPEN:
        raise Conflict(f"{MOST_OPEN} jobs of this project wait already. Wait, or cancel some.")
    job = Job.objects.create(
        project=project, kind=get_job_kind(kind).name, arguments=arguments, created_by=created_by
    )
    follow_job(job)
    return job


def claim_job(*, worker: str, now: datetime, lane: str = "") -> Job | None:
    """Give the job of a lane that waits longest to a worker, and to no other."""
    waiting = Job.objects.filter(state=Job.State.QUEUED).order_by("pk")
    if lane:
        waiting = waiting.filter(kind__in=kinds_of(lane))
    for pk, started_at in list(waiting.values_list("pk", "started_at")[:CLAIMABLE]):
        with transaction.atomic():
            is_claimed = Job.objects.filter(pk=pk, state=Job.State.QUEUED).update(
                state=Job.State.RUNNING,
                worker=worker,
                started_at=Coalesce("started_at", now),
                heartbeat_at=now,
                n_tries=F("n_tries") + 1,
                message="",
            )
        if is_claimed:
            job = Job.objects.select_related("project", "created_by").get(pk=pk)
            job.is_resumed = started_at is not None
            return job
    return None


def report_progress(
    *, job: Job, stage: str, n_done: int, n_total: int | None, now: datetime
) -> None:
    """Record how far a job is; raise if it is cancelled or another worker's."""
    mine = _claimed(job)
    if not mine.update(stage=stage, n_done=n_done, n_total=n_total, heartbeat_at=now):
        raise _lost(job)
    if mine.filter(wants_cancel=True).exists():
        raise JobCancelled(f"Job {job.pk} was cancelled.")


def check_claim(*, job: Job) -> None:
    """Raise if a job is another worker's by now: its results are not to be written."""
    if not _claimed(job).exists():
        raise _lost(job)


def hold_claim(*, job: Job) -> None:
    """Lock a job to the end of the caller's transaction; raise if it is another worker's."""
    if not _claimed(job).select_for_update().exists():
        raise _lost(job)


def add_to_log(*, job: Job, text: str) -> None:
    """Append lines to what a job tells about itself."""
    job.log = f"{job.log}{text.rstrip()}\n"[-MAX_LOG:]
    Job.objects.filter(pk=job.pk).update(log=job.log)


def finish_job(*, job: Job, result: dict[str, Any], now: datetime, message: str = "") -> None:
    """Mark a job as done, with what came out of it."""
    _end(job, Job.State.DONE, now, result=result, message=message)


def fail_job(
    *, job: Job, message: str, now: datetime, result: dict[str, Any] | None = None
) -> None:
    """Mark a job as failed, with what to tell people."""
    _end(job, Job.State.FAILED, now, result=result or {}, message=message)


def confirm_cancelled(*, job: Job, now: datetime) -> None:
    """Mark a job as stopped on request."""
    _end(job, Job.State.CANCELLED, now, result={}, message="Cancelled.")


def park_job(*, job: Job) -> None:
    """Put a running job back into the queue: its worker stops in good order."""
    _move(job, Job.State.QUEUED, worker="", n_tries=F("n_tries") - 1)


def cancel_job(*, job: Job, now: datetime) -> Job:
    """Stop a job: at once while it waits, at its next safe point when it runs."""
    with transaction.atomic():
        waiting = Job.objects.filter(pk=job.pk, state=Job.State.QUEUED)
        running = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING)
        is_stopped = waiting.update(
            state=Job.State.CANCELLED, wants_cancel=True, message="Cancelled.", finished_at=now
        )
        if not is_stopped and not running.update(wants_cancel=True):
            raise Conflict("This job has ended already.")
        job.refresh_from_db()
        if is_stopped:
            follow_job(job)
    return job


def recover_jobs(*, now: datetime) -> int:
    """Queue again what dead workers were running, and return how many jobs those were.

    A job that took five workers down is failed instead, so that it cannot go on for ever.
    Looks first and writes only when there is something to mend: this runs every few seconds, and
    annotators' answers wait for whoever holds the write lock.
    """
    _forget_dead_workers(now)
    running = list(Job.objects.filter(state=Job.State.RUNNING))
    alive = set(Worker.objects.values_list("name", flat=True)) if running else set()
    orphans = [job for job in running if job.worker not in alive]
    for job in orphans:
        if job.wants_cancel:
            _move(job, Job.State.CANCELLED, finished_at=now, message="Cancelled.")
        elif job.n_tries < MAX_TRIES:
            _move(job, Job.State.QUEUED, worker="")
        else:
            _move(job, Job.State.FAILED, finished_at=now, message=_tried_too_often(job))
    return len(orphans)


def worker_name(suffix: str) -> str:
    """Return a name that tells the machine, the process and when it began."""
    return f"{socket.gethostname()[:40]}:{os.getpid()}:{suffix}.{_began(os.getpid())}"


def beat(
    *, name: str, now: datetime, busy_with: str = "", lane: str = "", machine: str = ""
) -> None:
    """Record that a worker is alive, which jobs it takes and what it has."""
    values = {"heartbeat_at": now, "busy_with": busy_with, "lane": lane, "machine": machine}
    if not Worker.objects.filter(name=name).update(**values):
        Worker.objects.create(name=name, started_at=now, **values)


def leave(*, name: str) -> None:
    """Forget a worker that stops."""
    Worker.objects.filter(name=name).delete()


def _end(job: Job, state: Job.State, now: datetime, **values: Any) -> None:
    if not _move(job, state, finished_at=now, heartbeat_at=now, **values):
        raise _lost(job)


@transaction.atomic
def _move(job: Job, state: Job.State, **values: Any) -> bool:
    """Bring an open job of this worker into a state, with whatever depends on it.

    Return False where it is another worker's, has ended, or is gone with its project.
    """
    mine = Job.objects.filter(pk=job.pk, state__in=OPEN, worker=job.worker)
    if not mine.update(state=state, **values):
        return False
    job.refresh_from_db()
    follow_job(job)
    return True


def _claimed(job: Job) -> QuerySet[Job]:
    return Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, worker=job.worker)


def _lost(job: Job) -> ClaimLost:
    return ClaimLost(f"Job {job.pk} is not in the hands of {job.worker} any more.")


def _tried_too_often(job: Job) -> str:
    return (
        f"{job.n_tries} workers died while they ran this job, most likely for want of memory. "
        "Retry it on a bigger machine or with smaller settings."
    )


def _forget_dead_workers(now: datetime) -> None:
    dead = [worker.pk for worker in Worker.objects.all() if not _is_alive(worker, now)]
    if dead:
        Worker.objects.filter(pk__in=dead).delete()


def _is_alive(worker: Worker, now: datetime) -> bool:
    """Return whether a worker lives; one whose process can be seen may be silent for longer.

    On a machine with far more to do than it can, a thread waits for minutes.
    """
    is_there = _is_there(worker.name)
    silence = now - worker.heartbeat_at
    return is_there is not False and silence <= (STUCK_AFTER if is_there else DEAD_AFTER)


def _is_there(name: str) -> bool | None:
    """Return whether a worker's process exists, None where that cannot be told from here."""
    host, pid, tail = name.rsplit(":", 2)
    if host != socket.gethostname()[:40]:
        return None
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    began = tail.rpartition(".")[2]
    return True if began and began == _began(int(pid)) else None


def _began(pid: int) -> str:
    """Return when a process began, in ticks since the machine did; empty where nothing tells."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def get_job(user: Any, job_id: int | str, *, at_least: Role = Role.CURATOR) -> Job:
    """Return a job if the person has this role in its project; strangers get NotFound."""
    job = Job.objects.filter(pk=job_id).first() if str(job_id).isdecimal() else None
    if job is None:
        raise NotFound("This job does not exist, or you are not a member of its project.")
    job.project = get_project(user, job.project_id, at_least=at_least)
    return job


def jobs_of(project: Project) -> QuerySet[Job]:
    """Return the jobs of a project, the newest first."""
    return project.jobs.select_related("created_by").order_by("-pk")


def find_job(project: Project, job_id: int) -> Job | None:
    """Return a job of a project."""
    return jobs_of(project).filter(pk=job_id).first()


def find_paged_job(project: Project, job_id: int) -> Job | None:
    """Return a job that pages follow by its number; rounds have pages of their own."""
    return jobs_of(project).exclude(kind=Job.Kind.ROUND).filter(pk=job_id).first()


def corpus_jobs_of(project: Project) -> QuerySet[Job]:
    """Return a project's imports and exports, the newest first."""
    return jobs_of(project).filter(kind__in=(Job.Kind.IMPORT, Job.Kind.EXPORT))


def alive_workers(now: datetime, lane: str = "") -> list[Worker]:
    """Return the workers that live, the oldest first; of a lane those that take its jobs."""
    workers = Worker.objects.order_by("started_at")
    if lane:
        workers = workers.filter(lane__in=("", lane))
    return [worker for worker in workers if _is_alive(worker, now)]
