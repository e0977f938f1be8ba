"""The commands of the studies, on small files."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.management.commands import study_settings


def _run(capsys, *args):
    call_command(*args)
    return capsys.readouterr().out


def test_simulated_tasks_come_out_as_a_corpus_that_can_be_imported(tmp_path, capsys):
    source = tmp_path / "in.conll"
    block = "# intent = fly\nto\tO\nrome\tB-city\nnew\tB-city\nyork\tI-city\n\n"
    source.write_text(block * 50)
    target = tmp_path / "out.jsonl"
    printed = _run(
        capsys, "simulate_tasks", str(source), "--format", "slu", "--layer", "slots",
        "--alpha", "1", "--alpha", "0.6", "-o", str(target),
    )  # fmt: skip
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert len(rows) == 50
    assert rows[0]["labels"]["synthetic 1"] == ["O", "I-city", "I-city", "I-city"]
    assert set(rows[0]["labels"]) == {"slots", "synthetic 1", "synthetic 2"}
    assert "alpha 1, AMI 1.000" in printed


def test_an_unknown_layer_names_the_known_ones(tmp_path):
    source = tmp_path / "in.conll"
    source.write_text("# intent = fly\nto\tO\n\n")
    with pytest.raises(CommandError, match="Known: .*slots"):
        call_command(
            "simulate_tasks", str(source), "--format", "slu", "--layer", "ner",
            "--alpha", "1", "-o", str(tmp_path / "x"),
        )  # fmt: skip


def test_a_formula_is_found_in_a_table(tmp_path, capsys):
    table = tmp_path / "f1.csv"
    n = np.linspace(50, 5000, 60)
    rows = "\n".join(f"{a:.1f},{0.0069 * np.sqrt(a):.6f}" for a in n)
    table.write_text(f"n,f1\n{rows}\n")
    printed = _run(
        capsys, "discover_formula", str(table), "--target", "f1", "--inputs", "n",
        "--engine", "operon", "--seeds", "0",
    )  # fmt: skip
    assert "sqrt(n)" in printed
    assert "n 50 to 5000" in printed


def test_a_missing_column_is_named(tmp_path):
    table = tmp_path / "f1.csv"
    table.write_text("n,f1\n1,2\n")
    with pytest.raises(CommandError, match="no column 't'. Known: n, f1"):
        call_command("discover_formula", str(table), "--target", "f1", "--inputs", "t")


def test_a_surrogate_tells_helping_from_hurting_tasks(tmp_path, capsys):
    effects = {"ner": -0.2, "pos": 0.3, "chunk": -0.1, "topic": 0.2}
    names = sorted(effects)
    rows = [{"subset": [], "loss": 1.0}]
    rng = np.random.default_rng(0)
    for _ in range(4):
        for i in range(4):
            for j in range(i):
                loss = 1 + effects[names[i]] + effects[names[j]] + 0.01 * rng.normal()
                rows.append({"subset": [names[i], names[j]], "loss": loss})
    file = tmp_path / "losses.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    lines = _run(capsys, "fit_surrogate", str(file)).splitlines()
    assert lines[0].endswith("ner  helps")
    assert lines[3].endswith("pos  hurts")
    assert "rank correlation" in lines[4]


def test_a_bad_line_of_losses_is_named(tmp_path):
    file = tmp_path / "losses.jsonl"
    file.write_text('{"subset": ["a"]}\n')
    with pytest.raises(CommandError, match="losses.jsonl:1"):
        call_command("fit_surrogate", str(file))


def test_a_policy_is_learned_from_a_log(tmp_path, capsys):
    rng = np.random.default_rng(1)
    lines = []
    loss = {"slots": 2.0, "intent": 2.0}
    for _ in range(400):
        task = str(rng.choice(["slots", "intent"]))
        loss[task] = max(0.01, loss[task] * (0.97 if task == "slots" else 1.0))
        step = {"tasks": [task], "probabilities": [0.5, 0.5], "losses": {task: loss[task]}}
        lines.append(json.dumps(step))
    file = tmp_path / "log.jsonl"
    file.write_text("\n".join(lines))
    printed = _run(
        capsys, "learn_policy", "--log", str(file), "--tasks", "slots,intent", "--iterations", "20"
    )
    share = float(printed.splitlines()[0].split()[0])
    assert printed.splitlines()[0].endswith("slots")
    assert share > 0.6


def test_a_log_without_drawn_tasks_says_so(tmp_path):
    file = tmp_path / "log.jsonl"
    file.write_text('{"tasks": ["a", "b"], "probabilities": null, "losses": {"a": 1, "b": 1}}\n')
    with pytest.raises(CommandError, match="no log"):
        call_command("learn_policy", "--log", str(file), "--tasks", "a,b")


@pytest.mark.django_db(transaction=True)
def test_a_report_tells_of_the_runs_that_the_study_file_wants_now(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    path = tmp_path / "grown.toml"

    def swept(*levels):
        named = 'name = "grown"\nkind = "benchmarks.trivial_study"\n'
        path.write_text(f"{named}[factors]\nlevel = {list(levels)}\n")
        _run(capsys, "run_sweep", str(path), "--resume", "--executor", "serial")
        printed = _run(capsys, "report", "grown")
        return [level for level in range(1, 5) if f"| {level} | {level}.000" in printed]

    assert swept(1, 2) == [1, 2]
    assert swept(2, 3) == [2, 3]
    assert swept(1, 2) == [1, 2]  # what was computed before is known again


@pytest.mark.django_db(transaction=True)
def test_a_report_tells_which_wanted_runs_are_missing_or_failed(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    path = tmp_path / "partly.toml"
    path.write_text(
        'name = "partly"\nkind = "benchmarks.trivial_study"\nseeds = [0, 1, 2]\n'
        "[factors]\nlevel = [1, 2]\n[settings]\nfails_on = 0\n"
    )
    with pytest.raises(CommandError, match="1 runs failed"):
        _run(capsys, "run_sweep", str(path), "--executor", "serial", "--limit", "1")
    with pytest.raises(CommandError, match="no finished run yet. 6 of 6 runs missing: 5 not comp"):
        call_command("report", "partly")
    with pytest.raises(CommandError, match="2 runs failed"):
        _run(capsys, "run_sweep", str(path), "--executor", "serial", "--limit", "4")
    printed = _run(capsys, "report", "partly")
    assert "4 of 6 runs missing: 2 not computed yet, 2 failed." in printed
    assert "| 2 | 1 of 3 | seed 2 | seed 0 | RuntimeError: asked to fail on seed 0 |" in printed


@pytest.mark.django_db(transaction=True)
def test_a_run_that_another_study_computes_is_there_for_all_that_want_it(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    for name in ("first", "second"):
        (tmp_path / f"{name}.toml").write_text(
            f'name = "{name}"\nkind = "benchmarks.trivial_study"\nseeds = [0, 1]\n'
        )
    run = ("run_sweep", "--executor", "serial")
    _run(capsys, *run, str(tmp_path / "first.toml"), "--limit", "1")
    assert "1 of 2 runs missing" in _run(capsys, "report", "first")
    _run(capsys, *run, str(tmp_path / "second.toml"))
    assert "missing" not in _run(capsys, "report", "first")


def test_the_page_of_settings_is_what_the_kinds_say(pytestconfig):
    page = pytestconfig.rootpath / "docs" / "study_settings.md"
    remedy = "python manage.py study_settings -o docs/study_settings.md"
    assert page.read_text(encoding="utf-8") == study_settings.as_markdown(), remedy
