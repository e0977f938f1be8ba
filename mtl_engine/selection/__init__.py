"""What to label next: strategies over the confidence matrix, and plans within a budget."""

from mtl_engine.selection import strategies as _strategies  # noqa: F401  (registers them)
from mtl_engine.selection.api import (
    Batch,
    BatchRules,
    Diversity,
    Plan,
    Value,
    Vectors,
    choose_batch,
    comparable_confidence,
    one_shot_budget,
    plan,
    select,
)
from mtl_engine.selection.budget.greedy import Overflow
from mtl_engine.selection.budget.request import DECISIONS
from mtl_engine.selection.checks import Combination, Conflict, check_combination, find_conflicts
from mtl_engine.selection.coverage import (
    CellReason,
    CoverageBatch,
    TaskUnits,
    Units,
    duplicate_groups,
    explain_batch,
)
from mtl_engine.selection.diversity import diverse_candidates, diversify, task_vectors
from mtl_engine.selection.explanation import explain, in_words
from mtl_engine.selection.normalisation import (
    NORMALISATIONS,
    Normalisation,
    adjusted,
    label_coverage,
    normalise,
    with_coverage,
)
from mtl_engine.selection.registry import (
    STRATEGIES,
    Decision,
    NamedStrategy,
    Options,
    Strategy,
    get_strategy,
    resolve_strategy,
)
from mtl_engine.selection.solvers.cbc import SolverFailed

__all__ = [
    "DECISIONS",
    "NORMALISATIONS",
    "STRATEGIES",
    "Batch",
    "BatchRules",
    "CellReason",
    "Combination",
    "Conflict",
    "CoverageBatch",
    "Decision",
    "Diversity",
    "NamedStrategy",
    "Normalisation",
    "Options",
    "Overflow",
    "Plan",
    "SolverFailed",
    "Strategy",
    "TaskUnits",
    "Units",
    "Value",
    "Vectors",
    "adjusted",
    "check_combination",
    "choose_batch",
    "comparable_confidence",
    "diverse_candidates",
    "diversify",
    "duplicate_groups",
    "explain",
    "explain_batch",
    "find_conflicts",
    "get_strategy",
    "in_words",
    "label_coverage",
    "normalise",
    "one_shot_budget",
    "plan",
    "resolve_strategy",
    "select",
    "task_vectors",
    "with_coverage",
]
