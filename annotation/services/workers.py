"""Workers: their signs of life, and the tasks that a dead one left behind."""

import os
import socket
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
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


def recover_tasks(*, now: datetime) -> int:
    """Queue again what dead workers were running, and return how many tasks that were.

    A task that took five workers down is failed instead, so that it cannot go on for ever.
    Looks first and writes only when there is something to mend: this runs every few seconds, and
    annotators' answers wait for whoever holds the write lock.
    """
    _forget_dead_workers(now)
    if not _orphans(DBTaskResult.objects.all()):
        return 0
    with transaction.atomic():
        orphans = _orphans(DBTaskResult.objects.select_for_update())
        return sum(_recover(task, now) for task in orphans)


def _orphans(tasks: "QuerySet[DBTaskResult[..., Any]]") -> "list[DBTaskResult[..., Any]]":
    """Return the running tasks whose worker does not live any more."""
    running = list(tasks.filter(status=RUNNING))
    alive = set(Worker.objects.values_list("name", flat=True)) if running else set()
    return [task for task in running if not task.worker_ids or task.worker_ids[-1] not in alive]


def _recover(task: "DBTaskResult[..., Any]", now: datetime) -> bool:
    """Queue a task again or fail it; return whether it was queued."""
    has_tries = len(task.worker_ids) < MAX_TRIES
    if has_tries:
        task.status = READY
    else:
        task.status = FAILED
        task.finished_at = now
        task.traceback = f"{len(task.worker_ids)} workers died while they ran this task."
    task.save(update_fields=["status", "finished_at", "traceback"])
    return has_tries


def _forget_dead_workers(now: datetime) -> None:
    dead = [
        name
        for name, heartbeat_at in Worker.objects.values_list("name", "heartbeat_at")
        if heartbeat_at < now - DEAD_AFTER or _is_gone(name)
    ]
    if dead:
        Worker.objects.filter(name__in=dead).delete()


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
