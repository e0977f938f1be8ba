"""IO labels from and to IOB2: the paper trains on IO and scores against IOB2."""

from collections.abc import Sequence


def to_io(tags: Sequence[str]) -> list[str]:
    """Return tags without the mark of a beginning: B-PER and I-PER become I-PER."""
    return [f"I-{tag[2:]}" if tag.startswith("B-") else tag for tag in tags]


def from_io(tags: Sequence[str]) -> list[str]:
    """Return IOB2 tags; neighbours of one type are one entity, as IO cannot tell them apart."""
    result = []
    before = "O"
    for tag in tags:
        is_inside = tag.startswith(("I-", "B-"))
        starts = is_inside and (tag.startswith("B-") or before[2:] != tag[2:])
        result.append(f"B-{tag[2:]}" if starts else tag)
        before = tag if is_inside else "O"
    return result
