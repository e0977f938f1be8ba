"""Files with one JSON object a line, and what formats made of JSON have in common."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from annotation.answers import AnswerRules, check_answer, normalise_answer
from annotation.formats.offsets import (
    Misaligned,
    are_located,
    check_offsets,
    join_tokens,
    locate_tokens,
)
from annotation.formats.opening import Source
from annotation.formats.records import Layer, Offsets, Problem, SentenceRecord
from annotation.formats.tokenising import TextTooLong, Tokeniser
from mtl_engine.types import KINDS, Kind

_KIND_OF_WIDTH: dict[int, Kind] = {2: "tree", 3: "spans", 5: "relations"}
_RULES = {kind: AnswerRules(kind, labels=(), is_open=True, is_nested=True) for kind in KINDS}


class BadValue(ValueError):
    """A value of a JSON object that cannot be read; the message says which and the remedy."""


def objects(source: Source) -> Iterator[tuple[int, dict[str, Any]] | Problem]:
    """Every line's object with its line number; blank lines are skipped."""
    for number, line in enumerate(source.lines(), 1):
        if not line or line.isspace():
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield source.problem(number, f"no JSON ({error}): {line[:60]!r}; correct the line")
            continue
        if not isinstance(value, dict):
            yield source.problem(
                number, f"a JSON object is expected on each line, not {line[:60]!r}; correct it"
            )
        elif "\\u0000" in line and has_nul(value):
            yield source.problem(number, "a NUL character, which no text has; remove \\u0000")
        else:
            yield number, value


def has_nul(value: Any) -> bool:
    """Whether a NUL character, which databases refuse, is in a JSON value."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(has_nul(key) or has_nul(item) for key, item in value.items())
    return isinstance(value, list) and any(map(has_nul, value))


def key_of(row: Mapping[str, Any], name: str = "id") -> str:
    """The sentence's id, "" if there is none; numbers become their digits."""
    key = row.get(name, "")
    if key is None:
        return ""
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise BadValue(f"{name} {key!r} is neither a string nor a number; correct it")
    return str(key)


def text_key_of(row: Mapping[str, Any], stated: str) -> str:
    """The key that the text is under: the stated one, or text or sentence."""
    if stated or "text" in row or "sentence" not in row:
        return stated or "text"
    return "sentence"


def pieces_of(
    row: Mapping[str, Any], tokenise: Tokeniser, text_key: str = "text"
) -> list[tuple[str, list[str], Offsets]]:
    """The text, tokens and offsets of a row: one sentence, or several if a tokeniser splits.

    Tokens that the row brings are taken as they are.
    """
    text = _text(row, text_key)
    tokens = row.get("tokens")
    if tokens is None:
        if text is None:
            raise BadValue(
                f"no text under {text_key!r}, nor tokens, among {', '.join(row)[:200]!r}"
            )
        try:
            found = list(tokenise(text))
        except TextTooLong as refusal:
            raise BadValue(str(refusal)) from refusal
        if not found:
            raise BadValue(f"text {text[:40]!r} has no tokens; remove the row")
        return found
    if not isinstance(tokens, list) or not _are_words(tokens):
        raise BadValue(f"tokens {str(tokens)[:60]} are not a list of words; correct them")
    if text is None:
        text, offsets = join_tokens(tokens)
        return [(text, tokens, offsets)]
    try:
        if row.get("offsets") is not None:
            return [(text, tokens, check_offsets(tokens, text, row["offsets"]))]
        return [(text, tokens, locate_tokens(tokens, text))]
    except Misaligned as miss:
        raise BadValue(f"{miss}; correct the tokens or leave them out") from miss


def _text(row: Mapping[str, Any], key: str) -> str | None:
    text = row.get(key)
    if text is None or isinstance(text, str):
        return text
    raise BadValue(f"{key} is {str(text)[:40]!r}, not a string; correct it")


def _are_words(tokens: list[Any]) -> bool:
    return not set(map(type, tokens)) - {str} and all(map(str.strip, tokens))


def sentence_fields(sentence: SentenceRecord, text_key: str = "text") -> dict[str, Any]:
    """The text and tokens of a sentence, and its offsets if these do not follow from them."""
    fields: dict[str, Any] = {text_key: sentence.text, "tokens": sentence.tokens}
    if not are_located(sentence):
        fields["offsets"] = sentence.offsets
    return fields


def layer_of(
    name: str,
    kind: Kind,
    value: Any,
    tokens: Sequence[str],
    *,
    parent: str | None = None,
    parent_spans: Sequence[Sequence[Any]] | None = None,
) -> Layer:
    """A layer with a checked answer in canonical order; raises BadValue."""
    for problem in check_answer(_RULES[kind], value, tokens, parent_spans):
        place = f"{name}[{problem.path}]" if problem.path else name
        raise BadValue(f"{place}: {problem.message} Correct the answer.")
    return Layer(kind, normalise_answer(kind, value), parent)


def kind_of(name: str, value: Any) -> Kind:
    """The kind of answer that a value looks like; an empty list is spans."""
    if isinstance(value, str):
        return "classes"
    if isinstance(value, list):
        if not value:
            return "spans"
        if isinstance(value[0], str):
            return "tags"
        if isinstance(value[0], list) and len(value[0]) in _KIND_OF_WIDTH:
            return _KIND_OF_WIDTH[len(value[0])]
    raise BadValue(
        f"{name}: {str(value)[:40]} is no answer: a class is a string, tags are strings, spans "
        "[start, end, label], trees [head, label], relations [s1, e1, s2, e2, label]"
    )


def storable(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields, if they can be stored and written again; raises BadValue."""
    try:
        orjson.dumps(fields)
    except TypeError as error:
        raise BadValue(f"{', '.join(fields)[:80]} cannot be stored ({error}); remove it") from error
    return fields


def dump_line(value: Any) -> str:
    """A value as one line of JSON."""
    return orjson.dumps(value).decode() + "\n"
