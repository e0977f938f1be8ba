"""The models of the MTL simulation in PyTorch's own layers, trained in a plain loop."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from analysis.studies.mtl_simulation.model import Parameters, Shape, initial_parameters
from analysis.studies.mtl_simulation.training import ORDER_SEED, UNLABELLED, Problem, Training


class PlainModel(nn.Module):
    """A Bi-LSTM that reads the whole window, then shared and task-specific layers."""

    def __init__(self, parameters: Parameters, shape: Shape) -> None:
        """Begin with the first model of a stack."""
        super().__init__()
        tasks = range(shape.n_tasks)
        self.lstm = _lstm(parameters, shape)
        self.shared = _dense(parameters, [f"shared{i}" for i in range(shape.shared_layers)], ())
        private = [f"private{i}" for i in range(shape.private_layers)]
        self.private = nn.ModuleList(_dense(parameters, private, (t,)) for t in tasks)
        self.output = nn.ModuleList(
            _linear(parameters["output"][0, t], parameters["output.bias"][0, t]) for t in tasks
        )

    def forward(self, windows: Tensor) -> list[Tensor]:
        """Return the logits (b, labels) of each task for windows (b, 2c + 1, v)."""
        states, _ = self.lstm(windows)
        rows = self.shared(states[:, windows.shape[1] // 2])
        heads = zip(self.private, self.output, strict=True)
        return [output(private(rows)) for private, output in heads]


def train_plainly(
    problem: Problem, vectors: Tensor, shape: Shape, training: Training
) -> PlainModel:
    """Return a model after all epochs, from the same start and in the same order as a stack's."""
    model = PlainModel(initial_parameters(shape, [problem.seed]), shape)
    optimizer = torch.optim.Adam(model.parameters(), lr=training.learning_rate)
    generator = torch.Generator().manual_seed(problem.seed + ORDER_SEED)
    windows, labels = torch.from_numpy(problem.windows), torch.from_numpy(problem.labels)
    for _ in range(training.epochs):
        order = torch.randperm(len(windows), generator=generator)
        for rows in order.split(training.batch_size):
            loss = torch.zeros(())
            for logits, wanted in zip(model(vectors[windows[rows]]), labels[:, rows], strict=True):
                if (wanted != UNLABELLED).any():
                    loss = loss + nn.functional.cross_entropy(
                        logits, wanted, ignore_index=UNLABELLED
                    )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model


@torch.no_grad()
def predict_plainly(model: PlainModel, vectors: Tensor, windows: Tensor) -> np.ndarray:
    """Return the labels of the first task for windows (m, 2c + 1)."""
    found = [model(vectors[rows])[0].argmax(-1) for rows in windows.split(1000)]
    return torch.cat(found).numpy()


def _lstm(parameters: Parameters, shape: Shape) -> nn.LSTM:
    h = shape.units
    lstm = nn.LSTM(shape.vector_width, h, batch_first=True, bidirectional=True)
    order = np.r_[0 : 2 * h, 3 * h : 4 * h, 2 * h : 3 * h]  # input forget output cell -> PyTorch's
    for direction, suffix in enumerate(("", "_reverse")):
        for name, value in (
            ("weight_ih_l0", parameters["input"][0, direction].T),
            ("weight_hh_l0", parameters["recurrent"][0, direction].T),
            ("bias_ih_l0", parameters["bias"][0, direction, 0]),
            ("bias_hh_l0", parameters["bias"][0, direction, 1]),
        ):
            getattr(lstm, name + suffix).data = value.detach()[order].clone()
    return lstm


def _dense(parameters: Parameters, names: Sequence[str], task: tuple[int, ...]) -> nn.Sequential:
    place = (0, *task)
    layers: list[nn.Module] = []
    for name in names:
        layers += [_linear(parameters[name][place], parameters[f"{name}.bias"][place]), nn.ReLU()]
    return nn.Sequential(*layers)


def _linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    layer = nn.Linear(*weight.shape)
    layer.weight.data = weight.detach().T.clone()
    layer.bias.data = bias.detach()[0].clone()
    return layer
