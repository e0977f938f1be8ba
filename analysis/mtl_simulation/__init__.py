"""The multi-task models of paper 000 on simulated tasks, many of them and fast."""

from analysis.mtl_simulation.corpus import TaggedCorpus, TaggedText, read_tagged
from analysis.mtl_simulation.experiment import Cell, Laboratory, Outcome, run_cell
from analysis.mtl_simulation.model import Shape
from analysis.mtl_simulation.training import Problem, Training, train

__all__ = [
    "Cell",
    "Laboratory",
    "Outcome",
    "Problem",
    "Shape",
    "TaggedCorpus",
    "TaggedText",
    "Training",
    "read_tagged",
    "run_cell",
    "train",
]
