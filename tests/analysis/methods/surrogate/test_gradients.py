import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.stats import spearmanr

from analysis.errors import AnalysisError
from analysis.methods.surrogate import linear_tasks, sample_subsets
from analysis.methods.surrogate.linearised import Linearised, Sketch, from_losses, solve
from analysis.studies.surrogate.network import (
    FeatureTask,
    NetworkSettings,
    linearise,
    train_network,
)
from analysis.studies.surrogate.transfer_problem import estimated_losses, linear_problem


def test_a_sketch_keeps_inner_products_on_average():
    rng = np.random.default_rng(0)
    pair = torch.from_numpy(rng.normal(size=(2, 500)))
    exact = float(pair[0] @ pair[1])
    found = []
    for seed in range(300):
        a, b = Sketch(500, 64, seed=seed).project(pair)
        found.append(float(a @ b))
    assert np.mean(found) == pytest.approx(exact, abs=4 * np.std(found) / np.sqrt(300))


def test_a_sentences_logistic_loss_at_the_start_is_its_loss():
    losses = np.array([0.01, 0.7, 3.0])
    assert from_losses(losses, np.zeros((3, 2))).losses(np.zeros(2)) == pytest.approx(losses)


def test_the_squared_family_solves_ridge_regression():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    penalty = 0.5 * (x**2).mean()
    expected = np.linalg.solve(x.T @ x / 40 + penalty * np.eye(3), x.T @ y / 40)
    assert solve([Linearised(-y, x, "squared")], ridge=0.5) == pytest.approx(expected)


@pytest.mark.parametrize("is_mean_per_part", [False, True])
def test_the_logistic_family_finds_the_minimum(is_mean_per_part):
    rng = np.random.default_rng(2)
    parts = [Linearised(rng.normal(size=n), rng.normal(size=(n, 3)), "logistic") for n in (30, 10)]
    shares = [1 / n if is_mean_per_part else 1 / 40 for n in (30, 10)]
    gram = sum(s * (p.gradients**2).sum() for s, p in zip(shares, parts, strict=True))
    penalty = 0.2 * gram / 3

    def objective(weights):
        fits = (s * p.losses(weights).sum() for s, p in zip(shares, parts, strict=True))
        return sum(fits) + penalty / 2 * weights @ weights

    expected = minimize(objective, np.zeros(3), tol=1e-12).x
    found = solve(parts, ridge=0.2, is_mean_per_part=is_mean_per_part)
    assert found == pytest.approx(expected, abs=1e-5)


def test_gradients_of_examples_are_those_of_the_network():
    rng = np.random.default_rng(3)
    task = FeatureTask(
        torch.from_numpy(rng.normal(size=(5, 4))).float(), torch.tensor([0, 1, 2, 1, 0]), 3
    )
    network = train_network([task], [3], NetworkSettings(hidden=6, n_steps=3), seed=0)
    n = sum(w.numel() for w in network.parameters())
    sketch = Sketch(n, 8, seed=0)
    found = linearise(network, task, sketch)
    loss = torch.nn.functional.cross_entropy(network(task.inputs[2:3], 0), task.targets[2:3])
    parts = torch.autograd.grad(loss, list(network.parameters()))
    by_hand = sketch.project(torch.cat([p.flatten() for p in parts])[None])[0].double().numpy()
    slope = -1 / (1 - np.exp(-float(loss.detach())))
    assert found.gradients[2] == pytest.approx(slope * by_hand, rel=1e-4, abs=1e-6)


def test_estimated_losses_rank_subsets_of_the_linear_model_as_training_does():
    rng = np.random.default_rng(10)
    tasks = linear_tasks(12, 6, near=0.1, far=1.0, n_examples=50, rng=rng)
    problem = linear_problem(tasks, NetworkSettings(n_steps=100))
    subsets = sample_subsets(12, 3, 20, rng=rng)
    trained = [problem.loss(subset) for subset in subsets]
    assert spearmanr(trained, estimated_losses(problem, subsets)).statistic > 0.6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: solve([], ridge=1.0), "takes examples"),
        (lambda: solve([Linearised(np.ones(1), np.ones((1, 1)), "squared")], ridge=0), "above 0"),
        (lambda: FeatureTask(torch.ones(2, 3), torch.ones(1), 2), "one each"),
    ],
)
def test_bad_input_is_refused_with_a_reason(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()
