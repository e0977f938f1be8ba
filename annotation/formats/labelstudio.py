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

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from annotation.formats.columns import Spans
from annotation.formats.format import Format
from annotation.formats.json_stream import (
    BadValue,
    Link,
    Region,
    dump_line,
    elements,
    key_of,
    pieces_of,
    relations_layer,
    sentence_fields,
    spans_layer,
    storable,
)
from annotation.formats.offsets import Tokeniser, character_spans, tokeniser_for
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
    by_sentence,
    classes_layer,
    layer_spec,
    name_for,
)
from annotation.formats.source import Source
from mtl_engine.kinds import TaskSpec

NAME = "labelstudio"
_LOOK_AHEAD = 200  # tasks whose controls are known before the first is read
_OWN_DATA = {"id", "document", "tokens", "offsets"}
RELATIONS = "relations"
Sentence = tuple[str, list[str], Offsets]


@dataclass
class Controls:
    """The controls of a file, as far as it has been read."""

    spans: set[str] = field(default_factory=set)
    links: dict[str, str] = field(default_factory=dict)  # name of relations -> spans control

    def look_at(self, task: Any) -> None:
        """Learn from a task which controls there are."""
        for annotation in _annotations(task):
            control_of: dict[str, str] = {}
            for item in _results(annotation):
                name = item.get("from_name")
                if item.get("type") == "labels" and isinstance(name, str):
                    self.spans.add(name)
                    control_of[str(item.get("id"))] = name
            for item in _results(annotation):
                parent = control_of.get(str(item.get("from_id")))
                if item.get("type") == "relation" and parent is not None:
                    self.links[_name(item)] = parent


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
    annotations, predictions = [], []
    for record in group:
        if record.confidences:
            predictions.append(_prediction(record, placement))
            record = _without(record, record.confidences)
        annotation = write_results(record, placement)
        if record.annotator and options.annotators:
            annotation["annotator"] = record.annotator
        if annotation["answered"]:
            annotation["result"] += kept.get("results", []) if not options.annotators else []
            annotations.append(annotation)
    task = {"data": data, "annotations": annotations}
    return {**task, "predictions": predictions} if predictions else task


def _prediction(record: ExportRecord, placement: Placement) -> dict[str, Any]:
    """The model's answers of a record, as Label Studio keeps them beside people's."""
    models = _without(record, [name for name in record.answers if name not in record.confidences])
    sure = [found.answer for found in record.confidences.values()]
    return {
        "model_version": next((record.sources[name] for name in models.answers), ""),
        "score": min(sure),
        "result": write_results(models, placement)["result"],
    }


def _without(record: ExportRecord, tasks: Collection[str]) -> ExportRecord:
    answers = {name: value for name, value in record.answers.items() if name not in tasks}
    return replace(record, answers=answers)


def read_results(
    annotation: Mapping[str, Any], sentence: Sentence, controls: Controls, others: list[Any]
) -> dict[str, Layer]:
    """The layers of an annotation; results of other controls are added to ``others``."""
    answered = annotation.get("answered")
    if not isinstance(answered, dict):
        answered = {}
    regions: dict[str, list[Region]] = {}
    links: dict[str, list[Link]] = {}
    if not answered:
        regions = {name: [] for name in controls.spans}
        links = {name: [] for name in controls.links}
        answered = {name: f"relations of {parent}" for name, parent in controls.links.items()}
    layers: dict[str, Layer] = {}
    for item in _results(annotation):
        kind = item.get("type")
        name = _name(item)
        if kind == "labels":
            regions.setdefault(name, []).extend(_regions(item, sentence[0]))
        elif kind == "choices":
            layers[name] = classes_layer(_choices(name, item))
        elif kind == "relation":
            links.setdefault(name, []).extend(_links(item))
        else:
            others.append(item)
    for name, kind in answered.items():
        if kind == "spans":
            regions.setdefault(name, [])
        elif isinstance(kind, str) and kind.startswith("relations of "):
            links.setdefault(name, [])
    for name, found in regions.items():
        layers[name] = spans_layer(name, found, sentence)
    for name, found_links in links.items():
        parent = _parent(name, found_links, regions, answered)
        layers[name] = relations_layer(name, found_links, parent, regions[parent], sentence)
    return layers


def write_results(record: ExportRecord, placement: Placement) -> dict[str, Any]:
    """The annotation of a record's answers; ``answered`` tells "nothing" from "not asked"."""
    specs = {spec.name: spec for spec in placement.specs}
    kept = placement.kept(record)
    answers = {**kept.get("layers", {}), **placement.answers(record)}
    parents = kept.get("parents", {})
    results: list[dict[str, Any]] = []
    answered = {}
    for name, value in answers.items():
        spec = specs.get(name) or _spec_of(name, value, parents)
        if spec.kind == "classes":
            choices = placement.choices(name, value)
            results.append(_result(name, "choices", {"choices": choices}, f"{name}-0"))
        elif spec.kind == "spans":
            results += _region_results(name, value, record)
        else:
            results += _relation_results(name, value, answers.get(spec.parent or "") or [], spec)
        answered[name] = f"relations of {spec.parent}" if spec.parent else spec.kind
    return {"answered": answered, "result": results}


def _name(item: Mapping[str, Any]) -> str:
    name = item.get("from_name")
    return name if isinstance(name, str) and name else RELATIONS


def _spec_of(name: str, value: Any, parents: Mapping[str, str]) -> TaskSpec:
    if isinstance(value, str):
        return layer_spec(name, "classes")
    parent = parents.get(name)
    return layer_spec(name, "relations" if parent else "spans", parent)


def _result(name: str, kind: str, value: dict[str, Any], id: str) -> dict[str, Any]:
    return {"id": id, "from_name": name, "to_name": "text", "type": kind, "value": value}


def _region_results(name: str, spans: Spans, record: ExportRecord) -> list[dict[str, Any]]:
    text = record.sentence.text
    return [
        _result(
            name,
            "labels",
            {"start": start, "end": end, "text": text[start:end], "labels": [label]},
            f"{name}-{index}",
        )
        for index, (start, end, label) in enumerate(character_spans(spans, record.sentence))
    ]


def _relation_results(
    name: str, relations: list[Any], spans: Spans, spec: TaskSpec
) -> list[dict[str, Any]]:
    id_of: dict[tuple[int, int], str] = {}
    for index, (start, end, _) in enumerate(spans):
        id_of.setdefault((start, end), f"{spec.parent}-{index}")
    named = {} if name == RELATIONS else {"from_name": name}
    return [
        named
        | {
            "from_id": id_of[s1, e1],
            "to_id": id_of[s2, e2],
            "type": "relation",
            "direction": "right",
            "labels": [label],
        }
        for s1, e1, s2, e2, label in relations
    ]


def _annotations(task: Any) -> list[Any]:
    if not isinstance(task, dict):
        return []
    found = [task.get(key) for key in ("annotations", "completions", "predictions")]
    return [a for annotations in found if isinstance(annotations, list) for a in annotations]


def _results(annotation: Any) -> list[dict[str, Any]]:
    results = annotation.get("result") if isinstance(annotation, dict) else None
    return [item for item in results if isinstance(item, dict)] if isinstance(results, list) else []


def _regions(item: Mapping[str, Any], text: str) -> list[Region]:
    """A region for each of the labels of a result."""
    value = item.get("value")
    value = value if isinstance(value, dict) else {}
    start, end, labels = value.get("start"), value.get("end"), value.get("labels")
    if type(start) is not int or type(end) is not int or not isinstance(labels, list):
        raise BadValue(
            f"{item.get('from_name')}: {str(value)[:80]} has no start, end and labels in plain "
            "text; only regions of a Text can be read"
        )
    covered = value.get("text")
    if isinstance(covered, str) and text[start:end] != covered:
        start, end = _from_utf16(start, end, covered, text)
    covered = covered if isinstance(covered, str) else None
    return [Region(item.get("id"), start, end, label, covered) for label in labels]


def _from_utf16(start: int, end: int, covered: str, text: str) -> tuple[int, int]:
    """Offsets in code points of offsets in UTF-16 units, if the latter cover the stated text."""
    units = text.encode("utf-16-le")
    if units[2 * start : 2 * end] != covered.encode("utf-16-le"):
        return start, end
    before = len(units[: 2 * start].decode("utf-16-le", "replace"))
    return before, before + len(covered)


def _choices(name: str, item: Mapping[str, Any]) -> list[str]:
    value = item.get("value")
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(choices, list) or not all(isinstance(x, str) and x for x in choices):
        raise BadValue(f"{name}: {str(choices)[:60]} are no choices; each is a string")
    return choices


def _links(item: Mapping[str, Any]) -> list[Link]:
    """The links of a relation, one for each label and direction."""
    labels, source, target = item.get("labels"), item.get("from_id"), item.get("to_id")
    if not isinstance(labels, list) or not labels or not all(isinstance(x, str) for x in labels):
        raise BadValue(f"relation from {source!r} to {target!r} has no label; add one")
    direction = item.get("direction", "right")
    links = []
    for label in labels:
        if direction in ("right", "bi"):
            links.append(Link(source, target, label))
        if direction in ("left", "bi"):
            links.append(Link(target, source, label))
    return links


def _parent(
    name: str, links: list[Link], regions: dict[str, list[Region]], answered: Mapping[str, Any]
) -> str:
    """The spans control that all links of a name are between."""
    stated = str(answered.get(name, "")).removeprefix("relations of ")
    if stated in regions:
        return stated
    control_of = {region.id: control for control, found in regions.items() for region in found}
    ends = [end for link in links for end in (link.source, link.target)]
    missing = [end for end in ends if end not in control_of]
    if missing:
        raise BadValue(f"{name}: a relation links {missing[0]!r}, which is no region; remove it")
    parents = {control_of[end] for end in ends}
    if len(parents) != 1:
        raise BadValue(
            f"{name}: relations between {' and '.join(sorted(parents)) or 'nothing'}; relations "
            "link the regions of one control"
        )
    return parents.pop()


FORMAT = Format(
    name=NAME,
    title="Label Studio JSON",
    position=100,
    suffixes=(".json",),
    kinds=frozenset(("spans", "classes", "relations")),
    is_open=True,
    parse=parse,
    render=render,
    looks_like=lambda head: head.lstrip()[:1] in ("[", "{") and '"data"' in head,
    media_type="application/json",
)
