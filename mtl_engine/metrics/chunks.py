"""The chunks in a sequence of tags, read as the conlleval script reads them.

IOB1, IOB2, IO and IOBES are all understood, and mixtures too: what starts or ends a chunk depends
on two neighbouring tags only, so gold in IOB2 can be compared with predictions in IO. IOBES goes
beyond the script: E and S end their chunk whatever follows, where the script joins E and B.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

Chunk = tuple[int, int, str]  # start, end (exclusive), type

STARTS = frozenset("BS[]")  # these always open a chunk
CLOSES = frozenset("ES[]")  # these always close theirs


def read_chunks(tags: Sequence[str]) -> list[Chunk]:
    """Return the (start, end, type) chunks of one sentence, end exclusive, in order."""
    chunks: list[Chunk] = []
    start, before, kind_before = 0, "O", ""
    for position, tag in enumerate(tags):
        prefix, kind = _split(tag)
        if before != "O" and _ends(before, prefix, kind_before != kind):
            chunks.append((start, position, kind_before))
        if prefix != "O" and _begins(before, prefix, kind_before != kind):
            start = position
        before, kind_before = prefix, kind
    if before != "O":
        chunks.append((start, len(tags), kind_before))
    return chunks


def write_tags(spans: Iterable[Sequence[Any]], n_tokens: int) -> list[str]:
    """Return the IOB2 tags of a spans answer; of overlapping spans the first one stays."""
    tags = ["O"] * n_tokens
    for start, end, label in spans:
        if all(tag == "O" for tag in tags[start:end]):
            tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tags


def _ends(before: str, prefix: str, is_other_type: bool) -> bool:
    return prefix in ("O", "B", "S") or before in CLOSES or is_other_type


def _begins(before: str, prefix: str, is_other_type: bool) -> bool:
    return before == "O" or prefix in STARTS or before in CLOSES or is_other_type


@lru_cache(maxsize=4096)
def _split(tag: str) -> tuple[str, str]:
    """Return prefix and type: 'B-per-son' is ('B', 'per-son'), 'O' is ('O', '')."""
    prefix, _, kind = tag.partition("-")
    return ("O", "") if prefix in ("O", ".") else (prefix, kind)
