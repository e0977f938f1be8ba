"""Writing brat archives: documents made of sentences, annotations counted over them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from annotation.formats.archives import write_archive
from annotation.formats.columns import describe
from annotation.formats.jsonlines import dump_line, sentence_fields
from annotation.formats.offsets import character_spans
from annotation.formats.options import WriteOptions
from annotation.formats.placing import Placement
from annotation.formats.records import CannotWrite, ExportRecord
from annotation.formats.sidebyside import by_sentence
from annotation.formats.standoff import still_valid

NAME = "brat"
SIDECAR = ".sentences.jsonl"
LAYERS = ("entities", "relations")
SENTENCES_PER_DOCUMENT = 100  # of those that belong to none
_UNSAFE = re.compile(r"[\x00-\x1f\\:*?\"<>|]")

Document = list[Sequence[ExportRecord]]


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
    yield f"{path}.txt", text
    if is_labelled:
        yield f"{path}.ann", _annotations(records, answers, starts, placement)
    notes = []
    for record, found, start in zip(records, answers, starts, strict=True):
        note = _note(record, start, name)
        if is_labelled:
            note["unlabeled"] = [layer for layer, value in found.items() if value is None]
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
    ids = _Ids([placement.kept(record).get("ids", {}) for record in records])
    lines = []
    for index, (record, found, start) in enumerate(zip(records, answers, starts, strict=True)):
        spans = found["entities"] or []
        id_of: dict[tuple[int, int], str] = {}
        characters = character_spans(spans, record.sentence)
        for span, (first, end, label) in zip(spans, characters, strict=True):
            id = ids.take(index, span, "T")
            id_of.setdefault((span[0], span[1]), id)
            covered = record.sentence.text[first:end].replace("\n", " ")
            lines.append(f"{id}\t{_word(label, record)} {start + first} {start + end}\t{covered}")
        for relation in found["relations"] or []:
            s1, e1, s2, e2, label = relation
            id = ids.take(index, relation, "R")
            ends = f"Arg1:{id_of[s1, e1]} Arg2:{id_of[s2, e2]}"
            lines.append(f"{id}\t{_word(label, record)} {ends}")
    return "".join(line + "\n" for line in [*lines, *still_valid(others, ids.taken)])


class _Ids:
    """Hands out ids of annotations: the one that was read, else a number not used yet."""

    def __init__(self, read: Sequence[dict[str, list[Any]]]) -> None:
        self._read = [{tuple(answer): id for id, answer in ids.items()} for ids in read]
        numbers = [int(id[1:]) for ids in read for id in ids if id[1:].isdecimal()]
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
