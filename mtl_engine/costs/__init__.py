"""What labelling costs: read a sentence once, then pay for each task on it."""

from mtl_engine.costs.units import Costs, Ledger, paper_costs

__all__ = ["Costs", "Ledger", "paper_costs"]
