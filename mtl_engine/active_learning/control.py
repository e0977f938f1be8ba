"""The control of a choice: the same training on what chance and imports alone have brought.

Where there is enough of both, another model learns from as much of what was chosen in place of the
rounds' random share, and the two are compared: the ledger of the choice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mtl_engine.active_learning.evaluate import TaskEvaluation, evaluate_ensemble
from mtl_engine.active_learning.ledger import compare_ensembles, matched_data
from mtl_engine.active_learning.pool import DEV, TEST, TRAIN, LabelledData
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.active_learning.train import (
    Checkpoints,
    Training,
    labelled_counts,
    learnable_tasks,
    train_ensemble,
)
from mtl_engine.config import EngineConfig
from mtl_engine.costs import CostModel
from mtl_engine.devices import AUTO
from mtl_engine.ensemble import Ensemble
from mtl_engine.training import Event, Step
from mtl_engine.types import TaskSpec


@dataclass(frozen=True)
class ControlReport:
    """What a model learned from what chance alone has brought."""

    n_labelled: int
    scores: Mapping[str, TaskEvaluation]
    ledger: Mapping[str, Any] = field(default_factory=dict)  # choice against chance, by task
    n_by_task: Mapping[str, int] = field(default_factory=dict)  # sentences with an answer to it


def is_control_of_use(data: LabelledData, tasks: Sequence[TaskSpec]) -> bool:
    """Return whether something was chosen, and what was not teaches every task."""
    by_chance = data.without_selected()
    return len(by_chance.examples) < len(data.examples) and _teaches_all(by_chance, tasks)


def train_control(
    data: LabelledData,
    tasks: Sequence[TaskSpec],
    config: EngineConfig,
    settings: ActiveLearningSettings,
    costs: CostModel,
    cache_dir: Path | None = None,
    device: str = AUTO,
    tell: Callable[[int, int], None] | None = None,
) -> ControlReport:
    """Train on what was not chosen and evaluate on the test slice; ``tell`` hears of each step.

    ``costs`` says how much of what was chosen is as much as the random share.
    """
    by_chance = data.without_selected()

    class Told(Checkpoints):
        def note(self, training: Training, event: Event) -> None:
            if isinstance(event, Step) and tell is not None:
                tell(event.step, event.n_steps)

    def trained(part: LabelledData) -> Ensemble:
        return train_ensemble(
            part,
            tasks,
            config,
            has_temperature=False,
            checkpoints=Told(),
            cache_dir=cache_dir,
            device=device,
        )

    control, test = trained(by_chance), data.part(TEST)
    evaluation = evaluate_ensemble(control, test, settings, seed=config.training.seed)
    matched = matched_data(data, tasks, costs, np.random.default_rng(config.training.seed))
    ledger: dict[str, Any] = {}
    if matched is not None and test and _teaches_all(matched, tasks):
        found = compare_ensembles(control, trained(matched), test)
        ledger = {name: one.to_dict() for name, one in found.items()}
    learned = [*by_chance.part(TRAIN), *by_chance.part(DEV)]
    counts = labelled_counts(tasks, learned)
    return ControlReport(len(learned), evaluation.tasks, ledger, counts)


def _teaches_all(data: LabelledData, tasks: Sequence[TaskSpec]) -> bool:
    return len(learnable_tasks(tasks, data.part(TRAIN))) == len(tasks)
