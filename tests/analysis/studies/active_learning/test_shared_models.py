import pytest

from analysis.studies.active_learning import simulation
from analysis.studies.active_learning.settings import SimulationSettings
from mtl_engine.active_learning import train as training
from mtl_engine.ensemble import TrainedModel
from tests.analysis.studies.active_learning.test_simulation import CORPUS, PAPER


def _run(cache_dir, **changes):
    settings = SimulationSettings(**{**PAPER, **changes})
    return list(simulation.simulate(CORPUS, settings, seed=1, cache_dir=cache_dir))


@pytest.fixture
def trainings(monkeypatch):
    """Sizes of the sets that models were trained on."""
    found = []
    real = training.train

    def counted(examples, *args, **options):
        found.append(len(examples))
        return real(examples, *args, **options)

    monkeypatch.setattr(training, "train", counted)
    return found


@pytest.mark.parametrize("has_temperature", [False, True])
def test_a_found_model_gives_the_numbers_of_a_trained_one(tmp_path, trainings, has_temperature):
    alone = _run(None, has_temperature=has_temperature)
    first, second = (_run(tmp_path, has_temperature=has_temperature) for _ in range(2))
    assert alone == first == second
    assert trainings.count(10) == 2  # without a cache, and once for both runs with one


def test_strategies_share_the_first_model_and_nothing_else(tmp_path, trainings):
    _run(tmp_path)
    other = _run(tmp_path, strategy="RANDOM")
    assert trainings.count(10) == 1
    assert other == _run(None, strategy="RANDOM")


def test_other_settings_train_their_own_model(tmp_path, trainings):
    _run(tmp_path, n_rounds=1)
    _run(tmp_path, n_rounds=1, label_smoothing=0.3)
    _run(tmp_path, n_rounds=1, initial=12)
    assert trainings == [10, 10, 12]


def test_of_two_runs_that_finish_at_once_the_first_model_stays(tmp_path):
    _run(tmp_path, n_rounds=1)
    (folder,) = (tmp_path / simulation.FIRST_MODELS).iterdir()
    kept = folder.stat().st_ino
    shared = simulation.SharedModels(tmp_path, has_temperature=False)
    shared._folder = lambda training: folder
    shared.keep(None, TrainedModel(simulation.load_model(folder)))
    assert folder.stat().st_ino == kept
    assert list(folder.parent.iterdir()) == [folder]


def test_what_nothing_new_was_bought_for_is_not_trained_again(trainings):
    rows = _run(None, strategy="MT-MIN", decision="ONCE", n_rounds=4)
    assert len(rows) == 5
    assert len(trainings) == 2
    assert rows[1]["slots"] == rows[2]["slots"] == rows[3]["slots"]
