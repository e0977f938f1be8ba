"""Early stopping on the geometric mean of the tasks' development metrics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Metrics: TypeAlias = Mapping[str, Mapping[str, float]]  # by task, by name


@dataclass
class EarlyStopping:
    """The best evaluation so far, and how long ago it was.

    As good as the best is a new best. Waiting counts only after the mean has risen above the first
    one: at the beginning a model may find nothing at all for several epochs.
    """

    patience: int  # 0 = never stop
    first_mean: float = -1.0  # below 0 before the first evaluation
    best_mean: float = -1.0
    best_step: int = 0
    best_metrics: Metrics = field(default_factory=dict)
    n_waiting: int = 0

    def note(self, step: int, mean: float, metrics: Metrics) -> bool:
        """Take in an evaluation and return whether it is the best."""
        if self.first_mean < 0:
            self.first_mean = mean
        if mean >= self.best_mean:
            self.best_mean, self.best_step, self.best_metrics = mean, step, metrics
            self.n_waiting = 0
            return True
        if self.best_mean > self.first_mean:
            self.n_waiting += 1
        return False

    @property
    def is_over(self) -> bool:
        return 0 < self.patience <= self.n_waiting
