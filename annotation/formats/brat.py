"""brat standoff: a zip of documents, each a .txt and an .ann file of the same name.

Each line of a document is a sentence, or with a language to split by, each sentence. Layers:
``entities`` (T lines, in pieces or not), ``relations`` (R lines) and ``attributes`` of entities (A
lines: ``Negation``, and with a value ``Certainty.High``), the last two where the archive has any;
spans must begin and end with tokens. What crosses sentences, events, notes and all other lines stay
with the document's first sentence and are written back as long as what they are about is there. A
document without an .ann file is not labelled.

What brat has no place for (tokens, ids, which sentences have no answer) is written beside each
document as ``NAME.sentences.jsonl``, which brat does not look at, and read from there. Without it
tokens are the tokeniser's (by default that of any language, "xx").

Several annotators side by side are folders, one for each annotator. Sentences without a document
are written as documents ``sentences-00001`` and so on, a hundred each.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

import orjson

from annotation.formats.brat_standoff import (
    ACROSS,
    NAME,
    OF_PIECES,
    OTHER_ATTRIBUTES,
    PIECES_ACROSS,
    SIDECAR,
    BadLine,
    Standoff,
    read_standoff,
    render,
    written_mark,
    written_region,
)
from annotation.formats.format import Format
from annotation.formats.json_stream import (
    BadValue,
    Link,
    Mark,
    Region,
    answers_by_id,
    attributes_layer,
    pieces_of,
    region_words,
    relations_layer,
    spans_layer,
)
from annotation.formats.offsets import TextTooLong, Tokeniser, cut_tokens, tokeniser_for
from annotation.formats.records import (
    CUT,
    Extra,
    Layer,
    Offsets,
    Problem,
    ReadOptions,
    SentenceRecord,
    layer_spec,
)
from annotation.formats.source import Source, bundle, decode_whole, open_archive, read_member
from mtl_engine.kinds.attributes import attribute_of

BYTE_ORDER_MARK = "\ufeff"
_ENDINGS = (".txt", ".ann")
OPTIONAL = {"relations": re.compile(rb"\nR"), "attributes": re.compile(rb"\nA\S*\t\S+ T")}


def parse(source: Source, options: ReadOptions) -> Iterator[SentenceRecord | Problem]:
    tokenise = tokeniser_for(options, default="xx")
    folder = f"{options.annotator}/" if options.annotator else ""
    with open_archive(source) as archive:
        names = set(archive.namelist())
        found = [_layers_in(archive, name, options) for name in names]
        has = frozenset().union(*found)
        for name in archive.namelist():
            stem = name[: -len(".txt")]
            if not name.startswith(folder) or name.startswith("__MACOSX/"):
                continue
            if name.endswith(".ann") and f"{stem}.txt" not in names:
                message = "no .txt file of this name; add it to the archive"
                yield Problem(f"{source.file_name}/{name}", 1, message)
            if not name.endswith(".txt"):
                continue
            try:
                texts = [
                    _text(archive, stem + ending, options) if stem + ending in names else None
                    for ending in (".txt", ".ann", SIDECAR)
                ]
                document = stem.removeprefix(folder)
                yield from read_document(
                    document,
                    texts,
                    tokenise,
                    has,
                    options.cuts_tokens,
                    links_across=options.links_across,
                )
            except BadDocument as bad:
                yield Problem(f"{source.file_name}/{stem}{bad.ending}", bad.line, str(bad))


def _text(archive: ZipFile, name: str, options: ReadOptions) -> str:
    try:
        data = read_member(archive, name, options.limits.item_characters)
        return decode_whole(data, options.encoding)
    except ValueError as error:
        raise BadDocument(name[-len(".txt") :], 1, str(error)) from error


def _layers_in(archive: ZipFile, name: str, options: ReadOptions) -> frozenset[str]:
    """Which of the layers that not every archive has are in a file."""
    if not name.endswith(".ann"):
        return frozenset()
    try:
        data = b"\n" + read_member(archive, name, options.limits.item_characters)
    except ValueError:
        return frozenset()  # reported when the document is read
    return frozenset(layer for layer, start in OPTIONAL.items() if start.search(data))


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
    across: list[tuple[Link, "_Place"]] = field(default_factory=list)  # and where they end
    marks: list[Mark] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # of the regions

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def cut(self) -> int:
        """Cut tokens where an annotation begins or ends, and return how many were."""
        places = [place for r in self.regions for place in ((r.start, r.end), *r.more)]
        sentence = self.text, self.tokens, self.offsets
        found, n_cut = cut_tokens(sentence, [edge for place in places for edge in place])
        _, self.tokens, self.offsets = found
        return n_cut


def read_document(
    name: str,
    texts: Sequence[str | None],
    tokenise: Tokeniser,
    has: Collection[str],
    cuts_tokens: bool = False,
    *,
    links_across: bool = False,
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
            _assign(found, places, text, links_across=links_across)
        except BadLine as bad:
            raise BadDocument(".ann", bad.line, str(bad)) from bad
    before = 0
    aside = [] if found is None else found.aside
    cuts = [place.cut() if cuts_tokens else 0 for place in places]
    firsts = dict(zip(map(id, places), accumulate(map(_n_words, places), initial=0), strict=False))
    for place, n_cut in zip(places, cuts, strict=True):
        across = _words_across(place, firsts)
        layers = {} if found is None else _layers(place, has, across)
        gap, before = text[before : place.start], place.end
        kept = _kept(place, gap, found, across, is_first=place is places[0])
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
            aside=[*[what for at, what in aside if place.start <= at < place.end], *[CUT] * n_cut],
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


def _n_words(place: _Place) -> int:
    return len(place.tokens)


def _words_across(place: _Place, firsts: Mapping[int, int]) -> dict[Any, list[Any]]:
    """The links that end in other sentences, by their ids, in words counted from this one's."""
    found: dict[Any, list[Any]] = {}
    for link, target in place.across:
        ends = []
        for id_, where in ((link.source, place), (link.target, target)):
            region = next(region for region in where.regions if region.id == id_)
            try:
                first, end, *_ = region_words(region, where.text, where.offsets)
            except BadValue as bad:
                line = where.lines[where.regions.index(region)]
                raise BadDocument(".ann", line, str(bad)) from bad
            shift = firsts[id(where)] - firsts[id(place)]
            ends += [first + shift, end + shift]
        found[link.id] = [*ends, link.label]
    return found


def _assign(
    found: Standoff, places: Sequence[_Place], text: str, *, links_across: bool = False
) -> None:
    """Give each annotation to the sentence that it lies in."""
    starts = [place.start for place in places]
    place_of: dict[str, _Place] = {}
    for number, region in found.regions:
        place = places[max(0, bisect_right(starts, region.start) - 1)]
        if region.more and not all(
            place.start <= start < end <= place.end
            for start, end in ((region.start, region.end), *region.more)
        ):
            found.pieces[region.id] = region.start
            found.set_aside(written_region(region), region.start, PIECES_ACROSS)
            continue
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
                more=tuple((s - place.start, e - place.start) for s, e in region.more),
            )
        )
        place.lines.append(number)
    unclear = _unclear(places)
    _assign_marks(found, place_of, unclear)
    for number, link in found.links:
        line = f"{link.id}\t{link.label} Arg1:{link.source} Arg2:{link.target}"
        in_pieces = (found.pieces | unclear).keys() & {link.source, link.target}
        if in_pieces:
            found.set_aside(line, (found.pieces | unclear)[min(in_pieces)], OF_PIECES)
            continue
        ends = [place_of.get(end) for end in (link.source, link.target)]
        if ends[0] is None or ends[1] is None:
            raise BadLine(number, f"{link.label} links {link.source} and {link.target}, not spans")
        if ends[0] is not ends[1] and links_across:
            ends[0].across.append((link, ends[1]))
            continue
        if ends[0] is not ends[1]:
            found.set_aside(line, ends[0].start, ACROSS)
            continue
        ends[0].links.append(link)


def _unclear(places: Sequence[_Place]) -> dict[str, int]:
    """Spans in pieces, by id, whose first piece is another span: a link would mean either."""
    found: dict[str, int] = {}
    for place in places:
        if any(region.more for region in place.regions):
            whole = {(region.start, region.end) for region in place.regions if not region.more}
            for region in place.regions:
                if region.more and (region.start, region.end) in whole:
                    found[region.id] = place.start + region.start
    return found


def _assign_marks(
    found: Standoff, place_of: Mapping[str, _Place], unclear: Mapping[str, int]
) -> None:
    """Give each attribute to the sentence of its span; a second value of one is set aside."""
    seen: set[tuple[str, str]] = set()
    for mark in found.marks:
        place = place_of.get(mark.target)
        key = (mark.target, attribute_of(mark.label))
        if place is None or key in seen or mark.target in unclear:
            at = place.start if place else found.pieces.get(mark.target, 0)
            found.set_aside(written_mark(mark.id, mark.label, mark.target), at, OTHER_ATTRIBUTES)
            continue
        seen.add(key)
        place.marks.append(mark)


def _layers(
    place: _Place, has: Collection[str], across: Mapping[Any, list[Any]]
) -> dict[str, Layer]:
    sentence = place.text, place.tokens, place.offsets
    unlabeled = place.note.get("unlabeled", ())
    layers: dict[str, Layer] = {}
    try:
        layers["entities"] = spans_layer("entities", place.regions, sentence)
        is_noted = "unlabeled" in place.note
        if "relations" in has or is_noted:
            layers["relations"] = relations_layer(
                "relations", place.links, "entities", place.regions, sentence
            )
            links = {tuple(link): link for link in across.values()}
            own = layers["relations"]
            layers["relations"] = own._replace(value=sorted([*own.value, *links.values()]))
        has_own = place.note.get("has_attributes") or place.marks
        if has_own if is_noted else "attributes" in has:
            layers["attributes"] = attributes_layer(
                "attributes", place.marks, "entities", place.regions, sentence
            )
    except BadValue as bad:
        index = getattr(bad.__cause__, "index", 0)
        line = place.lines[index] if place.lines else 1
        raise BadDocument(".ann", line, str(bad)) from bad
    return {name: layer for name, layer in layers.items() if name not in unlabeled}


def _kept(
    place: _Place,
    gap: str,
    found: Standoff | None,
    across: Mapping[Any, list[Any]],
    *,
    is_first: bool,
) -> Extra:
    """What is needed to write the document as it was, beyond sentences and answers."""
    kept: Extra = {}
    if gap != ("" if is_first else "\n"):
        kept["before"] = gap
    if found is not None and (found.others or place.marks):
        if is_first and found.others:
            kept["others"] = found.others
        ids = answers_by_id(place.regions, place.links, place.text, place.offsets, place.marks)
        ids |= across
        if ids:
            kept["ids"] = ids
    return kept


def open_file(path: Path, format: str) -> BinaryIO:
    """The file, opened; for brat also a .txt or .ann with its twin, or a folder of such.

    The latter are handed on as the archive that the format reads.
    """
    if format != FORMAT.name or not (path.is_dir() or path.suffix in _ENDINGS):
        return path.open("rb")
    folder = path if path.is_dir() else path.parent
    if path.is_dir():
        found = sorted(file for ending in _ENDINGS for file in path.rglob(f"*{ending}"))
    else:
        found = [file for ending in _ENDINGS if (file := path.with_suffix(ending)).is_file()]
    with ExitStack() as opened:
        return bundle(
            (file.relative_to(folder).as_posix(), opened.enter_context(file.open("rb")))
            for file in found
        )


FORMAT = Format(
    name=NAME,
    title="brat standoff, a zip of .txt and .ann",
    position=110,
    suffixes=(".zip",),
    kinds=frozenset(("spans", "relations", "attributes")),
    layers=(
        layer_spec("entities", "spans"),
        layer_spec("relations", "relations", "entities"),
        layer_spec("attributes", "attributes", "entities"),
    ),
    links_across=True,
    parse=parse,
    render=render,
    looks_like=lambda head: head.startswith("PK\x03\x04"),
    media_type="application/zip",
)
