"""What labelling costs: read a sentence once, then pay for each task on it."""

from mtl_engine.costs.fitting import WorkEvent, fit_costs
from mtl_engine.costs.model import CostModel, prior_model
from mtl_engine.costs.units import Costs, Ledger, paper_costs

__all__ = [
    "CostModel",
    "Costs",
    "Ledger",
    "WorkEvent",
    "fit_costs",
    "paper_costs",
    "prior_model",
]
