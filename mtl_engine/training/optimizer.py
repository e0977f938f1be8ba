"""AdamW with its own learning rate for heads, warm-up and linear decay, and a portable state."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.optim import AdamW

from mtl_engine.config import TrainingConfig
from mtl_engine.encoders.low_rank import is_low_rank
from mtl_engine.model import MultiTaskModel


def new_optimizer(model: MultiTaskModel, config: TrainingConfig) -> AdamW:
    """Return AdamW over all that learns: vectors and biases do not decay, heads learn faster."""
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, weight in learning_parameters(model):
        decay = config.weight_decay if weight.dim() > 1 else 0.0
        groups.setdefault((_rate_factor(name, config), decay), []).append(weight)
    settings = [
        {"params": members, "weight_decay": decay, "factor": factor}
        for (factor, decay), members in groups.items()
    ]
    return AdamW(settings, lr=config.learning_rate, betas=(0.9, config.beta2), fused=True)


def _rate_factor(name: str, config: TrainingConfig) -> float:
    if is_low_rank(name):
        return config.lora_factor
    return 1.0 if name.startswith(("encoder.", "tops.")) else config.head_factor


def learning_parameters(model: nn.Module) -> list[tuple[str, nn.Parameter]]:
    """Return the parameters that are not frozen, by name."""
    return [(name, weight) for name, weight in model.named_parameters() if weight.requires_grad]


def set_learning_rate(optimizer: AdamW, config: TrainingConfig, step: int, n_steps: int) -> float:
    """Set the rates for a step (from 1): up linearly to the warm-up's end, then down to 0."""
    n_warmup = round(config.warmup * n_steps)
    if step <= n_warmup:
        share = step / n_warmup
    else:
        share = (n_steps - step + 1) / max(1, n_steps - n_warmup)
    rate = config.learning_rate * share
    for group in optimizer.param_groups:
        group["lr"] = rate * group["factor"]
    return rate


def export_state(optimizer: AdamW, model: nn.Module) -> dict[str, Tensor]:
    """Return copies of the moments and counts of every parameter, by name."""
    state = {}
    for name, weight in learning_parameters(model):
        for key, value in optimizer.state.get(weight, {}).items():
            state[f"{key}/{name}"] = value.detach().to("cpu", copy=True)
    return state


def import_state(optimizer: AdamW, model: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Set the moments and counts that ``export_state`` returned."""
    weights = dict(learning_parameters(model))
    for key, value in state.items():
        kind, _, name = key.partition("/")
        optimizer.state[weights[name]][kind] = value.to(weights[name].device, copy=True)


def clipped_step(optimizer: AdamW, model: nn.Module, limit: float) -> None:
    """Update the weights with gradients scaled down to a norm of at most the limit.

    The fused update divides by ``grad_scale`` on the way, which saves a pass over all gradients.
    """
    gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
    norm = torch.nn.utils.get_total_norm(gradients, foreach=True)
    optimizer.grad_scale = (norm / limit).clamp(min=1.0)  # type: ignore[attr-defined]
    optimizer.step()
