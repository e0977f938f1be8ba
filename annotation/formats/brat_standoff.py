"""brat's .ann lines, read and kept, and archives of documents written with them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from annotation.formats.columns import describe
from annotation.formats.json_stream import Link, Mark, Region, dump_line, sentence_fields
from annotation.formats.offsets import character_spans
from annotation.formats.records import (
    CannotWrite,
    ExportRecord,
    Placement,
    WriteOptions,
    by_sentence,
)
from annotation.formats.source import write_archive
from mtl_engine.kinds.spans import pieces_of

NAME = "brat"
SIDECAR = ".sentences.jsonl"
LAYERS = ("entities", "relations", "attributes")
SENTENCES_PER_DOCUMENT = 100  # of those that belong to none
_UNSAFE = re.compile(r"[\x00-\x1f\\:*?\"<>|]")


Document = list[Sequence[ExportRecord]]
_TEXT_BOUND = re.compile(
    r"(T\S+)\t(\S+) ([0-9]{1,15}) ([0-9]{1,15})((?:;[0-9]{1,15} [0-9]{1,15})*)\t(.*)"
)
_OTHERS = tuple("EAMN#*")  # events, their attributes, normalisations, notes, equivalences
PIECES_ACROSS = "spans in several pieces across sentences"
ACROSS = "relations across sentences"
OF_PIECES = "relations of spans in pieces, across sentences or beside their first piece"
OTHER_ATTRIBUTES = "attributes of such spans, or second values of one attribute"
_ID = re.compile(r"\b[TREAMN]\d+\b")


def render(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[bytes]:
    """The bytes of the archive."""
    return write_archive(_members(records, placement, options))


def _members(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[tuple[str, str]]:
    used: set[str] = set()
    for count, document in enumerate(_documents(by_sentence(records)), 1):
        stem = _free_name(document[0][0].sentence.document or f"sentences-{count:05}", used)
        for person in options.annotators or ("",):
            folder = f"{_safe(person)}/" if person else ""
            chosen = [_chosen(group, person) for group in document]
            yield from _members_of(chosen, placement, folder + stem, stem)


def _documents(groups: Iterable[Sequence[ExportRecord]]) -> Iterator[Document]:
    document: Document = []
    for group in groups:
        name = group[0].sentence.document
        if document and (
            document[0][0].sentence.document != name
            or (not name and len(document) == SENTENCES_PER_DOCUMENT)
        ):
            yield document
            document = []
        document.append(group)
    if document:
        yield document


def _chosen(group: Sequence[ExportRecord], person: str) -> ExportRecord:
    """One person's record of a sentence, without answers if there is none."""
    for record in group:
        if not person or record.annotator == person:
            return record
    return ExportRecord(group[0].sentence)


def _free_name(document: str, used: set[str]) -> str:
    name = _safe(document)
    count = 1
    while name in used:
        count += 1
        name = f"{_safe(document)}-{count}"
    used.add(name)
    return name


def _safe(name: str) -> str:
    """The name as a path that stays within an archive."""
    parts = (part for part in _UNSAFE.sub("_", name).split("/") if part.strip(". "))
    return "/".join(parts)[:200] or "document"


def _members_of(
    records: Sequence[ExportRecord], placement: Placement, path: str, name: str
) -> Iterator[tuple[str, str]]:
    """The files of a document; no .ann if nothing in it is answered."""
    text, starts = _text(records, placement)
    answers = [{layer: placement.value(r, layer) for layer in LAYERS} for r in records]
    is_labelled = any(value is not None for found in answers for value in found.values())
    has_attributes = any(found["attributes"] is not None for found in answers)
    yield f"{path}.txt", text
    if is_labelled:
        yield f"{path}.ann", _annotations(records, answers, starts, placement)
    notes = []
    for record, found, start in zip(records, answers, starts, strict=True):
        note = _note(record, start, name)
        if is_labelled:
            told = [layer for layer in found if layer != "attributes" or has_attributes]
            note["unlabeled"] = [layer for layer in told if found[layer] is None]
            if has_attributes:
                note["has_attributes"] = True
        notes.append(dump_line(note))
    yield f"{path}{SIDECAR}", "".join(notes)


def _text(records: Sequence[ExportRecord], placement: Placement) -> tuple[str, list[int]]:
    """The document's text and where each sentence starts in it."""
    parts: list[str] = []
    starts: list[int] = []
    at = 0
    for record in records:
        gap = placement.kept(record).get("before", "\n" if parts else "")
        starts.append(at + len(gap))
        parts += [gap, record.sentence.text]
        at = starts[-1] + len(record.sentence.text)
    parts.append(placement.kept(records[-1]).get("after", "\n"))
    return "".join(parts), starts


def _note(record: ExportRecord, start: int, name: str) -> dict[str, Any]:
    """What the sidecar says of a sentence."""
    sentence = record.sentence
    fields = sentence_fields(sentence)
    note = {"start": start, "end": start + len(fields.pop("text"))} | fields
    if sentence.key:
        note["id"] = sentence.key
    if sentence.document != name:
        note["document"] = sentence.document
    return note


def _annotations(
    records: Sequence[ExportRecord],
    answers: Sequence[dict[str, Any]],
    starts: Sequence[int],
    placement: Placement,
) -> str:
    """The .ann file; ids that were read are used again for the same answers."""
    others = placement.kept(records[0]).get("others", [])
    kept_ids = [line.partition("\t")[0] for line in others]
    ids = _Ids([placement.kept(record).get("ids", {}) for record in records], kept_ids)
    lines = []
    firsts = [0, *accumulate(len(record.sentence.tokens) for record in records)]
    id_of: dict[tuple[int, int], str] = {}  # by the words of the document
    taken = [
        [ids.take(index, span, "T") for span in found["entities"] or []]
        for index, found in enumerate(answers)
    ]
    for first_word, found, own in zip(firsts, answers, taken, strict=False):
        for span, id in zip(found["entities"] or [], own, strict=True):
            id_of.setdefault((first_word + span[0], first_word + span[1]), id)
    for index, (record, found, start) in enumerate(zip(records, answers, starts, strict=True)):
        at_word = firsts[index]
        for span, id in zip(found["entities"] or [], taken[index], strict=True):
            pieces = [[*piece, _word(span[-1], record)] for piece in pieces_of(span)]
            places = [(first, end) for first, end, _ in character_spans(pieces, record.sentence)]
            text = " ".join(record.sentence.text[first:end] for first, end in places)
            at = ";".join(f"{start + first} {start + end}" for first, end in places)
            lines.append(f"{id}\t{span[-1]} {at}\t{text.replace(chr(10), ' ')}")
        for relation in found["relations"] or []:
            s1, e1, s2, e2 = (at_word + edge for edge in relation[:4])
            label = relation[4]
            id = ids.take(index, relation, "R")
            for place in ((s1, e1), (s2, e2)):
                if place not in id_of:
                    raise CannotWrite(
                        f"{describe(record)}: {label!r} links words that are no span among those "
                        "that are written; write the spans as well, or jsonl"
                    )
            ends = f"Arg1:{id_of[s1, e1]} Arg2:{id_of[s2, e2]}"
            lines.append(f"{id}\t{_word(label, record)} {ends}")
        for mark in found["attributes"] or []:
            first, end, label = mark
            id = ids.take(index, mark, "A")
            target = id_of[at_word + first, at_word + end]
            lines.append(written_mark(id, _word(label, record), target))
    return "".join(line + "\n" for line in [*lines, *still_valid(others, ids.taken)])


def written_mark(id: str, label: str, target: str) -> str:
    """The line of an attribute; what follows the first full stop of a label is its value."""
    name, _, value = label.partition(".")
    return f"{id}\t{name} {target} {value}".rstrip()


def written_region(region: Region) -> str:
    """The line of a span as it was read."""
    places = ((region.start, region.end), *region.more)
    at = ";".join(f"{start} {end}" for start, end in places)
    return f"{region.id}\t{region.label} {at}\t{region.text}"


class _Ids:
    """Hands out ids of annotations: the one that was read, else a number not used yet."""

    def __init__(self, read: Sequence[dict[str, list[Any]]], others: Sequence[str]) -> None:
        self._read = [{tuple(answer): id for id, answer in ids.items()} for ids in read]
        used = [*others, *(id for ids in read for id in ids)]
        numbers = [int(id[1:]) for id in used if id[1:].isdecimal() and len(id) < 16]
        self._last = max(numbers, default=0)
        self.taken: set[str] = set()

    def take(self, sentence: int, answer: Sequence[Any], letter: str) -> str:
        id = self._read[sentence].get(tuple(answer))
        if id is None:
            self._last += 1
            id = f"{letter}{self._last}"
        self.taken.add(id)
        return id


def _word(label: str, record: ExportRecord) -> str:
    if label.split() != [label]:
        raise CannotWrite(
            f"{describe(record)}: label {label!r} has white space in it, which brat does not "
            "allow; rename the label or write jsonl instead"
        )
    return label


class BadLine(ValueError):
    """A line of an .ann file that cannot be read; ``line`` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass
class Standoff:
    """What an .ann file says: regions and links with their lines, and all else as it is."""

    regions: list[tuple[int, Region]] = field(default_factory=list)
    links: list[tuple[int, Link]] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    pieces: dict[str, int] = field(default_factory=dict)  # spans across sentences: id -> start
    aside: list[tuple[int, str]] = field(default_factory=list)  # character, what is kept of others

    def set_aside(self, line: str, at: int, what: str) -> None:
        """Keep a line that no task can hold, to be written back as it is."""
        self.others.append(line)
        self.aside.append((at, what))


def read_standoff(lines: Sequence[str]) -> Standoff:
    """The annotations of an .ann file; raises BadLine."""
    found = Standoff()
    ids: set[str] = set()
    for number, line in enumerate(lines, 1):
        id = line.partition("\t")[0]
        if line[:1] in "TR" and id in ids:
            raise BadLine(number, f"id {id!r} is there twice; ids must differ")
        ids.add(id)
        if line.startswith("T"):
            found.regions.append((number, _region(line, number)))
        elif line.startswith("R"):
            link = _link(line)
            if link is None:
                raise BadLine(number, f"{line[:60]!r} is no 'R1<TAB>Label Arg1:T1 Arg2:T2'")
            if link.source[0] == link.target[0] == "T":
                found.links.append((number, link))
            else:
                found.others.append(line)  # a relation of events
        elif mark := _mark(line):
            found.marks.append(mark)
        elif line[:1] in _OTHERS:
            found.others.append(line)
        elif line.strip():
            raise BadLine(number, f"{line[:60]!r} is no annotation of brat; remove the line")
    return found


def _mark(line: str) -> Mark | None:
    """The attribute of a span, or nothing: those of events and relations are other lines."""
    id, tab, rest = line.partition("\t")
    words = rest.split(" ")
    if not (tab and id.startswith("A") and len(words) in (2, 3) and all(words)):
        return None
    name, target = words[:2]
    if not target.startswith("T") or "." in name or " ".join(words).split() != words:
        return None
    return Mark(target, ".".join([name, *words[2:]]), id)


def _link(line: str) -> Link | None:
    """The relation of a line, or nothing; every look at the line is linear."""
    id, tab, rest = line.partition("\t")
    words = rest.split()
    if not tab or len(id) < 2 or id.split() != [id] or len(words) != 3:
        return None
    if rest.rstrip() != " ".join(words):
        return None
    label, *arguments = words
    ends = [argument.partition(":") for argument in arguments]
    if not all(role and end for role, _, end in ends):
        return None
    (_, _, first), (_, _, second) = ends
    return Link(first, second, label, id)


def _region(line: str, number: int) -> Region:
    match = _TEXT_BOUND.fullmatch(line)
    if match:
        more = tuple(
            (int(start), int(end))
            for start, _, end in (part.partition(" ") for part in match[5].split(";")[1:])
        )
        return Region(match[1], int(match[3]), int(match[4]), match[2], match[6], more)
    raise BadLine(number, f"{line[:60]!r} is no 'T1<TAB>Label start end<TAB>text'; correct it")


def still_valid(others: Sequence[str], ids: set[str]) -> list[str]:
    """The other lines all of whose ids are still there.

    Attributes, notes and events of a span that was removed go with it.
    """
    own = [line.partition("\t")[0] for line in others]
    needs = [set(_ID.findall(line.partition("\t")[2])) for line in others]
    users: dict[str, list[int]] = {}
    for i, needed in enumerate(needs):
        for id in needed:
            users.setdefault(id, []).append(i)
    n_left = Counter(own) + Counter(ids)  # lines and spans of each id that are still there
    gone: set[int] = set()
    missing = [id for id in users if not n_left[id]]
    while missing:
        for i in users.get(missing.pop(), ()):
            if i not in gone:
                gone.add(i)
                n_left[own[i]] -= 1
                if not n_left[own[i]]:
                    missing.append(own[i])
    return [line for i, line in enumerate(others) if i not in gone]
