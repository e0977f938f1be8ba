"""What a training tells while it runs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from torch import Tensor

from mtl_engine.model import MultiTaskModel
from mtl_engine.policies import Feedback
from mtl_engine.training.early_stopping import EarlyStopping
from mtl_engine.types import Metrics

Reason = Literal["finished", "patience", "cancelled"]


@dataclass(frozen=True)
class TrainingState:
    """All that a training needs to go on exactly where it stood."""

    step: int
    weights: dict[str, Tensor]
    best_weights: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    stopping: EarlyStopping
    visits: tuple[int, ...]  # batches taken of each task
    history: tuple[Feedback, ...]  # what the policy has been told
    fingerprint: str  # of data, tasks and configuration
    is_evaluated: bool = True  # False after an epoch's last step, before its evaluation


Snapshot: TypeAlias = Callable[[], TrainingState]


@dataclass(frozen=True)
class Step:
    """One update was made."""

    step: int  # from 1
    n_steps: int  # at most
    epoch: int  # from 1
    tasks: tuple[str, ...]  # trained on this batch: one when a policy draws
    probabilities: tuple[float, ...] | None  # the policy's, in the order of the model's tasks
    losses: Mapping[str, float]  # per task, before the update
    learning_rate: float
    snapshot: Snapshot = field(repr=False, compare=False)  # call it before asking the next event


@dataclass(frozen=True)
class Evaluation:
    """The dev sentences were scored."""

    step: int
    epoch: int
    metrics: Metrics
    mean: float  # geometric mean of the tasks' main metrics
    snapshot: Snapshot = field(repr=False, compare=False)


@dataclass(frozen=True)
class Best:
    """The last evaluation is the best so far, or as good as the best."""

    step: int
    epoch: int
    metrics: Metrics
    mean: float
    snapshot: Snapshot = field(repr=False, compare=False)


@dataclass(frozen=True)
class End:
    """Training is over; the model holds the best weights."""

    step: int
    reason: Reason
    model: MultiTaskModel = field(repr=False, compare=False)
    metrics: Metrics  # of the best evaluation; empty without dev sentences
    mean: float


Event: TypeAlias = Step | Evaluation | Best | End


def geometric_mean(values: Any) -> float:
    """Return the geometric mean, with 1e-8 for anything smaller; 0 of nothing."""
    array = np.maximum(np.asarray(list(values), dtype=float), 1e-8)
    return float(np.exp(np.log(array).mean())) if len(array) else 0.0


def trained_model(events: Iterable[Event]) -> MultiTaskModel:
    """Return the model of a training that nobody wants to watch."""
    for event in events:
        if isinstance(event, End):
            return event.model
    raise AssertionError("a training always ends with its model")
