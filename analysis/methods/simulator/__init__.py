"""Synthetic tasks of a known relatedness to a real one (paper 000)."""

from analysis.methods.simulator.sentences import from_io, to_io
from analysis.methods.simulator.simulation import SimulatedTasks, label_matrix, simulate_tasks

__all__ = ["SimulatedTasks", "from_io", "label_matrix", "simulate_tasks", "to_io"]
