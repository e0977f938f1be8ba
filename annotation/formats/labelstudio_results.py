"""The results of one Label Studio annotation: regions, choices and relations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.formats.characters import Link, Region, relations_layer, spans_layer
from annotation.formats.jsonlines import BadValue, layer_of
from annotation.formats.offsets import character_spans
from annotation.formats.placing import Placement
from annotation.formats.records import ExportRecord, Layer, LayerSpec, Offsets
from annotation.formats.schemes import Spans

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
            layers[name] = layer_of(name, "classes", _choice(name, item), sentence[1])
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
            results.append(_result(name, "choices", {"choices": [value]}, f"{name}-0"))
        elif spec.kind == "spans":
            results += _region_results(name, value, record)
        else:
            results += _relation_results(name, value, answers.get(spec.parent or "") or [], spec)
        answered[name] = f"relations of {spec.parent}" if spec.parent else spec.kind
    return {"answered": answered, "result": results}


def _name(item: Mapping[str, Any]) -> str:
    name = item.get("from_name")
    return name if isinstance(name, str) and name else RELATIONS


def _spec_of(name: str, value: Any, parents: Mapping[str, str]) -> LayerSpec:
    if isinstance(value, str):
        return LayerSpec(name, "classes")
    parent = parents.get(name)
    return LayerSpec(name, "relations" if parent else "spans", parent)


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
    name: str, relations: list[Any], spans: Spans, spec: LayerSpec
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


def _choice(name: str, item: Mapping[str, Any]) -> Any:
    value = item.get("value")
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(choices, list) or len(choices) != 1:
        raise BadValue(f"{name}: {str(choices)[:60]} is not one choice; a text has one class here")
    return choices[0]


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
