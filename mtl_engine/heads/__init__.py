"""Heads: from vectors to answers, one file a kind."""

from collections.abc import Sequence

from mtl_engine.config import ModelConfig
from mtl_engine.heads.classes import ClassHead
from mtl_engine.heads.interface import Head, Reading, States
from mtl_engine.heads.nested_spans import SpanHead
from mtl_engine.heads.regression import RegressionHead, RegressionTask
from mtl_engine.heads.relations import RelationHead
from mtl_engine.heads.spans import FlatSpanHead
from mtl_engine.heads.tags import TagHead
from mtl_engine.heads.tree import TreeHead
from mtl_engine.types import TaskSpec

__all__ = ["Head", "Reading", "States", "new_head"]


def new_head(task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: ModelConfig) -> Head:
    """Return a fresh head for the task; ``tasks`` are all that the model learns.

    Spans that nest, and spans that a relations task links, are read from candidate spans; other
    spans from BIO tags.
    """
    if isinstance(task, RegressionTask):
        return RegressionHead(task, width, dropout=config.dropout)
    match task.kind:
        case "tags":
            return TagHead(task, width, dropout=config.dropout, has_crf=config.has_crf)
        case "classes":
            return ClassHead(task, width, dropout=config.dropout)
        case "tree":
            return TreeHead(
                task,
                width,
                arc_width=config.arc_width,
                label_width=config.label_width,
                dropout=config.dropout,
            )
        case "relations":
            return _relation_head(task, tasks, width, config)
        case "spans":
            return _span_head(task, tasks, width, config)


def _span_head(task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: ModelConfig) -> Head:
    is_parent = any(other.parent == task.name for other in tasks)
    if not (task.is_nested or is_parent):
        return FlatSpanHead(task, width, dropout=config.dropout, has_crf=config.has_crf)
    return SpanHead(
        task,
        width,
        hidden=config.pair_width,
        max_width=config.max_span_width,
        dropout=config.dropout,
    )


def _relation_head(
    task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: ModelConfig
) -> Head:
    parent = next(other for other in tasks if other.name == task.parent)
    return RelationHead(
        task,
        parent,
        width,
        hidden=config.pair_width,
        max_width=config.max_span_width,
        keep=config.span_keep,
        max_kept=config.max_kept_spans,
        dropout=config.dropout,
    )
