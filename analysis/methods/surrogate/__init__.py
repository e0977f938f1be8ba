"""Which tasks help or hurt each other: linear surrogates of multi-task training (paper 002)."""

from analysis.methods.surrogate.evaluation import SurrogateQuality, judge_held_out
from analysis.methods.surrogate.linear_model import LinearTasks, linear_tasks
from analysis.methods.surrogate.regression import (
    METHODS,
    Surrogate,
    bootstrap_thetas,
    fit_surrogate,
)
from analysis.methods.surrogate.subsets import (
    Selection,
    all_subsets,
    sample_subsets,
    select_by_sweep,
)

__all__ = [
    "METHODS",
    "LinearTasks",
    "Selection",
    "Surrogate",
    "SurrogateQuality",
    "all_subsets",
    "bootstrap_thetas",
    "fit_surrogate",
    "judge_held_out",
    "linear_tasks",
    "sample_subsets",
    "select_by_sweep",
]
