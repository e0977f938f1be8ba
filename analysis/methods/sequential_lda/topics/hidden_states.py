"""Forward and backward passes over hidden states, compiled; one topic at a time.

A chain starts in a state drawn from `start`, emits, then halts with the state's probability
`ending`, else moves by `move` (which carries the factor 1 - ending). `frames` holds the emission
likelihood of every step in every state, so that discrete and continuous emissions share this.
"""

import math
from typing import Any

import numpy as np
from numba import njit

NEGLIGIBLE = 1e-12


@njit(cache=True, nogil=True)
def log_likelihoods(frames: Any, offsets: Any, start: Any, move: Any, ending: Any) -> Any:
    """log p of every sequence, (V,); scaled forward pass."""
    n_states = len(start)
    result = np.empty(len(offsets) - 1)
    now = np.empty(n_states)
    after = np.empty(n_states)
    for v in range(len(offsets) - 1):
        first, last = offsets[v], offsets[v + 1]
        total = 0.0
        for s in range(n_states):
            now[s] = start[s] * frames[first, s]
        for i in range(first, last):
            if i > first:
                for r in range(n_states):
                    mass = 0.0
                    for s in range(n_states):
                        mass += now[s] * move[s, r]
                    after[r] = mass * frames[i, r]
                now, after = after, now
            scale = now.sum()
            if scale <= 0.0:
                total = -np.inf
                break
            total += math.log(scale)
            for s in range(n_states):
                now[s] /= scale
        if total > -np.inf:
            mass = 0.0
            for s in range(n_states):
                mass += now[s] * ending[s]
            total += math.log(mass) if mass > 0.0 else -np.inf
        result[v] = total
    return result


@njit(cache=True, nogil=True)
def expected_visits(
    frames: Any, offsets: Any, weights: Any, start: Any, move: Any, ending: Any
) -> Any:
    """Weighted expected visits of every state at every step (tokens, M), and moves (M, M).

    Sequences of negligible weight, or of probability 0, add nothing.
    """
    n_states = len(start)
    longest = 1
    for v in range(len(offsets) - 1):
        longest = max(longest, offsets[v + 1] - offsets[v])
    forward = np.empty((longest, n_states))
    scales = np.empty(longest)
    backward = np.empty(n_states)
    ahead = np.empty(n_states)
    visits = np.zeros(frames.shape)
    pairs = np.zeros((n_states, n_states))
    for v in range(len(offsets) - 1):
        weight = weights[v]
        if weight < NEGLIGIBLE:
            continue
        first = offsets[v]
        length = offsets[v + 1] - first
        if not _scaled_forward(frames[first : first + length], start, move, forward, scales):
            continue
        mass = 0.0
        for s in range(n_states):
            mass += forward[length - 1, s] * ending[s]
        if mass <= 0.0:
            continue
        for s in range(n_states):
            backward[s] = ending[s] / mass
            visits[first + length - 1, s] = weight * forward[length - 1, s] * backward[s]
        for i in range(length - 2, -1, -1):
            for r in range(n_states):
                ahead[r] = frames[first + i + 1, r] * backward[r] / scales[i + 1]
            for s in range(n_states):
                mass = 0.0
                for r in range(n_states):
                    mass += move[s, r] * ahead[r]
                backward[s] = mass
                visits[first + i, s] = weight * forward[i, s] * mass
                for r in range(n_states):
                    pairs[s, r] += weight * forward[i, s] * ahead[r]
    return visits, pairs * move


@njit(cache=True, nogil=True)
def forward_filter(frames: Any, start: Any, move: Any) -> Any:
    """State distributions after each step (L, M) and the probability of each step (L,)."""
    filtered = np.zeros((len(frames), len(start)))
    scales = np.zeros(len(frames))
    _scaled_forward(frames, start, move, filtered, scales)
    return filtered, scales


@njit(cache=True, nogil=True)
def _scaled_forward(frames: Any, start: Any, move: Any, forward: Any, scales: Any) -> bool:
    """Fill the normalised forward pass; False when the sequence is impossible.

    After an impossible step nothing is known of the state: it is taken as uniform.
    """
    n_states = len(start)
    possible = True
    for i in range(len(frames)):
        total = 0.0
        for r in range(n_states):
            mass = 0.0
            if i == 0:
                mass = start[r]
            else:
                for s in range(n_states):
                    mass += forward[i - 1, s] * move[s, r]
            forward[i, r] = mass * frames[i, r]
            total += forward[i, r]
        scales[i] = total
        for r in range(n_states):
            forward[i, r] = forward[i, r] / total if total > 0.0 else 1.0 / n_states
        possible = possible and total > 0.0
    return possible
