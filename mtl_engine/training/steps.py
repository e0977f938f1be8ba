"""One update of the weights, and the loss it starts from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from mtl_engine.devices import free_memory, seeded, tensor_of
from mtl_engine.encoders.blocks import PackedBlock
from mtl_engine.encoders.pack import collate
from mtl_engine.errors import EngineError
from mtl_engine.examples import EncodedExamples
from mtl_engine.features import Features
from mtl_engine.heads.interface import Parent, States
from mtl_engine.model import MultiTaskModel
from mtl_engine.precision import chosen_precision, training_precision


@dataclass
class Learner:
    """A model, its training sentences and its frozen part's features."""

    model: MultiTaskModel
    data: EncodedExamples
    features: Features | None
    n_parts: int = 0  # of a step; 0 = as configured; doubled when memory runs out

    def __post_init__(self) -> None:
        self.n_parts = self.n_parts or self.model.config.training.n_parts

    def losses(self, rows: Sequence[int], tasks: Sequence[str]) -> dict[str, Tensor]:
        """Return each task's mean loss over the rows that are labelled for it.

        Where words are answered, every word counts the same, in however long a sentence.
        """
        pieces = [self.data.pieces[row] for row in rows]
        bottom = None if self.features is None else self.features.rows(pieces)
        names = self.model.with_parents(tasks)
        device = self.model.device
        with chosen_precision(training_precision(device), device):
            states = self.model.states(collate(pieces, device), names, bottom)
        states = {name: its_states.in_single_precision() for name, its_states in states.items()}
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
        parents = [
            Parent(
                scores=self.model.head(name)(states[name].select(labelled)),
                targets=[self.data.given(name, rows[place]) for place in labelled],
            )
            for name in head.task.parents
        ]
        smoothing = self.model.config.training.label_smoothing
        chosen = states[task].select(labelled)
        losses = head.training_losses(chosen, targets, smoothing, *parents)
        if not head.is_by_word:
            return losses.mean()
        answered = np.array(
            [head.n_answered(*row) for row in zip(targets, chosen.counts.tolist(), strict=True)]
        )
        weights = tensor_of((answered / answered.sum()).astype(np.float32), losses)
        return (weights * losses).sum()

    def update(
        self, rows: Sequence[int], tasks: Sequence[str], seed: int, apply: Callable[[], None]
    ) -> dict[str, float]:
        """Make one update of the weights and return the losses it started from.

        The gradient is the sum over the parts of the rows. When the memory of a device runs out,
        the step is made again in twice as many parts, and so are those that follow.
        """
        self.model.train()
        if not self.model.config.training.has_attention_dropout:
            for block in self.model.modules():
                if isinstance(block, PackedBlock):
                    block.attention_dropout.eval()
        while True:
            self.model.zero_grad(set_to_none=True)
            try:
                with seeded(seed, self.model.device):
                    values = self._accumulate(rows, tasks)
                break
            except torch.OutOfMemoryError:
                if self.n_parts >= len(rows):
                    raise
            self.n_parts = min(2 * self.n_parts, len(rows))
            free_memory(self.model.device)
        for task, value in values.items():
            if not np.isfinite(value):
                raise EngineError(
                    f"The loss of task '{task}' has become {value}; lower TrainingConfig key "
                    f"'learning_rate' (now {self.model.config.training.learning_rate})."
                )
        apply()
        return values

    def _accumulate(self, rows: Sequence[int], tasks: Sequence[str]) -> dict[str, float]:
        """Add up the gradients of all parts and return the losses of all rows."""
        given = self.model.config.training.task_weights
        weights = {t: given.get(t, 1.0) * self.model.head(t).loss_weight for t in tasks}
        sizes = {task: self._size(rows, task) for task in tasks}
        values: dict[str, float] = {}
        for part in np.array_split(np.asarray(rows), min(self.n_parts, len(rows))):
            losses = {
                task: loss * (self._size(part, task) / sizes[task])
                for task, loss in self.losses(part.tolist(), tasks).items()
            }
            if losses:
                weighted = [weights[task] * loss for task, loss in losses.items()]
                torch.stack(weighted).sum().backward()  # type: ignore[no-untyped-call]
            for task, loss in losses.items():
                values[task] = values.get(task, 0.0) + float(loss.detach())
        return {task: values[task] for task in tasks if task in values}

    def _size(self, rows: Sequence[int] | np.ndarray, task: str) -> int:
        """Return how much some rows weigh in the mean loss of a task: words, or sentences."""
        head, targets = self.model.head(task), self.data.targets[task]
        labelled = [row for row in rows if row in targets]
        if not head.is_by_word:
            return len(labelled)
        return sum(head.n_answered(targets[r], len(self.data.pieces[r].firsts)) for r in labelled)

    @torch.no_grad()
    def plain_loss(self, rows: Sequence[int], task: str) -> float:
        """Return the task's loss on the rows without dropout."""
        self.model.eval()
        return float(self.losses(rows, [task])[task])
