"""What a mixture of topics says: sequence likelihoods, next steps, completions."""

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from analysis.methods.sequential_lda.arrays import FloatArray, IntArray
from analysis.methods.sequential_lda.corpus import Corpus
from analysis.methods.sequential_lda.topics.categorical import log_of
from analysis.methods.sequential_lda.topics.protocol import Topics


@dataclass(frozen=True)
class Completion:
    """How a sequence may go on: the missing steps, and their probability given the prefix."""

    steps: Any
    probability: float
    halted: bool


def log_likelihoods(topics: Topics, corpus: Corpus, theta: FloatArray) -> FloatArray:
    """log sum_k theta_tk p_k(x) of every given sequence, (n,)."""
    logs = topics.log_likelihood(topics.prepare(corpus.sequences))[corpus.kind_of]
    joint = log_of(theta)[corpus.task_of] + logs
    return np.asarray(logsumexp(joint, axis=1)) if len(joint) else np.zeros(0)


def predict_along(topics: Topics, theta: FloatArray, sequence: Any) -> FloatArray:
    """Next-step distribution after 0..L steps of an encoded sequence, (L + 1, size + 1).

    Topics are weighted by theta_k P_k(prefix), the prefix without a halting factor. A prefix that
    no topic can make leaves theta as the weights.
    """
    trace = topics.trace(sequence)
    shares = topic_shares(theta, trace.log_prefix)
    return np.asarray(np.einsum("lk,lks->ls", shares, trace.following))


def topic_shares(theta: FloatArray, logs: FloatArray) -> FloatArray:
    """Posterior over topics of rows of log probabilities (..., K)."""
    joint = log_of(theta) + logs
    top = joint.max(axis=-1, keepdims=True)
    joint = np.where(np.isfinite(top), joint - np.where(np.isfinite(top), top, 0.0), log_of(theta))
    weights = np.exp(joint)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def complete_symbols(
    topics: Topics, theta: FloatArray, prefix: IntArray, *, n: int, beam: int, max_steps: int
) -> list[Completion]:
    """The n most probable completions found by a beam search, best first."""
    finished: list[Completion] = []
    open_ends: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for _ in range(max_steps):
        grown: list[tuple[float, tuple[int, ...]]] = []
        for log_p, steps in open_ends:
            tail = np.array(steps, dtype=np.int64)
            row = predict_along(topics, theta, np.concatenate([prefix, tail]))[-1]
            logs = log_p + log_of(row)
            finished.append(Completion(tail, float(np.exp(logs[-1])), halted=True))
            grown += [(float(logs[s]), (*steps, s)) for s in np.argsort(-logs[:-1])[:beam]]
        open_ends = heapq.nlargest(beam, grown)
        finished = heapq.nlargest(n, finished, key=lambda one: one.probability)
        worst = finished[-1].probability if len(finished) == n else 0.0
        if not open_ends or np.exp(open_ends[0][0]) <= worst:
            return finished
    cut = [
        Completion(np.array(steps, dtype=np.int64), float(np.exp(log_p)), halted=False)
        for log_p, steps in open_ends
    ]
    return heapq.nlargest(n, finished + cut, key=lambda one: one.probability)


def complete_points(
    topics: Topics, theta: FloatArray, prefix: FloatArray, *, n_steps: int
) -> FloatArray:
    """The next n_steps expected points, each fed back as if it had been seen, (n_steps, d)."""
    seen = prefix
    for _ in range(n_steps):
        point = predict_along(topics, theta, seen)[-1, :-1]
        seen = np.concatenate([seen, point[None, :]])
    return seen[len(prefix) :]
