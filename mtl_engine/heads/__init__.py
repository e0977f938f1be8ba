"""Heads: from vectors to answers, one file a kind."""

from collections.abc import Sequence

from mtl_engine.config import ModelConfig
from mtl_engine.errors import EngineError
from mtl_engine.heads.classes import ClassHead
from mtl_engine.heads.interface import Head, Reading, States
from mtl_engine.heads.spans import FlatSpanHead
from mtl_engine.heads.tags import TagHead
from mtl_engine.types import TaskSpec

__all__ = ["Head", "Reading", "States", "new_head"]


def new_head(task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: ModelConfig) -> Head:
    """Return a fresh head for the task; ``tasks`` are all that the model learns."""
    if task.kind == "classes":
        return ClassHead(task, width, dropout=config.dropout)
    if task.kind == "tags":
        return TagHead(task, width, dropout=config.dropout, has_crf=config.has_crf)
    if task.kind == "spans":
        return FlatSpanHead(task, width, dropout=config.dropout, has_crf=config.has_crf)
    raise EngineError(f"No head for {task.kind}.")
