"""Files of JSON, one object per line or one long array, and what annotation servers write alike.

Those are spans with ids, and links between them, in characters.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import orjson

from annotation.formats.offsets import (
    Misaligned,
    TextTooLong,
    Tokeniser,
    are_located,
    check_offsets,
    join_tokens,
    locate_tokens,
    snap_spans,
)
from annotation.formats.records import (
    LAYER_KINDS,
    Layer,
    Offsets,
    Problem,
    SentenceRecord,
    layer_spec,
)
from annotation.formats.source import Source
from mtl_engine.kinds import KINDS
from mtl_engine.kinds.checks import is_row
from mtl_engine.kinds.relations import RELATION

_KIND_OF_WIDTH = {2: "tree", 3: "spans", 5: "relations"}
_ANY = {  # what any task of a kind would take
    kind: replace(layer_spec("", kind), is_open=True, is_nested=True) for kind in LAYER_KINDS
}

_SPACE = re.compile(r"[ \t\r\n]*")
_NEAR_END = 16  # a cut number, literal or escape fails this close to the end of what was read


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
    kind: str,
    value: Any,
    tokens: Sequence[str],
    *,
    parents: Sequence[str] = (),
    known: Mapping[str, Layer] | None = None,
) -> Layer:
    """A layer with a checked answer in canonical order; raises BadValue.

    ``parents`` are the layers whose spans it links, found among the ``known`` ones. Links that end
    outside of the sentence are for whoever knows its document to check.
    """
    spec = replace(_ANY[kind], parent=parents[0]) if parents else _ANY[kind]
    if len(parents) > 1:
        spec = replace(spec, second_parent=parents[1])
    spans = {n: one.value for n, one in (known or {}).items() if one.kind == "spans"}
    here = value
    if kind == "relations" and isinstance(value, list):
        here = [link for link in value if not _leaves(link, len(tokens))]
    for problem in spec.check(here, tokens, spec.spans_among(spans)):
        place = f"{name}[{problem.path}]" if problem.path else name
        raise BadValue(f"{place}: {problem.message} Correct the answer.")
    first, second = (*parents, None, None)[:2]
    return Layer(kind, KINDS[kind].canonical(value), first, second_parent=second)


def _leaves(link: Any, n_tokens: int) -> bool:
    """Whether a link that is one begins in a sentence and ends outside of it, or the reverse."""
    return is_row(link, RELATION) and not 0 <= min(link[:4]) < max(link[:4]) <= n_tokens


def kind_of(name: str, value: Any, labels_are: str = "tags") -> str:
    """The kind of answer that a value looks like; an empty list is spans."""
    if isinstance(value, str):
        return "classes"
    if isinstance(value, list):
        if not value:
            return "spans"
        if isinstance(value[0], str):
            return labels_are
        if isinstance(value[0], list) and value[0] and set(map(type, value[0])) == {str}:
            return "graph"
        if isinstance(value[0], list) and len(value[0]) in _KIND_OF_WIDTH:
            return _KIND_OF_WIDTH[len(value[0])]
    raise BadValue(
        f"{name}: {str(value)[:40]} is no answer: a class is a string, tags are strings, spans "
        "[start, end, label], trees [head, label], relations [s1, e1, s2, e2, label], graphs "
        '["dependent", "head", "label"]'
    )


def linking_kind_of(value: Any) -> str:
    """The kind of answer that a value looks like whose parent is known; an empty list is links."""
    is_short = bool(value) and isinstance(value, list) and all(len(row) == 3 for row in value)
    return "attributes" if is_short else "relations"


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


def elements(source: Source) -> Iterator[tuple[int, Any]]:
    """Every element of the file's array with the line it begins on; one object counts as one.

    Gives up the file where it is no JSON.
    """
    yield from _Reader(source).elements()


class _Reader:
    """A window on the text that moves over the array."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._chunks = source.chunks()
        self._text = ""
        self._at = 0
        self._line = 1
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)

    def elements(self) -> Iterator[tuple[int, Any]]:
        first = self._peek()
        if first == "{":
            yield self._element()
        elif first == "[":
            self._step()
            while self._peek() not in ("]", ""):
                yield self._element()
                if self._peek() == ",":
                    self._step()
                elif self._peek() != "]":
                    self._refuse(f"no , or ] after an element: {self._text[self._at :][:20]!r}")
            if self._peek() == "":
                self._refuse("the array does not end; the file was cut")
            self._step()
        elif first:
            self._refuse(f"a JSON array or object is expected, not {self._text[:20]!r}")
        if self._peek():
            self._refuse(f"more after the end: {self._text[self._at :][:20]!r}")

    def _peek(self) -> str:
        """The next character that is no white space, "" at the end."""
        while True:
            end = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            self._move(end)
            if self._at < len(self._text) or not self._read_on(1):
                return self._text[self._at : self._at + 1]

    def _step(self) -> None:
        self._at += 1

    def _move(self, to: int) -> None:
        self._line += self._text.count("\n", self._at, to)
        self._at = to

    def _element(self) -> tuple[int, Any]:
        most = self._source.options.limits.item_characters
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated") or (
                    error.pos >= len(self._text) - _NEAR_END
                )
                size = len(self._text) - self._at
                if size > most:
                    self._refuse(f"an element of more than {most:,} characters; split it")
                if not is_cut or not self._read_on(size):
                    self._move(max(self._at, min(error.pos, len(self._text))))
                    self._refuse(f"no JSON ({error.msg}): {self._text[self._at :][:20]!r}")
                continue
            except (ValueError, RecursionError) as error:
                self._refuse(f"an element that cannot be read ({error})")
            line, start = self._line, self._at
            self._check(value, self._text[start:end])
            self._move(end)
            return line, value

    def _check(self, value: Any, text: str) -> None:
        if "\\u0000" in text and has_nul(value):
            self._refuse("a NUL character, which no text has")
        if "\\ud" in text or "\\uD" in text:
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError:
                self._refuse("half a surrogate pair (\\ud800 to \\udfff), which is no character")

    def _read_on(self, size: int) -> bool:
        """Whether there was more text; drops what is behind and reads ``size`` more characters."""
        parts = [self._text[self._at :]]
        self._at = 0
        found = 0
        for chunk in self._chunks:
            parts.append(chunk)
            found += len(chunk)
            if found >= size:
                break
        self._text = "".join(parts)
        return found > 0

    def _refuse(self, message: str) -> NoReturn:
        self._source.stop(self._line, f"{message}; correct the file")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


@dataclass(frozen=True)
class Region:
    """A span in characters with the id that links name it by; ``text`` is what it should cover.

    ``more`` are the further pieces of a span in several; its text is then that of all of them.
    """

    id: Any
    start: int
    end: int
    label: str
    text: str | None = None
    more: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Link:
    """A directed link between the regions of two ids."""

    source: Any
    target: Any
    label: str
    id: Any = None


def spans_layer(
    name: str, regions: Sequence[Region], sentence: tuple[str, list[str], Offsets]
) -> Layer:
    """The spans in tokens of regions; one region that is there twice is one span."""
    text, tokens, offsets = sentence
    spans = _snapped(name, regions, text, offsets)
    distinct = [list(span) for span in dict.fromkeys(map(tuple, spans))]
    return layer_of(name, "spans", distinct, tokens)


def region_words(region: Region, text: str, offsets: Offsets) -> list[Any]:
    """The span in tokens of a region, [start, end, ..., label]; raises BadValue."""
    return _snapped("entities", [region], text, offsets)[0]


def relations_layer(
    name: str,
    links: Iterable[Link],
    parent: str,
    regions: Sequence[Region],
    sentence: tuple[str, list[str], Offsets],
) -> Layer:
    """The relations in tokens of links between regions."""
    text, tokens, offsets = sentence
    spans = _snapped(parent, regions, text, offsets)
    span_of = {region.id: span for region, span in zip(regions, spans, strict=True)}
    found = []
    for link in links:
        for end in (link.source, link.target):
            if end not in span_of:
                raise BadValue(f"{name}: {link.label!r} links {end!r}, which is no span; remove it")
        source, target = span_of[link.source], span_of[link.target]
        found.append([*source[:2], *target[:2], link.label])
    distinct = [list(item) for item in dict.fromkeys(map(tuple, found))]
    known = {parent: Layer("spans", spans)}
    return layer_of(name, "relations", distinct, tokens, parents=[parent], known=known)


@dataclass(frozen=True)
class Mark:
    """A label of the region of an id."""

    target: Any
    label: str
    id: Any = None


def attributes_layer(
    name: str,
    marks: Iterable[Mark],
    parent: str,
    regions: Sequence[Region],
    sentence: tuple[str, list[str], Offsets],
) -> Layer:
    """The attributes in tokens of marked regions."""
    text, tokens, offsets = sentence
    spans = _snapped(parent, regions, text, offsets)
    span_of = {region.id: span for region, span in zip(regions, spans, strict=True)}
    found = []
    for mark in marks:
        if mark.target not in span_of:
            raise BadValue(f"{name}: {mark.label!r} is of {mark.target!r}, which is no span")
        found.append([*span_of[mark.target][:2], mark.label])
    distinct = [list(item) for item in dict.fromkeys(map(tuple, found))]
    known = {parent: Layer("spans", spans)}
    return layer_of(name, "attributes", distinct, tokens, parents=[parent], known=known)


def answers_by_id(
    regions: Sequence[Region],
    links: Iterable[Link],
    text: str,
    offsets: Offsets,
    marks: Iterable[Mark] = (),
) -> dict[Any, list[Any]]:
    """The span, relation or attribute in tokens of each id."""
    spans = _snapped("", regions, text, offsets)
    found = {region.id: span for region, span in zip(regions, spans, strict=True)}
    for link in links:
        found[link.id] = [*found[link.source][:2], *found[link.target][:2], link.label]
    for mark in marks:
        found[mark.id] = [*found[mark.target][:2], mark.label]
    return found


def _snapped(name: str, regions: Sequence[Region], text: str, offsets: Offsets) -> list[list[Any]]:
    pieces = [
        [start, end, region.label, *([] if region.text is None or region.more else [region.text])]
        for region in regions
        for start, end in ((region.start, region.end), *region.more)
    ]
    try:
        snapped = iter(snap_spans(pieces, text, offsets))
    except Misaligned as miss:
        raise BadValue(f"{name}: {miss}") from miss
    return [joined([next(snapped) for _ in range(1 + len(r.more))], r.label) for r in regions]


def joined(pieces: Iterable[Sequence[Any]], label: str) -> list[Any]:
    """One span of its pieces in tokens, [start, end, ...] each; those that touch are one."""
    places: list[int] = []
    for start, end, *_ in sorted(pieces, key=lambda piece: piece[0]):
        if places and start <= places[-1]:
            places[-1] = max(places[-1], end)
        else:
            places += [start, end]
    return [*places, label]
