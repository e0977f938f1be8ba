"""JSONL, the format that carries everything: one object per sentence.

    {"id": "s1", "document": "d1", "text": "Bob left.", "tokens": ["Bob", "left", "."],
     "labels": {"ner": [[0, 1, "PER"]], "intent": "report"}, "parents": {"rel": "ner"}}

Labels are answers by task name, in tokens (spans end before their end); a missing answer is a
missing key. Several classes are a list, or one word that joins them by #, as they are written.
``parents`` names the spans task of each task of relations or attributes, or the two that relations
begin and end in. ``offsets`` are written only where they do not follow from text and tokens,
``kinds`` only where an answer does not tell its kind: a span in pieces, [start, end, start, end,
label], looks like a relation. Keys of other names are kept and written back.

Several annotators side by side are ``"annotations": {"alice": {...labels...}}`` beside the gold
``labels``; read without stating the annotator, their layers are called ``ner@alice``. Final
answers say where they come from under ``sources``, a model's how sure it is under
``confidences``; neither is read back.

Input may be less: ``text`` alone, or with ``label``, ``labels``, ``entities`` or ``spans`` as
``[[start, end, label], ...]`` or ``[{"start", "end", "label"}, ...]`` in characters, or with a
class as a string under ``label``, ``intent``, ``class``, ``category`` or ``sentiment``; and either
under any other key that the options name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from annotation.formats.format import Format
from annotation.formats.json_stream import (
    BadValue,
    dump_line,
    key_of,
    kind_of,
    layer_of,
    linking_kind_of,
    objects,
    pieces_of,
    sentence_fields,
    storable,
    text_key_of,
)
from annotation.formats.offsets import (
    Misaligned,
    Tokeniser,
    cut_tokens,
    snap_spans,
    tokeniser_for,
)
from annotation.formats.records import (
    CUT,
    LAYER_KINDS,
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
    classes_layer,
    hides_kind,
    name_for,
)
from annotation.formats.source import Source
from mtl_engine.kinds import KINDS

NAME = "jsonl"
CHARACTER_SPANS = ("label", "labels", "entities", "spans")
CLASSES = ("label", "intent", "class", "category", "sentiment")
_OWN = {
    *("id", "document", "tokens", "offsets", "labels", "parents", "annotations"),
    *("sources", "confidences", "kinds"),
}

Sentence = tuple[str, list[str], Offsets]


def parse(source: Source, options: ReadOptions) -> Iterator[SentenceRecord | Problem]:
    tokenise = tokeniser_for(options)
    for item in objects(source):
        if isinstance(item, Problem):
            yield item
            continue
        number, row = item
        try:
            yield from _records(row, tokenise, options, number)
        except BadValue as bad:
            yield source.problem(number, str(bad))


def headings(source: Source) -> list[str]:
    """The keys of the first object that hold a string."""
    for item in objects(source):
        if not isinstance(item, Problem):
            return [key for key, value in item[1].items() if isinstance(value, str)]
    return []


def _records(
    row: dict[str, Any], tokenise: Tokeniser, options: ReadOptions, number: int
) -> Iterator[SentenceRecord]:
    text_key = text_key_of(row, options.text_column)
    pieces = pieces_of(row, tokenise, text_key)
    key, document = key_of(row), key_of(row, "document")
    aside: list[str] = []
    if options.cuts_tokens and len(pieces) == 1 and not isinstance(row.get("labels"), dict):
        pieces[0], n_cut = cut_tokens(pieces[0], _edges(row, options))
        aside = [CUT] * n_cut
    layers = _layers(row, pieces[0], options)
    simple = {*CHARACTER_SPANS, *CLASSES, *options.fields}
    used = {*_OWN, text_key, *simple.intersection(layers)}
    fields = {name: value for name, value in row.items() if name not in used}
    kept: Extra = {"fields": storable(fields)} if fields else {}
    if text_key != "text":
        kept["text"] = text_key
    extra = {NAME: kept} if kept else {}
    if len(pieces) == 1:
        text, tokens, offsets = pieces[0]
        yield SentenceRecord(
            tokens, text, offsets, key, document, layers, extra, number, aside=aside
        )
        return
    if layers:
        raise BadValue(
            f"labels on a text of {len(pieces)} sentences; split the text and its labels first"
        )
    for count, (text, tokens, offsets) in enumerate(pieces, 1):
        part = f"{key}.{count}" if key else ""
        yield SentenceRecord(tokens, text, offsets, part, document, {}, extra, number)


def _layers(row: Mapping[str, Any], sentence: Sentence, options: ReadOptions) -> dict[str, Layer]:
    """The answers of a row: gold and everybody's, or one annotator's if one is stated."""
    annotator = options.annotator
    people = row.get("annotations") or {}
    if not isinstance(people, dict) or not all(isinstance(p, dict) for p in people.values()):
        raise BadValue("annotations are no object of labels by annotator; correct them")
    if annotator:
        return _answers(people.get(annotator, {}), row, sentence[1], "", options)
    layers: dict[str, Layer] = {}
    for person, answers in people.items():
        layers |= _answers(answers, row, sentence[1], person, options)
    labels = row.get("labels")
    if isinstance(labels, dict):
        layers |= _answers(labels, row, sentence[1], "", options)
    elif labels is not None and not _is_list_of_spans(labels):
        raise BadValue(
            f"labels {str(labels)[:40]} are neither an object of answers by task nor a list of "
            "[start, end, label] in characters; correct them"
        )
    fields = [name for name in options.fields if name not in layers]
    return layers | _simple_layers(row, sentence, fields, options.label_separator)


def _answers(
    answers: Mapping[str, Any],
    row: Mapping[str, Any],
    tokens: list[str],
    person: str,
    options: ReadOptions,
) -> dict[str, Layer]:
    """The layers of canonical labels."""
    parents = row.get("parents") or {}
    if not isinstance(parents, dict) or not all(map(_is_parents, parents.values())):
        raise BadValue(f"parents {str(parents)[:40]} are no object of names; correct them")
    stated = row.get("kinds") or {}
    if not isinstance(stated, dict) or not LAYER_KINDS.issuperset(map(str, stated.values())):
        kinds_known = ", ".join(sorted(LAYER_KINDS))
        raise BadValue(f"kinds {str(stated)[:40]} are none of {kinds_known}; correct them")
    kinds: dict[str, str] = {}
    for name, value in answers.items():
        if name in stated:
            kinds[name] = stated[name]
        elif name in parents:
            kinds[name] = linking_kind_of(value)
        else:
            is_of_classes = options.layer_of.get(name) == "classes"
            kinds[name] = kind_of(name, value, "classes" if is_of_classes else "tags")
    layers: dict[str, Layer] = {}
    for name in sorted(answers, key=lambda name: KINDS[kinds[name]].parent_kind is not None):
        if kinds[name] == "classes" and _is_list_of_labels(answers[name]):
            layers[name_for(name, person)] = classes_layer(answers[name])
            continue
        own = parents.get(name, [])
        own = [own] if isinstance(own, str) else own
        if not own and KINDS[kinds[name]].parent_kind:
            own = [_only_spans(name, kinds)]
        layers[name_for(name, person)] = layer_of(
            name,
            kinds[name],
            answers[name],
            tokens,
            parents=[name_for(parent, person) for parent in own],
            known=layers,
        )
    return layers


def _is_parents(value: Any) -> bool:
    names = value if isinstance(value, list) else [value]
    return 0 < len(names) < 3 and all(isinstance(name, str) for name in names)


def _only_spans(name: str, kinds: Mapping[str, str]) -> str:
    spans = [other for other, kind in kinds.items() if kind == "spans"]
    if len(spans) != 1:
        raise BadValue(
            f"{name}: relations between the spans of {' or '.join(spans) or 'nothing'}; name their "
            f'spans task as "parents": {{"{name}": ...}}'
        )
    return spans[0]


def _simple_layers(
    row: Mapping[str, Any], sentence: Sentence, fields: Sequence[str], separator: str
) -> dict[str, Layer]:
    """The spans in characters and the classes that stand beside the text."""
    layers: dict[str, Layer] = {}
    for key in (*CHARACTER_SPANS, *fields):
        if key in row and _is_list_of_spans(row[key]):
            layers[key] = _snapped(key, row[key], sentence)
    for key in (*CLASSES, *fields):
        value = row.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if key not in layers and isinstance(value, str) and value:
            layers[key] = classes_cell(value, separator)
        elif key not in layers and _is_list_of_labels(value):
            layers[key] = classes_layer(value)
    return layers


def _edges(row: Mapping[str, Any], options: ReadOptions) -> Iterator[int]:
    """Where spans in characters begin and end."""
    for key in (*CHARACTER_SPANS, *options.fields):
        for item in row.get(key) or () if _is_list_of_spans(row.get(key)) else ():
            ends = [item.get("start"), item.get("end")] if isinstance(item, dict) else item[:2]
            yield from (edge for edge in ends if type(edge) is int)


def _is_list_of_labels(value: Any) -> TypeGuard[list[str]]:
    return bool(value) and isinstance(value, list) and all(isinstance(x, str) and x for x in value)


def _is_list_of_spans(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, list | dict) for item in value)


def _snapped(key: str, items: list[Any], sentence: Sentence) -> Layer:
    """The spans in tokens of spans in characters."""
    text, tokens, offsets = sentence
    spans = []
    for item in items:
        if isinstance(item, dict):
            covered = [item["text"]] if isinstance(item.get("text"), str) else []
            item = [item.get("start"), item.get("end"), item.get("label"), *covered]
        if len(item) not in (3, 4) or type(item[0]) is not int or type(item[1]) is not int:
            raise BadValue(f"{key}: {str(item)[:60]} is no [start, end, label]; correct it")
        spans.append(item)
    try:
        found = snap_spans(spans, text, offsets)
    except Misaligned as miss:
        raise BadValue(f"{key}: {miss}") from miss
    return layer_of(key, "spans", found, tokens)


def render(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[str]:
    parents = {spec.name: _written(spec.parents) for spec in placement.specs if spec.parents}
    kind_by_name = {spec.name: spec.kind for spec in placement.specs}
    for group in by_sentence(records):
        sentence = group[0].sentence
        kept = placement.kept(group[0])
        row: dict[str, Any] = {}
        if sentence.key:
            row["id"] = sentence.key
        if sentence.document:
            row["document"] = sentence.document
        row |= sentence_fields(sentence, kept.get("text", "text"))
        people = {}
        row["labels"] = dict(kept.get("layers", {}))
        for record in group:
            answers = placement.answers(record)
            if record.annotator and options.annotators:
                people[record.annotator] = answers
            else:
                row["labels"] |= answers
        if people:
            row["annotations"] = people
        sources = group[0].sources
        if sources:
            row["sources"] = {name: sources[name] for name in row["labels"] if name in sources}
        sure = {name: found.to_dict() for name, found in group[0].confidences.items()}
        if sure:
            row["confidences"] = {name: sure[name] for name in row["labels"] if name in sure}
        notes = {name: note for record in group for name, note in record.notes.items()}
        if notes:
            row["notes"] = notes
        linked = {**kept.get("parents", {}), **parents}
        if linked:
            row["parents"] = linked
        every = [row["labels"], *people.values()]
        unclear = {
            name: kind
            for name, kind in {**kept.get("kinds", {}), **kind_by_name}.items()
            if any(hides_kind(kind, answers.get(name)) for answers in every)
        }
        if unclear:
            row["kinds"] = unclear
        yield dump_line(row | kept.get("fields", {}))


def _written(parents: Sequence[str]) -> str | list[str]:
    return parents[0] if len(parents) == 1 else list(parents)


FORMAT = Format(
    name=NAME,
    title="JSONL, all tasks",
    position=40,
    suffixes=(".jsonl", ".ndjson"),
    kinds=LAYER_KINDS,
    is_open=True,
    links_across=True,
    parse=parse,
    headings=headings,
    render=render,
    looks_like=lambda head: head.lstrip().startswith("{"),
    media_type="application/x-ndjson",
)
