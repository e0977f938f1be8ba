"""Numbers computed by hand or by an independent implementation."""

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.methods.policies import (
    Exp3S,
    PolicyLog,
    RewardScaler,
    clipped_importance_sampling,
    counterfactual_rewards,
    doubly_robust,
    importance_sampling,
    learn_policy,
    scale_reward,
    size_policy,
    weighted_importance_sampling,
)
from analysis.methods.policies.estimators import estimate
from mtl_engine.errors import EngineError

ARMS, REWARDS = [0, 2, 1, 0, 2], [1, -1, 0.5, 1, -0.25]
LOG = PolicyLog([0, 1, 2, 0, 1, 0], np.full(3, 1 / 3), [0.2, 0.8, 0.5, 0.4, 0.0, 0.6])


def _after(divide_by: str, n: int) -> np.ndarray:
    agent = Exp3S(3, eta=0.5, epsilon=0.05, divide_by=divide_by)
    for arm, reward in list(zip(ARMS, REWARDS, strict=True))[:n]:
        agent.update(arm, reward)
    return agent.probabilities()


def test_exp3s_follows_the_published_update():
    assert _after("pi", 1) == pytest.approx([0.41838330, 0.29080835, 0.29080835], abs=1e-8)
    assert _after("pi", 5) == pytest.approx([0.55082206, 0.28780205, 0.16137589], abs=1e-8)


def test_exp3s_can_divide_by_the_probability_without_exploration():
    assert _after("rho", 5) == pytest.approx([0.55234736, 0.28829083, 0.15936181], abs=1e-8)


def test_with_two_tasks_the_first_reward_is_shared_out_entirely():
    agent = Exp3S(2, eta=0.5, epsilon=0.05)
    agent.update(0, 1.0)
    assert agent.probabilities() == pytest.approx([0.5, 0.5])


def test_rewards_are_scaled_by_the_percentiles_of_those_seen():
    assert scale_reward([0.1, 0.5, 0.2, 0.9, 0.3]) == pytest.approx([-1, 0.6, -0.9, 1, -0.4])


def test_the_first_reward_and_equal_rewards_are_worth_nothing():
    scaler = RewardScaler(size=10, rng=np.random.default_rng(0))
    assert [scaler.scale(r) for r in (0.3, 0.3, 0.3)] == [0, 0, 0]
    assert scaler.scale(0.9) == 1


def test_the_reservoir_keeps_a_fair_sample():
    rng = np.random.default_rng(1)
    kept = []
    for _ in range(300):
        scaler = RewardScaler(size=10, rng=rng)
        for value in range(100):
            scaler.scale(value)
        kept.append(scaler._reservoir.mean())
    assert np.mean(kept) == pytest.approx(49.5, abs=2.0)


def test_a_step_is_worth_something_where_its_tasks_loss_fell():
    tasks = [0, 1, 0, 1, 0, 1, 2, 2]
    losses = [1.2, 0.5, 0.9, 0.6, 0.9, 0.2, 2, 1]
    expected = [0, 0, 0.593430, 0, 0, 0.181269, 0, 0.632121]
    assert counterfactual_rewards(tasks, losses) == pytest.approx(expected, abs=1e-6)


def test_importance_sampling_by_hand():
    policy = [0.2, 0.5, 0.3]
    assert importance_sampling(policy, *LOG) == pytest.approx(0.395)
    assert weighted_importance_sampling(policy, *LOG) == pytest.approx(0.41578947, abs=1e-8)


def test_a_policy_judged_by_its_own_log_earns_the_logs_mean():
    uniform = np.full(3, 1 / 3)
    assert weighted_importance_sampling(uniform, *LOG) == pytest.approx(0.41666667, abs=1e-8)
    assert doubly_robust(uniform, LOG) == pytest.approx((0.4 + 0.4 + 0.5) / 3)  # task means
    assert clipped_importance_sampling(uniform, LOG) == pytest.approx(np.mean(LOG.rewards))


def test_doubly_robust_equals_the_task_means_where_the_log_is_balanced():
    log = PolicyLog([0, 0, 1, 1], np.full(2, 0.5), [0.2, 0.4, 0.8, 1.0])
    assert doubly_robust([0.9, 0.1], log) == pytest.approx(0.9 * 0.3 + 0.1 * 0.9)


def test_the_learned_policy_is_the_softmax_of_mean_rewards_on_a_balanced_log():
    means, n = np.array([0.1, 0.4, 0.3, 0.2]), 50
    log = PolicyLog(np.repeat(np.arange(4), n), np.full(4, 0.25), np.repeat(means, n))
    learned = learn_policy([log], entropy_weight=0.2, iterations=60, population=64, seed=3)
    expected = [0.10153632, 0.45505423, 0.27600434, 0.16740510]
    assert learned == pytest.approx(expected, abs=2e-3)


def test_pooled_logs_are_weighted_by_the_mixture_of_their_policies():
    first = PolicyLog([0, 0, 1], [0.8, 0.2], [1.0, 1.0, 0.0])
    second = PolicyLog([1, 1, 0], [0.2, 0.8], [0.0, 0.0, 1.0])
    both = estimate([0.5, 0.5], [first, second])
    assert both.value == pytest.approx(0.5)  # the mixture is uniform, three steps of each task


def test_the_size_policy_is_proportional():
    assert size_policy([1, 3]) == pytest.approx([0.25, 0.75])


def test_a_log_without_a_task_the_policy_wants_brings_a_warning():
    result = estimate([0.5, 0.2, 0.3], [PolicyLog([0, 1, 0], [0.5, 0.5, 0], [1, 0, 1])])
    assert "no step of task 2" in result.warning
    assert "30%" in result.warning


def test_a_log_far_from_the_policy_brings_a_warning_and_a_small_effective_size():
    rng = np.random.default_rng(0)
    tasks = rng.choice(2, size=2000, p=[0.995, 0.005])
    result = estimate([0.01, 0.99], [PolicyLog(tasks, [0.995, 0.005], np.ones(2000))])
    assert result.effective_size < 30
    assert "support this policy weakly" in result.warning


def test_the_lower_bound_lies_below_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(5)
    means, logging, policy = np.array([0.2, 0.6]), np.array([0.7, 0.3]), np.array([0.3, 0.7])
    below = 0
    for _ in range(300):
        tasks = rng.choice(2, size=400, p=logging)
        rewards = (rng.random(400) < means[tasks]).astype(float)
        log = PolicyLog(tasks, logging, rewards)
        below += estimate(policy, [log], level=0.9).lower_bound <= policy @ means
    assert 0.85 <= below / 300 <= 0.95


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: learn_policy([]), "no log"),
        (lambda: learn_policy([PolicyLog([], [], [])]), "empty"),
        (lambda: learn_policy([PolicyLog([0, 0], [1.0], [0, 1])]), "one task"),
        (lambda: learn_policy([PolicyLog([0, 1], [1.0, 0.0], [0, 1])]), "probability 0.0"),
        (lambda: weighted_importance_sampling([0.5, 0.6], [0], [0.5, 0.5], [1]), "sum to 1"),
        (lambda: counterfactual_rewards([0, 1], [0.5]), "shapes"),
        (lambda: counterfactual_rewards([0], [float("nan")]), "NaN"),
        (lambda: size_policy([0, 0]), "above 0"),
    ],
)
def test_bad_input_is_refused_with_a_reason(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Exp3S(1), "at least two"),
        (lambda: Exp3S(3, epsilon=2), "epsilon"),
        (lambda: scale_reward([]), "empty reservoir"),
        (lambda: Exp3S(2).update(0, float("nan")), "The reward of task 0 is nan"),
    ],
)
def test_the_bandit_refuses_what_it_cannot_use(call, message):
    with pytest.raises(EngineError, match=message):
        call()
