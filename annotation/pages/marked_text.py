"""A sentence in one line with its spans marked, for lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Sentence, Task

MAX_TOKENS = 80


@dataclass(frozen=True)
class Piece:
    """A stretch of text, with the label and colour of its span if it lies in one."""

    text: str
    label: str = ""
    colour: int = 0


@dataclass(frozen=True)
class MarkedSentence:
    """A sentence as a list shows it: its text in pieces, and its classes."""

    sentence: Sentence
    pieces: Sequence[Piece]
    classes: Sequence[tuple[str, str]]  # (task, label)
    is_cut: bool
    n_answered: int


def mark_sentence(
    sentence: Sentence, tasks: Sequence[Task], answers: Mapping[str, Any]
) -> MarkedSentence:
    """Return a sentence with the outermost spans of its first answered spans task marked."""
    spans_task = next((t for t in tasks if t.kind == Task.Kind.SPANS and t.name in answers), None)
    spans = _outermost(answers[spans_task.name]) if spans_task else []
    colours = {x.name: x.colour for x in spans_task.labels.all()} if spans_task else {}
    return MarkedSentence(
        sentence=sentence,
        pieces=_pieces(sentence, spans, colours),
        classes=[
            (task.name, answers[task.name])
            for task in tasks
            if task.kind == Task.Kind.CLASSES and task.name in answers
        ],
        is_cut=sentence.n_tokens > MAX_TOKENS,
        n_answered=sum(task.name in answers for task in tasks),
    )


def _outermost(spans: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Return the spans that begin after all before them have ended."""
    kept: list[Sequence[Any]] = []
    for span in sorted(spans, key=lambda s: (s[0], -s[1])):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def _pieces(
    sentence: Sentence, spans: Sequence[Sequence[Any]], colours: Mapping[str, int]
) -> list[Piece]:
    text, offsets = sentence.text, sentence.offsets[:MAX_TOKENS]
    end_of_text = offsets[-1][1] if sentence.n_tokens > MAX_TOKENS else len(text)
    pieces, at = [], 0
    for start, end, label in spans:
        if end > len(offsets):
            break
        first, last = offsets[start][0], offsets[end - 1][1]
        pieces.append(Piece(text[at:first]))
        pieces.append(Piece(text[first:last], label, colours.get(label, 0)))
        at = last
    pieces.append(Piece(text[at:end_of_text]))
    return [piece for piece in pieces if piece.text]
