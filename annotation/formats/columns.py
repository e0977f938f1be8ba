"""What formats with one token per line have in common, and the tagging schemes of their spans.

IOB1 writes B- only between adjacent spans of one label, IOB2 at every start, IO never, BIOES marks
ends (E-) and single tokens (S-) too; BILOU is BIOES with L- and U-. One reading serves them all,
that of conlleval: a span starts at B- or S-, or where I- or E- follows O, another label or an end.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from annotation.formats.records import (
    CannotWrite,
    ExportRecord,
    Extra,
    Layer,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
)
from annotation.formats.source import Source
from mtl_engine.errors import UnknownName

SCHEMES = ("IOB1", "IOB2", "IO", "BIOES")
DEFAULT_SCHEME = "IOB2"
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
    for start, end, *more, label in spans:
        if more:
            raise CannotWrite(
                f"span {[start, end, *more, label]!r} has several pieces, and a column of tags "
                "cannot tell which belong together; write jsonl, csv or brat instead"
            )
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


# Places in a template: comments that are rebuilt from the sentence and so are not stored.
KEY, TEXT, INTENT = 0, 1, 2

_PLACES = {"sent_id": KEY, "text": TEXT, "intent": INTENT}
_NAMES = {place: name for name, place in _PLACES.items()}
Template = list[int | str]  # places, and all other comment lines as they are


class BadRow(ValueError):
    """A line of a sentence that cannot be read; ``row`` counts from the sentence's first line."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


def split_rows(lines: Sequence[str], separator: str, widths: tuple[int, ...]) -> list[list[str]]:
    """The columns of the lines of a sentence; raises BadRow.

    Every line must have the same number of cells, one of ``widths``, and no cell is empty.
    """
    counts = {line.count(separator) + 1 for line in lines}
    width = counts.pop()
    if counts or width not in widths:
        raise _bad_width(lines, separator, widths)
    joined = separator.join(lines)
    if separator * 2 in joined or separator in (joined[0], joined[-1]):
        row = next(i for i, line in enumerate(lines) if "" in line.split(separator))
        raise BadRow(row, f"an empty cell in {lines[row][:60]!r}; write _ where there is nothing")
    cells = joined.split(separator)
    return [cells[column::width] for column in range(width)]


def _bad_width(lines: Sequence[str], separator: str, widths: tuple[int, ...]) -> BadRow:
    found = [line.count(separator) + 1 for line in lines]
    if found[0] in widths:
        widths = (found[0],)
    row = next(i for i, width in enumerate(found) if width not in widths)
    return BadRow(
        row, f"{found[row]} columns in {lines[row][:60]!r}, expected "
        f"{' or '.join(map(str, widths))} separated by {separator!r}; correct the line"
    )  # fmt: skip


def commented_sentences(
    source: Source,
    options: ReadOptions,
    read: "Callable[[Sequence[str], Comments, str, int], SentenceRecord]",
    *,
    of: str,
) -> Iterator[SentenceRecord | Problem]:
    """The sentences of a file whose blocks begin with comments, those of one annotator if wanted.

    ``read`` is given a sentence's lines, its comments, its document and the line it starts on.
    """
    document = ""
    for number, lines in source.blocks():
        n_comments = count_comments(lines)
        comments = read_comments(lines[:n_comments])
        document = document if comments.document is None else comments.document
        if options.annotator and comments.annotator != options.annotator:
            continue
        try:
            if n_comments == len(lines):
                raise BadRow(-1, f"comments without {of}; add the {of} or remove the comments")
            yield read(lines[n_comments:], comments, document, number)
        except BadRow as bad:
            yield source.problem(number + n_comments + bad.row, str(bad))


def count_comments(lines: Sequence[str]) -> int:
    """How many lines at the top of a sentence are comments: they begin with # and have no tab."""
    count = 0
    for line in lines:
        if line[0] != "#" or "\t" in line:
            break
        count += 1
    return count


def read_spans(name: str, tags: Sequence[str], scheme: str, stated: str, kept: Extra) -> Layer:
    """The spans of a column of tags; notes in ``kept`` what the scheme would not write back."""
    if scheme != DEFAULT_SCHEME:
        kept.setdefault("scheme", {})[name] = scheme
    if tags.count("O") == len(tags):
        return Layer("spans", [], None, scheme)
    try:
        spans = spans_of(tags)
        if stated:
            check_scheme(tags, stated)
    except BadTag as bad:
        raise BadRow(bad.index, str(bad)) from bad
    if tags_of(spans, len(tags), scheme) != list(tags):
        kept.setdefault("raw", {})[name] = list(tags)
    return Layer("spans", spans, None, scheme)


def write_spans(
    name: str, spans: Spans, record: ExportRecord, kept: Extra, options: WriteOptions
) -> list[str]:
    """The column of tags of spans: the tags that were read if they still say the same."""
    if not options.scheme:
        raw: list[str] | None = kept.get("raw", {}).get(name)
        if raw is not None and spans_of(raw) == spans:
            return raw
    try:
        scheme = options.scheme or kept.get("scheme", {}).get(name, DEFAULT_SCHEME)
        return tags_of(spans, len(record.sentence.tokens), scheme)
    except CannotWrite as refusal:
        raise CannotWrite(f"{describe(record)}: {refusal}") from refusal


def join_rows(columns: Iterable[Sequence[str]], separator: str, record: ExportRecord) -> list[str]:
    """The lines of a sentence; raises CannotWrite if a cell has the separator or a line end."""
    columns = list(columns)
    rows = list(map(separator.join, zip(*columns, strict=True)))
    block = "\n".join([*rows, ""])
    if (
        block.count(separator) != (len(columns) - 1) * len(rows)
        or block.count("\n") != len(rows)
        or "\r\n" in block
    ):
        raise CannotWrite(
            f"{describe(record)}: a token or label has a {separator!r} or a line end in it, which "
            "separates the columns of this format; write jsonl instead"
        )
    return rows


def is_blank(column: Sequence[str]) -> bool:
    """Whether a column is left open, that is "_" on every line."""
    return column[0] == "_" and column.count("_") == len(column)


def describe(record: ExportRecord) -> str:
    """The sentence as an error names it."""
    sentence = record.sentence
    return f"sentence {sentence.key!r}" if sentence.key else f"sentence {sentence.text[:40]!r}"


@dataclass(slots=True)
class Comments:
    """What the comments of a sentence say; ``document`` is None if they do not begin one."""

    template: Template = field(default_factory=list)
    values: dict[int, str] = field(default_factory=dict)
    document: str | None = None
    annotator: str = ""
    n_lines: int = 0


def read_comments(lines: Sequence[str]) -> Comments:
    """The meaning and the order of comment lines."""
    found = Comments(n_lines=len(lines))
    for line in lines:
        name, equals, value = line[1:].partition(" = ")
        place = _PLACES.get(name[1:]) if equals and name[:1] == " " else None
        if place is not None and value and place not in found.values:
            found.values[place] = value
            found.template.append(place)
            continue
        found.template.append(line)
        if line.startswith("# newdoc"):
            found.document = value if name == " newdoc id" else ""
        elif name == " annotator":
            found.annotator = value
            found.template.pop()
    return found


def write_comments(
    record: ExportRecord,
    template: Template,
    values: dict[int, str | None],
    document: str,
    *,
    added: Sequence[int],
    sources: Mapping[str, str] | None = None,
) -> list[str]:
    """The comment lines of a sentence; ``document`` is the one that the sentence before was in.

    A place without a value is left out. A value of ``added`` that the template has no place for
    comes last, and after it where each task's answer comes from, if ``sources`` tell it.
    """
    lines = []
    if record.annotator:
        lines.append(f"# annotator = {record.annotator}")
    begins = any(isinstance(item, str) and item.startswith("# newdoc") for item in template)
    if record.sentence.document != document and not begins:
        name = record.sentence.document
        lines.append(f"# newdoc id = {name}" if name else "# newdoc")
    missing = [place for place in added if place not in template]
    for item in [*template, *missing]:
        if isinstance(item, str):
            lines.append(item)
        elif values.get(item):
            lines.append(f"# {_NAMES[item]} = {values[item]}")
    lines += [f"# source of {task} = {source}" for task, source in (sources or {}).items()]
    if any("\n" in line or line[-1:] == "\r" for line in lines):
        raise CannotWrite(
            f"{describe(record)}: a line end in its id, text or class, which a comment cannot "
            "hold; write jsonl instead"
        )
    return lines
