"""Spans with ids and links between them, in characters, as annotation servers write them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.formats.json_stream import BadValue, layer_of
from annotation.formats.offsets import Misaligned, snap_spans
from annotation.formats.records import Layer, Offsets


@dataclass(frozen=True)
class Region:
    """A span in characters with the id that links name it by; ``text`` is what it should cover."""

    id: Any
    start: int
    end: int
    label: str
    text: str | None = None


@dataclass(frozen=True)
class Link:
    """A directed link between the regions of two ids."""

    source: Any
    target: Any
    label: str
    id: Any = None


def spans_layer(
    name: str, regions: Sequence[Region], sentence: tuple[str, list[str], Offsets]
) -> Layer:
    """The spans in tokens of regions; one region that is there twice is one span."""
    text, tokens, offsets = sentence
    spans = _snapped(name, regions, text, offsets)
    distinct = [list(span) for span in dict.fromkeys(map(tuple, spans))]
    return layer_of(name, "spans", distinct, tokens)


def relations_layer(
    name: str,
    links: Iterable[Link],
    parent: str,
    regions: Sequence[Region],
    sentence: tuple[str, list[str], Offsets],
) -> Layer:
    """The relations in tokens of links between regions."""
    text, tokens, offsets = sentence
    spans = _snapped(parent, regions, text, offsets)
    span_of = {region.id: span for region, span in zip(regions, spans, strict=True)}
    found = []
    for link in links:
        for end in (link.source, link.target):
            if end not in span_of:
                raise BadValue(f"{name}: {link.label!r} links {end!r}, which is no span; remove it")
        source, target = span_of[link.source], span_of[link.target]
        found.append([*source[:2], *target[:2], link.label])
    distinct = [list(item) for item in dict.fromkeys(map(tuple, found))]
    return layer_of(name, "relations", distinct, tokens, parent=parent, parent_spans=spans)


def answers_by_id(
    regions: Sequence[Region], links: Iterable[Link], text: str, offsets: Offsets
) -> dict[Any, list[Any]]:
    """The span or relation in tokens of each id."""
    spans = _snapped("", regions, text, offsets)
    found = {region.id: span for region, span in zip(regions, spans, strict=True)}
    for link in links:
        found[link.id] = [*found[link.source][:2], *found[link.target][:2], link.label]
    return found


def _snapped(name: str, regions: Sequence[Region], text: str, offsets: Offsets) -> list[list[Any]]:
    spans = [[r.start, r.end, r.label] + ([] if r.text is None else [r.text]) for r in regions]
    try:
        return snap_spans(spans, text, offsets)
    except Misaligned as miss:
        raise BadValue(f"{name}: {miss}") from miss
