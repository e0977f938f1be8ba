"""K gated recurrent networks as one stack of tensors, so that a step serves all topics."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from analysis.methods.sequential_lda.arrays import IntArray
from analysis.methods.sequential_lda.corpus import Sequences

Parameters = dict[str, Tensor]
CHUNK = 1024


@dataclass(frozen=True)
class Batch:
    """Sequences by time: at step t the first counts[t] (longest first) are still running."""

    inputs: Tensor  # (places,) symbol before each place, S = START
    targets: Tensor  # (places,) symbol at each place, S = HALT
    sequence: Tensor  # (places,) number of the sequence, in the order given
    counts: tuple[int, ...]
    size: int


def new_parameters(
    n_topics: int, n_symbols: int, hidden: int, rng: np.random.Generator
) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """Small random networks."""
    shapes = {
        "enter": (n_topics, n_symbols + 1, 3 * hidden),
        "recur": (n_topics, hidden, 3 * hidden),
        "bias": (n_topics, 1, 3 * hidden),
        "leave": (n_topics, hidden, n_symbols + 1),
        "leave_bias": (n_topics, 1, n_symbols + 1),
    }
    return {name: rng.normal(scale=hidden**-0.5, size=shape) for name, shape in shapes.items()}


def make_batch(sequences: Sequences, chosen: IntArray, n_symbols: int, *, halting: bool) -> Batch:
    """The chosen sequences by time."""
    lengths = sequences.lengths[chosen]
    order = np.argsort(-lengths, kind="stable")
    starts, lengths = sequences.offsets[:-1][chosen][order], lengths[order]
    places = lengths + 1 if halting else lengths
    inputs, targets, numbers, counts = [], [], [], []
    for t in range(int(places.max(initial=0))):
        n = int((places > t).sum())
        before = sequences.steps[starts[:n] + t - 1] if t else np.full(n, n_symbols)
        ended = lengths[:n] == t
        here = np.full(n, n_symbols)
        here[~ended] = sequences.steps[starts[:n][~ended] + t]
        inputs.append(before)
        targets.append(here)
        numbers.append(order[:n])
        counts.append(n)
    return Batch(
        torch.from_numpy(np.concatenate(inputs)),
        torch.from_numpy(np.concatenate(targets)),
        torch.from_numpy(np.concatenate(numbers)),
        tuple(counts),
        len(chosen),
    )


def chunks(n: int) -> Iterator[IntArray]:
    """Consecutive index ranges of bounded size."""
    for first in range(0, n, CHUNK):
        yield np.arange(first, min(first + CHUNK, n))


def log_probabilities(parameters: Parameters, batch: Batch, *, halting: bool) -> Tensor:
    """log p_k of every sequence of a batch, (K, size)."""
    states = torch.cat(list(hidden_states(parameters, batch)), dim=1)
    logs = next_step_logs(parameters, states, first=batch.counts[0], halting=halting)
    index = batch.targets.expand(len(logs), -1).unsqueeze(2)
    taken = logs.gather(2, index).squeeze(2)  # (K, places)
    total = taken.new_zeros(len(logs), batch.size)
    return total.index_add(1, batch.sequence, taken)


def hidden_states(parameters: Parameters, batch: Batch) -> Iterator[Tensor]:
    """States after reading the input of each time, (K, counts[t], H)."""
    recur = parameters["recur"]
    n_topics, hidden = recur.shape[:2]
    state = recur.new_zeros(n_topics, batch.counts[0], hidden)
    entering = parameters["enter"][:, batch.inputs] + parameters["bias"]
    for arriving in torch.split(entering, list(batch.counts), dim=1):
        state = state[:, : arriving.shape[1]]
        recurring = torch.bmm(state, recur)
        gates = torch.sigmoid(arriving[..., hidden:] + recurring[..., hidden:])
        reset, update = torch.split(gates, hidden, dim=2)
        fresh = torch.tanh(torch.addcmul(arriving[..., :hidden], reset, recurring[..., :hidden]))
        state = torch.lerp(fresh, state, update)
        yield state


def next_step_logs(parameters: Parameters, states: Tensor, *, first: int, halting: bool) -> Tensor:
    """Log distribution of the next symbol or HALT, (K, places, S + 1).

    The `first` places are the start of a sequence, where HALT cannot be.
    """
    logits = states @ parameters["leave"] + parameters["leave_bias"]
    banned = torch.zeros_like(logits, dtype=torch.bool)
    banned[:, : first if halting else None, -1] = True
    return torch.log_softmax(logits.masked_fill(banned, -torch.inf), dim=2)
