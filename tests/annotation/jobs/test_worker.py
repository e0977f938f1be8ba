import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import chain

import pytest
from django.db import connection
from django.utils import timezone

from annotation.errors import Conflict
from annotation.jobs import services
from annotation.jobs.services import alive_workers, enqueue_job
from annotation.jobs.worker import JobWorker
from annotation.models import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(project, ada):
    """A job that waits."""
    return enqueue_job(project=project, kind="export", arguments={}, created_by=ada)


def _dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    process.send_signal(signal.SIGKILL)
    process.wait()
    return process.pid


def test_a_job_of_a_living_worker_is_left_alone(job):
    name = services.worker_name("a")
    services.beat(name=name, now=timezone.now())
    services.claim_job(worker=name, now=timezone.now())
    assert services.recover_jobs(now=timezone.now()) == 0
    job.refresh_from_db()
    assert job.state == "running"


def test_a_job_of_a_worker_killed_on_this_machine_is_queued_again_at_once(job):
    host = services.worker_name("x").rsplit(":", 2)[0]
    name = f"{host}:{_dead_process()}:b"
    services.beat(name=name, now=timezone.now())
    services.claim_job(worker=name, now=timezone.now())
    assert services.recover_jobs(now=timezone.now()) == 1
    job.refresh_from_db()
    assert job.state == "queued"


def test_a_job_of_a_silent_worker_elsewhere_is_queued_again_after_half_a_minute(job):
    now = timezone.now()
    services.beat(name="elsewhere:77:c", now=now - timedelta(seconds=10))
    services.claim_job(worker="elsewhere:77:c", now=now)
    assert services.recover_jobs(now=now) == 0
    assert services.recover_jobs(now=now + timedelta(seconds=25)) == 1
    job.refresh_from_db()
    assert job.state == "queued"


def test_a_job_of_a_silent_worker_is_left_alone_while_its_process_can_be_seen(job):
    now, name = timezone.now(), services.worker_name("a")
    services.beat(name=name, now=now - timedelta(minutes=5))
    services.claim_job(worker=name, now=now - timedelta(minutes=5))
    assert services.recover_jobs(now=now) == 0
    assert [worker.name for worker in alive_workers(now)] == [name]
    assert services.recover_jobs(now=now + timedelta(minutes=6)) == 1  # it hangs
    job.refresh_from_db()
    assert job.state == "queued"


def test_another_process_with_the_number_of_a_worker_is_not_taken_for_it(job):
    now = timezone.now()
    host, pid, _ = services.worker_name("a").rsplit(":", 2)
    name = f"{host}:{pid}:a.1"  # began with the machine
    services.beat(name=name, now=now - timedelta(minutes=1))
    services.claim_job(worker=name, now=now)
    assert services.recover_jobs(now=now) == 1


def test_only_workers_with_a_recent_sign_of_life_are_alive():
    now = timezone.now()
    services.beat(name="elsewhere:1:e", now=now - timedelta(minutes=2))
    services.beat(name="elsewhere:2:f", now=now, busy_with="train")
    assert [w.name for w in alive_workers(now)] == ["elsewhere:2:f"]
    services.leave(name="elsewhere:2:f")
    assert not alive_workers(now)


def test_a_beat_never_makes_a_second_row_of_one_worker():
    name = services.worker_name("g")
    for _ in range(3):
        services.beat(name=name, now=timezone.now())
    assert Worker.objects.filter(name=name).count() == 1
    assert str(os.getpid()) in name


@pytest.fixture
def stopping(monkeypatch):
    event = threading.Event()
    monkeypatch.setattr("annotation.jobs.worker._stopping", event)
    return event


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_told_to_stop_while_it_looks_for_a_job_signs_off(stopping, monkeypatch):
    worker = JobWorker()

    def interrupted(**options):
        worker.stop(signal.SIGTERM, None)

    monkeypatch.setattr(services, "claim_job", interrupted)
    worker.run()
    assert not Worker.objects.filter(name=worker.name).exists()


@pytest.mark.django_db(transaction=True)
def test_a_job_that_runs_when_its_worker_is_told_to_stop_goes_back_into_the_queue(
    stopping, monkeypatch, job
):
    worker = JobWorker()

    def interrupted(job, progress):
        worker.stop(signal.SIGTERM, None)
        progress("writing", 1, 2)

    monkeypatch.setattr("annotation.corpora.jobs.run_export", interrupted)
    worker.run()
    job.refresh_from_db()
    assert (job.state, job.worker, job.n_tries) == ("queued", "", 0)
    assert not Worker.objects.filter(name=worker.name).exists()


def test_a_second_signal_stops_a_worker_at_once(stopping):
    worker = JobWorker()
    worker.stop(signal.SIGTERM, None)
    with pytest.raises(SystemExit):
        worker.stop(signal.SIGTERM, None)


@pytest.mark.django_db(transaction=True)
def test_a_batch_worker_ends_when_nothing_is_left_to_do(stopping, job):
    JobWorker(batch=True).run()
    job.refresh_from_db()
    assert job.state == "failed"  # it has no arguments


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_each_gets_other_jobs(project, ada):
    n_jobs, n_workers = 12, 4
    for _ in range(n_jobs):
        enqueue_job(project=project, kind="export", arguments={}, created_by=ada)
    barrier = threading.Barrier(n_workers)

    def claim_all(number):
        barrier.wait()
        found = []
        while job := services.claim_job(worker=f"w{number}", now=timezone.now()):
            found.append(job.pk)
        connection.close()
        return found

    with ThreadPoolExecutor(n_workers) as pool:
        claimed = list(chain(*pool.map(claim_all, range(n_workers))))
    assert len(claimed) == len(set(claimed)) == n_jobs


def test_a_job_that_runs_too_long_is_failed_and_its_worker_ends(project, monkeypatch, settings):
    job = services.enqueue_job(project=project, kind="export", arguments={}, created_by=None)
    worker = JobWorker()
    job = services.claim_job(worker=worker.name, now=timezone.now())
    ended = []
    monkeypatch.setattr("annotation.jobs.worker.os._exit", ended.append)
    worker.running = (job, time.monotonic() - 3600)
    worker.stop_if_too_long()
    assert ended == []
    settings.JOB_HOURS = 0.5
    worker.stop_if_too_long()
    job.refresh_from_db()
    assert ended == [75]
    assert (job.state, "TANDEM_JOB_HOURS" in job.message) == ("failed", True)


@pytest.mark.parametrize(("kind", "is_ended"), [("study", True), ("export", False)])
def test_a_cancelled_study_is_not_waited_for(project, monkeypatch, kind, is_ended):
    services.enqueue_job(project=project, kind=kind, arguments={}, created_by=None)
    worker = JobWorker()
    job = services.claim_job(worker=worker.name, now=timezone.now())
    ended = []
    monkeypatch.setattr("annotation.jobs.worker.os._exit", ended.append)
    worker.running = (job, time.monotonic())
    worker.stop_if_cancelled()
    assert ended == []
    services.cancel_job(job=job, now=timezone.now())
    worker.stop_if_cancelled()
    job.refresh_from_db()
    assert (ended, job.state) == (([75], "cancelled") if is_ended else ([], "running"))


def test_a_job_that_wants_more_memory_than_there_is_fails_alone():
    code = (
        "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\n"
        "django.setup()\n"
        "from annotation.jobs.worker import explain_failure, limit_memory\n"
        "limit_memory(400)\n"
        "try:\n    bytearray(500 << 20)\n"
        "except MemoryError as error:\n    print(explain_failure(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("The worker ran out of memory.")


def test_a_project_has_only_so_many_jobs_waiting(project, monkeypatch):
    monkeypatch.setattr(services, "MOST_OPEN", 1)
    wanted = {"project": project, "kind": "export", "arguments": {}, "created_by": None}
    services.enqueue_job(**wanted)
    with pytest.raises(Conflict, match="wait already"):
        services.enqueue_job(**wanted)
