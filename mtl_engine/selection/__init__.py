"""What to label next: strategies over the confidence matrix, and plans within a budget."""

from mtl_engine.selection.batches import (
    Batch,
    BatchRules,
    choose_batch,
    comparable_confidence,
    gives_values,
)
from mtl_engine.selection.cbc import SolverFailed
from mtl_engine.selection.diversity import diverse_candidates, diversify, task_vectors
from mtl_engine.selection.explaining import explain, in_words
from mtl_engine.selection.fairness import (
    COMPARABLE,
    adjusted,
    informative,
    label_coverage,
    made_comparable,
    sentence_capacity,
    with_bonus,
)
from mtl_engine.selection.names import NamedStrategy, resolve_strategy
from mtl_engine.selection.plans import Plan, one_shot_budget, plan
from mtl_engine.selection.ranking import select
from mtl_engine.selection.registry import STRATEGIES
from mtl_engine.selection.request import DECISIONS, PLANNED

__all__ = [
    "COMPARABLE",
    "DECISIONS",
    "PLANNED",
    "STRATEGIES",
    "Batch",
    "BatchRules",
    "NamedStrategy",
    "Plan",
    "SolverFailed",
    "adjusted",
    "choose_batch",
    "comparable_confidence",
    "diverse_candidates",
    "diversify",
    "explain",
    "gives_values",
    "in_words",
    "informative",
    "label_coverage",
    "made_comparable",
    "one_shot_budget",
    "plan",
    "resolve_strategy",
    "select",
    "sentence_capacity",
    "task_vectors",
    "with_bonus",
]
