"""Task policies and the order of batches."""

import numpy as np
import pytest

from mtl_engine.batching import Shuffled, by_equal_length, by_length
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.policies import Feedback, FixedPolicy, draw, named_policy


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("uniform", [1 / 2, 0, 1 / 2]),
        ("size", [0.9, 0, 0.1]),
        ("temperature", [3 / 4, 0, 1 / 4]),  # square roots of 90 and 10
    ],
)
def test_a_task_without_sentences_is_never_drawn(name, expected):
    policy = named_policy(name, [90, 0, 10], temperature=2.0)
    assert policy.probabilities(1) == pytest.approx(expected)


def test_joint_training_draws_nothing_and_unknown_policies_are_refused():
    assert named_policy("joint", [1, 2]) is None
    with pytest.raises(UnknownName, match="Did you mean 'uniform'"):
        named_policy("unifrom", [1, 2])


@pytest.mark.parametrize("weights", [[-1, 2], [0, 0], [[1], [2]]])
def test_weights_of_a_policy_must_make_probabilities(weights):
    with pytest.raises(EngineError, match="weights of a task policy"):
        FixedPolicy(weights)


def test_draws_follow_the_probabilities_among_the_open_tasks():
    rng = np.random.default_rng(0)
    is_open = np.array([True, True, False])
    counts = np.bincount([draw(np.array([0.2, 0.3, 0.5]), is_open, rng) for _ in range(4000)])
    assert counts / 4000 == pytest.approx([0.4, 0.6], abs=0.03)
    with pytest.raises(EngineError, match=r"only tasks \[1\] have"):
        draw(np.array([1.0, 0.0, 0.0]), np.array([False, True, False]), rng)
    with pytest.raises(EngineError, match="summing to 1"):
        draw(np.array([0.5, 0.2, 0.1]), is_open, rng)


def test_every_pass_visits_every_row_once_in_another_order():
    stream = Shuffled(np.arange(10, 17), np.ones(7, dtype=int), batch=3, key=(4,))
    passes = [np.concatenate([stream.batch(3 * n + b) for b in range(3)]) for n in range(2)]
    assert stream.batches_per_pass == 3
    assert [sorted(rows) for rows in passes] == [list(range(10, 17))] * 2
    assert passes[0].tolist() != passes[1].tolist()
    assert stream.batch(4).tolist() == stream.batch(4).tolist()


@pytest.mark.parametrize("batch", [1, 7, 40, 1000])
def test_batches_hold_about_equally_many_words_whatever_the_sentences(batch):
    rng = np.random.default_rng(0)
    sizes = np.append(rng.integers(1, 30, 60), 300)
    stream = Shuffled(np.arange(100, 161), sizes, batch, key=(1,))
    for number in range(3):
        first = number * stream.batches_per_pass
        batches = [stream.batch(first + b) for b in range(stream.batches_per_pass)]
        assert all(len(rows) for rows in batches)
        assert sorted(np.concatenate(batches).tolist()) == list(range(100, 161))
        words = [sizes[rows - 100].sum() for rows in batches]
        assert max(words) <= batch + 300
    assert stream.batches_per_pass == min(61, -(-sizes.sum() // batch))


def test_as_many_words_are_cut_into_as_many_batches_by_few_or_many_sentences():
    few, many = np.full(20, 24), np.full(40, 12)
    streams = [Shuffled(np.arange(len(s)), s, batch=96, key=(0,)) for s in (few, many)]
    assert [stream.batches_per_pass for stream in streams] == [5, 5]
    assert [[len(s.batch(b)) for b in range(5)] for s in streams] == [[4] * 5, [8] * 5]


def test_batches_by_length_hold_similar_sentences_within_the_budget():
    sizes = [3, 9, 4, 30, 2, 8]
    batches = [rows.tolist() for rows in by_length(sizes, 16)]
    assert batches == [[3], [1], [5, 2], [0, 4]]
    assert sorted(row for rows in batches for row in rows) == list(range(6))


def test_batches_of_equal_length_never_mix_lengths():
    sizes = [3, 5, 3, 3, 5]
    assert [rows.tolist() for rows in by_equal_length(sizes, 6)] == [[0, 2], [3], [1], [4]]


def test_exp3s_moves_to_the_task_whose_steps_bring_more():
    policy = named_policy("exp3s", [50, 50], rate=0.05)
    rng = np.random.default_rng(0)
    for step in range(1, 301):
        task = int(rng.choice(2, p=policy.probabilities(step)))
        policy.update(Feedback(step, task, loss=1.0, gain=[0.0, 0.3][task] + 0.1 * rng.normal()))
    assert policy.probabilities(301)[1] > 0.8


def test_exp3s_has_nothing_to_choose_with_one_task():
    assert named_policy("exp3s", [7]).probabilities(1) == pytest.approx([1.0])
