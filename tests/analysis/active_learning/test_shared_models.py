import pytest

from analysis.active_learning import shared_models
from analysis.active_learning.protocol import run_protocol
from analysis.active_learning.settings import Protocol
from mtl_engine.config import EngineConfig
from tests.analysis.active_learning.test_protocol import CORPUS

CONFIG = EngineConfig.from_dict({"encoder": {"kind": "tiny"}, "training": {"epochs": 2}})


def _run(cache_dir, strategy="MT-AVG", config=CONFIG, **changes):
    settings = {"initial": 10, "dev_size": 10, "n_rounds": 3, "budget": 60.0, **changes}
    protocol = Protocol(strategy=strategy, **settings)
    return list(run_protocol(CORPUS, protocol, config, seed=1, cache_dir=cache_dir))


@pytest.fixture
def trainings(monkeypatch):
    """Sizes of the sets that a first model was trained on."""
    found = []
    real = shared_models.train

    def counted(examples, *args, **options):
        found.append(len(examples))
        return real(examples, *args, **options)

    monkeypatch.setattr(shared_models, "train", counted)
    return found


def test_a_found_model_gives_the_numbers_of_a_trained_one(tmp_path, trainings):
    alone = _run(None)
    first, second = _run(tmp_path), _run(tmp_path)
    assert alone == first == second
    assert trainings == [10, 10]  # without a cache, and once for both runs with one


def test_strategies_share_the_first_model_and_nothing_else(tmp_path, trainings):
    _run(tmp_path)
    other = _run(tmp_path, strategy="RANDOM")
    assert trainings == [10]
    assert other == _run(None, strategy="RANDOM")


def test_other_settings_train_their_own_model(tmp_path, trainings):
    _run(tmp_path)
    smoothed = {"encoder": {"kind": "tiny"}, "training": {"epochs": 2, "label_smoothing": 0.3}}
    _run(tmp_path, config=EngineConfig.from_dict(smoothed))
    _run(tmp_path, initial=12)
    assert trainings == [10, 10, 12]


def test_of_two_runs_that_finish_at_once_the_first_model_stays(tmp_path):
    _run(tmp_path)
    (folder,) = (tmp_path / shared_models.FOLDER).iterdir()
    kept = folder.stat().st_ino
    shared_models._keep(shared_models.load_model(folder), folder)
    assert folder.stat().st_ino == kept
    assert list(folder.parent.iterdir()) == [folder]


def test_what_nothing_new_was_bought_for_is_not_trained_again(monkeypatch):
    from analysis.active_learning import protocol as module

    sizes = []
    real = module.learn
    monkeypatch.setattr(
        module,
        "learn",
        lambda c, examples, *a, **k: sizes.append(len(examples)) or real(c, examples, *a, **k),
    )
    rows = _run(None, strategy="MT-MIN", decision="ONCE", n_rounds=4)
    assert len(rows) == 5
    assert len(sizes) == 2
    assert rows[1]["slots"] == rows[2]["slots"] == rows[3]["slots"]
