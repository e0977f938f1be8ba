"""Cross-entropy and label smoothing, exact also where some classes are not admissible."""

import torch
from torch import Tensor
from torch.nn import functional


def cross_entropy(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Return (R,) losses against (1 - a) onehot + a / K over all K classes of (R, K) logits."""
    return functional.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="none")


def masked_cross_entropy(
    logits: Tensor, targets: Tensor, is_admissible: Tensor, smoothing: float
) -> Tensor:
    """Return (R,) losses where K counts only the admissible classes of each row.

    logits and is_admissible are (R, K); inadmissible classes take no part at all.
    """
    log_probabilities = logits.masked_fill(~is_admissible, -torch.inf).log_softmax(-1)
    hit = -log_probabilities.gather(1, targets[:, None]).squeeze(1)
    if smoothing == 0:
        return hit
    spread = -log_probabilities.masked_fill(~is_admissible, 0.0).sum(-1)
    return (1 - smoothing) * hit + smoothing * spread / is_admissible.sum(-1)


def null_cross_entropy(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Return (R,) losses that smooth only what is not null (column 0).

    Of the many candidates nearly all are null: smoothing them as well would ask for more of every
    label in the sum than the gold answers hold, and teach the model to answer less.
    """
    plain = cross_entropy(logits, targets, 0.0)
    if smoothing == 0:
        return plain
    return torch.where(targets == 0, plain, cross_entropy(logits, targets, smoothing))
