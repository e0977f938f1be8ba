"""The doctor finds what is wrong and mends what is safe to mend."""

import hashlib
import os
import time
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.jobs.health import examine
from annotation.jobs.services import beat, enqueue_job
from annotation.models import Corpus, Job, Round
from config.home import home
from tests.annotation.corpora.test_imports import CONLLU, load


@pytest.mark.django_db
def test_the_doctor_finds_and_mends(project, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    tmp_path.chmod(0o700)
    load(project, CONLLU)
    kept = Round.objects.create(project=project, number=1, state="done")
    folders = [home().round(name) for name in (kept.folder, "of-nobody", "in-the-making")]
    folders.append(tmp_path / ".unsent-of-a-killed-backup")
    for folder in folders:
        folder.mkdir(parents=True)
    long_ago = time.time() - 2 * 24 * 3600
    for folder in (*folders[:2], folders[3]):
        os.utime(folder, (long_ago, long_ago))
    monkeypatch.setattr("annotation.jobs.health.AMPLE", 0)
    Corpus.objects.update(n_sentences=99)
    tmp_path.chmod(0o755)
    with pytest.raises(CommandError, match="4 findings"):
        call_command("doctor")
    said = capsys.readouterr().out
    assert "says 99 sentences and has 2" in said
    assert "of-nobody belongs to no round" in said
    assert "Others on this machine" in said
    call_command("doctor", "--repair")
    assert capsys.readouterr().out.endswith("Nothing is wrong.\n")
    assert [folder.exists() for folder in folders] == [True, False, True, False]
    assert Corpus.objects.get().n_sentences == 2


@pytest.mark.django_db
def test_the_doctor_finds_damaged_files_and_work_that_nobody_does(project, tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    tmp_path.chmod(0o700)
    monkeypatch.setattr("annotation.jobs.health.AMPLE", 0)
    stuck = Round.objects.create(project=project, number=1, state="training")
    folder = home().round(stuck.folder)
    folder.mkdir(parents=True)
    (folder / "scores.npz").write_bytes(b"as it was written")
    digest = hashlib.sha256(b"as it was written").hexdigest()
    (folder / "scores.npz.sha256").write_text(digest)
    job = enqueue_job(project=project, kind="export", arguments={}, created_by=None)
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(hours=1))
    words = [finding.what for finding in examine()]
    assert len(words) == 2
    assert words[0] == "1 jobs wait and no worker is alive: start one."
    assert "no job runs it" in words[1]
    (folder / "scores.npz").write_bytes(b"as it was writteN")
    assert "scores.npz of round 1" in examine()[2].what
    beat(name="w:1:x", now=timezone.now())
    assert not any("no worker" in finding.what for finding in examine())
