"""Heads: from vectors to answers, one file per kind."""

from collections.abc import Sequence

from mtl_engine.config import ModelConfig
from mtl_engine.heads.interface import Head, JudgedItem, Reading, States
from mtl_engine.kinds import KINDS
from mtl_engine.types import TaskSpec

__all__ = ["Head", "JudgedItem", "Reading", "States", "new_head"]


def new_head(task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: ModelConfig) -> Head:
    """Return a fresh head for the task; ``tasks`` are all that the model learns."""
    return KINDS[task.kind].head(task, tasks, width, config)
