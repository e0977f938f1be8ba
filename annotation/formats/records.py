"""What a format reads and writes: sentences, their answers by layer, and what went wrong.

A *layer* is what a format calls one of its annotations (CoNLL-U: ``tree``, ``upos``, ``ner``); a
*task* is what the project calls it. ``matching`` joins the two. Answer values have one shape
everywhere, see ``mtl_engine.kinds``; a layer that the file leaves open is absent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mtl_engine.kinds import KINDS, Answer, TaskSpec

Offsets = list[list[int]]  # [start, end) of each token in code points of the text
Extra = dict[str, Any]  # JSON; {} or {format name: what that format needs to write the same bytes}


class Layer(NamedTuple):
    """One answer found in a file; ``scheme`` is the tagging scheme it was written in, if any."""

    kind: str
    value: Answer
    parent: str | None = None
    scheme: str = ""


def classes_layer(labels: Sequence[str]) -> Layer:
    """The classes of a sentence, of which a task of one class takes one alone."""
    if len(labels) == 1:
        return Layer("classes", labels[0])
    return Layer("classes", KINDS["multiclasses"].to_layer(labels))


LAYER_KINDS = frozenset(kind.layer for kind in KINDS.annotated())


def layer_spec(name: str, kind: str, parent: str | None = None) -> TaskSpec:
    """A layer as a task without labels; links that do not say what they link have the parent ""."""
    return TaskSpec(name, kind, parent=(parent or "") if KINDS[kind].parent_kind else None)


@dataclass(frozen=True, slots=True)
class SentenceRecord:
    """One sentence of a file.

    ``key`` is the file's own id ("" = none), ``line`` the line on which it starts, and
    ``token_lines`` the line of each token in a format with a token per line. ``extra`` holds
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
    is_test: bool = field(default=False, compare=False)  # of the frozen slice that tests models
    aside: Sequence[str] = field(default=(), compare=False)
    """What sort of thing the file says of it that no task can hold: kept, and written back."""


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
    sources: Mapping[str, str] = field(default_factory=dict)  # where each answer comes from
    notes: Mapping[str, str] = field(default_factory=dict)  # of annotators on the sentence, by name
    confidences: Mapping[str, "Confidence"] = field(default_factory=dict)  # of a model's answers


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure a model is of an answer, and of each item of it in its order; in [0, 1]."""

    answer: float
    items: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"answer": self.answer, "items": list(self.items)}


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


@dataclass(frozen=True)
class Limits:
    """What a file may cost before it is refused."""

    file_bytes: int = 8 * 1024**3  # uncompressed
    line_characters: int = 16 * 1024**2
    item_characters: int = 64 * 1024**2  # one element of a JSON array, one document of an archive
    sentence_tokens: int = 10_000
    archive_members: int = 200_000
    problems: int = 1_000


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; every default lets the format decide.

    - ``tokeniser``: "whitespace", or a spaCy language code ("en", "de", ..., "xx" for any)
    - ``split_sentences``: a line or cell holds several sentences; needs a language
    - ``scheme``: the tagging scheme of BIO columns: IOB1, IOB2, IO or BIOES; "" recognises it
    - ``columns``: names of the columns of conll2003 or of a table without a header
    - ``text_column``: the column or key of the text, where it is not called text or sentence
    - ``annotator``: whose answers to read from a file with several people's side by side
    - ``fields``: keys of jsonl that hold answers, where they are not under its own names
    """

    encoding: str = "utf-8"
    tokeniser: str = ""
    split_sentences: bool = False
    scheme: str = ""
    columns: tuple[str, ...] = ()
    text_column: str = ""
    annotator: str = ""
    fields: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class WriteOptions:
    """What to write: the tasks, and where the matching rule is overruled, the layer for a task.

    ``annotators`` names the people of a side-by-side export, in the order of their columns; empty
    for gold or one person. ``scheme`` overrules the scheme that a sentence came in. With
    ``has_sources`` every answer says whose it is, as far as the format can tell. ``title``,
    ``about`` and ``language`` are for formats that come with a card.
    """

    tasks: tuple[TaskSpec, ...] = ()
    mapping: Mapping[str, str] | None = None
    annotators: tuple[str, ...] = ()
    scheme: str = ""
    has_sources: bool = False
    title: str = ""
    about: str = ""
    language: str = ""
