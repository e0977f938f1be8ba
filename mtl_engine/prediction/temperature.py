"""One temperature per task, fitted on development sentences (Guo et al. 2017)."""

from collections.abc import Sequence

import numpy as np
import torch

from mtl_engine.batching import by_length
from mtl_engine.confidence import fit_temperature
from mtl_engine.encoders.pack import collate
from mtl_engine.examples import read_examples
from mtl_engine.model import MultiTaskModel
from mtl_engine.prediction.predict import BATCH_TOKENS
from mtl_engine.types import Example


@torch.no_grad()
def fit_temperatures(model: MultiTaskModel, dev: Sequence[Example]) -> dict[str, float]:
    """Return the temperature with the least dev loss, for every task with dev answers.

    Below 1, where few sentences that were all answered right would make the model sure of
    everything, each label is doubted as Laplace's rule of succession does.
    """
    model.eval()
    data = read_examples(model, dev)
    found: dict[str, float] = {}
    for task in model.tasks:
        rows = data.rows(task.name)
        logits: list[np.ndarray] = []
        labels: list[np.ndarray] = []
        sizes = [len(data.pieces[row]) for row in rows]
        for batch in by_length(sizes, BATCH_TOKENS) if len(rows) else []:
            chosen = rows[batch]
            pack = collate([data.pieces[row] for row in chosen])
            scores = model.scores(pack, [task.name])[task.name]
            targets = [data.targets[task.name][row] for row in chosen]
            some_logits, some_labels = model.head(task.name).calibration_rows(scores, targets)
            logits += some_logits
            labels += some_labels
        if sum(map(len, labels)):
            found[task.name] = _supported_temperature(logits, labels)
    return found


def _supported_temperature(logits: list[np.ndarray], labels: list[np.ndarray]) -> float:
    best = fit_temperature(logits, labels)
    if best >= 1:
        return best
    n_rows = sum(map(len, labels))
    return min(1.0, fit_temperature(logits, labels, doubt=1 / (n_rows + 2)))
