"""What the engine is told about tasks and sentences.

Answers have one shape everywhere (m = number of tokens):

- spans: ``[[start, end, label], ...]``, token numbers from 0, end exclusive
- tags: ``[label, ...]`` of length m
- classes: ``"label"``
- tree: ``[[head, label], ...]`` of length m, head 0 = ROOT, else the token's number from 1
- relations: ``[[s1, e1, s2, e2, label], ...]`` between spans of the parent task

A missing answer is an absent key; an empty list means "nothing here".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from mtl_engine.errors import EngineError, UnknownName

Kind = Literal["spans", "tags", "classes", "tree", "relations"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Answer = Any  # one of the shapes above


@dataclass(frozen=True)
class TaskSpec:
    """A task: its kind, its labels in a fixed order, and for relations the spans task it links."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    parent: str | None = None
    is_nested: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownName("task kind", self.kind, KINDS)
        if (self.kind == "relations") != (self.parent is not None):
            raise EngineError(
                f"Task '{self.name}' is of kind {self.kind}: a relations task names its parent "
                "spans task, no other kind has a parent."
            )
        if len(set(self.labels)) != len(self.labels):
            raise EngineError(f"Task '{self.name}' lists a label twice: {self.labels}.")


@dataclass(frozen=True)
class Example:
    """A sentence and the answers known for it, by task name; tasks without an answer are absent."""

    tokens: tuple[str, ...]
    labels: Mapping[str, Answer] = field(default_factory=dict)
    id: int | str = ""
