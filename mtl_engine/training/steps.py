"""One update of the weights, and the loss it starts from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from mtl_engine.encoders.pack import collate
from mtl_engine.errors import EngineError
from mtl_engine.examples import EncodedExamples
from mtl_engine.features import Features
from mtl_engine.heads.interface import Parent, States
from mtl_engine.model import MultiTaskModel


@dataclass(frozen=True)
class Learner:
    """A model, its training sentences and its frozen part's features."""

    model: MultiTaskModel
    data: EncodedExamples
    features: Features | None

    def losses(self, rows: Sequence[int], tasks: Sequence[str]) -> dict[str, Tensor]:
        """Return each task's mean loss over the rows that are labelled for it."""
        pieces = [self.data.pieces[row] for row in rows]
        bottom = None if self.features is None else self.features.rows(pieces)
        names = self.model.with_parents(tasks)
        states = self.model.states(collate(pieces), names, bottom)
        found = {}
        for task in tasks:
            labelled = [place for place, row in enumerate(rows) if row in self.data.targets[task]]
            if labelled:
                found[task] = self._task_loss(task, rows, labelled, states)
        return found

    def _task_loss(
        self, task: str, rows: Sequence[int], labelled: list[int], states: Mapping[str, States]
    ) -> Tensor:
        head = self.model.head(task)
        targets = [self.data.targets[task][rows[place]] for place in labelled]
        parent = None
        if head.task.parent is not None:
            known = self.data.targets[head.task.parent]
            parent = Parent(
                scores=self.model.head(head.task.parent)(states[head.task.parent].select(labelled)),
                targets=[known.get(rows[place]) for place in labelled],
            )
        smoothing = self.model.config.training.label_smoothing
        return head.training_losses(
            states[task].select(labelled), targets, smoothing, parent
        ).mean()

    def update(
        self, rows: Sequence[int], tasks: Sequence[str], seed: int, apply: Callable[[], None]
    ) -> dict[str, float]:
        """Make one update of the weights and return the losses it started from."""
        self.model.train()
        self.model.zero_grad(set_to_none=True)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            losses = self.losses(rows, tasks)
        weights = self.model.config.training.task_weights
        total = torch.stack([weights.get(task, 1.0) * loss for task, loss in losses.items()]).sum()
        values = {task: float(loss.detach()) for task, loss in losses.items()}
        for task, value in values.items():
            if not np.isfinite(value):
                raise EngineError(
                    f"The loss of task '{task}' has become {value}; lower TrainingConfig key "
                    f"'learning_rate' (now {self.model.config.training.learning_rate})."
                )
        total.backward()  # type: ignore[no-untyped-call]
        apply()
        return values

    @torch.no_grad()
    def plain_loss(self, rows: Sequence[int], task: str) -> float:
        """Return the task's loss on the rows without dropout."""
        self.model.eval()
        return float(self.losses(rows, [task])[task])
