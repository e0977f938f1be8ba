"""The worker process: runs tasks, shows signs of life, takes over from the dead, parks."""

import logging
import os
import signal
import threading
from types import FrameType
from typing import Any

from django.db import DatabaseError, connection
from django.utils import timezone
from django.utils.crypto import get_random_string
from django.utils.module_loading import import_string
from django_tasks_db.management.commands.db_worker import Worker as TaskLoop
from django_tasks_db.models import DBTaskResult

from annotation.services import workers

logger = logging.getLogger(__name__)
_stopping = threading.Event()


def is_stopping() -> bool:
    """Return whether this process was asked to stop: long jobs park at the next safe point."""
    return _stopping.is_set()


class Parked(Exception):
    """Raised by a job that stopped at a safe point; its task goes back into the queue."""


class TandemWorker(TaskLoop):
    """The task loop of django-tasks-db with heartbeat, recovery and parking."""

    def __init__(self, *, interval: float = 0.5, batch: bool = False) -> None:
        super().__init__(
            queue_names=["default"],
            interval=interval,
            batch=batch,
            backend_name="default",
            startup_delay=False,
            max_tasks=None,
            worker_id=workers.worker_name(get_random_string(6)),
            excluded_queue_names=[],
        )
        self.busy_with = ""

    def run(self, *, is_considerate: bool = False) -> None:
        """Work until asked to stop; a considerate worker lets the web server go first."""
        workers.beat(name=self.worker_id, now=timezone.now())
        workers.recover_tasks(now=timezone.now())
        beating = threading.Thread(target=self._beat_until_stopped, daemon=True)
        self._finished = threading.Event()
        beating.start()
        if is_considerate:
            be_considerate()  # the beating thread is not: it must not hold a write lock for long
        try:
            super().run()
        finally:
            self._finished.set()
            beating.join(timeout=2 * workers.BEAT_SECONDS)
            workers.leave(name=self.worker_id)

    def run_task(self, db_task_result: DBTaskResult[..., Any]) -> None:
        """Run one task; one that parked is queued again instead of failed."""
        self.busy_with = db_task_result.task_path.rsplit(".", 1)[-1]
        try:
            super().run_task(db_task_result)
        finally:
            self.busy_with = ""
        db_task_result.refresh_from_db()
        if db_task_result.exception_class_path.endswith(".Parked"):
            db_task_result.status = workers.READY
            db_task_result.finished_at = None
            db_task_result.save(update_fields=["status", "finished_at"])

    def shutdown(self, signum: int, frame: FrameType | None) -> None:
        """Let the running job park and the loop end at its next turn; a second signal exits.

        The loop that this one extends exits at once when it has no job. The signal may come in the
        middle of its transaction, which then stays open and keeps the worker from signing off.
        """
        _stopping.set()
        if self.running:
            logger.info("asked to stop by %s", signal.strsignal(signum))
            self.running = False
        else:
            super().shutdown(signum, frame)

    def _beat_until_stopped(self) -> None:
        while not self._finished.wait(workers.BEAT_SECONDS):
            try:
                workers.beat(name=self.worker_id, now=timezone.now(), busy_with=self.busy_with)
                n_recovered = workers.recover_tasks(now=timezone.now())
                if n_recovered:
                    logger.warning("took over %d tasks of workers that died", n_recovered)
                import_string("annotation.services.upkeep.keep_up")(now=timezone.now())
            except DatabaseError:
                logger.exception("no heartbeat: the database did not answer")
                connection.close()
        connection.close()


def be_considerate() -> None:
    """Lower this thread, and those it starts, below the web server on the same machine."""
    os.nice(10)
    cores = os.cpu_count() or 1
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores - 1)))


def stop_on_signals(loop: TandemWorker) -> None:
    """Let SIGTERM and Ctrl+C stop the loop in an orderly way."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, loop.shutdown)


def run_worker(**options: Any) -> None:
    """Run a worker in this process until it is told to stop."""
    loop = TandemWorker(**options)
    stop_on_signals(loop)
    loop.run(is_considerate=True)
