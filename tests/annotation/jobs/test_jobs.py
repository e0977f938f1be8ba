"""Jobs: big imports and exports in the worker, uploads, downloads."""

import os
import time

import pytest
from django.http import Http404
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from annotation.corpus_jobs import export_file, start_export, start_import
from annotation.errors import Conflict, Refused
from annotation.jobs import MAX_TRIES, rescue_jobs, run_job
from annotation.models import Job, Sentence
from annotation.selectors.jobs import get_job, jobs_of
from annotation.services import jobs
from annotation.services.uploads import find_upload, keep_upload, safe_file_name
from annotation.services.workers import beat
from tests.annotation.test_importing import CONLLU, load

NOW = timezone.now()


@pytest.fixture(autouse=True)
def own_home(settings, tmp_path):
    settings.TANDEM_HOME = tmp_path


def uploaded(project, text=CONLLU, name="harbour.conllu"):
    return keep_upload(project=project, file_name=name, chunks=[text.encode()])


def queued_import(project, ada, **options):
    options = {"upload": uploaded(project), "format": "conllu", "labels": "gold", **options}
    return start_import(project=project, created_by=ada, **options)


def work(job):
    """Do what the worker does with a task."""

    class Context:
        class task_result:
            worker_ids = ["w1"]

    run_job.func(Context, job.pk)
    job.refresh_from_db()
    return job


def test_an_import_runs_in_the_worker_and_reports(project, ada):
    job = queued_import(project, ada)
    assert (job.state, DBTaskResult.objects.count()) == ("queued", 1)
    work(job)
    assert (job.state, job.worker, job.n_tries) == ("done", "w1", 1)
    assert job.result["n_sentences"] == Sentence.objects.count() == 2
    assert job.result["labels"]["entities"] == {"PER": 1, "LOC": 1}
    with pytest.raises(Refused, match="not kept any more"):
        find_upload(project=project, upload_id=job.arguments["upload"])


def test_a_dry_run_keeps_the_file_for_the_import_that_follows(project, ada):
    job = work(queued_import(project, ada, is_dry_run=True))
    assert (job.state, Sentence.objects.count()) == ("done", 0)
    upload = find_upload(project=project, upload_id=job.arguments["upload"])
    assert work(queued_import(project, ada, upload=upload)).state == "done"


def test_a_bad_file_fails_the_job_with_every_bad_row(project, ada):
    upload = uploaded(project, CONLLU.replace("B-PER", "B-SHIP"))
    job = work(queued_import(project, ada, upload=upload))
    assert job.state == "failed"
    assert job.message.startswith("harbour.conllu:3: task 'entities': No label 'SHIP'")
    assert job.result["problems"][0]["line"] == 3
    assert not Sentence.objects.exists()


def test_a_job_that_finished_is_not_run_again(project, ada):
    job = work(queued_import(project, ada))
    work(job)
    assert (job.state, job.n_tries, Sentence.objects.count()) == ("done", 1, 2)


def test_a_job_whose_worker_died_is_begun_again(project, ada):
    job = queued_import(project, ada)
    assert jobs.start_job(job=job, worker="dead", now=NOW)
    job.refresh_from_db()
    work(job)
    assert (job.state, job.n_tries, Sentence.objects.count()) == ("done", 2, 2)


def test_a_job_in_the_hands_of_a_living_worker_is_not_begun_twice(project, ada):
    job = queued_import(project, ada)
    beat(name="alive", now=NOW)
    jobs.start_job(job=job, worker="alive", now=NOW)
    job.refresh_from_db()
    assert not jobs.start_job(job=job, worker="w2", now=NOW)


def test_an_ended_job_stays_as_it_ended(project, ada):
    job = work(queued_import(project, ada))
    jobs.fail_job(job=job, message="too late", now=NOW)
    assert (job.state, job.message) == ("done", "")


def test_a_waiting_job_is_cancelled_at_once_and_a_running_one_at_its_next_step(project, ada):
    waiting = queued_import(project, ada)
    assert jobs.cancel_job(job=waiting, now=NOW).state == "cancelled"
    assert work(waiting).state == "cancelled"
    running = queued_import(project, ada)
    jobs.start_job(job=running, worker="w", now=NOW)
    jobs.cancel_job(job=running, now=NOW)
    with pytest.raises(jobs.JobCancelled):
        jobs.report_progress(job=running, stage="reading", n_done=1, n_total=2, now=NOW)
    jobs.confirm_cancelled(job=running, now=NOW)
    with pytest.raises(Conflict, match="has ended already"):
        jobs.cancel_job(job=running, now=NOW)
    assert not Sentence.objects.exists()


def test_an_unforeseen_error_fails_the_job_and_is_logged(project, ada):
    job = start_export(project=project, format="conllu", labels="gold", created_by=ada)
    Job.objects.filter(pk=job.pk).update(arguments={})
    with pytest.raises(KeyError):
        work(job)
    job.refresh_from_db()
    assert job.state == "failed"
    assert "KeyError" in job.message
    assert "Traceback" in job.log


def test_jobs_whose_task_is_gone_are_queued_again_or_given_up(project, ada):
    fine, lost, hopeless = (queued_import(project, ada) for _ in range(3))
    Job.objects.filter(pk=hopeless.pk).update(state="running", n_tries=MAX_TRIES)
    Job.objects.filter(pk=lost.pk).update(state="running", n_tries=1)
    for task in DBTaskResult.objects.all():
        if task.args_kwargs["args"] != [fine.pk]:
            task.delete()
    assert rescue_jobs() == 2
    assert DBTaskResult.objects.count() == 2
    states = dict(Job.objects.values_list("pk", "state"))
    assert states == {fine.pk: "queued", lost.pk: "queued", hopeless.pk: "failed"}


def test_an_export_leaves_a_file_for_members_alone(project, ada, bob):
    load(project, CONLLU)
    job = start_export(project=project, format="conllu", labels="gold", created_by=ada)
    with pytest.raises(Refused, match="no file to download"):
        export_file(job)
    work(job)
    assert export_file(get_job(ada, job.pk)).read_text() == CONLLU
    assert job.result["file_name"] == "Harbour.conllu"
    with pytest.raises(Http404):
        get_job(bob, job.pk)
    assert [j.pk for j in jobs_of(project)] == [job.pk]


def test_exports_are_kept_for_a_week(project, ada, tmp_path):
    load(project, CONLLU)
    old = work(start_export(project=project, format="conllu", labels="gold", created_by=ada))
    folder = export_file(old).parent
    os.utime(folder, (0, time.time() - 8 * 24 * 3600))
    new = work(start_export(project=project, format="conllu", labels="gold", created_by=ada))
    assert export_file(new).is_file()
    with pytest.raises(Refused, match="not kept any more"):
        export_file(old)


def test_uploads_have_a_limit_and_stay_in_their_folder(project, settings, tmp_path):
    settings.MAX_UPLOAD_MB = 1
    big = (b"x" * 400_000 for _ in range(3))
    with pytest.raises(Refused, match="larger than 1 MB"):
        keep_upload(project=project, file_name="big", chunks=big)
    assert not list((tmp_path / "uploads").rglob("big"))
    upload = keep_upload(project=project, file_name="../../etc/pass\0wd", chunks=[b"x"])
    assert upload.path.parent.parent.parent == tmp_path / "uploads"
    assert find_upload(project=project, upload_id=upload.id) == upload
    for bad in ("..", "../" + upload.id, "", "x" * 20):
        with pytest.raises(Refused):
            find_upload(project=project, upload_id=bad)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a/b.conllu.gz", "b.conllu.gz"),
        (r"C:\x\y.txt", "y.txt"),
        ("..", "file"),
        ("", "file"),
        ("übung 1.txt", "übung 1.txt"),
        ("a\nb", "a_b"),
    ],
)
def test_file_names_are_made_safe(name, safe):
    assert safe_file_name(name) == safe


def test_progress_is_told_while_reading(project):
    told = []
    lines = "a b\n" * 5000
    load(
        project, lines, format="text", labels="none",
        progress=lambda stage, n_done, n_total: told.append((stage, n_done, n_total)),
    )  # fmt: skip
    assert told[0][0] == "reading"
    assert told[-1] == ("storing", 5000, 5000)
    assert all(0 < done <= total for _, done, total in told)
