"""Between tokens and characters: offsets are code points, and nothing is ever shifted to fit."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from annotation.formats.records import CannotWrite, Offsets, SentenceRecord
from annotation.formats.schemes import Spans


class Misaligned(ValueError):
    """Tokens or spans that do not lie where the text has them; ``index`` is the first such."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


def join_tokens(tokens: Sequence[str]) -> tuple[str, Offsets]:
    """The tokens with one space between them, and where each then lies."""
    lengths = list(map(len, tokens))
    starts = accumulate([length + 1 for length in lengths], initial=0)
    return " ".join(tokens), [[at, at + n] for at, n in zip(starts, lengths, strict=False)]


def locate_tokens(tokens: Sequence[str], text: str) -> Offsets:
    """Where each token lies in the text, with nothing but white space between; or Misaligned."""
    if text == " ".join(tokens):
        return join_tokens(tokens)[1]
    offsets = []
    at = 0
    for index, token in enumerate(tokens):
        start = text.find(token, at)
        if start == at or (start == at + 1 and text[at] == " "):
            pass
        elif start < 0 or text[at:start].strip():
            raise Misaligned(
                index, f"token {token!r} is not in the text at character {at}, which goes on "
                f"{text[at : at + 20]!r}"
            )  # fmt: skip
        at = start + len(token)
        offsets.append([start, at])
    if at < len(text) and text[at:].strip():
        raise Misaligned(
            len(tokens) - 1, f"the text goes on after the last token with {text[at : at + 20]!r}"
        )
    return offsets


def are_located(sentence: SentenceRecord) -> bool:
    """Whether the offsets follow from the tokens and the text; those of multi-words do not."""
    try:
        return locate_tokens(sentence.tokens, sentence.text) == sentence.offsets
    except Misaligned:
        return False


def check_offsets(tokens: Sequence[str], text: str, offsets: Any) -> Offsets:
    """The offsets, if they are those of the tokens; raises Misaligned.

    Words with the same offsets are those of a multi-word token, which need not be in the text.
    """
    if not isinstance(offsets, list) or len(offsets) != len(tokens):
        raise Misaligned(0, f"offsets are one [start, end] for each of {len(tokens)} tokens")
    for index, pair in enumerate(offsets):
        if not _is_pair(pair) or not 0 <= pair[0] < pair[1] <= len(text):
            raise Misaligned(
                index, f"offset {pair!r} is no [start, end] in a text of {len(text)} characters"
            )
    shared = {tuple(a) for a, b in pairwise(offsets) if a == b}
    before: list[int] = [0, 0]
    for index, (token, pair) in enumerate(zip(tokens, offsets, strict=True)):
        if pair[0] < before[1] and pair != before:
            raise Misaligned(index, f"offset {pair!r} overlaps that of the token before, {before}")
        covered = text[pair[0] : pair[1]]
        if covered != token and tuple(pair) not in shared:
            raise Misaligned(
                index, f"text[{pair[0]}:{pair[1]}] is {covered!r}, but the token is {token!r}"
            )
        before = pair
    return offsets


def snap_spans(spans: Sequence[Sequence[Any]], text: str, offsets: Offsets) -> Spans:
    """The spans in tokens of spans in characters, each [start, end, label] or with the text that
    it covers as fourth item; raises Misaligned where one does not begin and end with tokens.

    The result is in the order of the input.
    """
    first_at: dict[int, int] = {}
    end_at: dict[int, int] = {}
    for index, (start, end) in enumerate(offsets):
        first_at.setdefault(start, index)
        end_at[end] = index + 1
    snapped = []
    for index, (start, end, label, *expected) in enumerate(spans):
        if not 0 <= start < end <= len(text):
            raise Misaligned(
                index, f"text[{start}:{end}] is not within the text of {len(text)} characters; "
                "correct the offsets, which count code points"
            )  # fmt: skip
        if expected and text[start:end] != expected[0]:
            raise Misaligned(
                index, f"text[{start}:{end}] is {text[start:end]!r}, not {expected[0]!r}; correct "
                "the offsets, which count code points"
            )  # fmt: skip
        if start not in first_at or end not in end_at:
            raise Misaligned(
                index, f"text[{start}:{end}] is {text[start:end]!r}, which does not begin and end "
                f"with tokens of {text[max(0, start - 10) : end + 10]!r}; correct the offsets, or "
                "give the tokens or another tokeniser"
            )  # fmt: skip
        snapped.append([first_at[start], end_at[end], label])
    return snapped


def character_spans(spans: Spans, sentence: SentenceRecord) -> list[list[Any]]:
    """The spans in characters; raises CannotWrite if reading them would give other tokens."""
    offsets = sentence.offsets
    found = [[offsets[start][0], offsets[end - 1][1], label] for start, end, label in spans]
    if snap_spans(found, sentence.text, offsets) != [list(span) for span in spans]:
        raise CannotWrite(
            f"sentence {sentence.key or sentence.text[:40]!r}: a span begins or ends within a "
            "multi-word token, which has no place in characters; write jsonl or conllu instead"
        )
    return found


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(x) is int for x in value)
