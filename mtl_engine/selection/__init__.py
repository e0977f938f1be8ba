"""What to label next: strategies over the confidence matrix, and plans within a budget."""

from mtl_engine.selection.cbc import SolverFailed
from mtl_engine.selection.plans import Plan, one_shot_budget, plan
from mtl_engine.selection.ranking import select
from mtl_engine.selection.registry import STRATEGIES
from mtl_engine.selection.request import DECISIONS, PLANNED

__all__ = [
    "DECISIONS",
    "PLANNED",
    "STRATEGIES",
    "Plan",
    "SolverFailed",
    "one_shot_budget",
    "plan",
    "select",
]
