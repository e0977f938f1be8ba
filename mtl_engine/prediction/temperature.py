"""What is fitted on development sentences once the weights stand: temperatures and decisions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from mtl_engine.batching import by_length
from mtl_engine.confidence import fit_temperature
from mtl_engine.encoders.pack import collate
from mtl_engine.examples import read_examples
from mtl_engine.features import Features
from mtl_engine.model import MultiTaskModel
from mtl_engine.prediction.predict import BATCH_TOKENS
from mtl_engine.types import Example


@torch.no_grad()
def fit_temperatures(
    model: MultiTaskModel, dev: Sequence[Example], features: Features | None = None
) -> dict[str, float]:
    """Return the temperature with the least dev loss, for every task with dev answers (Guo 2017).

    Below 1, where few sentences that were all answered right would make the model sure of
    everything, each label is doubted as Laplace's rule of succession does.
    """
    found: dict[str, float] = {}
    for name, batches in dev_scores(model, dev, features).items():
        logits: list[np.ndarray] = []
        labels: list[np.ndarray] = []
        for scores, targets in batches:
            some_logits, some_labels = model.head(name).calibration_rows(scores, targets)
            logits += some_logits
            labels += some_labels
        if sum(map(len, labels)):
            found[name] = _supported_temperature(logits, labels)
    return found


@torch.no_grad()
def fit_heads(
    model: MultiTaskModel, dev: Sequence[Example], features: Features | None = None
) -> bool:
    """Fit by what heads decide, and how often their answers are wrong; return if answers change."""
    changes = False
    for name, batches in dev_scores(model, dev, features).items():
        head = model.head(name)
        if head.has_decision:
            head.fit_decision(batches)
            changes = True
        head.fit_expected_error(batches)
    return changes


def dev_scores(
    model: MultiTaskModel, dev: Sequence[Example], features: Features | None
) -> dict[str, list[tuple[Any, list[Any]]]]:
    """Return each task's scores and targets of the sentences labelled for it, in batches."""
    model.eval()
    data = read_examples(model, dev)
    found: dict[str, list[tuple[Any, list[Any]]]] = {task.name: [] for task in model.tasks}
    names = model.with_parents(list(found))
    rows = data.labelled_rows() if any(data.targets.values()) else np.empty(0, dtype=np.int64)
    sizes = [len(data.pieces[row]) for row in rows]
    for batch in by_length(sizes, BATCH_TOKENS) if len(rows) else []:
        chosen = rows[batch]
        pieces = [data.pieces[row] for row in chosen]
        bottom = None if features is None else features.rows(pieces)
        states = model.states(collate(pieces, model.device), names, bottom)
        for name in found:
            places = [k for k, row in enumerate(chosen) if row in data.targets[name]]
            if places:
                own = {n: states[n].select(places) for n in model.with_parents([name])}
                targets = [data.targets[name][chosen[place]] for place in places]
                found[name].append((model.scores_of(own)[name], targets))
    return found


def _supported_temperature(logits: list[np.ndarray], labels: list[np.ndarray]) -> float:
    best = fit_temperature(logits, labels)
    if best >= 1:
        return best
    n_rows = sum(map(len, labels))
    return min(1.0, fit_temperature(logits, labels, doubt=1 / (n_rows + 2)))
