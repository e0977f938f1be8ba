"""Reading tables: what the headings say, and a sentence from each row."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson

from annotation.formats.jsonlines import BadValue, layer_of, pieces_of
from annotation.formats.opening import Source
from annotation.formats.options import ReadOptions
from annotation.formats.records import (
    Extra,
    Layer,
    LayerSpec,
    Offsets,
    Problem,
    SentenceRecord,
)
from annotation.formats.sidebyside import name_for, name_when_read
from annotation.formats.tokenising import Tokeniser, tokeniser_for
from mtl_engine.types import Kind

OWN = ("id", "document", "text", "tokens")
_HEADING = re.compile(
    r"(?P<name>.+?) \((?P<kind>spans|tags|tree|relations)(?: of (?P<parent>.+))?\)(?P<person>@.+)?"
)


@dataclass(frozen=True)
class _Table:
    """The columns of a table by their place."""

    headings: list[str]
    own: dict[str, int]  # text always, the others of OWN where there are any
    layers: dict[int, LayerSpec]

    def cell(self, row: Sequence[str], name: str) -> str:
        return row[self.own[name]] if name in self.own else ""


def heading_of(spec: LayerSpec, annotator: str) -> str:
    """What the column of a layer is called."""
    of = f" of {spec.parent}" if spec.parent else ""
    name = spec.name if spec.kind == "classes" else f"{spec.name} ({spec.kind}{of})"
    return name_for(name, annotator)


def parse_table(
    source: Source, options: ReadOptions, *, name: str, dialect: type[csv.Dialect]
) -> Iterator[SentenceRecord | Problem]:
    """The sentences of a table; the first one keeps the headings for writing it again."""
    tokenise = tokeniser_for(options)
    rows = csv.reader((line + "\n" for line in source.lines()), dialect)
    table: _Table | None = None
    if options.columns:
        table = _table(list(options.columns), source, options)
    kept: Extra = {}
    while True:
        number = rows.line_num + 1
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
            kept = {name: {"columns": table.headings, "text": table.headings[table.own["text"]]}}
            continue
        try:
            yield from _records(row, table, tokenise, kept, number)
            kept = {}
        except BadValue as bad:
            yield source.problem(number, str(bad))


def _table(headings: list[str], source: Source, options: ReadOptions) -> _Table:
    """What the headings say; gives up the file if they do not say where the text is."""
    headings = [heading.strip() or f"column {i}" for i, heading in enumerate(headings, 1)]
    if len(set(headings)) < len(headings):
        source.stop(1, f"two columns of one name: {', '.join(headings)[:200]}; rename one")
    wanted = [options.text_column] if options.text_column else ["text", "sentence"]
    text = next((heading for heading in wanted if heading in headings), None)
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
            spec = _spec_of(heading)
            name = name_when_read(spec.name, options.annotator)
            if name is not None:
                parent = spec.parent and name_when_read(spec.parent, options.annotator)
                layers[place] = LayerSpec(name, spec.kind, parent)
    return _Table(headings, own, layers)


def _spec_of(heading: str) -> LayerSpec:
    match = _HEADING.fullmatch(heading)
    if not match:
        return LayerSpec(heading, "classes")
    person = match["person"] or ""
    parent = match["parent"] and match["parent"] + person
    return LayerSpec(match["name"] + person, cast(Kind, match["kind"]), parent)


def _records(
    row: list[str], table: _Table, tokenise: Tokeniser, extra: Extra, number: int
) -> Iterator[SentenceRecord]:
    if len(row) != len(table.headings):
        raise BadValue(
            f"{len(row)} cells, but {len(table.headings)} columns: "
            f"{', '.join(table.headings)[:200]}; correct the row"
        )
    pieces = _pieces(table.cell(row, "text"), table.cell(row, "tokens"), tokenise)
    layers = _layers(row, table, pieces[0][1])
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


def _layers(row: Sequence[str], table: _Table, tokens: list[str]) -> dict[str, Layer]:
    layers: dict[str, Layer] = {}
    for place, spec in sorted(table.layers.items(), key=lambda item: item[1].kind == "relations"):
        cell = row[place]
        if not cell:
            continue
        if spec.kind == "classes":
            layers[spec.name] = Layer("classes", cell)
            continue
        spans = layers[spec.parent].value if spec.parent in layers else None
        layers[spec.name] = layer_of(
            spec.name,
            spec.kind,
            _json(table.headings[place], cell),
            tokens,
            parent=spec.parent,
            parent_spans=spans,
        )
    return layers


def _json(name: str, cell: str) -> Any:
    try:
        return orjson.loads(cell)
    except orjson.JSONDecodeError as error:
        raise BadValue(f"{name}: no JSON ({error}): {cell[:40]!r}; correct the cell") from error
