"""How a task mixes the shared branch of the network with the private ones."""

import torch
from torch import Tensor, nn


class Gate(nn.Module):
    """A gate per vector component over n branches (N, h); two branches: a * s + (1 - a) * u.

    ``a = sigmoid(W [s; u] + b)`` (Rotman & Reichart 2022, 5.1); more branches take a softmax.
    """

    def __init__(self, width: int, n_branches: int, *, has_branch_linear: bool) -> None:
        super().__init__()
        self.n_branches = n_branches
        outputs = width if n_branches == 2 else n_branches * width
        self.linear = nn.Linear(n_branches * width, outputs)
        self.branch_linear = nn.ModuleList(
            nn.Linear(width, width) for _ in range(n_branches if has_branch_linear else 0)
        )

    def forward(self, *branches: Tensor) -> Tensor:  # (N, h)
        if self.branch_linear:
            branches = tuple(
                linear(branch) for linear, branch in zip(self.branch_linear, branches, strict=True)
            )
        logits = self.linear(torch.cat(branches, dim=-1))
        if self.n_branches == 2:
            shared, private = branches
            return private + torch.sigmoid(logits) * (shared - private)
        weights = logits.unflatten(-1, (self.n_branches, -1)).softmax(-2)
        return (weights * torch.stack(branches, dim=-2)).sum(-2)


class ScalarMix(nn.Module):
    """A learned weighted mean of layers, times a learned scale."""

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(n_layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: list[Tensor]) -> Tensor:
        weights = self.weights.softmax(0)
        mixed = sum(weight * layer for weight, layer in zip(weights, layers, strict=True))
        return self.scale * mixed


class LastLayer(nn.Module):
    """What the last layer says alone: a sentence as a whole is blurred by lower layers."""

    def forward(self, layers: list[Tensor]) -> Tensor:
        return layers[-1]
