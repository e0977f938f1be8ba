"""One document of a brat archive: its sentences and the annotations that lie in each."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from annotation.formats.brat_writing import NAME, SIDECAR
from annotation.formats.characters import (
    Link,
    Region,
    answers_by_id,
    relations_layer,
    spans_layer,
)
from annotation.formats.jsonlines import BadValue, pieces_of
from annotation.formats.records import Extra, Layer, Offsets, SentenceRecord
from annotation.formats.standoff import BadLine, Standoff, read_standoff
from annotation.formats.tokenising import TextTooLong, Tokeniser

BYTE_ORDER_MARK = "\ufeff"


class BadDocument(ValueError):
    """A document that cannot be read: in the file of which ending, on which line, and why."""

    def __init__(self, ending: str, line: int, message: str) -> None:
        super().__init__(message)
        self.ending = ending
        self.line = line


@dataclass
class _Place:
    """A sentence in its document, and the annotations in it with the lines they are on."""

    start: int
    line: int
    text: str
    tokens: list[str]
    offsets: Offsets
    note: dict[str, Any] = field(default_factory=dict)  # its line of the sidecar
    regions: list[Region] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # of the regions

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def read_document(
    name: str, texts: Sequence[str | None], tokenise: Tokeniser, has_relations: bool
) -> Iterator[SentenceRecord]:
    """The sentences of a document of three texts: .txt, .ann, sidecar; raises BadDocument."""
    text, annotations, notes = texts
    text = text or ""
    places = list(_places(text, tokenise) if notes is None else _noted_places(text, notes))
    if not places:
        raise BadDocument(".txt", 1, "no sentence in the document; remove it")
    found: Standoff | None = None
    if annotations is not None:
        try:
            found = read_standoff(
                [
                    line.rstrip("\r")
                    for line in annotations.removeprefix(BYTE_ORDER_MARK).split("\n")
                ]
            )
            _assign(found, places, text)
        except BadLine as bad:
            raise BadDocument(".ann", bad.line, str(bad)) from bad
    before = 0
    for place in places:
        layers = {} if found is None else _layers(place, has_relations)
        gap, before = text[before : place.start], place.end
        kept = _kept(place, gap, found, is_first=place is places[0])
        if place is places[-1] and text[place.end :] != "\n":
            kept["after"] = text[place.end :]
        yield SentenceRecord(
            place.tokens,
            place.text,
            place.offsets,
            place.note.get("id", ""),
            place.note.get("document", name),
            layers,
            {NAME: kept} if kept else {},
            place.line,
        )


def _places(text: str, tokenise: Tokeniser) -> Iterator[_Place]:
    """The sentences of a document: those of its lines."""
    base = 1 if text.startswith(BYTE_ORDER_MARK) else 0
    for number, line in enumerate(text[base:].split("\n"), 1):
        content = line.removesuffix("\r")
        if content.strip():
            at = 0
            try:
                for piece, tokens, offsets in tokenise(content):
                    at = content.index(piece, at)
                    yield _Place(base + at, number, piece, tokens, offsets)
                    at += len(piece)
            except TextTooLong as refusal:
                raise BadDocument(".txt", number, str(refusal)) from refusal
        base += len(line) + 1


def _noted_places(text: str, notes: str) -> Iterator[_Place]:
    """The sentences of a document as its sidecar tells them."""
    before = 0
    for number, line in enumerate(notes.removesuffix("\n").split("\n"), 1):
        try:
            note = orjson.loads(line)
            start, end = note["start"], note["end"]
            if not before <= start < end <= len(text):
                raise BadValue(f"start {start} and end {end} are not in order within the text")
            sentence = text[start:end]
            [(_, tokens, offsets)] = pieces_of({**note, "text": sentence}, lambda _: iter(()))
        except (BadValue, orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            message = f"no sentence of the .txt ({error}); remove the file to have it tokenised"
            raise BadDocument(SIDECAR, number, message) from error
        yield _Place(start, text.count("\n", 0, start) + 1, sentence, tokens, offsets, note)
        before = end


def _assign(found: Standoff, places: Sequence[_Place], text: str) -> None:
    """Give each annotation to the sentence that it lies in."""
    starts = [place.start for place in places]
    place_of: dict[str, _Place] = {}
    for number, region in found.regions:
        place = places[max(0, bisect_right(starts, region.start) - 1)]
        if not place.start <= region.start < region.end <= place.end:
            raise BadLine(
                number,
                f"{region.label} {region.start} {region.end} {region.text!r} does not lie within "
                "one sentence; correct it",
            )
        place_of[region.id] = place
        covered = text[region.start : region.end]
        place.regions.append(
            replace(
                region,
                start=region.start - place.start,
                end=region.end - place.start,
                text=covered if covered.replace("\n", " ") == region.text else region.text,
            )
        )
        place.lines.append(number)
    for number, link in found.links:
        ends = [place_of.get(end) for end in (link.source, link.target)]
        if ends[0] is None or ends[1] is None:
            raise BadLine(number, f"{link.label} links {link.source} and {link.target}, not spans")
        if ends[0] is not ends[1]:
            raise BadLine(number, f"{link.label} links two sentences; relations lie within one")
        ends[0].links.append(link)


def _layers(place: _Place, has_relations: bool) -> dict[str, Layer]:
    sentence = place.text, place.tokens, place.offsets
    unlabeled = place.note.get("unlabeled", ())
    layers: dict[str, Layer] = {}
    try:
        layers["entities"] = spans_layer("entities", place.regions, sentence)
        if has_relations or "unlabeled" in place.note:
            layers["relations"] = relations_layer(
                "relations", place.links, "entities", place.regions, sentence
            )
    except BadValue as bad:
        index = getattr(bad.__cause__, "index", 0)
        line = place.lines[index] if place.lines else 1
        raise BadDocument(".ann", line, str(bad)) from bad
    return {name: layer for name, layer in layers.items() if name not in unlabeled}


def _kept(place: _Place, gap: str, found: Standoff | None, *, is_first: bool) -> Extra:
    """What is needed to write the document as it was, beyond sentences and answers."""
    kept: Extra = {}
    if gap != ("" if is_first else "\n"):
        kept["before"] = gap
    if found is not None and found.others:
        if is_first:
            kept["others"] = found.others
        ids = answers_by_id(place.regions, place.links, place.text, place.offsets)
        if ids:
            kept["ids"] = ids
    return kept
