"""Writing tables: a header that holds for all sentences, then a row for each."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

import orjson

from annotation.formats.columns import describe
from annotation.formats.jsonlines import kind_of
from annotation.formats.offsets import are_located
from annotation.formats.options import WriteOptions
from annotation.formats.placing import Placement
from annotation.formats.records import (
    CannotWrite,
    ExportRecord,
    Extra,
    LayerSpec,
    SentenceRecord,
)
from annotation.formats.sidebyside import by_sentence
from annotation.formats.tables import OWN, heading_of
from annotation.formats.tokenising import whitespace_tokens
from mtl_engine.types import Answer


def render_table(
    records: Iterable[ExportRecord],
    placement: Placement,
    options: WriteOptions,
    *,
    dialect: type[csv.Dialect],
) -> Iterator[str]:
    """The lines of a table."""
    buffer = io.StringIO()
    rows = csv.writer(buffer, dialect)
    header: list[str] = []
    text = "text"
    for group in by_sentence(records):
        if not header:
            kept = placement.kept(group[0])
            text = kept.get("text", "text")
            header = _header(kept, placement, options.annotators)
            rows.writerow(header)
        cells = _own_cells(group[0].sentence, text) | _answer_cells(group, placement)
        _refuse_homeless(cells, header, group[0])
        row = [cells.get(heading, "") for heading in header]
        if dialect.quoting == csv.QUOTE_NONE and any(c in cell for cell in row for c in "\t\n\r"):
            raise CannotWrite(
                f"{describe(group[0])}: a tab or line end in its text or labels, which TSV cannot "
                "hold; write csv or jsonl instead"
            )
        rows.writerow(row)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def _header(kept: Extra, placement: Placement, annotators: Sequence[str]) -> list[str]:
    """The columns that the first sentence came with, and those of the tasks after them."""
    header = list(kept.get("columns", OWN))
    if "tokens" not in header and any(spec.kind != "classes" for spec in placement.specs):
        header.append("tokens")
    wanted = [
        heading_of(spec, person) for spec in placement.specs for person in annotators or ("",)
    ]
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
    kept = placement.kept(group[0])
    for spec in _kept_specs(kept):
        cells[heading_of(spec, "")] = _cell(kept["layers"][spec.name])
    return cells


def _kept_specs(kept: Extra) -> list[LayerSpec]:
    parents = kept.get("parents", {})
    return [
        LayerSpec(name, "relations" if name in parents else kind_of(name, value), parents.get(name))
        for name, value in kept.get("layers", {}).items()
    ]


def _cell(value: Answer) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _refuse_homeless(cells: dict[str, str], header: Sequence[str], record: ExportRecord) -> None:
    homeless = [name for name, cell in cells.items() if cell and name not in header]
    if homeless and homeless != ["tokens"]:
        raise CannotWrite(
            f"{describe(record)} has {', '.join(homeless)}, but the table begun with the columns "
            f"{', '.join(header)}; export the corpora one by one, or write jsonl"
        )
