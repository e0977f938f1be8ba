"""Votes of k models that differ only in what dropout leaves out (Gal & Ghahramani 2016)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np
from torch import Tensor, nn

from mtl_engine.devices import seeded
from mtl_engine.encoders.pack import Pack
from mtl_engine.model import MultiTaskModel

DropoutScope = Literal["full", "top"]


def dropout_votes(
    model: MultiTaskModel,
    pack: Pack,
    features: Tensor | None,
    tasks: Sequence[str],
    *,
    n_passes: int,
    scope: DropoutScope,
    seed: int,
) -> dict[str, list[np.ndarray]]:
    """Return (k, m) ints per task and sentence: what each of the k passes would answer.

    "full" drops everywhere; "top" only above the frozen part, whose output is computed once.
    """
    votes: dict[str, list[list[np.ndarray]]] = {task: [] for task in tasks}
    if scope == "top" and features is None:
        features = model.encoder.bottom(pack)
    with seeded(seed, model.device), _dropping(model, scope):
        for _ in range(n_passes):
            scores = model.scores(pack, tasks, features if scope == "top" else None)
            for task in tasks:
                votes[task].append(model.head(task).read(scores[task]).votes())
    return {
        task: [np.stack(sentence) for sentence in zip(*passes, strict=True)]
        for task, passes in votes.items()
    }


@contextmanager
def _dropping(model: MultiTaskModel, scope: DropoutScope) -> Iterator[None]:
    """Switch dropout on, and nothing else."""
    model.eval()
    frozen = set(model.encoder.frozen_modules()) if scope == "top" else set()
    for module in model.modules():
        if isinstance(module, nn.Dropout) and module not in frozen:
            module.train()
    try:
        yield
    finally:
        model.eval()
