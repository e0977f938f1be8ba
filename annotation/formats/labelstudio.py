"""Label Studio JSON: an array of tasks, each a text with annotations.

A ``labels`` control is a layer of spans, a ``choices`` control a layer of classes, or with the id
of a region (``perRegion``) one of attributes; relations between regions are the layer
``relations``: of one control, or all from one to another. Layers have the controls' names. In an
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
    Mark,
    Region,
    attributes_layer,
    dump_line,
    elements,
    key_of,
    layer_of,
    linking_kind_of,
    pieces_of,
    relations_layer,
    sentence_fields,
    spans_layer,
    storable,
)
from annotation.formats.offsets import Tokeniser, character_spans, cut_tokens, tokeniser_for
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
    marks: dict[str, str] = field(default_factory=dict)  # name of attributes -> spans control

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
                    other = control_of.get(str(item.get("to_id")), parent)
                    ends = parent if other == parent else f"{parent} to {other}"
                    self.links.setdefault(_name(item), ends)
                region = control_of.get(str(item.get("id")))
                if item.get("type") == "choices" and region is not None:
                    self.marks[_name(item)] = region


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
    aside: list[str] = []
    if options.cuts_tokens and len(pieces) == 1:
        found = [
            r
            for a in _annotations(task)
            for item in _results(a)
            for r in _whole_regions(item, pieces[0][0])
        ]
        pieces[0], n_cut = cut_tokens(pieces[0], [edge for r in found for edge in (r.start, r.end)])
        aside = [CUT] * n_cut
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
        yield SentenceRecord(
            tokens, text, offsets, part, document, layers, extra, number, aside=aside
        )


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
            second = layer.second_parent and name_for(layer.second_parent, person)
            layers[name_for(name, person)] = layer._replace(parent=parent, second_parent=second)
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
        answered |= {name: f"attributes of {parent}" for name, parent in controls.marks.items()}
    marks: dict[str, list[Mark]] = {}
    layers: dict[str, Layer] = {}
    region_ids = {item.get("id") for item in _results(annotation) if item.get("type") == "labels"}
    for item in _results(annotation):
        kind = item.get("type")
        name = _name(item)
        if kind == "labels":
            regions.setdefault(name, []).extend(_regions(item, sentence[0]))
        elif kind == "choices" and item.get("id") in region_ids:
            found_marks = [Mark(item.get("id"), label) for label in _choices(name, item)]
            marks.setdefault(name, []).extend(found_marks)
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
        elif isinstance(kind, str) and kind.startswith("attributes of "):
            marks.setdefault(name, [])
    for name, found in regions.items():
        layers[name] = spans_layer(name, found, sentence)
    for name, found_links in links.items():
        parents = _parents(name, found_links, regions, answered)
        layers[name] = _links_layer(name, found_links, parents, regions, sentence)
    for name, own in marks.items():
        parent = _parent_of_marks(name, own, regions, answered)
        layers[name] = attributes_layer(name, own, parent, regions.get(parent, []), sentence)
    return layers


def _links_layer(
    name: str,
    links: list[Link],
    parents: Sequence[str],
    regions: Mapping[str, list[Region]],
    sentence: Sentence,
) -> Layer:
    if len(parents) == 1:
        return relations_layer(name, links, parents[0], regions[parents[0]], sentence)
    both = [*regions[parents[0]], *regions[parents[1]]]
    found = relations_layer(name, links, "", both, sentence)
    known = {parent: spans_layer(parent, regions[parent], sentence) for parent in parents}
    return layer_of(name, found.kind, found.value, sentence[1], parents=parents, known=known)


def _parent_of_marks(
    name: str, marks: list[Mark], regions: Mapping[str, list[Region]], answered: Mapping[str, Any]
) -> str:
    stated = str(answered.get(name, "")).removeprefix("attributes of ")
    if stated in regions or not marks:
        return stated
    targets = {mark.target for mark in marks}
    found = [control for control, own in regions.items() if targets & {r.id for r in own}]
    if len(found) != 1:
        raise BadValue(f"{name}: choices of regions of {' and '.join(found) or 'nothing'}")
    return found[0]


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
            spans = {parent: answers.get(parent) or [] for parent in spec.parents}
            results += _link_results(name, value, spans, spec, record)
        of = " to ".join(spec.parents)
        answered[name] = f"{spec.kind} of {of}" if of else spec.kind
    return {"answered": answered, "result": results}


def _name(item: Mapping[str, Any]) -> str:
    name = item.get("from_name")
    return name if isinstance(name, str) and name else RELATIONS


def _spec_of(name: str, value: Any, parents: Mapping[str, str]) -> TaskSpec:
    if isinstance(value, str):
        return layer_spec(name, "classes")
    own: Any = parents.get(name, [])
    own = [own] if isinstance(own, str) else own
    return layer_spec(name, linking_kind_of(value) if own else "spans", *own)


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


def _link_results(
    name: str,
    rows: list[Any],
    spans: Mapping[str, Spans],
    spec: TaskSpec,
    record: ExportRecord,
) -> list[dict[str, Any]]:
    """Relations between regions, or choices of regions, which have their ids."""
    ids: list[dict[tuple[int, int], str]] = []
    for parent in (spec.parents[0], spec.parents[-1]):
        id_of: dict[tuple[int, int], str] = {}
        for index, (start, end, *_) in enumerate(spans[parent]):
            id_of.setdefault((start, end), f"{parent}-{index}")
        ids.append(id_of)
    if spec.kind == "attributes":
        by_span: dict[tuple[int, int], list[str]] = {}
        for start, end, label in rows:
            by_span.setdefault((start, end), []).append(label)
        text = record.sentence.text
        found = []
        for place, labels in by_span.items():
            [(start, end, _)] = character_spans([[*place, ""]], record.sentence)
            value = {"start": start, "end": end, "text": text[start:end], "choices": labels}
            found.append(_result(name, "choices", value, ids[0][place]))
        return found
    named = {} if name == RELATIONS else {"from_name": name}
    return [
        named
        | {
            "from_id": ids[0][s1, e1],
            "to_id": ids[1][s2, e2],
            "type": "relation",
            "direction": "right",
            "labels": [label],
        }
        for s1, e1, s2, e2, label in rows
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


def _whole_regions(item: Mapping[str, Any], text: str) -> list[Region]:
    try:
        return _regions(item, text) if item.get("type") == "labels" else []
    except BadValue:
        return []  # told where the result is read


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


def _parents(
    name: str, links: list[Link], regions: dict[str, list[Region]], answered: Mapping[str, Any]
) -> list[str]:
    """The spans controls that all links of a name begin and end in; one if they are the same."""
    stated = str(answered.get(name, "")).removeprefix("relations of ")
    if stated in regions:
        return [stated]
    both = stated.split(" to ", 1)
    control_of = {region.id: control for control, found in regions.items() for region in found}
    ends = [end for link in links for end in (link.source, link.target)]
    missing = [end for end in ends if end not in control_of]
    if missing:
        raise BadValue(f"{name}: a relation links {missing[0]!r}, which is no region; remove it")
    pairs = {(control_of[link.source], control_of[link.target]) for link in links}
    if not pairs and all(control in regions for control in both):
        return both
    if len(pairs) != 1:
        controls = sorted({control for pair in pairs for control in pair})
        raise BadValue(
            f"{name}: relations between {' and '.join(controls) or 'nothing'}; relations link the "
            "regions of one control, or all go from one to another"
        )
    return list(dict.fromkeys(pairs.pop()))


FORMAT = Format(
    name=NAME,
    title="Label Studio JSON",
    position=100,
    suffixes=(".json",),
    kinds=frozenset(("spans", "classes", "relations", "attributes")),
    is_open=True,
    parse=parse,
    render=render,
    looks_like=lambda head: head.lstrip()[:1] in ("[", "{") and '"data"' in head,
    media_type="application/json",
)
