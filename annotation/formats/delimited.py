"""CSV and TSV: a header, then one sentence per row.

Columns ``id``, ``document``, ``text`` (or ``sentence``) and ``tokens`` are the sentence's; every
other one is a layer. A plain column holds a class; a column called ``ner (spans)``, ``pos (tags)``,
``syntax (tree)``, ``rel (relations of ner)``, ``gives (relations of drug to dose)`` or ``facts
(attributes of ner)`` holds that answer as JSON, in tokens. An empty cell
is a missing answer. ``tokens`` is a JSON list, empty where the tokens are those between white
space, and of ``[token, start, end]`` where offsets do not follow from the text.

CSV has quotes, and where its header says so semicolons, tabs or bars instead of commas; TSV has no
quotes, so its cells hold neither tabs nor line ends. Options name the columns of a file without a
header. ``spreadsheet`` is CSV that is only written: a cell that Excel would run as a formula begins
with an apostrophe there. Several annotators side by side are columns ``ner (spans)@NAME``.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import orjson

from annotation.formats.columns import describe
from annotation.formats.format import BYTE_ORDER_MARK, Format
from annotation.formats.json_stream import (
    BadValue,
    kind_of,
    layer_of,
    linking_kind_of,
    pieces_of,
)
from annotation.formats.offsets import Tokeniser, are_located, tokeniser_for, whitespace_tokens
from annotation.formats.records import (
    LAYER_KINDS,
    CannotWrite,
    ExportRecord,
    Extra,
    Layer,
    Offsets,
    Placement,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
    by_sentence,
    classes_cell,
    layer_spec,
    name_for,
    name_when_read,
)
from annotation.formats.source import Source
from mtl_engine.kinds import TaskSpec
from mtl_engine.types import Answer

OWN = ("id", "document", "text", "tokens")
TEXT_HEADINGS = ("text", "sentence")
DELIMITERS = ",;\t|"  # of CSV, as programs of different countries write it; the likeliest first
_NAMED = "|".join(sorted(LAYER_KINDS - {"classes"}))
_HEADING = re.compile(
    rf"(?P<name>.+?) \((?P<kind>{_NAMED})(?: of (?P<parent>.+))?\)(?P<person>@.+)?"
)


class Commas(csv.excel):
    """Cells between commas, in quotes where need be; bad quotes are an error."""

    lineterminator = "\n"
    strict = True


class Sheet(Commas):
    """Commas for programs that compute: what they would take for a formula is written as text."""


def plain_cell(text: str) -> str:
    """Return a cell of CSV that no spreadsheet takes for a formula: with an apostrophe before."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


class Tabs(csv.Dialect):
    """Cells between tabs, never in quotes."""

    delimiter = "\t"
    quoting = csv.QUOTE_NONE
    quotechar = None
    lineterminator = "\n"


def _first_line_has(separators: str, head: str) -> bool:
    first = head.partition("\n")[0].rstrip("\r")
    return any(_has_text_column(first.split(separator)) for separator in separators)


def _has_text_column(cells: Iterable[str]) -> bool:
    return not set(TEXT_HEADINGS).isdisjoint(cell.strip(' "').lower() for cell in cells)


def _delimiter_of(header: str, dialect: type[csv.Dialect]) -> str:
    """What separates the columns of a header: as the dialect says, if that makes columns of it."""
    if dialect.quoting == csv.QUOTE_NONE:
        return dialect.delimiter
    split = {mark: header.split(mark) for mark in DELIMITERS}
    with_text = [
        mark for mark, cells in split.items() if len(cells) > 1 and _has_text_column(cells)
    ]
    return (with_text or sorted(split, key=lambda mark: len(split[mark]) == 1))[0]


@dataclass(frozen=True)
class _Table:
    """The columns of a table by their place."""

    headings: list[str]
    own: dict[str, int]  # text always, the others of OWN where there are any
    layers: dict[int, TaskSpec]

    def cell(self, row: Sequence[str], name: str) -> str:
        return row[self.own[name]] if name in self.own else ""


def heading_of(spec: TaskSpec, annotator: str) -> str:
    """What the column of a layer is called."""
    of = f" of {' to '.join(spec.parents)}" if spec.parent else ""
    name = spec.name if spec.kind == "classes" else f"{spec.name} ({spec.kind}{of})"
    return name_for(name, annotator)


def parse_table(
    source: Source, options: ReadOptions, *, name: str, dialect: type[csv.Dialect]
) -> Iterator[SentenceRecord | Problem]:
    """The sentences of a table; the first one keeps the headings for writing it again."""
    tokenise = tokeniser_for(options)
    lines = (line + "\n" for line in source.lines())
    n_blank, first = next(((i, line) for i, line in enumerate(lines) if line.strip()), (0, ""))
    delimiter = _delimiter_of(first, dialect)
    rows = csv.reader(chain([first], lines), dialect, delimiter=delimiter)
    table: _Table | None = None
    if options.columns:
        table = _table(list(options.columns), source, options)
    kept: Extra = {}
    while True:
        number = n_blank + rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            source.stop(number, f"no {name.upper()} row ({error}); correct its quotes or length")
        if not "".join(row).strip():
            continue
        if table is None:
            table = _table(row, source, options)
            about = {"columns": table.headings, "text": table.headings[table.own["text"]]}
            if delimiter != dialect.delimiter:
                about["delimiter"] = delimiter
            kept = {name: about}
            continue
        try:
            yield from _records(row, table, tokenise, kept, number, options.label_separator)
            kept = {}
        except BadValue as bad:
            yield source.problem(number, str(bad))


def headings_of(source: Source, *, dialect: type[csv.Dialect]) -> list[str]:
    """What the columns of a table are called."""
    first = next((line for line in source.lines() if line.strip()), "")
    try:
        cells = next(csv.reader([first], dialect, delimiter=_delimiter_of(first, dialect)), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells if cell.strip()]


def _table(headings: list[str], source: Source, options: ReadOptions) -> _Table:
    """What the headings say; gives up the file if they do not say where the text is."""
    headings = [heading.strip() or f"column {i}" for i, heading in enumerate(headings, 1)]
    if len(set(headings)) < len(headings):
        source.stop(1, f"two columns of one name: {', '.join(headings)[:200]}; rename one")
    wanted = [options.text_column] if options.text_column else list(TEXT_HEADINGS)
    names = [*wanted, *(heading for heading in headings if heading.lower() in wanted)]
    text = next((name for name in names if name in headings), None)
    if text is None and len(headings) == 1 and not options.text_column:
        text = headings[0]
    if text is None:
        source.stop(
            1,
            f"no column {' or '.join(wanted)} among {', '.join(headings)[:200]}; name the column "
            "of the text",
        )
    own = {name: headings.index(name) for name in OWN if name in headings}
    own["text"] = headings.index(text)
    layers = {}
    for place, heading in enumerate(headings):
        if place not in own.values():
            spec = _spec_of(heading, headings)
            name = name_when_read(spec.name, options.annotator)
            if name is not None:
                parents = [name_when_read(parent, options.annotator) for parent in spec.parents]
                layers[place] = layer_spec(name, spec.kind, *parents)
    return _Table(headings, own, layers)


def _spec_of(heading: str, headings: Sequence[str]) -> TaskSpec:
    """The layer of a column; "a to b" are two tasks unless a column of spans is called that."""
    match = _HEADING.fullmatch(heading)
    if not match:
        return layer_spec(heading, "classes")
    person = match["person"] or ""
    of = match["parent"] or ""
    is_one = f"{of} (spans){person}" in headings
    parents = [of] if is_one else of.split(" to ", 1)
    return layer_spec(
        match["name"] + person, match["kind"], *(parent + person for parent in parents if of)
    )


def _records(
    row: list[str],
    table: _Table,
    tokenise: Tokeniser,
    extra: Extra,
    number: int,
    separator: str,
) -> Iterator[SentenceRecord]:
    if len(row) != len(table.headings):
        raise BadValue(
            f"cells: {len(row)}, columns: {len(table.headings)} "
            f"({', '.join(table.headings)[:200]}); correct the row"
        )
    pieces = _pieces(table.cell(row, "text"), table.cell(row, "tokens"), tokenise)
    layers = _layers(row, table, pieces[0][1], separator)
    key, document = table.cell(row, "id"), table.cell(row, "document")
    if len(pieces) > 1 and any(layer.kind != "classes" for layer in layers.values()):
        raise BadValue(f"answers on a text of {len(pieces)} sentences; split the row first")
    for count, (text, tokens, offsets) in enumerate(pieces, 1):
        part = f"{key}.{count}" if key and len(pieces) > 1 else key
        yield SentenceRecord(tokens, text, offsets, part, document, layers, extra, number)


def _pieces(text: str, tokens: str, tokenise: Tokeniser) -> list[tuple[str, list[str], Offsets]]:
    row: dict[str, Any] = {"text": text}
    if tokens:
        row["tokens"] = found = _json("tokens", tokens)
        if isinstance(found, list) and found and isinstance(found[0], list):
            if not all(len(item) == 3 for item in found if isinstance(item, list)):
                raise BadValue("tokens are no [token, start, end] each; correct them")
            row["tokens"] = [item[0] for item in found]
            row["offsets"] = [item[1:] for item in found]
    return pieces_of(row, tokenise)


def _layers(
    row: Sequence[str], table: _Table, tokens: list[str], separator: str
) -> dict[str, Layer]:
    layers: dict[str, Layer] = {}
    for place, spec in sorted(table.layers.items(), key=lambda item: item[1].parent is not None):
        cell = row[place]
        if not cell:
            continue
        if spec.kind == "classes":
            layers[spec.name] = classes_cell(cell, separator)
            continue
        layers[spec.name] = layer_of(
            spec.name,
            spec.kind,
            _json(table.headings[place], cell),
            tokens,
            parents=[parent for parent in spec.parents if parent],
            known=layers,
        )
    return layers


def _json(name: str, cell: str) -> Any:
    try:
        return orjson.loads(cell)
    except orjson.JSONDecodeError as error:
        raise BadValue(f"{name}: no JSON ({error}): {cell[:40]!r}; correct the cell") from error


ABOUT = ("source", "confidence")  # columns beside an answer


def render_table(
    records: Iterable[ExportRecord],
    placement: Placement,
    options: WriteOptions,
    *,
    dialect: type[csv.Dialect],
) -> Iterator[str]:
    """The lines of a table."""
    buffer = io.StringIO()
    header: list[str] = []
    text = "text"
    for group in by_sentence(records):
        if not header:
            kept = placement.kept(group[0])
            text = kept.get("text", "text")
            rows = csv.writer(buffer, dialect, delimiter=kept.get("delimiter", dialect.delimiter))
            header = _header(kept, placement, options)
            rows.writerow(_as_text(header, dialect))
        cells = _own_cells(group[0].sentence, text) | _answer_cells(group, placement)
        _refuse_homeless(cells, header, group[0])
        row = [cells.get(heading, "") for heading in header]
        if dialect.quoting == csv.QUOTE_NONE and any(c in cell for cell in row for c in "\t\n\r"):
            raise CannotWrite(
                f"{describe(group[0])}: a tab or line end in its text or labels, which TSV cannot "
                "hold; write csv or jsonl instead"
            )
        rows.writerow(_as_text(row, dialect))
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def _as_text(row: Sequence[str], dialect: type[csv.Dialect]) -> Sequence[str]:
    """The cells of a row, in a sheet with none that would be a formula."""
    return [*map(plain_cell, row)] if issubclass(dialect, Sheet) else row


def _header(kept: Extra, placement: Placement, options: WriteOptions) -> list[str]:
    """The columns that the first sentence came with, and those of the tasks after them."""
    header = list(kept.get("columns", OWN))
    if "tokens" not in header and any(spec.kind != "classes" for spec in placement.specs):
        header.append("tokens")
    wanted = [
        heading_of(spec, person)
        for spec in placement.specs
        for person in options.annotators or ("",)
    ]
    if options.has_sources:
        wanted += [f"{spec.name}: {what}" for spec in placement.specs for what in ABOUT]
    wanted += [heading_of(spec, "") for spec in _kept_specs(kept)]
    return header + [heading for heading in wanted if heading not in header]


def _own_cells(sentence: SentenceRecord, text: str) -> dict[str, str]:
    return {
        "id": sentence.key,
        "document": sentence.document,
        text: sentence.text,
        "tokens": _tokens_cell(sentence),
    }


def _tokens_cell(sentence: SentenceRecord) -> str:
    """The tokens as JSON, nothing where white space tells them."""
    if (sentence.tokens, sentence.offsets) == whitespace_tokens(sentence.text):
        return ""
    if are_located(sentence):
        return orjson.dumps(sentence.tokens).decode()
    pairs = zip(sentence.tokens, sentence.offsets, strict=True)
    return orjson.dumps([[token, start, end] for token, (start, end) in pairs]).decode()


def _answer_cells(group: Sequence[ExportRecord], placement: Placement) -> dict[str, str]:
    """The answers of everybody, and the layers that no task has taken, by heading."""
    specs = {spec.name: spec for spec in placement.specs}
    cells = {}
    for record in group:
        for name, value in placement.answers(record).items():
            cells[heading_of(specs[name], record.annotator)] = _cell(value)
    for name in specs:
        task = placement.task_of.get(name, "")
        if task in group[0].sources:
            cells[f"{name}: source"] = group[0].sources[task]
        if task in group[0].confidences:
            cells[f"{name}: confidence"] = f"{group[0].confidences[task].answer:g}"
    kept = placement.kept(group[0])
    for spec in _kept_specs(kept):
        cells[heading_of(spec, "")] = _cell(kept["layers"][spec.name])
    return cells


def _kept_specs(kept: Extra) -> list[TaskSpec]:
    parents, kinds = kept.get("parents", {}), kept.get("kinds", {})
    specs = []
    for name, value in kept.get("layers", {}).items():
        own = parents.get(name, [])
        own = [own] if isinstance(own, str) else own
        kind = linking_kind_of(value) if own else kinds.get(name) or kind_of(name, value)
        specs.append(layer_spec(name, kind, *own))
    return specs


def _cell(value: Answer) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _refuse_homeless(cells: dict[str, str], header: Sequence[str], record: ExportRecord) -> None:
    homeless = [
        name
        for name, cell in cells.items()
        if cell and name not in header and not name.endswith(tuple(f": {what}" for what in ABOUT))
    ]
    if homeless and homeless != ["tokens"]:
        raise CannotWrite(
            f"{describe(record)} has {', '.join(homeless)}, but the table begun with the columns "
            f"{', '.join(header)}; export the corpora one by one, or write jsonl"
        )


CSV = Format(
    name="csv",
    title="CSV, one sentence per row",
    position=20,
    suffixes=(".csv",),
    kinds=LAYER_KINDS,
    is_open=True,
    loose_kind="classes",
    parse=partial(parse_table, name="csv", dialect=Commas),
    headings=partial(headings_of, dialect=Commas),
    render=partial(render_table, dialect=Commas),
    looks_like=partial(_first_line_has, DELIMITERS.replace("\t", "")),
    media_type="text/csv; charset=utf-8",
)


def _render_sheet(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[bytes]:
    """A table that Excel knows to be UTF-8."""
    yield BYTE_ORDER_MARK.encode()
    for piece in render_table(records, placement, options, dialect=Sheet):
        yield piece.encode()


SPREADSHEET = Format(
    name="spreadsheet",
    title="CSV for Excel and other spreadsheets",
    position=25,
    suffixes=(".csv",),
    kinds=LAYER_KINDS,
    is_open=True,
    loose_kind="classes",
    parse=None,
    render=_render_sheet,
    looks_like=lambda head: False,
    media_type="text/csv; charset=utf-8",
)


TSV = Format(
    name="tsv",
    title="TSV, one sentence per row",
    position=30,
    suffixes=(".tsv", ".tab"),
    kinds=LAYER_KINDS,
    is_open=True,
    loose_kind="classes",
    parse=partial(parse_table, name="tsv", dialect=Tabs),
    headings=partial(headings_of, dialect=Tabs),
    render=partial(render_table, dialect=Tabs),
    looks_like=partial(_first_line_has, "\t"),
    media_type="text/tab-separated-values; charset=utf-8",
)
