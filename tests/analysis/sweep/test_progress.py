"""What people see while a sweep runs."""

import io

import pytest
from django.core.management import CommandError, call_command

from analysis.sweep.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_that_work_has_begun_before_the_first_run_ends():
    out = Terminal()
    Progress(3, out).start()
    assert "0/3" in out.getvalue()


def test_a_long_label_does_not_break_the_bar_into_lines(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    out = Terminal()
    Progress(2, out).advance("weights={'slots': 0.5}, " * 10)
    assert len(out.getvalue().removeprefix("\r\x1b[2K")) == 59


def test_a_log_file_gets_a_line_for_each_run_with_the_time_left():
    out = io.StringIO()
    progress = Progress(2, out)
    progress.start()
    progress.advance("seed=0")
    progress.advance("seed=1")
    lines = out.getvalue().splitlines()
    assert [line.partition("] ")[2][:3] for line in lines] == ["1/2", "2/2"]
    assert "left  seed=0" in lines[0]


@pytest.fixture
def study(tmp_path, monkeypatch, db):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    path = tmp_path / "levels.toml"
    path.write_text(
        'name = "levels"\nkind = "benchmarks.trivial_study"\nseeds = [0, 1, 2, 3]\n'
        '[scales.small]\nnote = "three seeds of four"\nseeds = [0, 1, 2]\n'
    )
    return str(path)


def test_a_sweep_says_what_its_scale_has_scaled_down(study, capsys):
    call_command("run_sweep", study, "--scale", "small", "--executor", "serial")
    assert "Scaled down: three seeds of four." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--executor", "serial"], "with 1 worker."),
        (["--executor", "processes", "--workers", "2"], "with 2 workers."),
        (["--executor", "ray"], "divided by the runs that the cluster does at once."),
    ],
)
def test_an_estimate_is_for_the_executor_that_was_asked_for(options, words, study, capsys):
    call_command("run_sweep", study, "--dry-run", *options)
    assert words in capsys.readouterr().out


def test_a_report_of_another_scale_says_which_one_was_swept(study):
    call_command("run_sweep", study, "--scale", "small", "--executor", "serial")
    with pytest.raises(CommandError, match="No study 'levels' was.*Known: levels --scale small"):
        call_command("report", "levels")
