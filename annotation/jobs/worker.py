"""The worker process: claims jobs, shows signs of life, takes over from the dead, parks, sends."""

import errno
import fcntl
import logging
import os
import resource
import signal
import socket
import threading
import time
import traceback
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import IO

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection, transaction
from django.utils import timezone
from django.utils.crypto import get_random_string

from annotation.errors import Conflict, Refused
from annotation.jobs import services
from annotation.jobs.services import (
    FILES,
    OPEN,
    RESEARCH,
    Progress,
    enqueue_job,
    finish_job,
    keep_up,
    run_kind,
)
from annotation.models import Delivery, Job, Project
from annotation.notifications.transport import deliver, discard_old, due
from config.home import home
from mtl_engine.errors import EngineError

logger = logging.getLogger(__name__)
REPORT_SECONDS = 1.0
NICENESS = 10  # of work beside the web server; of research beside rounds, once more
EXIT_TOO_LONG = 75  # a temporary failure: whoever supervises starts another worker
_stopping = threading.Event()
MOST_SENT = 200  # of one job; the next one takes the others


def is_stopping() -> bool:
    """Return whether this process was asked to stop: long jobs park at the next safe point."""
    return _stopping.is_set()


class Parked(Exception):
    """Raised by a job that stopped at a safe point; it goes back into the queue."""


class JobWorker:
    """Works off the queue of jobs, one at a time."""

    def __init__(self, *, interval: float = 0.5, batch: bool = False, lane: str = "") -> None:
        self.lane = lane  # of the jobs that it takes; empty: of all
        self.machine = describe_machine("")
        self.name = services.worker_name(get_random_string(6))
        self.interval = interval  # seconds between looks into an empty queue
        self.is_batch = batch  # stop when nothing is left to do
        self.busy_with = ""
        self._card: IO[str] | None = None  # locked as long as this worker lives
        self.running: tuple[Job, float] | None = None  # the job, and when it began
        self._finished = threading.Event()

    def run(self, *, is_considerate: bool = False) -> None:
        """Work until asked to stop; a considerate worker lets the web server go first."""
        self._beat()
        services.recover_jobs(now=timezone.now())
        beating = threading.Thread(target=self._beat_until_finished, daemon=True)
        beating.start()
        if is_considerate:
            # the beating thread is not: its worker would be taken for dead on a busy machine, and
            # it must not hold a write lock for long
            be_considerate(2 * NICENESS if self.lane == RESEARCH else NICENESS)
        try:
            while not is_stopping() and (self._run_next() or not self.is_batch):
                pass
        finally:
            self._finished.set()
            beating.join(timeout=2 * services.BEAT_SECONDS)
            services.leave(name=self.name)

    def run_all(self) -> int:
        """Run everything that waits, here and now, and return how many jobs that were."""
        n_jobs = 0
        while (job := self._claim()) is not None:
            run_job(job)
            n_jobs += 1
        return n_jobs

    def _claim(self) -> Job | None:
        return services.claim_job(worker=self.name, now=timezone.now(), lane=self.lane)

    def _beat(self) -> None:
        services.beat(
            name=self.name,
            now=timezone.now(),
            busy_with=self.busy_with,
            lane=self.lane,
            machine=self.machine,
        )

    def take_device(self) -> None:
        """Find out where this worker computes; of several cards it takes one for itself."""
        import torch

        from mtl_engine.devices import find_device

        n_cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
        settings.DEVICE, self._card = own_device(settings.DEVICE, n_cards, home().cards)
        self.machine = describe_machine(str(find_device(settings.DEVICE)))

    def stop(self, signum: int, frame: FrameType | None) -> None:
        """Let the running job park and the loop end; a second signal exits at once."""
        if _stopping.is_set():
            raise SystemExit(1)
        logger.info("asked to stop by %s", signal.strsignal(signum))
        _stopping.set()

    def _run_next(self) -> bool:
        """Run the next job, or wait a moment; return whether there was one."""
        close_old_connections()
        try:
            job = self._claim()
        except DatabaseError:
            logger.exception("no job: the database did not answer")
            connection.close()
            job = None
        if job is None:
            if not self.is_batch:
                _stopping.wait(self.interval)
            return False
        self.busy_with, self.running = job.kind, (job, time.monotonic())
        try:
            run_job(job)
        finally:
            self.busy_with, self.running = "", None
        return True

    def stop_if_too_long(self) -> None:
        """Fail a job that has run beyond the limit and end this process, which it has blocked."""
        running, hours = self.running, settings.JOB_HOURS
        if running is None or not hours or time.monotonic() - running[1] < hours * 3600:
            return
        words = (
            f"The job ran longer than {hours:g} hours and was stopped. Retry it with smaller "
            "settings, or raise TANDEM_JOB_HOURS."
        )
        services.fail_job(job=running[0], message=words, now=timezone.now())
        services.leave(name=self.name)
        logger.error("job %d ran too long: this worker ends, start another", running[0].pk)
        os._exit(EXIT_TOO_LONG)

    def stop_if_cancelled(self) -> None:
        """End this process, and with it a cancelled job that need not come to a safe point."""
        job = self.running[0] if self.running else None
        if job is None or not services.get_job_kind(job.kind).stops_at_once:
            return
        if not Job.objects.filter(pk=job.pk, wants_cancel=True).exists():
            return
        try:
            services.confirm_cancelled(job=job, now=timezone.now())
        except services.ClaimLost:  # it has just ended
            return
        services.leave(name=self.name)
        logger.warning("job %d was cancelled: this worker ends, start another", job.pk)
        os._exit(EXIT_TOO_LONG)

    def _beat_until_finished(self) -> None:
        while not self._finished.wait(services.BEAT_SECONDS):
            try:
                self._beat()
                n_recovered = services.recover_jobs(now=timezone.now())
                if n_recovered:
                    logger.warning("took over %d jobs of workers that died", n_recovered)
                keep_up(now=timezone.now())
                self.stop_if_too_long()
                self.stop_if_cancelled()
            except DatabaseError:
                logger.exception("no heartbeat: the database did not answer")
                connection.close()
        connection.close()


def run_job(job: Job) -> None:
    """Run a claimed job to its end; one that was interrupted is begun again."""
    try:
        _run_claimed(job)
    except services.ClaimLost as lost:  # taken over, or gone with its project
        logger.warning("%s", lost)


def _run_claimed(job: Job) -> None:
    try:
        run_kind(job, _progress_of(job))
    except Parked:
        services.park_job(job=job)
    except services.JobCancelled:
        services.confirm_cancelled(job=job, now=timezone.now())
    except services.ClaimLost:
        raise
    except Refused as refusal:
        services.fail_job(job=job, message=str(refusal), result=refusal.result, now=timezone.now())
    except Exception as error:
        logger.exception("job %d failed", job.pk)
        services.add_to_log(job=job, text=traceback.format_exc())
        services.fail_job(job=job, message=explain_failure(error), now=timezone.now())


def explain_failure(error: Exception) -> str:
    """Return what went wrong and what to do, in plain words."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "The disk is full. Free some space in Tandem's data directory, then retry."
    if isinstance(error, MemoryError):
        return (
            "The worker ran out of memory. Use a smaller encoder or a bigger machine, then retry."
        )
    if isinstance(error, EngineError):
        return str(error)
    return f"The worker met an error ({type(error).__name__}: {error}). Its log tells where."


def own_device(wanted: str, n_cards: int, folder: Path) -> tuple[str, IO[str] | None]:
    """Return the device of a worker: of several cards one that no other worker of this machine has.

    The file that comes with it is locked for as long as it is open. Where there are more workers
    than cards, the others share the first one.
    """
    if wanted != "auto" or n_cards < 2:
        return wanted, None
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(n_cards):
        lock = (folder / f"{socket.gethostname()}-{number}").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        return f"cuda:{number}", lock
    return "cuda:0", None


def describe_machine(device: str) -> str:
    """Return what a worker has to compute with, in a few words."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    words = [device, f"{os.cpu_count() or 1} cores", f"{memory:.0f} GB"]
    return ", ".join(word for word in words if word)


def be_considerate(niceness: int = NICENESS) -> None:
    """Lower this thread, and those it starts, below the web server on the same machine."""
    os.nice(niceness)
    cores = os.cpu_count() or 1
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores - 1)))


def limit_memory(most_mb: int) -> None:
    """Let a job that wants more memory fail with MemoryError, not the machine; 0: no limit."""
    if most_mb:
        resource.setrlimit(resource.RLIMIT_DATA, (most_mb << 20, most_mb << 20))


def run_worker(*, batch: bool = False, lane: str = "") -> None:
    """Run a worker in this process until it is told to stop."""
    worker = JobWorker(batch=batch, lane=lane)
    if lane != FILES:  # whose jobs need no torch
        worker.take_device()
    logger.info("worker %s takes %s jobs: %s", worker.name, lane or "all", worker.machine)
    limit_memory(settings.WORKER_MEMORY_MB)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, worker.stop)
    worker.run(is_considerate=True)


def _progress_of(job: Job) -> Progress:
    """Return a function that records progress, once per second at most, and stops a job."""
    last = 0.0

    def progress(stage: str, n_done: int, n_total: int | None) -> None:
        nonlocal last
        if is_stopping():
            raise Parked(f"Job {job.pk} waits for another worker.")
        is_new_second = time.monotonic() - last >= REPORT_SECONDS
        if is_new_second and not transaction.get_connection().in_atomic_block:
            last = time.monotonic()
            now = timezone.now()
            services.report_progress(job=job, stage=stage, n_done=n_done, n_total=n_total, now=now)

    return progress


def run_deliveries(job: Job, progress: Progress) -> None:
    """Send what is due in a project."""
    now = timezone.now()
    waiting = list(
        Delivery.objects.filter(due(now), project=job.project).order_by("id")[:MOST_SENT]
    )
    n_sent = 0
    for number, delivery in enumerate(waiting):
        progress("sending", number, len(waiting))
        n_sent += deliver(delivery=delivery, now=timezone.now())
    discard_old(now=now)
    finish_job(job=job, result={"n_sent": n_sent, "n_due": len(waiting)}, now=timezone.now())


def queue_deliveries(*, now: datetime) -> None:
    """Queue a job for every project in which something is due and none is queued."""
    projects = Project.objects.filter(pk__in=Delivery.objects.filter(due(now)).values("project"))
    for project in projects:
        if project.jobs.filter(kind=Job.Kind.DELIVER, state__in=OPEN).exists():
            continue
        try:
            enqueue_job(project=project, kind=Job.Kind.DELIVER, arguments={}, created_by=None)
        except Conflict:  # too many wait already: a few seconds later there is room
            continue
