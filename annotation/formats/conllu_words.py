"""The rows of a CoNLL-U sentence: words, multi-word tokens (3-4) and empty nodes (8.1)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from annotation.formats.columns import BadRow
from annotation.formats.offsets import Misaligned, locate_tokens
from annotation.formats.records import Offsets

ID, FORM, MISC = 0, 1, 9
_NUMBERS = list(map(str, range(1, 1_001)))
_RANGE = re.compile(r"([1-9]\d*)-([1-9]\d*)", re.ASCII)
OtherRows = list[list[Any]]  # [row, line]
_EMPTY_NODE = re.compile(r"(\d+)\.([1-9]\d*)", re.ASCII)


@dataclass(slots=True)
class Words:
    """The words' columns, the surface tokens over them, and all other rows with their places."""

    columns: list[list[str]]
    surface: Sequence[str]  # FORM of the rows that the text is made of
    surface_misc: Sequence[str]
    widths: list[int]  # words under each surface token
    rows: Sequence[int]  # row of each word among the sentence's lines
    others: OtherRows = field(default_factory=list)


def numbers(n: int) -> list[str]:
    """The ids of n words."""
    return _NUMBERS[:n] if n <= len(_NUMBERS) else list(map(str, range(1, n + 1)))


def sort_rows(lines: Sequence[str], columns: list[list[str]]) -> Words:
    """The rows of a sentence by what they are; raises BadRow where an id is out of order."""
    n = len(lines)
    if columns[ID] == numbers(n):
        return Words(columns, columns[FORM], columns[MISC], [1] * n, range(n))
    cells = list(zip(*columns, strict=True))
    words = Words([], [], [], [], [])
    under_range = 0  # number of the last word under a multi-word token
    surface: list[tuple[str, ...]] = []
    rows: list[int] = []
    for row, cell in enumerate(cells):
        number = len(rows) + 1
        if cell[ID] == str(number):
            rows.append(row)
            if number > under_range:
                surface.append(cell)
                words.widths.append(1)
            continue
        words.others.append([row, lines[row]])
        if match := _RANGE.fullmatch(cell[ID]):
            first, last = int(match[1]), int(match[2])
            if first != number or last <= first or first <= under_range:
                raise BadRow(row, f"range {cell[ID]} before word {number}; correct the ID")
            under_range = last
            surface.append(cell)
            words.widths.append(last - first + 1)
        elif not _is_empty_node(cell[ID], number - 1):
            raise BadRow(row, f"ID {cell[ID]!r} where word {number} is due; number the words")
    if under_range > len(rows) or not rows:
        raise BadRow(n - 1, f"{len(rows)} words, but a range goes to {under_range}; correct it")
    words.rows = rows
    words.surface = [cell[FORM] for cell in surface]
    words.surface_misc = [cell[MISC] for cell in surface]
    words.columns = [[column[row] for row in rows] for column in columns]
    return words


def offsets_of(words: Words, text: str) -> Offsets:
    """Where each word lies in the text; raises BadRow if the text is another one."""
    try:
        places = locate_tokens(words.surface, text)
    except Misaligned as miss:
        row = words.rows[sum(words.widths[: miss.index])]
        raise BadRow(row, f"{miss}; correct '# text =' or remove it") from miss
    if len(places) == len(words.rows):
        return places
    return [
        list(place) for place, width in zip(places, words.widths, strict=True) for _ in range(width)
    ]


def text_of(words: Words) -> str:
    """The text that the surface tokens make."""
    parts = []
    for form, misc in zip(words.surface, words.surface_misc, strict=True):
        parts.append(form)
        parts.append("" if "SpaceAfter=No" in misc else " ")
    return "".join(parts[:-1])


def ranges_of(offsets: Offsets, text: str) -> OtherRows:
    """The rows of the multi-word tokens that words with the same offsets make, as [row, line]."""
    rows: OtherRows = []
    first = 0
    for index in range(1, len(offsets) + 1):
        if index < len(offsets) and offsets[index] == offsets[first]:
            continue
        if index - first > 1:
            start, end = offsets[first]
            cells = [f"{first + 1}-{index}", text[start:end], *["_"] * 8]
            if index < len(offsets) and offsets[index][0] == end:
                cells[MISC] = "SpaceAfter=No"
            rows.append([first + len(rows), "\t".join(cells)])
        first = index
    return rows


def spacing_of(offsets: Offsets) -> list[str]:
    """The MISC cells that say where no space follows a word which is not in a range."""
    shared = {tuple(a) for a, b in pairwise(offsets) if a == b}
    cells = [
        "SpaceAfter=No" if a[1] == b[0] and tuple(a) not in shared else "_"
        for a, b in pairwise(offsets)
    ]
    return [*cells, "_"]


def _is_empty_node(text: str, after: int) -> bool:
    match = _EMPTY_NODE.fullmatch(text)
    return match is not None and match[1] == str(after)
