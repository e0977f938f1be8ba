"""IE-JSONL as DyGIE has it: one document per line, sentences as lists of tokens.

``ner`` and ``relations`` hold one list per sentence, of ``[start, end, label]`` and
``[s1, e1, s2, e2, label]``; ends are inclusive and tokens are counted from the start of the
document. Layers: ``entities``, ``relations``. Fields of other names (``clusters``, ...) stay with
the document's first sentence and are written back as long as the document is written whole,
because they count tokens too.

An answer that is missing on some sentences of a document is listed under ``_unlabeled``, which
readers of this format ignore as they do all names with ``_``; missing on all, its field is left
out. Several annotators side by side are copies of the document, each with ``_annotator``.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from annotation.formats.format import Format
from annotation.formats.json_stream import (
    BadValue,
    dump_line,
    key_of,
    layer_of,
    objects,
    storable,
)
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
)
from annotation.formats.source import Source

NAME = "ie"
FIELDS = {"entities": "ner", "relations": "relations"}  # layer -> field
_OWN = ("doc_key", "sentences", "ner", "relations", "_unlabeled", "_annotator")


def parse(source: Source, options: ReadOptions) -> Iterator[SentenceRecord | Problem]:
    for item in objects(source):
        if isinstance(item, Problem):
            yield item
            continue
        number, row = item
        if options.annotator and row.get("_annotator") != options.annotator:
            continue
        try:
            yield from list(_document(row, number))
        except BadValue as bad:
            yield source.problem(number, str(bad))


def _document(row: dict[str, Any], number: int) -> Iterator[SentenceRecord]:
    sentences = row.get("sentences")
    if not isinstance(sentences, list) or not sentences:
        raise BadValue("no sentences: a list of lists of tokens is expected under 'sentences'")
    for index, tokens in enumerate(sentences):
        if not isinstance(tokens, list) or not all(isinstance(t, str) and t for t in tokens):
            raise BadValue(f"sentence {index} is no list of words: {str(tokens)[:60]}; correct it")
    key = key_of(row, "doc_key")
    document = key or (f"line {number}" if len(sentences) > 1 else "")
    fields = {layer: _field(row, field, len(sentences)) for layer, field in FIELDS.items()}
    first = 0
    for index, tokens in enumerate(sentences):
        kept = _kept(row, key) if index == 0 else {}
        try:
            layers = _layers(tokens, first, {k: v[index] for k, v in fields.items()}, kept)
        except BadValue as bad:
            raise BadValue(f"sentence {index}, {bad}") from bad
        text, offsets = join_tokens(tokens)
        sentence_key = f"{key}:{index}" if key else ""
        extra = {NAME: kept} if kept else {}
        yield SentenceRecord(tokens, text, offsets, sentence_key, document, layers, extra, number)
        first += len(tokens)


def _field(row: dict[str, Any], name: str, n_sentences: int) -> list[Any]:
    """The field's list of each sentence, None for a sentence that is not labelled."""
    values = row.get(name)
    if values is None:
        return [None] * n_sentences
    if not isinstance(values, list) or not all(isinstance(value, list) for value in values):
        raise BadValue(f"{name} is no list of lists: {str(values)[:60]}; correct it")
    if len(values) != n_sentences:
        raise BadValue(f"{name} has {len(values)} lists for {n_sentences} sentences; correct it")
    unlabeled = row.get("_unlabeled")
    indices = unlabeled.get(name) if isinstance(unlabeled, dict) else None
    if not isinstance(indices, list):
        return values
    return [None if index in indices else value for index, value in enumerate(values)]


def _kept(row: dict[str, Any], key: str) -> Extra:
    """What the first sentence keeps for its document."""
    kept: Extra = {"size": sum(map(len, row["sentences"]))}
    others = {name: value for name, value in row.items() if name not in _OWN}
    if others:
        kept["fields"] = storable(others)
    names = [name for name in row if not name.startswith("_")]
    if names != [name for name in [*_OWN, *others] if name in names]:
        kept["names"] = names
    if not key:
        kept["nameless"] = True
    return kept


def _layers(tokens: list[str], first: int, found: dict[str, Any], kept: Extra) -> dict[str, Layer]:
    """The answers of a sentence whose tokens begin at ``first``; their order goes to ``kept``."""
    layers: dict[str, Layer] = {}
    for layer, items in found.items():
        if items is None:
            continue
        is_spans = layer == "entities"
        value = [_shifted(FIELDS[layer], item, first, 2 if is_spans else 4) for item in items]
        distinct = [list(item) for item in dict.fromkeys(map(tuple, value))]
        layers[layer] = found_layer = layer_of(
            FIELDS[layer],
            "spans" if is_spans else "relations",
            distinct,
            tokens,
            parents=() if is_spans else ["entities"],
            known=layers,
        )
        if found_layer.value != value:
            order = [found_layer.value.index(item) for item in value]
            kept.setdefault("order", {})[layer] = order
    return layers


def _shifted(field: str, item: Any, first: int, n_places: int) -> list[Any]:
    """An item in tokens of its sentence with exclusive ends."""
    if (
        not isinstance(item, list)
        or len(item) != n_places + 1
        or not all(type(place) is int for place in item[:-1])
        or not isinstance(item[-1], str)
    ):
        shape = "[start, end, label]" if n_places == 2 else "[s1, e1, s2, e2, label]"
        raise BadValue(f"{field}: {str(item)[:60]} is no {shape}; correct it")
    return [*(place - first + i % 2 for i, place in enumerate(item[:-1])), item[-1]]


def render(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[str]:
    seen: set[int] = set()  # hashes of names
    for document in _documents(by_sentence(records), placement):
        is_named = not placement.kept(document[0][0]).get("nameless")
        name = document[0][0].sentence.document if is_named else ""
        if name and hash(name) in seen:
            raise CannotWrite(
                f"Document {name!r} comes a second time, after others, but doc_key names a "
                "document once; export the corpora one by one, or write jsonl."
            )
        seen.add(hash(name))
        found = {record.annotator for group in document for record in group}
        people: list[str | None] = [name for name in options.annotators if name in found]
        for person in people or [None]:
            chosen = [_chosen(group, person) for group in document]
            row = _row(chosen, placement)
            if person:
                row["_annotator"] = person
            yield dump_line(row)


def _documents(
    groups: Iterable[Sequence[ExportRecord]], placement: Placement
) -> Iterator[list[Sequence[ExportRecord]]]:
    """The sentences of each document; one without a document is one of its own."""
    document: list[Sequence[ExportRecord]] = []
    for group in groups:
        sentence = group[0].sentence
        begins = (
            not sentence.document
            or "size" in placement.kept(group[0])
            or (document and document[0][0].sentence.document != sentence.document)
        )
        if document and begins:
            yield document
            document = []
        document.append(group)
    if document:
        yield document


def _chosen(group: Sequence[ExportRecord], person: str | None) -> ExportRecord:
    """One person's record of a sentence, without answers if there is none."""
    for record in group:
        if person is None or record.annotator == person:
            return record
    return ExportRecord(group[0].sentence)


def _row(document: Sequence[ExportRecord], placement: Placement) -> dict[str, Any]:
    """The object of a document."""
    kept = placement.kept(document[0])
    name = document[0].sentence.document
    row: dict[str, Any] = {"doc_key": name} if name and not kept.get("nameless") else {}
    row["sentences"] = [record.sentence.tokens for record in document]
    unlabeled = {}
    for layer, field in FIELDS.items():
        values = [_items(record, layer, placement) for record in document]
        missing = [index for index, value in enumerate(values) if value is None]
        if len(missing) < len(values):
            row[field] = _counted_on(values, row["sentences"])
            if missing:
                unlabeled[field] = missing
    if kept.get("size") == sum(map(len, row["sentences"])):
        row |= kept.get("fields", {})
        names = kept.get("names", [])
        row = {name: row[name] for name in names if name in row} | row
    if unlabeled:
        row["_unlabeled"] = unlabeled
    return row


def _items(record: ExportRecord, layer: str, placement: Placement) -> list[Any] | None:
    """A sentence's answer, in the order in which it was read if that still covers it."""
    value = placement.value(record, layer)
    order = placement.kept(record).get("order", {}).get(layer)
    if value is None or order is None or set(order) != set(range(len(value))):
        return value
    return [value[index] for index in order]


def _counted_on(values: Sequence[list[Any] | None], sentences: Sequence[list[str]]) -> list[Any]:
    """The answers in tokens of the document with inclusive ends."""
    first = 0
    counted = []
    for items, tokens in zip(values, sentences, strict=True):
        counted.append(
            [
                [*(place + first - i % 2 for i, place in enumerate(item[:-1])), item[-1]]
                for item in items or ()
            ]
        )
        first += len(tokens)
    return counted


FORMAT = Format(
    name=NAME,
    title="IE-JSONL (DyGIE), entities and relations",
    position=90,
    suffixes=(".jsonl", ".json"),
    kinds=frozenset(("spans", "relations")),
    layers=(layer_spec("entities", "spans"), layer_spec("relations", "relations", "entities")),
    links_across=True,
    parse=parse,
    render=render,
    looks_like=lambda head: head.lstrip().startswith("{") and '"sentences"' in head[:2000],
    keeps_keys=False,
    keeps_text=False,
    media_type="application/x-ndjson",
)
