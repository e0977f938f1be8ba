"""What a format reads and writes: sentences, their answers by layer, and what went wrong.

A *layer* is what a format calls one of its annotations (CoNLL-U: ``tree``, ``upos``, ``ner``); a
*task* is what the project calls it. ``matching`` joins the two. Answer values have one shape
everywhere, see ``mtl_engine.types``; a layer that the file leaves open is absent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mtl_engine.types import Answer, Kind

Offsets = list[list[int]]  # [start, end) of each token in code points of the text
Extra = dict[str, Any]  # JSON; {} or {format name: what that format needs to write the same bytes}


class LayerSpec(NamedTuple):
    """A layer or a task: its name, its kind and, for relations, the spans layer it links."""

    name: str
    kind: Kind
    parent: str | None = None


class Layer(NamedTuple):
    """One answer found in a file; ``scheme`` is the tagging scheme it was written in, if any."""

    kind: Kind
    value: Answer
    parent: str | None = None
    scheme: str = ""


@dataclass(frozen=True, slots=True)
class SentenceRecord:
    """One sentence of a file.

    ``key`` is the file's own id ("" = none), ``line`` the line on which it starts, and
    ``token_lines`` the line of each token in a format with a token a line. ``extra`` holds
    what is neither text nor layer and is needed to write the sentence back as it came; store it
    through ``Format.remainder`` so that layers without a task are written back too.
    """

    tokens: list[str]
    text: str
    offsets: Offsets
    key: str = ""
    document: str = ""
    layers: dict[str, Layer] = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)
    line: int = field(default=0, compare=False)
    token_lines: Sequence[int] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """A sentence to write and the answers to write with it, by task name.

    ``annotator`` is "" for gold. For all annotators side by side, hand one record per annotator,
    the records of a sentence one after the other and with the same ``sentence`` object.
    ``sentence.layers`` is not looked at.
    """

    sentence: SentenceRecord
    answers: Mapping[str, Answer] = field(default_factory=dict)
    annotator: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that keeps a file from being imported, and where; the message says the remedy."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class FormatError(ValueError):
    """A request about formats that is refused; the message says what to change."""


class CannotWrite(FormatError):
    """An answer that the format has no way to write; nothing is ever dropped instead."""


class Unreadable(Exception):
    """The file cannot be read any further; carries the problem to report."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem
