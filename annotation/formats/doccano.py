"""doccano JSONL: one text per line, spans in characters.

doccano writes ``label`` for spans (``[[start, end, label]]``) or for classes (``["x"]``);
``entities`` and ``cats`` where a text has both; ``entities`` and ``relations`` with ids where it
has relations. All are read; a ``label`` of [] is what the rest of the file has there. Layers:
``entities``, ``cats``, ``relations``. A text has one class. Tokens come from ``tokens``, which is
written too and which doccano keeps as metadata, else from the tokeniser (by default that of any
language, "xx"). All other keys are kept.

Several annotators side by side are copies of the text, each with ``annotator``.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from annotation.formats.format import Format
from annotation.formats.json_stream import (
    BadValue,
    Link,
    Region,
    dump_line,
    key_of,
    objects,
    pieces_of,
    relations_layer,
    sentence_fields,
    spans_layer,
    storable,
    text_key_of,
)
from annotation.formats.offsets import character_spans, cut_tokens, tokeniser_for
from annotation.formats.records import (
    CUT,
    ExportRecord,
    Extra,
    Layer,
    Offsets,
    Placement,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
    classes_layer,
    layer_spec,
)
from annotation.formats.source import Source

NAME = "doccano"
_OWN = {"id", "tokens", "offsets", "document", "annotator"}
_LABELS = ("label", "labels", "entities", "cats", "relations")
_LABEL_OF_CLASSES = re.compile(r'"labels?"\s*:\s*\[\s*"')

Sentence = tuple[str, list[str], Offsets]


def parse(source: Source, options: ReadOptions) -> Iterator[SentenceRecord | Problem]:
    tokenise = tokeniser_for(options, default="xx")
    has_classes = _LABEL_OF_CLASSES.search(source.head()) is not None
    for item in objects(source):
        if isinstance(item, Problem):
            yield item
            continue
        number, row = item
        if options.annotator and row.get("annotator") != options.annotator:
            continue
        try:
            text_key = text_key_of(row, options.text_column)
            pieces = pieces_of(row, tokenise, text_key)
            aside: list[str] = []
            if options.cuts_tokens and len(pieces) == 1:
                pieces[0], n_cut = cut_tokens(pieces[0], _edges(row))
                aside = [CUT] * n_cut
            yield from list(_records(row, pieces, text_key, has_classes, number, aside))
        except BadValue as bad:
            yield source.problem(number, str(bad))


def _records(
    row: dict[str, Any],
    pieces: list[Sentence],
    text_key: str,
    has_classes: bool,
    number: int,
    aside: list[str],
) -> Iterator[SentenceRecord]:
    layers = _layers(row, pieces[0], has_classes)
    if layers and len(pieces) > 1:
        raise BadValue(f"labels on a text of {len(pieces)} sentences; do not split sentences")
    key, document = key_of(row), key_of(row, "document")
    fields = {name: row[name] for name in row if name not in {text_key, *_OWN, *_LABELS}}
    kept: Extra = {"fields": storable(fields)} if fields else {}
    if text_key != "text":
        kept["text"] = text_key
    extra = {NAME: kept} if kept else {}
    for count, (text, tokens, offsets) in enumerate(pieces, 1):
        part = f"{key}.{count}" if key and len(pieces) > 1 else key
        yield SentenceRecord(
            tokens, text, offsets, part, document, layers, extra, number, aside=aside
        )


def _layers(row: dict[str, Any], sentence: Sentence, has_classes: bool) -> dict[str, Layer]:
    layers: dict[str, Layer] = {}
    spans, classes = row.get("entities"), row.get("cats")
    for name in ("label", "labels"):
        value = row.get(name)
        if value is None:
            continue
        if isinstance(value, str) or (
            value and isinstance(value, list) and isinstance(value[0], str)
        ):
            classes = [value] if isinstance(value, str) else value
        elif value or not has_classes:
            spans = value
    if spans is not None:
        regions = [_region(item, index) for index, item in enumerate(_list("entities", spans))]
        layers["entities"] = spans_layer("entities", regions, sentence)
        if row.get("relations") is not None:
            links = [_link(item) for item in _list("relations", row["relations"])]
            layers["relations"] = relations_layer("relations", links, "entities", regions, sentence)
    if classes:
        if not all(isinstance(label, str) and label for label in _list("cats", classes)):
            raise BadValue(f"{str(classes)[:60]} are no classes; each is a string")
        layers["cats"] = classes_layer(classes)
    return layers


def _edges(row: dict[str, Any]) -> Iterator[int]:
    """Where spans begin and end."""
    for name in ("entities", "label", "labels"):
        value = row.get(name)
        for item in value if isinstance(value, list) else ():
            if isinstance(item, dict):
                ends = [item.get("start_offset"), item.get("end_offset")]
            else:
                ends = item[:2] if isinstance(item, list) else []
            yield from (edge for edge in ends if type(edge) is int)


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadValue(f"{name} is {str(value)[:40]!r}, not a list; correct it")
    return value


def _region(item: Any, index: int) -> Region:
    values: list[Any]
    if isinstance(item, dict):
        keys = ("id", "start_offset", "end_offset", "label")
        values = [item.get(key) for key in keys]
    else:
        values = [index, *item] if isinstance(item, list) else []
    if (
        len(values) != 4
        or not all(type(value) is int for value in values[1:3])
        or not isinstance(values[3], str)
        or not isinstance(values[0], str | int)
    ):
        raise BadValue(
            f"{str(item)[:80]} is no [start, end, label] and no object with id, start_offset, "
            "end_offset and label; correct it"
        )
    return Region(*values)


def _link(item: Any) -> Link:
    ends = (item.get("from_id"), item.get("to_id")) if isinstance(item, dict) else (None, None)
    if not all(isinstance(end, str | int) for end in ends) or not isinstance(item.get("type"), str):
        raise BadValue(f"{str(item)[:80]} is no object with from_id, to_id and type; correct it")
    return Link(*ends, item["type"])


def render(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[str]:
    for record in records:
        sentence = record.sentence
        kept = placement.kept(record)
        row: dict[str, Any] = {"id": sentence.key} if sentence.key else {}
        row |= sentence_fields(sentence, kept.get("text", "text"))
        if sentence.document:
            row["document"] = sentence.document
        if record.annotator and options.annotators:
            row["annotator"] = record.annotator
        yield dump_line(row | _labels(record, placement, kept) | kept.get("fields", {}))


def _labels(record: ExportRecord, placement: Placement, kept: Extra) -> dict[str, Any]:
    """The answers under the keys that doccano has for this set of layers."""
    layers = {*placement.task_of, *kept.get("layers", {})}
    spans = placement.value(record, "entities")
    value = placement.value(record, "cats")
    links = placement.value(record, "relations")
    regions = None if spans is None else character_spans(spans, record.sentence)
    labels: dict[str, Any] = {}
    if regions is not None:
        labels["entities" if layers & {"cats", "relations"} else "label"] = regions
    if "relations" in layers and regions is not None:
        names = ("start_offset", "end_offset", "label")
        labels["entities"] = [
            {"id": index} | dict(zip(names, region, strict=True))
            for index, region in enumerate(regions)
        ]
    if links is not None:
        labels["relations"] = _links(links, spans or [])
    if value is not None:
        labels["cats" if "entities" in layers else "label"] = placement.choices("cats", value)
    return labels


def _links(links: list[Any], spans: list[Any]) -> list[dict[str, Any]]:
    id_of = {(start, end): index for index, (start, end, _) in reversed(list(enumerate(spans)))}
    return [
        {"id": index, "from_id": id_of[s1, e1], "to_id": id_of[s2, e2], "type": label}
        for index, (s1, e1, s2, e2, label) in enumerate(links)
    ]


FORMAT = Format(
    name=NAME,
    title="doccano JSONL",
    position=80,
    suffixes=(".jsonl",),
    kinds=frozenset(("spans", "classes", "relations")),
    layers=(
        layer_spec("entities", "spans"),
        layer_spec("cats", "classes"),
        layer_spec("relations", "relations", "entities"),
    ),
    parse=parse,
    render=render,
    looks_like=lambda head: (
        re.search(r'^\s*\{.*("labels?"\s*:\s*\[|"cats"\s*:|"(start|end)_offset"\s*:)', head)
        is not None
    ),
    media_type="application/x-ndjson",
)
