"""Label Studio JSON: an array of tasks, each a text with annotations.

A ``labels`` control is a layer of spans, a ``choices`` control with one choice a layer of classes,
relations between regions are the layer ``relations``; layers have the controls' names. In an
annotation that was submitted, a spans control of the file without a region means that there is
nothing, and likewise with relations. A task without annotations is read with its first prediction.
Offsets are code points; where these do not cover the text that a region states but UTF-16 units do,
as older versions wrote them, the latter are taken. Results of other controls are kept, the server's
own dates and counts are not.

Tokens come from ``data.tokens``, which is written too, else from the tokeniser (by default that of
any language, "xx"). Several annotators side by side are several annotations of a task, each with
its ``annotator``; read without stating the annotator, their layers are called ``label@NAME``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from annotation.formats.format import Format
from annotation.formats.jsonarray import elements
from annotation.formats.jsonlines import (
    BadValue,
    dump_line,
    key_of,
    pieces_of,
    sentence_fields,
    storable,
)
from annotation.formats.labelstudio_results import Controls, read_results, write_results
from annotation.formats.opening import Source
from annotation.formats.options import ReadOptions, WriteOptions
from annotation.formats.placing import Placement
from annotation.formats.records import ExportRecord, Extra, Layer, Problem, SentenceRecord
from annotation.formats.sidebyside import by_sentence, name_for
from annotation.formats.tokenising import Tokeniser, tokeniser_for

NAME = "labelstudio"
_LOOK_AHEAD = 200  # tasks whose controls are known before the first is read
_OWN_DATA = {"id", "document", "tokens", "offsets"}


def parse(source: Source, options: ReadOptions) -> Iterator[SentenceRecord | Problem]:
    tokenise = tokeniser_for(options, default="xx")
    items = elements(source)
    first = list(islice(items, _LOOK_AHEAD))
    controls = Controls()
    for _, task in first:
        controls.look_at(task)
    for number, task in chain(first, items):
        controls.look_at(task)
        try:
            yield from list(_records(task, tokenise, options, controls, number))
        except BadValue as bad:
            yield source.problem(number, str(bad))


def _records(
    task: Any, tokenise: Tokeniser, options: ReadOptions, controls: Controls, number: int
) -> Iterator[SentenceRecord]:
    data = task.get("data") if isinstance(task, dict) else None
    if not isinstance(data, dict):
        raise BadValue(f"no data in {str(task)[:60]}; a task is an object with 'data'")
    text_key = _text_key(data, options.text_column)
    pieces = pieces_of(data, tokenise, text_key)
    key = key_of(data) or key_of(task)
    document = key_of(data, "document")
    kept: Extra = {}
    layers = _layers(task, pieces[0], controls, options.annotator, kept)
    if layers and len(pieces) > 1:
        raise BadValue(f"labels on a text of {len(pieces)} sentences; do not split sentences")
    others = {name: v for name, v in data.items() if name not in _OWN_DATA | {text_key}}
    if others:
        kept["data"] = others
    if text_key != "text":
        kept["text"] = text_key
    extra = {NAME: storable(kept)} if kept else {}
    for count, (text, tokens, offsets) in enumerate(pieces, 1):
        part = f"{key}.{count}" if key and len(pieces) > 1 else key
        yield SentenceRecord(tokens, text, offsets, part, document, layers, extra, number)


def _text_key(data: Mapping[str, Any], stated: str) -> str:
    """Where the text is: as stated, under text, or the only string there is."""
    if stated or "text" in data:
        return stated or "text"
    strings = [name for name, value in data.items() if isinstance(value, str)]
    if len(strings) != 1:
        raise BadValue(f"no text among {', '.join(data)[:100]}; name the key of the text")
    return strings[0]


def _layers(
    task: Mapping[str, Any],
    sentence: tuple[str, list[str], list[list[int]]],
    controls: Controls,
    annotator: str,
    kept: Extra,
) -> dict[str, Layer]:
    annotations = _submitted(task.get("annotations") or task.get("completions") or [])
    if annotator:
        annotations = [a for a in annotations if _person(a) == annotator]
    if not annotations and not annotator:
        annotations = _submitted(task.get("predictions") or [])[:1]
    layers: dict[str, Layer] = {}
    for annotation in annotations:
        others: list[Any] = []
        found = read_results(annotation, sentence, controls, others)
        if len(annotations) == 1 or annotator:
            layers |= found
            if others:
                kept["results"] = others
            continue
        person = _person(annotation)
        for name, layer in found.items():
            parent = layer.parent and name_for(layer.parent, person)
            layers[name_for(name, person)] = layer._replace(parent=parent)
    return layers


def _submitted(annotations: Any) -> list[dict[str, Any]]:
    if not isinstance(annotations, list) or not all(isinstance(a, dict) for a in annotations):
        raise BadValue(f"annotations are no list of objects: {str(annotations)[:60]}")
    return [annotation for annotation in annotations if not annotation.get("was_cancelled")]


def _person(annotation: Mapping[str, Any]) -> str:
    """Who made an annotation, as far as the file tells."""
    person = annotation.get("annotator", annotation.get("completed_by", ""))
    if isinstance(person, dict):
        person = person.get("username") or person.get("email") or person.get("id", "")
    return str(person)


def render(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[str]:
    before = "[\n"
    for group in by_sentence(records):
        yield before + dump_line(_task(group, placement, options)).rstrip("\n")
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[]\n"


def _task(
    group: Sequence[ExportRecord], placement: Placement, options: WriteOptions
) -> dict[str, Any]:
    sentence = group[0].sentence
    kept = placement.kept(group[0])
    data = sentence_fields(sentence, kept.get("text", "text")) | kept.get("data", {})
    if sentence.key:
        data["id"] = sentence.key
    if sentence.document:
        data["document"] = sentence.document
    annotations = []
    for record in group:
        annotation = write_results(record, placement)
        if record.annotator and options.annotators:
            annotation["annotator"] = record.annotator
        if annotation["answered"]:
            annotation["result"] += kept.get("results", []) if not options.annotators else []
            annotations.append(annotation)
    return {"data": data, "annotations": annotations}


FORMAT = Format(
    name=NAME,
    title="Label Studio JSON",
    suffixes=(".json",),
    kinds=frozenset(("spans", "classes", "relations")),
    is_open=True,
    parse=parse,
    render=render,
    looks_like=lambda head: head.lstrip()[:1] in ("[", "{") and '"data"' in head,
    media_type="application/json",
)
