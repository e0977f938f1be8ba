"""The doctor finds what is wrong and mends what is safe to mend."""

import os
import time

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Corpus, Round
from config.home import home
from tests.annotation.corpora.test_imports import CONLLU, load


@pytest.mark.django_db
def test_the_doctor_finds_and_mends(project, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    tmp_path.chmod(0o700)
    load(project, CONLLU)
    kept = Round.objects.create(project=project, number=1, state="done")
    folders = [home().round(name) for name in (kept.folder, "of-nobody", "in-the-making")]
    for folder in folders:
        folder.mkdir(parents=True)
    long_ago = time.time() - 2 * 24 * 3600
    for folder in folders[:2]:
        os.utime(folder, (long_ago, long_ago))
    monkeypatch.setattr("annotation.archive.doctor.LEAST_FREE", 0)
    Corpus.objects.update(n_sentences=99)
    tmp_path.chmod(0o755)
    with pytest.raises(CommandError, match="3 findings"):
        call_command("doctor")
    said = capsys.readouterr().out
    assert "says 99 sentences and has 2" in said
    assert "of-nobody belongs to no round" in said
    assert "Others on this machine" in said
    call_command("doctor", "--repair")
    assert capsys.readouterr().out.endswith("Nothing is wrong.\n")
    assert [folder.exists() for folder in folders] == [True, False, True]
    assert Corpus.objects.get().n_sentences == 2
