"""Jobs: big imports and exports in the worker, uploads, downloads."""

import os
import time

import pytest
from django.utils import timezone

from annotation.corpora.jobs import (
    export_file,
    find_upload,
    keep_upload,
    safe_file_name,
    start_export,
    start_import,
)
from annotation.errors import Conflict, NotFound, Refused
from annotation.jobs import services
from annotation.jobs.services import alive_workers, get_job, jobs_of, waits_for
from annotation.jobs.worker import own_device, run_job
from annotation.models import Job, Sentence
from tests.annotation.corpora.test_imports import CONLLU, load

NOW = timezone.now()


@pytest.fixture(autouse=True)
def own_home(monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))


def uploaded(project, text=CONLLU, name="harbour.conllu"):
    return keep_upload(project=project, file_name=name, chunks=[text.encode()])


def queued_import(project, ada, **options):
    options = {"upload": uploaded(project), "format": "conllu", "labels": "gold", **options}
    return start_import(project=project, created_by=ada, **options)


def work(job):
    """Do what a worker does with the next job of the queue, which is this one."""
    claimed = services.claim_job(worker="w1", now=NOW)
    if claimed is not None:
        assert claimed == job
        run_job(claimed)
    job.refresh_from_db()
    return job


def test_an_import_runs_in_the_worker_and_reports(project, ada):
    job = queued_import(project, ada)
    assert job.state == "queued"
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
    assert job.message.startswith("harbour.conllu:3: task 'entities': 1 label is new: SHIP")
    assert job.result["problems"][0]["line"] == 3
    assert not Sentence.objects.exists()


def test_a_job_that_finished_is_not_run_again(project, ada):
    job = work(queued_import(project, ada))
    work(job)
    assert (job.state, job.n_tries, Sentence.objects.count()) == ("done", 1, 2)


def test_a_job_whose_worker_died_is_begun_again(project, ada):
    job = queued_import(project, ada)
    assert services.claim_job(worker="dead", now=NOW) == job
    assert services.claim_job(worker="w1", now=NOW) is None
    assert services.recover_jobs(now=NOW) == 1
    work(job)
    assert (job.state, job.n_tries, Sentence.objects.count()) == ("done", 2, 2)


def test_jobs_are_claimed_in_the_order_of_asking_each_by_one_worker(project, ada):
    first, second = queued_import(project, ada), queued_import(project, ada)
    claims = [services.claim_job(worker=name, now=NOW) for name in ("w1", "w2", "w3")]
    assert claims == [first, second, None]
    assert [claim.worker for claim in claims[:2]] == ["w1", "w2"]


def test_a_worker_that_lost_its_job_changes_nothing_more(project, ada):
    queued_import(project, ada)
    slow = services.claim_job(worker="slow", now=NOW)
    services.recover_jobs(now=NOW)
    quick = services.claim_job(worker="quick", now=NOW)
    with pytest.raises(services.ClaimLost):
        services.report_progress(job=slow, stage="reading", n_done=1, n_total=2, now=NOW)
    with pytest.raises(services.ClaimLost):
        services.fail_job(job=Job(pk=slow.pk, worker="slow"), message="too late", now=NOW)
    quick.refresh_from_db()
    assert (quick.state, quick.worker) == ("running", "quick")


def test_parking_is_no_try_and_what_goes_on_is_known_to_be_resumed(project, ada):
    job = queued_import(project, ada)
    for number in range(services.MAX_TRIES + 1):
        claimed = services.claim_job(worker="w", now=NOW)
        assert claimed.is_resumed == (number > 0)
        services.park_job(job=claimed)
    job.refresh_from_db()
    assert (job.state, job.worker, job.n_tries) == ("queued", "", 0)


def test_an_ended_job_stays_as_it_ended(project, ada):
    job = work(queued_import(project, ada))
    with pytest.raises(services.ClaimLost):
        services.fail_job(job=job, message="too late", now=NOW)
    assert (job.state, job.message) == ("done", "")


def test_a_waiting_job_is_cancelled_at_once_and_a_running_one_at_its_next_step(project, ada):
    waiting = queued_import(project, ada)
    assert services.cancel_job(job=waiting, now=NOW).state == "cancelled"
    assert work(waiting).state == "cancelled"
    queued_import(project, ada)
    running = services.claim_job(worker="w", now=NOW)
    services.cancel_job(job=running, now=NOW)
    with pytest.raises(services.JobCancelled):
        services.report_progress(job=running, stage="reading", n_done=1, n_total=2, now=NOW)
    services.confirm_cancelled(job=running, now=NOW)
    with pytest.raises(Conflict, match="has ended already"):
        services.cancel_job(job=running, now=NOW)
    assert not Sentence.objects.exists()


def test_an_unforeseen_error_fails_the_job_and_is_logged(project, ada):
    job = start_export(project=project, format="conllu", labels="gold", created_by=ada)
    Job.objects.filter(pk=job.pk).update(arguments={})
    work(job)
    assert job.state == "failed"
    assert "KeyError" in job.message
    assert "Traceback" in job.log


def test_a_full_disk_is_told_in_plain_words(project, ada, monkeypatch):
    def no_space(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("annotation.corpora.jobs.export_to_file", no_space)
    job = start_export(project=project, format="conllu", labels="gold", created_by=ada)
    assert "The disk is full" in work(job).message


def test_jobs_of_dead_workers_are_queued_again_given_up_or_cancelled(project, ada):
    waiting, alive, lost, hopeless, unwanted = (queued_import(project, ada) for _ in range(5))
    services.beat(name="elsewhere:1:living", now=NOW)
    running = Job.objects.filter(pk__gt=waiting.pk)
    running.update(state="running", n_tries=1, worker="dead")
    Job.objects.filter(pk=alive.pk).update(worker="elsewhere:1:living")
    Job.objects.filter(pk=hopeless.pk).update(n_tries=services.MAX_TRIES)
    Job.objects.filter(pk=unwanted.pk).update(wants_cancel=True)
    assert services.recover_jobs(now=NOW) == 3
    states = dict(Job.objects.values_list("pk", "state"))
    assert states == {
        waiting.pk: "queued",
        alive.pk: "running",
        lost.pk: "queued",
        hopeless.pk: "failed",
        unwanted.pk: "cancelled",
    }
    assert "5 workers died" in Job.objects.get(pk=hopeless.pk).message


def test_an_export_leaves_a_file_for_members_alone(project, ada, bob):
    load(project, CONLLU)
    job = start_export(project=project, format="conllu", labels="gold", created_by=ada)
    with pytest.raises(Refused, match="no file to download"):
        export_file(job)
    work(job)
    assert export_file(get_job(ada, job.pk)).read_text() == CONLLU
    assert job.result["file_name"] == "Harbour.conllu"
    with pytest.raises(NotFound):
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


def test_an_import_never_waits_behind_a_training(project, ada):
    training = services.enqueue_job(
        project=project, kind="insight", arguments={"insight": "none"}, created_by=ada
    )
    imported = queued_import(project, ada)
    assert services.claim_job(worker="w1", now=NOW, lane="files") == imported
    assert services.claim_job(worker="w2", now=NOW, lane="files") is None
    assert services.claim_job(worker="w3", now=NOW, lane="training") == training


def test_workers_say_which_jobs_they_take_and_what_they_have(db):
    services.beat(name="h:1:a", now=NOW, lane="files", machine="2 cores, 4 GB")
    services.beat(name="h:2:b", now=NOW)
    assert [worker.name for worker in alive_workers(NOW, "training")] == ["h:2:b"]
    assert len(alive_workers(NOW, "files")) == 2
    assert alive_workers(NOW)[0].machine == "2 cores, 4 GB"


def test_each_worker_of_a_machine_with_several_cards_takes_one_of_its_own(tmp_path):
    first, first_lock = own_device("auto", 2, tmp_path)
    second, second_lock = own_device("auto", 2, tmp_path)
    assert (first, second) == ("cuda:0", "cuda:1")
    assert own_device("auto", 2, tmp_path) == ("cuda:0", None)  # more workers than cards
    second_lock.close()  # as when its process dies
    again, again_lock = own_device("auto", 2, tmp_path)
    assert again == "cuda:1"
    assert own_device("cuda:0", 2, tmp_path) == ("cuda:0", None)
    assert own_device("auto", 1, tmp_path) == ("auto", None)
    first_lock.close()
    again_lock.close()


def test_a_waiting_job_says_what_comes_before_it_in_its_lane(project, ada, client):
    first = Job.objects.create(project=project, kind="round", state="running")
    Job.objects.create(project=project, kind="research", state="running")  # another lane
    Job.objects.create(project=project, kind="insight", state="done")
    second = Job.objects.create(project=project, kind="round")
    third = Job.objects.create(project=project, kind="insight")
    assert waits_for(first) == "Waiting for a free worker."
    words = "Waiting for a free worker; one job comes before it: Round."
    assert waits_for(second) == words
    assert "2 jobs come before it: Round." in waits_for(third)
    client.force_login(ada)
    told = client.get(f"/projects/{project.pk}/jobs/{third.pk}.json").json()
    assert told["waits"] == waits_for(third)
