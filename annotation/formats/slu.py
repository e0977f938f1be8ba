"""SLU-CoNLL: ``# intent = X``, then ``token<TAB>tag`` lines, then a blank line.

Layers: ``slots`` (tags of a scheme that is recognised or stated), ``intent``. Other comments are
kept; ``# sent_id = X`` is the sentence's id and ``# text = X`` its text, without which the tokens
are joined by spaces. Missing slots are written ``_`` on every line, a missing intent not at all.

Several annotators side by side are copies of the sentence, each with ``# annotator = NAME``; state
the annotator to read one person's copies.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from annotation.formats.columns import (
    DEFAULT_SCHEME,
    INTENT,
    KEY,
    TEXT,
    BadRow,
    Comments,
    Template,
    commented_sentences,
    is_blank,
    join_rows,
    read_spans,
    recognise,
    split_rows,
    write_comments,
    write_spans,
)
from annotation.formats.format import Format
from annotation.formats.offsets import Misaligned, join_tokens, locate_tokens
from annotation.formats.records import (
    ExportRecord,
    Extra,
    Layer,
    Offsets,
    Placement,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
    layer_spec,
)
from annotation.formats.source import Source
from mtl_engine.kinds.multiclasses import JOINT

NAME = "slu"
_USUAL_COMMENTS: Template = [INTENT]


def parse(source: Source, options: ReadOptions) -> Iterator[SentenceRecord | Problem]:
    scheme = options.scheme or recognise(_tags_of(source.head())) or DEFAULT_SCHEME
    read = partial(_sentence, scheme=scheme, options=options)
    yield from commented_sentences(source, options, read, of="tokens")


def _tags_of(head: str) -> Iterator[str]:
    """The tags at the beginning of a file, with an O between sentences."""
    for line in head.split("\n"):
        yield line.rpartition("\t")[2].rstrip() if "\t" in line else "O"


def _sentence(
    lines: Sequence[str],
    comments: Comments,
    document: str,
    number: int,
    *,
    scheme: str,
    options: ReadOptions,
) -> SentenceRecord:
    columns = split_rows(lines, "\t", (2, 1))
    tokens = columns[0]
    kept: Extra = {}
    layers = {}
    if len(columns) == 2 and not is_blank(columns[1]):
        layers["slots"] = read_spans("slots", columns[1], scheme, options.scheme, kept)
    if INTENT in comments.values:
        layers["intent"] = Layer("classes", comments.values[INTENT])
        if JOINT in comments.values[INTENT]:
            kept["intent"] = comments.values[INTENT]  # whoever joined intents has an order
    if comments.template != _USUAL_COMMENTS:
        kept["comments"] = comments.template
    text, offsets = _text(tokens, comments)
    key = comments.values.get(KEY, "")
    extra = {NAME: kept} if kept else {}
    first = number + comments.n_lines
    rows = range(first, first + len(lines))
    return SentenceRecord(tokens, text, offsets, key, document, layers, extra, number, rows)


def _text(tokens: list[str], comments: Comments) -> tuple[str, Offsets]:
    if TEXT not in comments.values:
        return join_tokens(tokens)
    text = comments.values[TEXT]
    try:
        return text, locate_tokens(tokens, text)
    except Misaligned as miss:
        raise BadRow(miss.index, f"{miss}; correct '# text =' or remove it") from miss


def render(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[str]:
    document = ""
    for record in records:
        sentence = record.sentence
        kept = placement.kept(record)
        template = kept.get("comments", _USUAL_COMMENTS)
        values = {KEY: sentence.key, INTENT: _in_their_order(placement, record)}
        if TEXT in template or sentence.text != " ".join(sentence.tokens):
            values[TEXT] = sentence.text
        sources = record.sources if options.has_sources else {}
        comments = write_comments(
            record, template, values, document, added=list(values), sources=sources
        )
        document = sentence.document
        spans = placement.value(record, "slots")
        tags = ["_"] * len(sentence.tokens)
        if spans is not None:
            tags = write_spans("slots", spans, record, kept, options)
        rows = join_rows([sentence.tokens, tags], "\t", record)
        yield "\n".join([*comments, *rows, "", ""])


def _in_their_order(placement: Placement, record: ExportRecord) -> Any:
    """Return the intent of a sentence; several in the order of the file while they are the same."""
    intent, before = placement.value(record, "intent"), placement.kept(record).get("intent")
    if intent and before and sorted(intent.split(JOINT)) == sorted(before.split(JOINT)):
        return before
    return intent


FORMAT = Format(
    name=NAME,
    title="SLU-CoNLL, slots and intent",
    position=60,
    suffixes=(".slu", ".conll"),
    kinds=frozenset(("spans", "classes")),
    layers=(layer_spec("slots", "spans"), layer_spec("intent", "classes")),
    parse=parse,
    render=render,
    looks_like=lambda head: re.search(r"^[^\t\n]+\t(O|[BI]-[^\t\n]+)\r?$", head, re.M) is not None,
)
