"""What the engine is told about tasks and sentences.

The shape of a task's answers is that of its kind, see ``mtl_engine.kinds``. A missing answer is an
absent key; an empty list means "nothing here".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from mtl_engine.kinds import Answer, TaskSpec

__all__ = ["Answer", "Example", "Metrics", "TaskSpec"]

Metrics: TypeAlias = Mapping[str, Mapping[str, float]]  # by task, by name


@dataclass(frozen=True)
class Example:
    """A sentence and the answers known for it, by task name; tasks without an answer are absent."""

    tokens: tuple[str, ...]
    labels: Mapping[str, Answer] = field(default_factory=dict)
    id: int | str = ""
