"""Workers: their signs of life, and the tasks that a dead one left behind."""

import os
import socket
from datetime import datetime, timedelta

from django.db import transaction
from django_tasks_db.models import DBTaskResult

from annotation.models import Worker

BEAT_SECONDS = 5
DEAD_AFTER = timedelta(seconds=30)
MAX_TRIES = 5
RUNNING, READY, FAILED = "RUNNING", "READY", "FAILED"


def worker_name(suffix: str) -> str:
    """Return a name that tells the machine and the process."""
    return f"{socket.gethostname()[:40]}:{os.getpid()}:{suffix}"


def beat(*, name: str, now: datetime, busy_with: str = "") -> None:
    """Record that a worker is alive."""
    changed = Worker.objects.filter(name=name).update(heartbeat_at=now, busy_with=busy_with)
    if not changed:
        Worker.objects.create(name=name, started_at=now, heartbeat_at=now, busy_with=busy_with)


def leave(*, name: str) -> None:
    """Forget a worker that stops."""
    Worker.objects.filter(name=name).delete()


@transaction.atomic
def recover_tasks(*, now: datetime) -> int:
    """Queue again what dead workers were running, and return how many tasks that were.

    A task that took five workers down is failed instead, so that it cannot go on for ever.
    """
    _forget_dead_workers(now)
    alive = set(Worker.objects.values_list("name", flat=True))
    n_recovered = 0
    for task in DBTaskResult.objects.select_for_update().filter(status=RUNNING):
        if task.worker_ids and task.worker_ids[-1] in alive:
            continue
        if len(task.worker_ids) < MAX_TRIES:
            task.status = READY
            n_recovered += 1
        else:
            task.status = FAILED
            task.finished_at = now
            task.traceback = f"{len(task.worker_ids)} workers died while they ran this task."
        task.save(update_fields=["status", "finished_at", "traceback"])
    return n_recovered


def _forget_dead_workers(now: datetime) -> None:
    Worker.objects.filter(heartbeat_at__lt=now - DEAD_AFTER).delete()
    gone = [name for name in Worker.objects.values_list("name", flat=True) if _is_gone(name)]
    Worker.objects.filter(name__in=gone).delete()


def _is_gone(name: str) -> bool:
    """Return whether a worker of this machine has no process any more."""
    host, pid, _ = name.rsplit(":", 2)
    if host != socket.gethostname()[:40]:
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
