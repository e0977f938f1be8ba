"""Every policy draws the tasks of a real training, and its log is learned from."""

import json

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.methods.policies.logs import read_log
from analysis.studies.policy.runs import accuracy_and_f1, correlations, matthews
from analysis.studies.policy.trained import TextTasks, learn_from, named_policy, train_with
from mtl_engine.config import EngineConfig
from mtl_engine.policies import FixedPolicy
from mtl_engine.types import Example, TaskSpec

TINY = EngineConfig.from_dict(
    {
        "encoder": {"kind": "tiny"},
        "training": {"epochs": 2, "label_smoothing": 0.0, "batch_size": 8},
    }
)
MOOD = TaskSpec("mood", "classes", ("ask", "tell"))
LENGTH = TaskSpec("length", "regression", high=5.0)
DATA = TextTasks(
    (MOOD, LENGTH),
    (
        *(
            Example(("who" if i % 2 else "we",), {"mood": "ask" if i % 2 else "tell"})
            for i in range(30)
        ),
        *(Example(("go",) * (1 + i % 4), {"length": 1.0 + i % 4}) for i in range(10)),
    ),
)


def _train(policy, n_points=1):
    return train_with(DATA, policy, TINY, lambda model: {"mean": 1.0}, n_points=n_points)


@pytest.mark.parametrize("name", ["RANDOM", "TASK SIZE", "EXP3.S"])
def test_each_policy_draws_tasks_and_leaves_a_log_to_learn_from(name):
    training = _train(named_policy(name, DATA, seed=0), n_points=2)
    assert [step for step, _ in training.curve] == [5, 10]  # 40 labels, 8 per step, 2 epochs
    assert len(training.log) == 10
    expected = {"RANDOM": (0.5, 0.5), "TASK SIZE": (0.75, 0.25)}
    assert sum(training.probabilities) == pytest.approx(1)
    if name in expected:
        assert training.probabilities == pytest.approx(expected[name])
    learned = learn_from([training.log], DATA.names, entropy_weight=0.25, seed=0)
    assert learned.probabilities.sum() == pytest.approx(1)


def test_a_learned_policy_draws_the_tasks_of_the_next_training():
    log = _train(named_policy("RANDOM", DATA, seed=0)).log
    learned = learn_from([log], DATA.names, entropy_weight=0.1, seed=0)
    again = _train(FixedPolicy(learned.probabilities))
    assert again.probabilities == pytest.approx(tuple(learned.probabilities))


def test_an_unknown_policy_names_the_known_ones():
    with pytest.raises(AnalysisError, match="TASK SIZE"):
        named_policy("BEST", DATA, seed=0)


def test_scores_of_sentence_tasks_by_hand():
    gold, found = ["1", "1", "0", "0"], ["1", "0", "0", "0"]
    assert matthews(gold, found) == pytest.approx((1 * 2 - 0 * 1) / np.sqrt(1 * 2 * 2 * 3))
    assert matthews(gold, ["1"] * 4) == 0
    assert accuracy_and_f1(gold, found) == pytest.approx((3 / 4 + 2 / 3) / 2)
    assert correlations([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert correlations([1, 2, 3], [2, 2, 2]) == 0
    with pytest.raises(AnalysisError, match="two classes"):
        matthews(["a", "b"], ["a", "c"])


def _step(number, task, loss):
    return json.dumps(
        {"step": number, "tasks": [task], "probabilities": [0.5, 0.5], "losses": {task: loss}}
    )


def test_steps_logged_again_after_a_resume_count_once():
    once = [_step(1, "a", 0.9), _step(2, "b", 0.8), _step(3, "a", 0.5), _step(4, "b", 0.6)]
    resumed = [*once[:3], *once[1:]]
    found, expected = read_log(resumed, ["a", "b"]), read_log(once, ["a", "b"])
    assert found.tasks.tolist() == expected.tasks.tolist() == [0, 1, 0, 1]
    assert found.rewards == pytest.approx(expected.rewards)


def test_an_empty_or_joint_log_has_nothing_to_learn_from_and_bad_lines_are_named():
    assert read_log([], ["a"]) is None
    joint = json.dumps({"step": 1, "tasks": ["a", "b"], "probabilities": None, "losses": {}})
    assert read_log([joint], ["a", "b"]) is None
    with pytest.raises(AnalysisError, match="log:2: not a logged step"):
        read_log([_step(1, "a", 0.9), "{"], ["a", "b"])
    with pytest.raises(AnalysisError, match="no task 'c'. Known: a, b"):
        read_log([_step(1, "c", 0.9)], ["a", "b"])
    with pytest.raises(AnalysisError, match="no log"):
        learn_from([[]], ["a", "b"], entropy_weight=0.25, seed=0)
