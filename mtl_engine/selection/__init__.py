"""What to label next: strategies over the confidence matrix, and plans within a budget."""

from mtl_engine.selection.ranking import select
from mtl_engine.selection.registry import STRATEGIES

__all__ = ["STRATEGIES", "select"]
