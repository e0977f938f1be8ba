"""brat's .ann files: lines of annotations with ids, over the characters of a document."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from annotation.formats.characters import Link, Region

_TEXT_BOUND = re.compile(r"(T\S+)\t(\S+) ([0-9]+) ([0-9]+)\t(.*)")
_RELATION = re.compile(r"(R\S+)\t(\S+) \S+?:(\S+) \S+?:(\S+)\s*")
_OTHERS = tuple("EAMN#*")  # events, attributes, normalisations, notes, equivalences
_ID = re.compile(r"\b[TREAMN]\d+\b")


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
    others: list[str] = field(default_factory=list)


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
            match = _RELATION.fullmatch(line)
            if not match:
                raise BadLine(number, f"{line[:60]!r} is no 'R1<TAB>Label Arg1:T1 Arg2:T2'")
            if match[3][0] == match[4][0] == "T":
                found.links.append((number, Link(match[3], match[4], match[2], match[1])))
            else:
                found.others.append(line)  # a relation of events
        elif line[:1] in _OTHERS:
            found.others.append(line)
        elif line.strip():
            raise BadLine(number, f"{line[:60]!r} is no annotation of brat; remove the line")
    return found


def _region(line: str, number: int) -> Region:
    match = _TEXT_BOUND.fullmatch(line)
    if match:
        return Region(match[1], int(match[3]), int(match[4]), match[2], match[5])
    if ";" in line.partition("\t")[2].partition("\t")[0]:
        raise BadLine(
            number, f"{line[:60]!r} is discontinuous, but a span is one run of tokens; "
            "cover it by one run or remove it"
        )  # fmt: skip
    raise BadLine(number, f"{line[:60]!r} is no 'T1<TAB>Label start end<TAB>text'; correct it")


def still_valid(others: Sequence[str], ids: set[str]) -> list[str]:
    """The other lines all of whose ids are still there.

    Attributes, notes and events of a span that was removed go with it.
    """
    kept = list(others)
    while True:
        known = ids | {line.partition("\t")[0] for line in kept}
        valid = [line for line in kept if set(_ID.findall(line.partition("\t")[2])) <= known]
        if len(valid) == len(kept):
            return valid
        kept = valid
