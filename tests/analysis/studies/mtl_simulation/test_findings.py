import numpy as np
import pytest
import sympy
from django.core.management import CommandError, call_command

from analysis.methods.formulas import Expression, Formula
from analysis.methods.formulas.published import EQUATIONS, published
from analysis.studies.mtl_simulation.cells import (
    SimulatedRun,
    cell_table,
    directions,
    with_single_tasks,
)
from analysis.studies.mtl_simulation.findings import Question, choose, findings, worth_showing
from analysis.sweep.store import Outcome, StudyRecord
from analysis.sweep.study_file import RunConfig
from analysis.web.services import run_store


def _run(n, t, alpha, seed, *, ami):
    f1 = 0.0069 * np.sqrt(n) + 0.001 * seed
    return SimulatedRun(n, 0, t, alpha, seed, f1, f1 - 0.01, ami)


RUNS = [
    _run(n, t, alpha, seed, ami=alpha**2)
    for n in (500, 1000, 2000, 4000)
    for t in (2, 4)
    for alpha in (0.6, 0.9)
    for seed in (0, 1)
]


@pytest.mark.parametrize(
    ("number", "values", "percent"),
    [
        (3, {"n": 10_000}, 69.0),
        (4, {"ami": 0.5}, 47.14),
        (5, {"t": 9}, 60.0),
        (6, {"n": 4000, "ami": 0.5, "t": 2}, 45.60),
        (7, {"n": 1600}, 40.0),
        (8, {"n_synthetic": 3600}, 41.4),
        (9, {"ami": 0.5}, 38.46),
        (10, {"t": 4}, 31.28),
        (11, {"n": 1000, "n_synthetic": 2000, "ami": 0.5, "t": 9}, 30.74),
    ],
)
def test_equations_of_the_paper_by_hand(number, values, percent):
    row = np.array([[float(values[name]) for name in EQUATIONS[number][1]]])
    assert published(number)(row)[0] == pytest.approx(percent / 100, abs=2e-4)


def test_a_cell_is_the_mean_of_its_seeds():
    table = cell_table(RUNS)
    assert len(table["f1"]) == 16
    first = 0.0069 * np.sqrt(500)
    assert table["f1"][0] == pytest.approx(first + 0.0005)
    assert table["n_synthetic"].tolist() == table["n"].tolist()


def test_the_real_task_alone_is_a_row_of_one_task():
    table = with_single_tasks(cell_table(RUNS))
    assert table["t"].tolist()[-4:] == [1, 1, 1, 1]
    assert table["f1"][-4] == pytest.approx(0.0069 * np.sqrt(500) + 0.0005 - 0.01)


def test_each_seed_says_its_gain_and_what_f1_grows_with():
    found = directions(RUNS)
    assert found.gain.points == pytest.approx((0.01, 0.01))
    assert found.slopes["n"].points == pytest.approx((0.0069, 0.0069))
    assert found.slopes["t"].points == pytest.approx((0, 0), abs=1e-9)


def test_a_planted_formula_is_found_and_beats_the_constant():
    (found,) = findings(cell_table(RUNS), [Question(("n",), 3)], engine="operon", seeds=[0])
    errors = {scored.words: scored.held_out for scored in found.scored}
    assert errors["paper, equation 3"] == pytest.approx(0.0005**2)
    assert errors["found"] < 1e-6
    assert errors["constant"] > 0.001
    assert found.ranges == {"n": (500, 4000)}


def test_an_ami_below_chance_counts_as_none_so_that_roots_exist():
    table = cell_table([_run(500, 2, 0.2, 0, ami=-0.004), _run(500, 2, 0.9, 0, ami=0.5)])
    assert table["ami"].tolist() == [0.001, 0.5]


def _formula(complexity, mse):
    (name,) = sympy.symbols(["n"])
    return Formula(Expression(name + 0.0 * complexity, ("n",)), complexity, mse, mse)


def test_a_larger_formula_must_earn_its_size():
    front = [_formula(1, 0.01), _formula(4, 0.001), _formula(40, 0.0009)]
    assert choose(front, 100) is front[1]
    assert choose([*front, _formula(50, 1e-6)], 100).complexity == 50


def test_the_front_shows_only_clear_steps():
    front = [_formula(1, 0.01), _formula(2, 0.0099), _formula(3, 0.005), _formula(9, 0.0049)]
    assert [f.complexity for f in worth_showing(front)] == [1, 3]


def test_the_command_writes_tables_and_the_plots_of_figure_3(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path / "home"))
    store, named = run_store(), []
    for i, run in enumerate(RUNS):
        settings = {"n": run.n, "n_synthetic": 0, "n_tasks": run.n_tasks, "alpha": run.alpha}
        settings["vectors"] = "minilm"
        final = {"f1_multi": run.f1_multi, "f1_single": run.f1_single, "ami_arithmetic": run.ami}
        named.append((str(i), RunConfig("mtl_simulation", settings, run.seed)))
        store.save(*named[-1], Outcome([{"final": final}], 1.0, 1.0))
    store.keep_study(
        StudyRecord("planted", "", "mtl_simulation", "", "everything", ("n",), tuple(named))
    )
    call_command("study_formulas", "planted", "--seeds", "0", "--population", "60", "-o", tmp_path)
    text = (tmp_path / "formulas.md").read_text(encoding="utf-8")
    assert "paper, equation 6" in text
    assert "32 runs, 2 seeds" in text
    assert "Over seeds: gain +0.010 (" in text
    assert sorted(path.name for path in tmp_path.glob("*.png")) == [
        "formulas_planted_ami.png",
        "formulas_planted_n.png",
        "formulas_planted_tasks.png",
    ]


def test_a_study_that_was_never_swept_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path / "home"))
    with pytest.raises(CommandError, match="No study 'nothing'"):
        call_command("study_formulas", "nothing", "-o", tmp_path)
