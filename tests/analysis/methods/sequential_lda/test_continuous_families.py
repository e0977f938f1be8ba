"""Continuous families against densities computed the long way."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from analysis.methods.sequential_lda import SequentialLDA
from analysis.methods.sequential_lda.corpus import build_corpus
from analysis.methods.sequential_lda.space import RealSpace
from analysis.methods.sequential_lda.topics.gaussian import GaussianSettings, GaussianTopics
from analysis.methods.sequential_lda.topics.gaussian_hmm import (
    GaussianHMMSettings,
    GaussianHMMTopics,
)
from analysis.methods.sequential_lda.topics.kalman import KalmanSettings, KalmanTopics
from analysis.methods.sequential_lda.topics.lengths import Halting
from analysis.methods.sequential_lda.topics.regression import Prior, fit_regression
from analysis.methods.sequential_lda.topics.smoothing import System, by_time, smoothed_moments
from analysis.methods.sequential_lda.topics.state_chains import StateChains

PLANE = RealSpace(2, True, (1.0, -1.0), (4.0, 0.25))
PATH = np.array([[0.3, -0.5], [1.1, -1.2], [2.0, -0.9], [0.4, -1.6]])


def whole(topics, sequences):
    corpus = build_corpus([sequences], topics.space)
    return topics.log_likelihood(topics.prepare(corpus.sequences))


def test_a_gaussian_sequence_is_independent_points_and_a_geometric_length():
    means = np.array([[0.0, 0.0], [1.0, -1.0]])
    covariances = np.array([[[1.0, 0.3], [0.3, 2.0]], [[0.5, 0.0], [0.0, 0.1]]])
    halting = Halting(np.array([0.25, 0.5]), 0.0, True)
    topics = GaussianTopics(PLANE, GaussianSettings(), means, covariances, halting)
    for k in range(2):
        points = multivariate_normal(means[k], covariances[k]).logpdf(PATH).sum()
        length = 3 * np.log(1 - halting.probability[k]) + np.log(halting.probability[k])
        assert whole(topics, [PATH])[0, k] == pytest.approx(points + length)


def test_a_gaussian_hmm_sums_over_its_hidden_paths():
    chains = StateChains(
        np.array([[0.6, 0.4]]),
        np.array([[[0.7, 0.3], [0.2, 0.8]]]),
        np.array([[0.2, 0.4]]),
        0.0,
        True,
    )
    means = np.array([[[0.0, 0.0], [1.0, -1.0]]])
    covariances = np.array([[[[1.0, 0.3], [0.3, 2.0]], [[0.5, 0.0], [0.0, 0.1]]]])
    topics = GaussianHMMTopics(PLANE, GaussianHMMSettings(2), chains, means, covariances)
    density = [multivariate_normal(means[0, s], covariances[0, s]).pdf(PATH) for s in (0, 1)]
    total = 0.0
    for path in product((0, 1), repeat=len(PATH)):
        p = chains.starts[0, path[0]] * density[path[0]][0]
        for i in range(1, len(path)):
            p *= (1 - chains.endings[0, path[i - 1]]) * chains.moves[0, path[i - 1], path[i]]
            p *= density[path[i]][i]
        total += p * chains.endings[0, path[-1]]
    assert whole(topics, [PATH])[0, 0] == pytest.approx(np.log(total))


def one_system():
    """A system with a 3-dimensional state, in units of the data's spread."""
    rng = np.random.default_rng(5)
    positive = [m @ m.T + 0.3 * np.eye(3) for m in rng.normal(size=(2, 3, 3))]
    return System(
        first=rng.normal(size=(1, 3)),
        first_noise=positive[0][None],
        move=0.5 * rng.normal(size=(1, 3, 3)),
        move_noise=positive[1][None],
        read=rng.normal(size=(1, 2, 3)),
        read_noise=np.array([[[0.5, 0.1], [0.1, 0.4]]]),
    )


def dense(system, length):
    """Mean and covariance of (all states, all points) written out as one big Gaussian."""
    m, d = 3, 2
    mean = np.zeros(length * m)
    cov = np.zeros((length * m, length * m))
    mean[:m], cov[:m, :m] = system.first[0], system.first_noise[0]
    for t in range(1, length):
        now, before = slice(t * m, (t + 1) * m), slice((t - 1) * m, t * m)
        mean[now] = system.move[0] @ mean[before]
        cov[now, : t * m] = system.move[0] @ cov[before, : t * m]
        cov[: t * m, now] = cov[now, : t * m].T
        cov[now, now] = system.move[0] @ cov[before, before] @ system.move[0].T
        cov[now, now] += system.move_noise[0]
    read = np.kron(np.eye(length), system.read[0])
    noise = np.kron(np.eye(length), system.read_noise[0])
    joint = np.block([[cov, cov @ read.T], [read @ cov, read @ cov @ read.T + noise]])
    return np.concatenate([mean, read @ mean]), joint, length * m, length * d


def test_a_linear_system_has_the_density_of_one_big_gaussian():
    halting = Halting(np.array([0.25]), 0.0, True)
    topics = KalmanTopics(PLANE, KalmanSettings(3), one_system(), halting)
    sequences = [PATH, PATH[:2], PATH[1:2]]
    for sequence, found in zip(sequences, whole(topics, sequences)[:, 0], strict=True):
        mean, cov, states, _ = dense(one_system(), len(sequence))
        scale = np.sqrt(PLANE.variance)
        points = ((sequence - PLANE.centre) / scale).ravel()
        expected = multivariate_normal(mean[states:], cov[states:, states:]).logpdf(points)
        expected -= len(sequence) * np.log(scale).sum()
        expected += (len(sequence) - 1) * np.log(0.75) + np.log(0.25)
        assert found == pytest.approx(expected)


def test_smoothed_moments_are_those_of_the_conditioned_big_gaussian():
    sequences = [PATH[:2], PATH, PATH[1:2], PATH[1:]]
    weights = np.array([0.5, 2.0, 1.5, 0.7])
    corpus = build_corpus([sequences], RealSpace(2))
    found = smoothed_moments(by_time(corpus.sequences), one_system(), weights[:, None])
    expected = {name: np.zeros_like(value[0]) for name, value in found.items()}
    for sequence, weight in zip(sequences, weights, strict=True):
        mean, cov, n, _ = dense(one_system(), len(sequence))
        gain = cov[:n, n:] @ np.linalg.inv(cov[n:, n:])
        after = (mean[:n] + gain @ (sequence.ravel() - mean[n:])).reshape(-1, 3)
        spread = cov[:n, :n] - gain @ cov[n:, :n]
        second = spread + np.outer(after.ravel(), after.ravel())
        block = second.reshape(len(sequence), 3, len(sequence), 3)
        for t in range(len(sequence)):
            expected["state_state"] += weight * block[t, :, t]
            expected["point_state"] += weight * np.outer(sequence[t], after[t])
            expected["point_point"] += weight * np.outer(sequence[t], sequence[t])
            expected["steps"] += weight
            if t:
                expected["to_from"] += weight * block[t, :, t - 1]
                expected["to_to"] += weight * block[t, :, t]
                expected["from_from"] += weight * block[t - 1, :, t - 1]
                expected["moves"] += weight
        expected["first"] += weight * after[0]
        expected["first_first"] += weight * block[0, :, 0]
        expected["firsts"] += weight
    for name, value in expected.items():
        assert found[name][0] == pytest.approx(value), name


def test_a_map_regression_beats_every_neighbour():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(8, 2)), rng.normal(size=(8, 3))
    prior = Prior(np.ones((3, 2)), np.diag([1.0, 2.0, 0.5]), 0.7)

    def objective(b, noise):
        residual = y - x @ b.T
        logs = multivariate_normal(np.zeros(3), noise).logpdf(residual).sum()
        return logs + prior.log(b[None], noise[None])

    moments = (y.T @ y, y.T @ x, x.T @ x)
    found_b, found_n = fit_regression(*(m[None] for m in moments), np.array([8.0]), prior)
    best = objective(found_b[0], found_n[0])
    for _ in range(50):
        step = 0.01 * rng.normal(size=(3, 3))
        assert objective(found_b[0] + 0.01 * rng.normal(size=(3, 2)), found_n[0]) < best
        assert objective(found_b[0], found_n[0] + (step + step.T) / 2) < best


def turning(rng, angle, n):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = [rng.normal(size=2)]
    for _ in range(n - 1):
        points.append(turn @ points[-1] + 0.05 * rng.normal(size=2))
    return np.array(points)


def test_kalman_topics_separate_two_speeds_of_rotation():
    rng = np.random.default_rng(0)
    tasks = [[turning(rng, 0.3 if i < slow else 1.5, 8) for i in range(8)] for slow in (8, 6, 2, 0)]
    model = SequentialLDA(2, topic="kalman", n_restarts=2, seed=0, max_iter=60).fit(tasks)
    topic = int(np.argmax(model.theta_[0]))
    assert model.theta_[:, topic] == pytest.approx([1.0, 0.75, 0.25, 0.0], abs=0.1)
    ahead = model.forecast(0, tasks[0][0][:6], n_steps=2)
    assert np.abs(ahead - tasks[0][0][6:]).max() < 0.4
