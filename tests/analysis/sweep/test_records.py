"""Studies are files: records that reports are made from, and an index made from the records."""

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from analysis.sweep.executors import SerialExecutor
from analysis.sweep.plan import plan_sweep, study_record, sweep
from analysis.sweep.store import RunStore
from analysis.sweep.study_file import parse_study
from analysis.web.models import Study
from analysis.web.services import index_studies

DOUBLING = "tests.analysis.sweep.throwaway_study"
CONTENT = {
    "name": "words",
    "kind": DOUBLING,
    "description": "Which words grow?",
    "seeds": [0, 1],
    "factors": {"word": ["ab", "abc"], "times": [1, 2]},
}


def _swept(directory, *, limit=None, **changes):
    store = RunStore(directory)
    study = parse_study({**CONTENT, **changes}, where="x.toml")
    plan = plan_sweep(study, store, limit=limit)
    store.keep_study(study_record(study, plan))
    sweep(plan, store, SerialExecutor())
    return store


def test_a_record_tells_which_runs_a_study_wants_and_what_came_of_them(tmp_path):
    store = _swept(tmp_path, limit=3)
    (record,) = store.studies()
    assert record == store.find_study("words", "")
    assert (record.varying, len(record.runs)) == (("word", "times"), 8)
    outcomes = list(store.outcomes(record))
    assert [outcome is not None for _, outcome in outcomes] == [True] * 3 + [False] * 5
    assert outcomes[1][0].settings == {"word": "ab", "times": 2}
    assert outcomes[1][1].final == {"length": 8, "loaded": 2}


def test_a_run_that_the_file_no_longer_wants_is_kept_and_left_out(tmp_path):
    _swept(tmp_path)
    store = _swept(tmp_path, factors={"word": ["ab"], "times": [1, 2]})
    (record,) = store.studies()
    assert len(record.runs) == 4
    assert len(list(store.finished())) == 8


@pytest.mark.django_db
def test_the_index_is_made_anew_from_the_files(tmp_path):
    store = _swept(tmp_path, limit=3)
    Study.objects.create(name="gone", kind="bandit")
    assert index_studies(store) == 1
    (row,) = Study.objects.all()
    assert (str(row), row.kind, row.n_wanted, row.n_finished) == ("words", DOUBLING, 8, 3)
    first = row.pk
    _swept(tmp_path)
    index_studies(store)
    (row,) = Study.objects.all()
    assert (row.pk, row.n_finished) == (first, 8)


def test_a_throwaway_kind_is_swept_and_reported_without_a_database(tmp_path, monkeypatch, capsys):
    def no_table(store, record):
        raise OperationalError("no such table")

    monkeypatch.setattr("analysis.management.commands.run_sweep.index_study", no_table)
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path / "home"))
    file = tmp_path / "words.toml"
    file.write_text(f'kind = "{DOUBLING}"\n[factors]\nword = ["ab", "abc"]\n')
    call_command("run_sweep", str(file), "--executor", "serial", "--set", "times=3")
    printed = capsys.readouterr()
    assert "2 runs: 0 found, 2 computed, 0 failed." in printed.out
    assert "index_studies tells them later" in printed.err
    call_command("report", "words")
    assert "| abc | 24" in capsys.readouterr().out
    with pytest.raises(CommandError, match="No study 'wrds' was swept. Known: words"):
        call_command("report", "wrds")
