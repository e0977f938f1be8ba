"""Small networks on fixed features: tasks that train in a fraction of a second.

All tasks share a hidden layer; tasks with the same ``head`` share their output too, as sources of
noisy labels or groups of people do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap

from analysis.errors import AnalysisError
from analysis.methods.surrogate.linearised import Linearised, Sketch, from_losses


@dataclass(frozen=True)
class FeatureTask:
    """Examples of one task: features (n, d), and class numbers (n,) or, with 0 classes, numbers.

    ``groups`` (n,) number the groups of people that the examples are of, for a robust training.
    """

    inputs: Tensor
    targets: Tensor
    n_classes: int
    head: int = 0
    groups: Tensor | None = None

    def __post_init__(self) -> None:
        if not len(self.inputs) or len(self.inputs) != len(self.targets):
            raise AnalysisError(
                f"A task has {len(self.inputs)} inputs and {len(self.targets)} targets: one each, "
                "at least one."
            )


@dataclass(frozen=True)
class NetworkSettings:
    """How a network is built and trained: Adam on all examples at once.

    With ``group_step`` above 0 the loss is the groups' mean losses by weights that grow with them
    (GroupDRO, Sagawa et al. 2020, algorithm 1): w_g <- w_g exp(group_step * loss_g), normalised.
    """

    hidden: int = 32  # 0: linear in the features
    n_steps: int = 200
    learning_rate: float = 0.02
    weight_decay: float = 1e-3
    group_step: float = 0.0


class Network(nn.Module):
    """A hidden layer and a linear output per head."""

    def __init__(self, n_features: int, sizes: Sequence[int], hidden: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_features, hidden), nn.Tanh()) if hidden else None
        width = hidden or n_features
        self.heads = nn.ModuleList(nn.Linear(width, max(1, size)) for size in sizes)

    def forward(self, inputs: Tensor, head: int) -> Tensor:
        states = inputs if self.body is None else self.body(inputs)
        outputs: Tensor = self.heads[head](states)
        return outputs


def train_network(
    tasks: Sequence[FeatureTask], head_sizes: Sequence[int], settings: NetworkSettings, *, seed: int
) -> Network:
    """Return a network trained on all examples of the tasks, each counting the same or by group."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Network(tasks[0].inputs.shape[1], head_sizes, settings.hidden)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
    )
    merged = _merged(tasks)
    weights = _GroupWeights(merged, settings.group_step) if settings.group_step else None
    for _ in range(settings.n_steps):
        optimizer.zero_grad(set_to_none=True)
        losses = torch.cat([_losses(network(task.inputs, task.head), task) for task in merged])
        total = weights.total(losses) if weights else losses.mean()
        total.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return network.eval()


class _GroupWeights:
    """The groups' weights in a robust training; they follow the losses."""

    def __init__(self, tasks: Sequence[FeatureTask], step: float) -> None:
        parts = [task.groups for task in tasks if task.groups is not None]
        if len(parts) < len(tasks):
            raise AnalysisError("GroupDRO needs the group of every example.")
        numbers, self.groups = torch.unique(torch.cat(parts), return_inverse=True)
        self.sizes = torch.bincount(self.groups).float()
        self.weights = torch.full((len(numbers),), 1 / len(numbers))
        self.step = step

    def total(self, losses: Tensor) -> Tensor:
        """Return the loss to descend, after the weights have moved towards the worst groups."""
        means = torch.zeros_like(self.weights).index_add(0, self.groups, losses) / self.sizes
        self.weights = self.weights * torch.exp(self.step * means.detach())
        self.weights = self.weights / self.weights.sum()
        return (self.weights * means).sum()


@torch.no_grad()
def mean_loss(network: Network, task: FeatureTask) -> float:
    """Return the network's mean loss on a task: squared error, or negative log-likelihood."""
    return float(_losses(network(task.inputs, task.head), task).mean())


@torch.no_grad()
def outputs(network: Network, task: FeatureTask) -> NDArray[np.float32]:
    """Return (n, classes) what the network says of a task's examples."""
    return np.asarray(network(task.inputs, task.head).numpy())


def linearise(network: Network, task: FeatureTask, sketch: Sketch) -> Linearised:
    """Return a task's examples as the network's linear neighbourhood sees them."""
    weights = {name: weight.detach() for name, weight in network.named_parameters()}

    def value(weights: dict[str, Tensor], inputs: Tensor, target: Tensor) -> Tensor:
        outputs = functional_call(network, weights, (inputs[None], task.head))[0]
        if not task.n_classes:
            return outputs[0] - target
        return nn.functional.cross_entropy(outputs[None], target[None])

    gradients, values = vmap(grad_and_value(value), in_dims=(None, 0, 0))(
        weights, task.inputs, task.targets
    )
    flat = torch.cat([gradients[name].flatten(1) for name in weights], dim=1)
    projected = sketch.project(flat).double().numpy()
    if not task.n_classes:
        return Linearised(values.double().numpy(), projected, "squared")
    return from_losses(values.double().numpy(), projected)


def n_weights(network: nn.Module) -> int:
    """Return how many weights a network has."""
    return sum(weight.numel() for weight in network.parameters())


def _losses(outputs: Tensor, task: FeatureTask) -> Tensor:
    if not task.n_classes:
        return (outputs[:, 0] - task.targets) ** 2
    return nn.functional.cross_entropy(outputs, task.targets, reduction="none")


def _merged(tasks: Sequence[FeatureTask]) -> list[FeatureTask]:
    """Return one task per head, so that each head is computed once per step."""
    found = []
    for head in sorted({task.head for task in tasks}):
        same = [task for task in tasks if task.head == head]
        groups = [task.groups for task in same if task.groups is not None]
        found.append(
            replace(
                same[0],
                inputs=torch.cat([task.inputs for task in same]),
                targets=torch.cat([task.targets for task in same]),
                groups=torch.cat(groups) if len(groups) == len(same) else None,
            )
        )
    return found
