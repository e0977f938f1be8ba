"""CoNLL-2003 columns: one token per line, blank lines between sentences, ``-DOCSTART-`` lines.

Columns are separated by one space or one tab. Their names follow from their number: word; word
ner; word pos ner; word pos chunk ner; or are stated, in the options or in a first line
``# global.columns = word pos ner`` as CoNLL-U Plus has it.

Layers: ``pos`` (tags), ``chunk`` and ``ner`` (spans, in a scheme that is recognised or stated and
written back: IOB1 stays IOB1); any other column is a layer of tags. A layer without an answer is
``_`` on every line of the sentence.

Several annotators side by side are columns ``ner@NAME`` announced by a ``# global.columns`` line.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from annotation.formats.columns import (
    DEFAULT_SCHEME,
    BadRow,
    is_blank,
    join_rows,
    read_spans,
    recognise,
    split_rows,
    write_spans,
)
from annotation.formats.format import Format
from annotation.formats.offsets import join_tokens
from annotation.formats.records import (
    CannotWrite,
    ExportRecord,
    Extra,
    Layer,
    Placement,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
    by_sentence,
    layer_spec,
    name_for,
    name_when_read,
)
from annotation.formats.source import Source

NAME = "conll2003"
HEADER = "# global.columns = "
DOCSTART = "-DOCSTART-"
SPANS = ("ner", "chunk")
_USUAL: dict[int, tuple[str, ...]] = {
    1: ("word",),
    2: ("word", "ner"),
    3: ("word", "pos", "ner"),
    4: ("word", "pos", "chunk", "ner"),
}
_TOKEN_LINE = re.compile(r"^\S+(?:[ \t]\S+){0,2}[ \t](?:O|[BI]-\S+)\r?$", re.MULTILINE)


@dataclass(frozen=True)
class _Layout:
    """How a file is laid out."""

    separator: str
    columns: tuple[str, ...]
    schemes: dict[str, str]  # of the columns of spans


def parse(source: Source, options: ReadOptions) -> Iterator[SentenceRecord | Problem]:
    layout = _layout(source, options)
    n_documents = 0
    before = ""  # the -DOCSTART- line that waits for its first sentence
    held: SentenceRecord | None = None  # kept back until it is known whether it is the last
    for number, lines in source.blocks():
        if number == 1 and lines[0].startswith(HEADER):
            lines, number = lines[1:], 2
        if lines and lines[0].startswith(DOCSTART):
            n_documents += 1
            before = lines[0] + ("\n" if len(lines) > 1 else "\n\n")
            lines, number = lines[1:], number + 1
        if not lines:
            continue
        try:
            record = _sentence(lines, layout, options, number, str(n_documents or ""), before)
        except BadRow as bad:
            yield source.problem(number + bad.row, str(bad))
            continue
        if held is not None:
            yield held
        held, before = record, ""
    if held is not None:
        if before:
            end = "" if source.lacks_final_newline else "\n"
            held.extra.setdefault(NAME, {})["after"] = before.rstrip("\n") + end
        yield held


def _layout(source: Source, options: ReadOptions) -> _Layout:
    """The layout that the beginning of the file and the options show."""
    lines = [line.rstrip("\r") for line in source.head().split("\n")]
    stated = options.columns
    if lines[0].startswith(HEADER):
        stated = tuple(lines[0].removeprefix(HEADER).split())
        lines = lines[1:]
    lines = ["" if line.startswith(DOCSTART) else line for line in lines]
    number, first = next(((i, line) for i, line in enumerate(lines, 1) if line.strip()), (1, "x"))
    separator = "\t" if "\t" in first else " "
    columns = stated or _USUAL.get(len(first.split(separator)))
    if not columns or columns.count("word") != 1:
        source.stop(
            number,
            f"{len(first.split(separator))} columns in {first[:60]!r}, named "
            f"{' '.join(columns or ()) or 'nothing'}; state the names of the columns, one of them "
            "'word'",
        )
    rows = [line.split(separator) for line in lines]
    schemes = {}
    for index, name in enumerate(columns):
        if _is_spans(name):
            tags = (row[index] if len(row) > index else "O" for row in rows)
            schemes[name] = options.scheme or recognise(tags) or DEFAULT_SCHEME
    return _Layout(separator, columns, schemes)


def _is_spans(column: str) -> bool:
    return column.partition("@")[0] in SPANS


def _sentence(
    lines: Sequence[str],
    layout: _Layout,
    options: ReadOptions,
    number: int,
    document: str,
    before: str,
) -> SentenceRecord:
    cells = split_rows(lines, layout.separator, (len(layout.columns),))
    kept: Extra = {"before": before} if before else {}
    if layout.columns != _USUAL[4]:
        kept["columns"] = list(layout.columns)
    if layout.separator != " ":
        kept["separator"] = layout.separator
    layers = {}
    tokens: list[str] = []
    for column, column_cells in zip(layout.columns, cells, strict=True):
        name = name_when_read(column, options.annotator)
        if column == "word":
            tokens = column_cells
        elif name is None or is_blank(column_cells):
            continue
        elif column in layout.schemes:
            scheme = layout.schemes[column]
            layers[name] = read_spans(name, column_cells, scheme, options.scheme, kept)
        else:
            layers[name] = Layer("tags", column_cells)
    text, offsets = join_tokens(tokens)
    extra = {NAME: kept} if kept else {}
    rows = range(number, number + len(lines))
    return SentenceRecord(tokens, text, offsets, "", document, layers, extra, number, rows)


def render(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[str]:
    document = ""
    columns: list[str] = []
    for group in by_sentence(records):
        sentence = group[0].sentence
        kept = placement.kept(group[0])
        wanted = _columns(kept, placement, options.annotators)
        if not columns:
            columns = wanted
            if tuple(columns) != _USUAL.get(len(columns)):
                yield HEADER + " ".join(columns) + "\n"
        elif columns != wanted:
            raise CannotWrite(
                f"The sentences have different columns: {' '.join(columns)} and "
                f"{' '.join(wanted)}; export their corpora one by one, or write jsonl."
            )
        if "before" in kept:
            yield kept["before"]
        elif sentence.document != document:
            yield " ".join([DOCSTART, "-X-", "O", "O"][: len(columns)]) + "\n\n"
        document = sentence.document
        cells = [_column(name, group, placement, options) for name in columns]
        rows = join_rows(cells, kept.get("separator", " "), group[0])
        yield "\n".join([*rows, "", ""]) + kept.get("after", "")


def _columns(kept: Extra, placement: Placement, annotators: Sequence[str]) -> list[str]:
    """The columns of a sentence: those it came with, and one for each annotator of a task."""
    columns = kept.get("columns", _USUAL[4])
    columns = [*columns, *(name for name in placement.task_of if name not in columns)]
    return [
        name_for(name, annotator)
        for name in columns
        for annotator in (annotators if name in placement.task_of and annotators else ("",))
    ]


def _column(
    name: str, group: Sequence[ExportRecord], placement: Placement, options: WriteOptions
) -> Sequence[str]:
    """The cells of a column, "_" where there is no answer."""
    record = group[0]
    if name == "word":
        return record.sentence.tokens
    layer, _, annotator = name.partition("@")
    answered = {record.annotator: record for record in group}
    value = None
    if annotator in answered:
        value = placement.value(answered[annotator], layer)
    elif layer not in placement.task_of:
        value = placement.value(record, name)
    if value is None:
        return ["_"] * len(record.sentence.tokens)
    if layer in SPANS:
        return write_spans(layer, value, record, placement.kept(record), options)
    return value


FORMAT = Format(
    name=NAME,
    title="CoNLL-2003 columns",
    position=50,
    suffixes=(".conll", ".conll2003", ".iob", ".bio", ".train", ".testa", ".testb"),
    kinds=frozenset(("spans", "tags")),
    layers=(layer_spec("ner", "spans"), layer_spec("pos", "tags"), layer_spec("chunk", "spans")),
    parse=parse,
    render=render,
    looks_like=lambda head: bool(_TOKEN_LINE.search(head)),
    keeps_keys=False,
    keeps_documents=False,
    keeps_text=False,
)
