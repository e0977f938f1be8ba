"""Several people's answers in one file: layers called ``task@annotator``."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from annotation.formats.records import ExportRecord


def name_for(layer: str, annotator: str) -> str:
    """What a layer is called in a file; gold, whose annotator is "", has the bare name."""
    return f"{layer}@{annotator}" if annotator else layer


def name_when_read(name: str, annotator: str) -> str | None:
    """What a layer of a file is to be called, None if it is somebody else's.

    Without an annotator to read, every layer keeps its name.
    """
    layer, at, person = name.partition("@")
    if not annotator or not at:
        return name
    return layer if person == annotator else None


def by_sentence(records: Iterable[ExportRecord]) -> Iterator[Sequence[ExportRecord]]:
    """The records of each sentence together, one for each annotator."""
    for _, group in groupby(records, key=lambda record: id(record.sentence)):
        yield list(group)
