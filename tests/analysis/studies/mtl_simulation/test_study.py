import json

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.studies.mtl_simulation.experiment import Cell, draw_problem
from analysis.studies.mtl_simulation.study import STUDY
from analysis.studies.mtl_simulation.training import UNLABELLED
from analysis.studies.mtl_simulation.vectors import word_vectors
from analysis.sweep.registry import get_kind

PEOPLE = ("Ann", "Bob", "Eve", "Max")
PLACES = ("Rome", "Oslo", "Bonn", "Kiel")


@pytest.fixture
def settings(tmp_path):
    """Return the settings of a study on 120 sentences that are easy to learn."""
    rng = np.random.default_rng(0)
    for name in ("train", "dev", "test"):
        sentences = []
        for _ in range(120):
            who, where = rng.choice(PEOPLE), rng.choice(PLACES)
            sentences.append(f"{who} NN O I-PER\nlives NN O O\nin NN O O\n{where} NN O I-LOC\n")
        (tmp_path / name).write_text("\n".join(sentences), encoding="utf-8")
    words = (*PEOPLE, *PLACES, "lives", "in")
    lines = [f"{word} {' '.join(map(str, rng.normal(size=8).round(3)))}" for word in words]
    (tmp_path / "words.vec").write_text("\n".join([f"{len(words)} 8", *lines]), encoding="utf-8")
    files = {name: str(tmp_path / name) for name in ("train", "dev", "test")}
    return {
        **files,
        "vectors": str(tmp_path / "words.vec"),
        "n": 200,
        "units": 8,
        "dense_units": 8,
        "epochs": 40,
        "learning_rate": 0.01,
    }


def _final(settings, seed=0):
    kind = get_kind("mtl_simulation")
    resolved = kind.read(kind.resolve(settings))
    rows = list(kind.run(resolved, seed, kind.load(resolved)))
    return json.loads(json.dumps(rows))[-1]["final"]


def _resolve(**changes):
    return STUDY.resolve({"train": "a", "dev": "b", "test": "c", **changes})


def test_a_run_learns_and_says_how_related_its_tasks_were(settings):
    found = _final({**settings, "alpha": 1.0, "n_tasks": 3})
    assert found["f1_single"] > 0.9
    assert found["f1_multi"] > 0.9
    assert found["difference"] == pytest.approx(found["f1_multi"] - found["f1_single"], abs=1e-5)
    assert found["ami_max"] == found["ami_arithmetic"] == 1.0
    assert found["vectors"] == settings["vectors"]


def test_a_run_repeats_itself(settings):
    assert _final(settings, seed=4) == _final(settings, seed=4)


def test_the_single_task_is_the_same_beside_any_others(settings):
    few = _final({**settings, "epochs": 3, "n_tasks": 2, "alpha": 0.6})
    many = _final({**settings, "epochs": 3, "n_tasks": 4, "n_synthetic": 400})
    assert few["f1_single"] == many["f1_single"]
    assert few["ami_max"] < many["ami_max"]


def _problem(settings, **cell):
    kind = get_kind("mtl_simulation")
    return draw_problem(kind.load(kind.read(kind.resolve(settings))), Cell(**cell), seed=3)


def test_every_task_labels_tokens_of_its_own_unless_told_otherwise(settings):
    own, ami, _ = _problem(settings, n=50, n_tasks=3, alpha=1.0, n_synthetic=80)
    assert own.labels.shape == (3, 50 + 80 + 80)
    assert ((own.labels != UNLABELLED).sum(axis=0) == 1).all()  # each token for one task
    assert (own.labels != UNLABELLED).sum(axis=1).tolist() == [50, 80, 80]
    assert not (own.windows[50:130] == own.windows[130:]).all()
    assert ami == 1.0
    same, _, _ = _problem(settings, n=50, n_tasks=3, alpha=1.0, n_synthetic=80, draws="same")
    assert same.labels.shape == (3, 80)
    assert (same.windows[:50] == own.windows[:50]).all()  # the real task's tokens
    assert (same.labels[1] == same.labels[2]).all()
    with pytest.raises(AnalysisError, match="draws is 'mine'; allowed: own, same"):
        Cell(n=50, n_tasks=2, alpha=0.9, draws="mine")


def test_the_real_task_alone_is_the_same_in_both_ways_to_draw(settings):
    quick = {**settings, "epochs": 2, "n_tasks": 3}
    own, same = _final(quick), _final({**quick, "draws": "same"})
    assert own["f1_single"] == same["f1_single"]


def test_repeats_are_the_mean_of_runs_with_other_seeds(settings):
    quick = {**settings, "epochs": 2}
    stacked = _final({**quick, "repeats": 2}, seed=1)
    single = [_final(quick, seed=seed) for seed in (2, 3)]
    assert stacked["f1_multi"] == pytest.approx(
        np.mean([run["f1_multi"] for run in single]), abs=1e-5
    )
    assert stacked["ami_max"] == pytest.approx(
        np.mean([run["ami_max"] for run in single]), abs=1e-5
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _resolve(alpha=1.5), "'alpha' is 1.5; allowed: 0 to 1"),
        (lambda: _resolve(n_tasks=1), "'n_tasks' is 1; allowed: 2 or more"),
        (lambda: _resolve(units=0), "'units' is 0"),
        (lambda: _resolve(epochs=0), "'epochs' is 0"),
        (lambda: _resolve(repeats=0), "'repeats' is 0"),
        (lambda: _resolve(hidden=5), "key 'hidden'"),
        (lambda: _resolve(n=100, n_synthetic=50), "less than n 100"),
        (lambda: Cell(n=100, n_tasks=2, alpha=0.9, n_synthetic=50), "less than n 100"),
        (lambda: STUDY.resolve({"train": "x", "dev": "x"}), "The setting 'test' is needed"),
        (lambda: word_vectors("nowhere.vec", ["a"]), "'nowhere.vec' is no file"),
    ],
)
def test_bad_settings_are_refused_with_a_reason(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1 2\nb 1 2 3\n", "words.vec:2 has 3 numbers"),
        ("a 1 two\n", "could not convert"),
        ("", "no word vectors"),
        ("z 1 2\n", "No word of the corpus"),
    ],
)
def test_a_file_that_holds_no_vectors_is_named(tmp_path, text, message):
    path = tmp_path / "words.vec"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AnalysisError, match=message):
        word_vectors(str(path), ["a", "b"])


def test_the_bundled_vectors_are_lower_case_and_can_be_narrowed():
    vectors = word_vectors("minilm", ["Rome", "rome", "Oslo"])
    assert vectors.shape == (4, 384)
    assert (vectors[0] == 0).all()
    assert (vectors[1] == vectors[2]).all()
    assert word_vectors("minilm", ["Rome", "Oslo"], width=2).shape == (3, 2)
