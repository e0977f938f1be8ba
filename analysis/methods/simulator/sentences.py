"""One label per token, from spans or tags of a sentence."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from analysis.errors import AnalysisError
from mtl_engine.kinds import KINDS


class Labelled(Protocol):
    """A sentence with layers of labels."""

    @property
    def tokens(self) -> Sequence[str]: ...
    @property
    def layers(self) -> Mapping[str, Any]: ...


def token_labels(sentence: Labelled, layer: str) -> list[str]:
    """Return the labels of a tags layer, or IOB2 tags of a spans layer."""
    if layer not in sentence.layers:
        known = ", ".join(sentence.layers) or "none"
        raise AnalysisError(f"A sentence has no layer '{layer}'. Known: {known}.")
    found = sentence.layers[layer]
    kind = KINDS[found.kind]
    if kind.labels_on != "words":
        fitting = " or ".join(k.name for k in KINDS.annotated() if k.labels_on == "words")
        raise AnalysisError(f"Layer '{layer}' is of kind {found.kind}: use {fitting}.")
    if not kind.marks_spans:
        return kind.labels_of(found.value)
    tags = ["O"] * len(sentence.tokens)
    for start, end, label in sorted(found.value, key=lambda s: (s[0] - s[1], s[0])):
        if all(tag == "O" for tag in tags[start:end]):  # of overlapping spans the longest
            tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return tags


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
