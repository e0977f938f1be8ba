"""LoRA: a layer's matrices stay as they were pre-trained and learn a low-rank change (Hu 2022).

An own module of a few lines instead of PEFT: PEFT wraps whole Hugging Face models, of which the
engine uses parts, and saves adapters by itself, where a model here is one folder of weights.
"""

import math

from torch import Tensor, nn
from torch.nn import functional


class LowRankLinear(nn.Linear):
    """A linear layer with W + B A in place of W, of which only A, B and the bias learn."""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__(
            linear.in_features, linear.out_features, linear.bias is not None, device="meta"
        )
        self.weight, self.bias = linear.weight, linear.bias
        self.weight.requires_grad_(False)
        self.low_rank_a = nn.Parameter(linear.weight.new_empty(rank, self.in_features))
        self.low_rank_b = nn.Parameter(linear.weight.new_zeros(self.out_features, rank))
        nn.init.normal_(self.low_rank_a, std=1 / math.sqrt(self.in_features))

    def merged_weight(self) -> Tensor:
        """Return one matrix that computes the same."""
        return (self.weight + self.low_rank_b @ self.low_rank_a).detach()

    def forward(self, input: Tensor) -> Tensor:
        change = functional.linear(functional.linear(input, self.low_rank_a), self.low_rank_b)
        return super().forward(input) + change


def add_low_rank(module: nn.Module, rank: int) -> None:
    """Let all linear layers inside the module learn by a change of this rank."""
    for name, child in module.named_children():
        if isinstance(child, LowRankLinear):
            continue
        if isinstance(child, nn.Linear):
            setattr(module, name, LowRankLinear(child, rank))
        else:
            add_low_rank(child, rank)


def is_low_rank(name: str) -> bool:
    """Return whether a parameter of this name belongs to a low-rank change."""
    return name.endswith((".low_rank_a", ".low_rank_b"))
