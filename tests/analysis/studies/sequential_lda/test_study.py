"""The study kind of SequentialLDA: methods on planted and real sequences."""

import pytest

from analysis.data.sequence_sets import read_digits
from analysis.errors import AnalysisError
from analysis.sweep.registry import get_kind


def _final(seed=0, **settings):
    kind = get_kind("sequential_lda")
    chosen = kind.read(kind.resolve(settings))
    return list(kind.run(chosen, seed, kind.load(chosen)))[-1]["final"]


@pytest.fixture
def names(tmp_path):
    """Two kinds of words, each in several languages."""
    for i, (a, b) in enumerate([("a", "b"), ("a", "b"), ("x", "y")] * 2):
        words = [a * (1 + n % 4) + b * (1 + n // 4) for n in range(40)]
        (tmp_path / f"{i}.txt").write_text("\n".join(words), encoding="utf-8")
    return {"data": "names", "path": str(tmp_path), "n_test": 10, "n_restarts": 2}


@pytest.mark.parametrize(
    ("data", "topic"),
    [("chains", "markov"), ("hidden", "hmm"), ("clouds", "gaussian"), ("systems", "kalman")],
)
def test_sharing_topics_beats_learning_alone_and_pooling(data, topic):
    settings = {"data": data, "topic": topic, "n_test": 10, "max_iter": 30, "n_sequences": 5}
    shared = _final(**settings)
    for method in ("one by one", "aggregate"):
        other = _final(**settings, method=method)
        assert shared["log_likelihood"] > other["log_likelihood"]
    measure = "forecast_rmse" if topic in ("gaussian", "kalman") else "remainder"
    assert measure in shared


def test_settings_are_chosen_by_folds_and_told(names):
    found = _final(**names, n_topics=0, n_sequences=8)
    assert found["topics"] in (1, 2, 4, 6, 8, 16)
    assert found["shrinkage"] in (0, 5, 10, 20, 50)
    plain = _final(**names, n_topics=2, n_sequences=8, method="SequentialLDA, plain")
    assert (plain["topics"], plain["shrinkage"]) == (2, 0)


@pytest.mark.parametrize(
    "method", ["one by one", "one by one, shrunk", "aggregate", "SequentialLDA"]
)
def test_new_tasks_are_read_with_what_the_others_taught(names, method):
    few = {"question": "new tasks", "n_sequences": 2, "n_known": 20, "n_topics": 2}
    found = _final(**names, **few, method=method)
    assert found["scored"] == 1
    if method == "one by one":
        assert found["log_likelihood"] < _final(**names, **few)["log_likelihood"]


def test_digits_are_sequences_of_rows_by_digit_and_half():
    digits = read_digits()
    assert len(digits.tasks) == 20
    assert digits.tasks["7, half 2"][0].shape == (8, 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"data": "names"}, "'path' is needed"),
        ({"data": "digits"}, "Topics 'markov' cannot read data 'digits'"),
        ({"data": "clouds", "topic": "gaussian", "method": "multinomial LDA"}, "is for symbols"),
    ],
)
def test_what_cannot_be_computed_is_refused(settings, message):
    with pytest.raises(AnalysisError, match=message):
        get_kind("sequential_lda").resolve(settings)


@pytest.mark.parametrize(
    "method",
    ["one by one", "one by one, shrunk", "aggregate", "aggregate, mixture", "SequentialLDA"],
)
def test_folds_of_tasks_with_one_sequence_each_leave_something_to_learn_from(names, method):
    found = _final(**names, method=method, n_topics=0, n_sequences=1)
    assert found["log_likelihood"] < 0


def test_a_new_task_with_one_sequence_is_learned_alone(names):
    one = {"question": "new tasks", "n_sequences": 1, "n_known": 20, "n_topics": 0}
    assert _final(**names, **one, method="one by one")["log_likelihood"] < 0
