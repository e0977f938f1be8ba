"""The paper's models as stacks: s models of one shape, every parameter with a leading (s, ...).

A shared Bi-LSTM over each word's window, dense layers that all tasks share, dense layers of each
task, and an output for each task. A stack of one is the plain model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from analysis.errors import AnalysisError
from analysis.studies.mtl_simulation.lstm import centre_states

Parameters = dict[str, Tensor]
LEAST = {"units": 1, "dense_units": 1, "shared_layers": 0, "private_layers": 0, "context": 0}


@dataclass(frozen=True)
class Shape:
    """The sizes of a model."""

    vector_width: int
    n_labels: int
    n_tasks: int = 1
    units: int = 100  # of the LSTM, in each direction
    dense_units: int = 100
    shared_layers: int = 1
    private_layers: int = 1
    context: int = 3

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            if getattr(self, name) < least:
                raise AnalysisError(f"{name} is {getattr(self, name)}: at least {least} is needed.")


def initial_parameters(shape: Shape, seeds: Sequence[int]) -> Parameters:
    """Return the parameters of one model for each seed, as PyTorch's own layers begin."""
    drawn = [_one_model(shape, seed) for seed in seeds]
    return {name: torch.stack([model[name] for model in drawn]) for name in drawn[0]}


def encode(parameters: Parameters, vectors: Tensor) -> Tensor:
    """Return (s, b, 2h) states of the centres of windows (s, b, 2c + 1, v)."""
    s, b, size, v = vectors.shape
    steps = size // 2 + 1
    halves = torch.stack([vectors[:, :, :steps], vectors[:, :, steps - 1 :].flip(2)], dim=1)
    rows = halves.transpose(2, 3).reshape(2 * s, steps * b, v)
    weights = parameters["input"].flatten(0, 1)
    projected = torch.baddbmm(_lstm_bias(parameters), rows, weights)
    return _both_directions(parameters, projected.view(2 * s, steps, b, -1))


def encode_words(parameters: Parameters, table: Tensor, windows: Tensor) -> Tensor:
    """Return (s, b, 2h) as ``encode``, for windows (b, 2c + 1) of numbers of words in a table.

    ``table`` (words, 2s, 4h) holds each word after the input weights: see ``project_words``.
    """
    steps = windows.shape[1] // 2 + 1
    halves = torch.stack([windows[:, :steps], windows[:, steps - 1 :].flip(1)])  # (2, b, steps)
    n_directions = table.shape[1]
    rows = [table[halves[i % 2].T, i] for i in range(n_directions)]
    return _both_directions(parameters, torch.stack(rows))


def project_words(parameters: Parameters, vectors: Tensor) -> Tensor:
    """Return (words, 2s, 4h): every word's vector times the input weights, plus biases."""
    weights = parameters["input"].flatten(0, 1)
    projected = torch.matmul(vectors, weights) + _lstm_bias(parameters)
    return projected.transpose(0, 1).contiguous()


def task_logits(parameters: Parameters, states: Tensor, *, only_first: bool = False) -> Tensor:
    """Return (s, t, b, labels) of all tasks, or of the first task alone."""
    rows: Tensor = states
    for name in _layers(parameters, "shared"):
        rows = torch.relu(torch.baddbmm(parameters[f"{name}.bias"], rows, parameters[name]))
    tasks = slice(1) if only_first else slice(None)
    rows = rows[:, None]
    for name in _layers(parameters, "private"):
        weights, bias = parameters[name][:, tasks], parameters[f"{name}.bias"][:, tasks]
        rows = torch.relu(rows @ weights + bias)
    logits: Tensor = rows @ parameters["output"][:, tasks] + parameters["output.bias"][:, tasks]
    return logits


def _one_model(shape: Shape, seed: int) -> Parameters:
    generator = torch.Generator().manual_seed(seed)

    def uniform(*size: int, fan: int) -> Tensor:
        return (torch.rand(*size, generator=generator) * 2 - 1) / fan**0.5

    h, t, wide = shape.units, shape.n_tasks, shape.dense_units
    found = {
        "input": uniform(2, shape.vector_width, 4 * h, fan=h),
        "recurrent": uniform(2, h, 4 * h, fan=h),
        "bias": uniform(2, 2, 4 * h, fan=h),  # one with the input, one with the state
    }
    size = 2 * h
    for i in range(shape.shared_layers):
        found[f"shared{i}"] = uniform(size, wide, fan=size)
        found[f"shared{i}.bias"] = uniform(1, wide, fan=size)
        size = wide
    for i in range(shape.private_layers):
        found[f"private{i}"] = uniform(t, size, wide, fan=size)
        found[f"private{i}.bias"] = uniform(t, 1, wide, fan=size)
        size = wide
    found["output"] = uniform(t, size, shape.n_labels, fan=size)
    found["output.bias"] = uniform(t, 1, shape.n_labels, fan=size)
    return found


def _lstm_bias(parameters: Parameters) -> Tensor:
    """Return (2s, 1, 4h): both biases of each direction, added."""
    return parameters["bias"].sum(2).flatten(0, 1)[:, None]


def _both_directions(parameters: Parameters, projected: Tensor) -> Tensor:
    states = centre_states(projected, parameters["recurrent"].flatten(0, 1))  # (2s, b, h)
    d, b, h = states.shape
    return states.view(d // 2, 2, b, h).transpose(1, 2).reshape(d // 2, b, 2 * h)


def _layers(parameters: Parameters, kind: str) -> list[str]:
    names = [name for name in parameters if name.startswith(kind) and "." not in name]
    return sorted(names, key=lambda name: int(name[len(kind) :]))
