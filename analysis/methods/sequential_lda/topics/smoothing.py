"""Kalman filter and smoother for K systems and all sequences at once.

The covariances of a linear system do not depend on the data, so one pass over time serves all
sequences: at time t the first n_t sequences (longest first) are still running. The smoother adds
up what the M-step needs and keeps only the filtered means, memory K * tokens * m.
"""

from dataclasses import dataclass

import numpy as np

from analysis.methods.sequential_lda.arrays import FloatArray, IntArray
from analysis.methods.sequential_lda.corpus import Sequences
from analysis.methods.sequential_lda.topics.regression import solve


@dataclass(frozen=True)
class System:
    """x1 ~ N(first, first_noise), x' = move x + noise, y = read x + noise; K of each."""

    first: FloatArray  # (K, m)
    first_noise: FloatArray  # (K, m, m)
    move: FloatArray  # (K, m, m)
    move_noise: FloatArray  # (K, m, m)
    read: FloatArray  # (K, d, m)
    read_noise: FloatArray  # (K, d, d)


@dataclass(frozen=True)
class TimeMajor:
    """Sequences by time: blocks[t] (n_t, d) holds step t of those longer than t."""

    blocks: list[FloatArray]
    order: IntArray  # (V,) sequence at each place, longest first
    lengths: IntArray  # (V,) in the sequences' own order


@dataclass(frozen=True)
class Filtered:
    """What the filter found at each time t."""

    predicted: list[FloatArray]  # (K, n_t, m) mean of the state before seeing step t
    predicted_cov: list[FloatArray]  # (K, m, m)
    means: list[FloatArray]  # (K, n_t, m) mean after seeing it
    covs: list[FloatArray]  # (K, m, m)
    log_steps: list[FloatArray]  # (K, n_t) log density of step t given the steps before


@dataclass(frozen=True)
class Smoothed:
    """States of one time given whole sequences: means, and covariances added up by weight."""

    means: FloatArray  # (K, n_t, m)
    cov_sum: FloatArray  # (K, m, m)


def by_time(sequences: Sequences) -> TimeMajor:
    """The sequences regrouped by time."""
    lengths = sequences.lengths
    order = np.argsort(-lengths, kind="stable")
    starts = sequences.offsets[:-1][order]
    running = [int((lengths > t).sum()) for t in range(int(lengths.max(initial=0)))]
    blocks = [sequences.steps[starts[:n] + t] for t, n in enumerate(running)]
    return TimeMajor(blocks, order, lengths)


def kalman_filter(blocks: list[FloatArray], system: System) -> Filtered:
    """Means, covariances and step densities of every time."""
    found = Filtered([], [], [], [], [])
    cov = system.first_noise
    mean = np.repeat(system.first[:, None, :], len(blocks[0]) if blocks else 0, axis=1)
    for t, block in enumerate(blocks):
        if t:
            mean = found.means[-1][:, : len(block)] @ _t(system.move)
            cov = system.move @ found.covs[-1] @ _t(system.move) + system.move_noise
        found.predicted.append(mean)
        found.predicted_cov.append(cov)
        innovation_cov = system.read @ cov @ _t(system.read) + system.read_noise
        innovation = block - mean @ _t(system.read)  # (K, n_t, d)
        whitened = solve(innovation_cov, _t(innovation))  # (K, d, n_t)
        gain_t = system.read @ cov  # (K, d, m)
        found.means.append(mean + _t(whitened) @ gain_t)
        left = np.eye(cov.shape[-1]) - _t(solve(innovation_cov, gain_t)) @ system.read
        found.covs.append(_symmetric(left @ cov))
        distance = (innovation * _t(whitened)).sum(axis=2)
        log_det = np.linalg.slogdet(2 * np.pi * innovation_cov)[1]
        found.log_steps.append(-0.5 * (distance + log_det[:, None]))
    return found


def smoothed_moments(
    times: TimeMajor, system: System, weights: FloatArray
) -> dict[str, FloatArray]:
    """Weighted sums of E[x x'], E[x' x], E[y x] ... over all sequences; weights (V, K)."""
    found = kalman_filter(times.blocks, system)
    shares = weights[times.order].T  # (K, V), longest first
    moments = _blank_moments(system)
    ahead: Smoothed | None = None
    for t in reversed(range(len(times.blocks))):
        share = shares[:, : len(times.blocks[t])]
        here = Smoothed(found.means[t], _total(share) * found.covs[t])
        if ahead is not None:
            here = _look_back(found, t, system, share, ahead, moments)
        _add_points(times.blocks[t], share, here, moments)
        ahead = here
    if ahead is not None:
        moments["first"] += (shares[:, :, None] * ahead.means).sum(axis=1)
        moments["first_first"] += _weighted(shares, ahead.means, ahead.means) + ahead.cov_sum
        moments["firsts"] += shares.sum(axis=1)
    return moments


def _look_back(
    found: Filtered,
    t: int,
    system: System,
    share: FloatArray,
    ahead: Smoothed,
    moments: dict[str, FloatArray],
) -> Smoothed:
    """The smoothed states of time t given those of t + 1; adds the moves between them."""
    going = ahead.means.shape[1]  # sequences that go on after t come first
    on, ended = share[:, :going], share[:, going:]
    back = _t(solve(found.predicted_cov[t + 1], system.move @ found.covs[t]))  # (K, m, m)
    means = found.means[t].copy()
    means[:, :going] += (ahead.means - found.predicted[t + 1]) @ _t(back)
    narrowing = back @ (ahead.cov_sum - _total(on) * found.predicted_cov[t + 1]) @ _t(back)
    cov_sum = _total(on) * found.covs[t] + narrowing
    moments["from_from"] += _weighted(on, means[:, :going], means[:, :going]) + cov_sum
    moments["to_from"] += _weighted(on, ahead.means, means[:, :going]) + ahead.cov_sum @ _t(back)
    moments["to_to"] += _weighted(on, ahead.means, ahead.means) + ahead.cov_sum
    moments["moves"] += on.sum(axis=1)
    return Smoothed(means, cov_sum + _total(ended) * found.covs[t])


def _add_points(
    block: FloatArray, share: FloatArray, here: Smoothed, moments: dict[str, FloatArray]
) -> None:
    """Add the points of one time and the states they were read from."""
    points = np.broadcast_to(block, (len(share), *block.shape))
    moments["state_state"] += _weighted(share, here.means, here.means) + here.cov_sum
    moments["point_state"] += _weighted(share, points, here.means)
    moments["point_point"] += _weighted(share, points, points)
    moments["steps"] += share.sum(axis=1)


def _blank_moments(system: System) -> dict[str, FloatArray]:
    n_topics, dimension, n_states = system.read.shape
    square = (n_topics, n_states, n_states)
    shapes: dict[str, tuple[int, ...]] = {
        "first": (n_topics, n_states),
        "first_first": square,
        "firsts": (n_topics,),
        "from_from": square,
        "to_from": square,
        "to_to": square,
        "moves": (n_topics,),
        "state_state": square,
        "point_state": (n_topics, dimension, n_states),
        "point_point": (n_topics, dimension, dimension),
        "steps": (n_topics,),
    }
    return {name: np.zeros(shape) for name, shape in shapes.items()}


def _weighted(share: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """sum_n share * left right', (K, a, b)."""
    return np.asarray(_t(share[:, :, None] * left) @ right)


def _total(share: FloatArray) -> FloatArray:
    """The weight of all sequences, to multiply matrices with, (K, 1, 1)."""
    return share.sum(axis=1)[:, None, None]


def _t(matrices: FloatArray) -> FloatArray:
    return matrices.swapaxes(-1, -2)


def _symmetric(matrices: FloatArray) -> FloatArray:
    return np.asarray((matrices + _t(matrices)) / 2)
