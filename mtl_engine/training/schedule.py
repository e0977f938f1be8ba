"""Which sentences each step trains on, and how many steps there are."""

from collections.abc import Sequence

import numpy as np

from mtl_engine.batching import Shuffled
from mtl_engine.config import TrainingConfig
from mtl_engine.errors import EngineError
from mtl_engine.examples import EncodedExamples


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
        self._joint = Shuffled(labelled, config.batch_size, (config.seed, 0))
        self._own = [
            Shuffled(data.rows(name), config.batch_size, (config.seed, 1 + number))
            for number, name in enumerate(names)
        ]
        self.sizes = [len(stream.rows) for stream in self._own]
        n_drawn = len(labelled) if is_joint else sum(self.sizes)
        self.steps_per_epoch = -(-n_drawn // config.batch_size)
        self.n_steps = self.steps_per_epoch * config.epochs_for(len(labelled))
        self._evaluate_every = self.steps_per_epoch * config.evaluate_every

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
        """Return whether a step ends an epoch that is followed by an evaluation."""
        return step % self._evaluate_every == 0 or step == self.n_steps
