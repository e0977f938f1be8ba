"""Tagging schemes: spans written as one tag per token.

IOB1 writes B- only between adjacent spans of one label, IOB2 at every start, IO never, BIOES marks
ends (E-) and single tokens (S-) too; BILOU is BIOES with L- and U-. One reading serves them all,
that of conlleval: a span starts at B- or S-, or where I- or E- follows O, another label or an end.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from annotation.formats.records import CannotWrite
from mtl_engine.errors import UnknownName

SCHEMES = ("IOB1", "IOB2", "IO", "BIOES")
DEFAULT = "IOB2"
_STARTS = frozenset("BSU")
_ENDS = frozenset("ESLU")
_PREFIXES = frozenset("BIESLU")

Spans = list[list[Any]]  # [start, end, label] each


class BadTag(ValueError):
    """A tag that cannot be read; ``index`` is its token."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


def spans_of(tags: Sequence[str]) -> Spans:
    """The spans that tags of any scheme stand for; raises BadTag."""
    spans: Spans = []
    open_label = ""  # label of the span that the next I- would go on, "" if none
    for index, tag in enumerate(tags):
        if tag == "O":
            open_label = ""
            continue
        parts = _parts(tag)
        if parts is None:
            raise BadTag(
                index, f"tag {tag!r} is none of O, B-LABEL, I-LABEL, E-LABEL, S-LABEL; correct it"
            )
        is_start, is_end, label = parts
        if is_start or label != open_label:
            spans.append([index, index + 1, label])
        else:
            spans[-1][1] = index + 1
        open_label = "" if is_end else label
    return spans


@lru_cache(maxsize=4096)
def _parts(tag: str) -> tuple[bool, bool, str] | None:
    """Whether a tag starts and whether it ends a span, and its label; None if it is no tag."""
    prefix, dash, label = tag[:1], tag[1:2], tag[2:]
    if prefix not in _PREFIXES or dash != "-" or not label:
        return None
    return prefix in _STARTS, prefix in _ENDS, label


def require_scheme(scheme: str) -> None:
    """Raise UnknownName unless the scheme is one of those there are, or not stated."""
    if scheme and scheme not in SCHEMES:
        raise UnknownName("tagging scheme", scheme, SCHEMES)


def check_scheme(tags: Sequence[str], scheme: str) -> None:
    """Raise BadTag at the first tag, of those that ``spans_of`` reads, that a scheme forbids."""
    allowed = {"IOB1": "BIO", "IOB2": "BIO", "IO": "IO", "BIOES": "BIOESLU"}[scheme]
    before = "O"
    for index, tag in enumerate(tags):
        if tag[:1] not in allowed:
            raise BadTag(index, f"tag {tag!r} does not exist in {scheme}; state another scheme")
        continues = before != "O" and before[2:] == tag[2:] and before[0] not in _ENDS
        if scheme in ("IOB2", "BIOES") and tag[0] in "IEL" and not continues:
            raise BadTag(
                index, f"tag {tag!r} follows {before!r} but {scheme} begins a span with B-; "
                "correct it or state IOB1"
            )  # fmt: skip
        if scheme == "IOB1" and tag[0] == "B" and not continues:
            raise BadTag(
                index, f"tag {tag!r} follows {before!r} but IOB1 writes B- only between adjacent "
                "spans of one label; correct it or state IOB2"
            )  # fmt: skip
        before = tag


def recognise(tags: Iterable[str]) -> str:
    """The scheme that tags (of many sentences, each ended by an "O") are in, "" if they show none.

    What mixes IOB1 and IOB2 is called IOB2, what mixes IO and IOB1 is IOB1.
    """
    starts_with_i = starts_with_b = has_inner_b = False
    before = "O"
    for tag in tags:
        if tag and tag != "O":
            if tag[0] in "ESLU":
                return "BIOES"
            is_start = before == "O" or before[2:] != tag[2:]
            starts_with_i |= is_start and tag[0] == "I"
            starts_with_b |= is_start and tag[0] == "B"
            has_inner_b |= not is_start and tag[0] == "B"
        before = tag
    if starts_with_b:
        return "IOB2"
    if starts_with_i:
        return "IOB1" if has_inner_b else "IO"
    return ""


def tags_of(spans: Iterable[Sequence[Any]], length: int, scheme: str) -> list[str]:
    """The tags of spans; raises CannotWrite where spans overlap, for one token has one tag.

    IO is written as IOB1, which differs only where IO would join two spans.
    """
    tags = ["O"] * length
    always_begins = scheme in ("IOB2", "BIOES")
    before_end, before_label = 0, ""
    for start, end, label in spans:
        if start < before_end:
            raise CannotWrite(
                f"span [{start}, {end}) {label!r} overlaps another one, and a column of tags holds "
                "one label per token; write jsonl, ie or brat instead"
            )
        is_adjacent = start == before_end and label == before_label
        tags[start] = f"B-{label}" if always_begins or is_adjacent else f"I-{label}"
        if end - start > 1:
            tags[start + 1 : end] = [f"I-{label}"] * (end - start - 1)
        if scheme == "BIOES":
            tags[end - 1] = f"S-{label}" if end - start == 1 else f"E-{label}"
        before_end, before_label = end, label
    return tags
