import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from django_tasks_db.management.commands import db_worker
from django_tasks_db.models import DBTaskResult

from annotation.models import Worker
from annotation.selectors.workers import alive_workers
from annotation.services import workers
from annotation.worker import TandemWorker

pytestmark = pytest.mark.django_db


def _task(*, worker: str, n_tries: int = 1) -> DBTaskResult:
    return DBTaskResult.objects.create(
        status="RUNNING",
        args_kwargs={"args": [], "kwargs": {}},
        task_path="annotation.jobs.nothing",
        worker_ids=[worker] * n_tries,
        backend_name="default",
        run_after=timezone.now(),
        exception_class_path="",
        traceback="",
    )


def _dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    process.send_signal(signal.SIGKILL)
    process.wait()
    return process.pid


def test_a_task_of_a_living_worker_is_left_alone():
    name = workers.worker_name("a")
    workers.beat(name=name, now=timezone.now())
    task = _task(worker=name)
    assert workers.recover_tasks(now=timezone.now()) == 0
    task.refresh_from_db()
    assert task.status == "RUNNING"


def test_a_task_of_a_worker_killed_on_this_machine_is_queued_again_at_once():
    host = workers.worker_name("x").rsplit(":", 2)[0]
    name = f"{host}:{_dead_process()}:b"
    workers.beat(name=name, now=timezone.now())
    task = _task(worker=name)
    assert workers.recover_tasks(now=timezone.now()) == 1
    task.refresh_from_db()
    assert task.status == "READY"


def test_a_task_of_a_silent_worker_elsewhere_is_queued_again_after_half_a_minute():
    task = _task(worker="elsewhere:77:c")
    workers.beat(name="elsewhere:77:c", now=timezone.now() - timedelta(seconds=10))
    assert workers.recover_tasks(now=timezone.now()) == 0
    assert workers.recover_tasks(now=timezone.now() + timedelta(seconds=25)) == 1
    task.refresh_from_db()
    assert task.status == "READY"


def test_a_task_that_took_five_workers_down_is_failed_with_a_reason():
    task = _task(worker="elsewhere:78:d", n_tries=workers.MAX_TRIES)
    workers.recover_tasks(now=timezone.now())
    task.refresh_from_db()
    assert task.status == "FAILED"
    assert "5 workers died" in task.traceback


def test_only_workers_with_a_recent_sign_of_life_are_alive():
    now = timezone.now()
    workers.beat(name="elsewhere:1:e", now=now - timedelta(minutes=2))
    workers.beat(name="elsewhere:2:f", now=now, busy_with="train")
    assert [w.name for w in alive_workers(now)] == ["elsewhere:2:f"]
    workers.leave(name="elsewhere:2:f")
    assert not alive_workers(now)


def test_a_beat_never_makes_a_second_row_of_one_worker():
    name = workers.worker_name("g")
    for _ in range(3):
        workers.beat(name=name, now=timezone.now())
    assert Worker.objects.filter(name=name).count() == 1
    assert str(os.getpid()) in name


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_told_to_stop_while_it_looks_for_a_task_signs_off(monkeypatch):
    monkeypatch.setattr("annotation.worker._stopping", threading.Event())
    loop = TandemWorker()

    @contextmanager
    def interrupted(using):
        with transaction.atomic(using=using):
            loop.shutdown(signal.SIGTERM, None)
            yield

    monkeypatch.setattr(db_worker, "exclusive_transaction", interrupted)
    loop.run()
    assert not Worker.objects.filter(name=loop.worker_id).exists()


def test_a_second_signal_stops_a_worker_at_once(monkeypatch):
    monkeypatch.setattr("annotation.worker._stopping", threading.Event())
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    loop = TandemWorker()
    loop.shutdown(signal.SIGTERM, None)
    try:
        with pytest.raises(SystemExit):
            loop.shutdown(signal.SIGTERM, None)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
