import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.methods.surrogate import (
    bootstrap_thetas,
    fit_surrogate,
    judge_held_out,
    linear_tasks,
    sample_subsets,
    select_by_sweep,
)

PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize("subsets", [[[0, 0], [1]], np.eye(2, dtype=bool), [[1, 1, 0], [0]]])
def test_a_subset_lists_each_task_once_by_its_number(subsets):
    with pytest.raises(AnalysisError, match="by number, each once"):
        fit_surrogate(subsets, [0.5, 0.6], method="ols")


def test_the_posters_fit_by_hand():
    surrogate = fit_surrogate(PAIRS, [0.50, 0.55, 0.70, 0.60, 0.72, 0.81], method="ols")
    assert surrogate.theta == pytest.approx([0.228333, 0.263333, 0.333333, 0.468333], abs=1e-6)


def test_without_an_anchor_every_effect_is_shifted_and_with_it_none_is():
    effects = np.array([-0.2, 0.1, 0.05, 0.3])
    losses = [1 + effects[i] + effects[j] for i, j in PAIRS]
    assert fit_surrogate(PAIRS, losses, method="ols").theta == pytest.approx(effects + 0.5)
    anchored = fit_surrogate(PAIRS, losses, method="anchored", baseline=1.0)
    assert anchored.theta == pytest.approx(effects)
    assert anchored.predict([(0, 1)]) == pytest.approx([0.9])
    assert anchored.select(0.0) == [0]


def test_ridge_ranks_tasks_from_fewer_subsets_than_tasks():
    rng = np.random.default_rng(0)
    effects = np.linspace(-1, 1, 12)
    subsets = sample_subsets(12, 4, 10, rng=rng)
    surrogate = fit_surrogate(
        subsets, [3 + effects[list(s)].sum() for s in subsets], method="ridge"
    )
    assert np.corrcoef(surrogate.theta, effects)[0, 1] > 0.5


def test_subsets_are_distinct_of_one_size_and_no_more_than_there_are():
    rng = np.random.default_rng(1)
    subsets = sample_subsets(10, 3, 50, rng=rng)
    assert len(set(subsets)) == 50
    assert {len(s) for s in subsets} == {3}
    assert len(sample_subsets(10, 3, 200, rng=rng)) == 120


def test_tasks_appear_in_subsets_as_often_as_theory_says():
    rng = np.random.default_rng(2)
    k, size = 6, 3
    counts = np.zeros((k, k))
    n = 4000
    for _ in range(n):
        row = np.zeros(k)
        row[list(sample_subsets(k, size, 1, rng=rng)[0])] = 1
        counts += np.outer(row, row)
    expected = np.full((k, k), size * (size - 1) / (k * (k - 1)))
    np.fill_diagonal(expected, size / k)
    assert counts / n == pytest.approx(expected, abs=0.04)


@pytest.mark.parametrize("n", [24, 48, 100, 200])
def test_related_tasks_of_the_linear_model_are_told_from_unrelated_ones(n):
    rng = np.random.default_rng(12)
    world = linear_tasks(12, 6, near=0.1, far=1.0, rng=rng)
    subsets = sample_subsets(12, 3, n, rng=rng)
    losses = [world.loss(s) for s in subsets]
    surrogate = fit_surrogate(subsets, losses, baseline=world.loss(()))
    assert surrogate.theta[:6].max() < surrogate.theta[6:].min()


def test_most_worlds_separate_from_twice_as_many_subsets_as_tasks():
    separated = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        world = linear_tasks(12, 6, near=0.1, far=1.0, rng=rng)
        subsets = sample_subsets(12, 3, 24, rng=rng)
        losses = [world.loss(s) for s in subsets]
        theta = fit_surrogate(subsets, losses, baseline=world.loss(())).theta
        separated += theta[:6].max() < theta[6:].min()
    assert separated >= 16


def test_the_selected_tasks_do_no_worse_than_none_and_than_all():
    rng = np.random.default_rng(3)
    world = linear_tasks(12, 6, near=0.1, far=1.0, rng=rng)
    subsets = sample_subsets(12, 4, 60, rng=rng)
    fit = fit_surrogate(
        subsets[:48], [world.loss(s) for s in subsets[:48]], baseline=world.loss(())
    )
    chosen = select_by_sweep(fit, world.loss)
    assert chosen.loss <= min(world.loss(()), world.loss(range(12)))
    assert set(chosen.tasks) <= set(range(6))
    held_out = judge_held_out(
        fit, subsets[48:], [world.loss(s) for s in subsets[48:]], single_task_loss=world.loss(())
    )
    assert held_out.spearman > 0.5


def test_bootstrap_intervals_cover_the_effects_of_noisy_losses():
    rng = np.random.default_rng(4)
    effects = np.array([-0.2, 0.1, 0.0, 0.3, 0.2, -0.1])
    subsets = sample_subsets(6, 3, 20, rng=rng)
    losses = [1 + effects[list(s)].sum() + 0.05 * rng.normal() for s in subsets]
    thetas = bootstrap_thetas(subsets, losses, baseline=1.0, rng=rng)
    low, high = np.quantile(thetas, [0.005, 0.995], axis=0)
    assert ((low <= effects) & (effects <= high)).sum() >= 5
    assert (high - low).max() < 0.4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample_subsets(3, 4, 1, rng=np.random.default_rng(0)), "size from 1 to 3"),
        (lambda: fit_surrogate(PAIRS, np.ones(6), method="ols"), "say nothing"),
        (lambda: fit_surrogate(PAIRS, np.arange(6.0)), "single-task loss"),
        (lambda: fit_surrogate(PAIRS, np.arange(5.0), method="ols"), "one each"),
        (lambda: fit_surrogate([], [], method="ols"), "one each"),
        (lambda: fit_surrogate(PAIRS, [1, 2, 3, 4, 5, np.nan], method="ols"), "diverged"),
        (lambda: fit_surrogate(PAIRS, np.arange(6.0), method="lasso"), "Known: anchored"),
    ],
)
def test_bad_input_is_refused_with_a_reason(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()
