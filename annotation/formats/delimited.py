"""CSV and TSV: a header, then one sentence a row.

Columns ``id``, ``document``, ``text`` (or ``sentence``) and ``tokens`` are the sentence's; every
other one is a layer. A plain column holds a class; a column called ``ner (spans)``, ``pos (tags)``,
``syntax (tree)`` or ``rel (relations of ner)`` holds that answer as JSON, in tokens. An empty cell
is a missing answer. ``tokens`` is a JSON list, empty where the tokens are those between white
space, and of ``[token, start, end]`` where offsets do not follow from the text.

CSV has quotes; TSV has none, so its cells hold neither tabs nor line ends. Options name the columns
of a file without a header. Several annotators side by side are columns ``ner (spans)@NAME``.
"""

import csv
from functools import partial

from annotation.formats.format import Format
from annotation.formats.table_writing import render_table
from annotation.formats.tables import parse_table
from mtl_engine.types import KINDS


class Commas(csv.excel):
    """Cells between commas, in quotes where need be; bad quotes are an error."""

    lineterminator = "\n"
    strict = True


class Tabs(csv.Dialect):
    """Cells between tabs, never in quotes."""

    delimiter = "\t"
    quoting = csv.QUOTE_NONE
    quotechar = None
    lineterminator = "\n"


def _first_line_has(separator: str, head: str) -> bool:
    first = head.partition("\n")[0].rstrip("\r").split(separator)
    return not {"text", "sentence"}.isdisjoint(cell.strip(' "') for cell in first)


CSV = Format(
    name="csv",
    title="CSV, one sentence a row",
    suffixes=(".csv",),
    kinds=frozenset(KINDS),
    is_open=True,
    parse=partial(parse_table, name="csv", dialect=Commas),
    render=partial(render_table, dialect=Commas),
    looks_like=partial(_first_line_has, ","),
    media_type="text/csv; charset=utf-8",
)

TSV = Format(
    name="tsv",
    title="TSV, one sentence a row",
    suffixes=(".tsv", ".tab"),
    kinds=frozenset(KINDS),
    is_open=True,
    parse=partial(parse_table, name="tsv", dialect=Tabs),
    render=partial(render_table, dialect=Tabs),
    looks_like=partial(_first_line_has, "\t"),
    media_type="text/tab-separated-values; charset=utf-8",
)
