"""Which sentences each step trains on, and how many steps there are."""

import math
from collections.abc import Sequence

import numpy as np

from mtl_engine.batching import Shuffled
from mtl_engine.config import TrainingConfig
from mtl_engine.errors import EngineError
from mtl_engine.examples import EncodedExamples

WHEN_TO_EVALUATE = (0.8, 0.9, 1.0)  # of the steps: before, weights have not settled


class Schedule:
    """Batches for joint training, and batches of each task for a policy to draw from."""

    def __init__(
        self,
        data: EncodedExamples,
        names: Sequence[str],
        config: TrainingConfig,
        *,
        is_joint: bool,
    ) -> None:
        labelled = data.labelled_rows()
        if not len(labelled):
            raise EngineError("None of the training sentences is labelled for any of the tasks.")
        n_words = sum(len(data.pieces[row].firsts) for row in labelled)
        sizes = np.array([1 if config.batch_size else len(p.firsts) for p in data.pieces])
        batch = config.batch_size or config.words_per_step(n_words)
        own = [data.rows(name) for name in names]
        self._joint = Shuffled(labelled, sizes[labelled], batch, (config.seed, 0))
        self._own = [
            Shuffled(rows, sizes[rows], batch, (config.seed, 1 + number))
            for number, rows in enumerate(own)
        ]
        self.sizes = [len(rows) for rows in own]
        self.steps_per_epoch = (
            self._joint.batches_per_pass
            if is_joint
            else -(-sum(int(sizes[rows].sum()) for rows in own) // batch)
        )
        self.n_steps = math.ceil(self.steps_per_epoch * config.passes_over(n_words))
        self._evaluations = self._times_to_evaluate(config.evaluate_every)

    @property
    def is_open(self) -> np.ndarray:
        """Whether each task has sentences to train on."""
        return np.array(self.sizes) > 0

    def joint_rows(self, step: int) -> list[int]:
        """Return the sentences of a step (from 1) that trains all tasks."""
        return self._joint.batch(step - 1).tolist()

    def task_rows(self, task: int, visit: int) -> list[int]:
        """Return the sentences of a task's batch with this number (from 0)."""
        return self._own[task].batch(visit).tolist()

    def epoch(self, step: int) -> int:
        """Return the epoch (from 1) that a step belongs to."""
        return (step - 1) // self.steps_per_epoch + 1

    def is_time_to_evaluate(self, step: int) -> bool:
        """Return whether a step is followed by an evaluation."""
        return step in self._evaluations

    def _times_to_evaluate(self, every: int) -> frozenset[int]:
        """Return steps: each so many epochs, or over the end of the training, which can be best."""
        if every:
            return frozenset([*range(0, self.n_steps, every * self.steps_per_epoch), self.n_steps])
        return frozenset(math.ceil(share * self.n_steps) for share in WHEN_TO_EVALUATE)
