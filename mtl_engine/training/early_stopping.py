"""Early stopping on the geometric mean of the tasks' development metrics."""

from dataclasses import dataclass, field

from mtl_engine.types import Metrics

TIE = 0.02


@dataclass
class EarlyStopping:
    """The best evaluation so far, and how long ago it was.

    As good as the best is a new best, and so is what is within ``TIE`` of it: few dev sentences
    tell weights apart by chance, and later ones have learned more. Waiting counts only after the
    mean has risen above the first one: at the beginning a model may find nothing at all for
    several epochs.
    """

    patience: int  # 0 = never stop
    first_mean: float = -1.0  # below 0 before the first evaluation
    top_mean: float = -1.0
    best_mean: float = -1.0  # of the chosen weights: at most TIE below the top
    best_step: int = 0
    best_metrics: Metrics = field(default_factory=dict)
    n_waiting: int = 0

    def note(self, step: int, mean: float, metrics: Metrics) -> bool:
        """Take in an evaluation and return whether it is the best."""
        if self.first_mean < 0:
            self.first_mean = mean
        if mean >= self.top_mean:
            self.top_mean, self.n_waiting = mean, 0
        elif self.top_mean > self.first_mean:
            self.n_waiting += 1
        is_best = mean >= self.top_mean - TIE
        if is_best:
            self.best_mean, self.best_step, self.best_metrics = mean, step, metrics
        return is_best

    @property
    def is_over(self) -> bool:
        return 0 < self.patience <= self.n_waiting
