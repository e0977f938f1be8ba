"""From text to tokens with code-point offsets: by white space, or by a language of spaCy."""

import importlib
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from annotation.formats.records import FormatError, Offsets, ReadOptions

WHITESPACE = "whitespace"
ANY = "xx"  # spaCy's rules for no language in particular
JOINER = "\u200d"
TONES = "".join(map(chr, range(0x1F3FB, 0x1F400)))  # of skin
FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # two make a flag
MARKS = ("Mn", "Mc", "Me")  # accents, vowel signs, variation selectors
# A Han or Hiragana character or a sign between them, a run of Katakana, or a run of anything else.
_ALONE = (
    "\u3001-\u3040\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20"
    "\uff3b-\uff40\uff5b-\uff65\U00020000-\U0003134f"
)
_KATAKANA = "\u30a0-\u30ff\u31f0-\u31ff"
UNSPACED = re.compile(f"[{_ALONE}]|[{_KATAKANA}]+|[^{_ALONE}{_KATAKANA}]+")
LONGEST_RUN = 20_000  # characters: spaCy's time grows with the square of a word's length

Pieces = Iterator[tuple[str, list[str], Offsets]]  # text, tokens, offsets of each sentence
Tokeniser = Callable[[str], Pieces]


class TextTooLong(ValueError):
    """A text that is longer than a language's tokeniser takes."""


def tokeniser_for(options: ReadOptions, *, default: str = WHITESPACE) -> Tokeniser:
    """What cuts a text into sentences with tokens, as the options say."""
    name = options.tokeniser or default
    if name != WHITESPACE:
        return _by_language(name, options.split_sentences)
    if options.split_sentences:
        raise FormatError(
            "Splitting into sentences needs a language: set the tokeniser to a spaCy language "
            "code such as 'en', or 'xx' for any language."
        )
    return _by_whitespace


def whitespace_tokens(text: str) -> tuple[list[str], Offsets]:
    """The runs of characters that are no white space, and where they lie."""
    tokens = text.split()
    offsets = []
    at = 0
    for token in tokens:
        start = text.index(token, at)
        at = start + len(token)
        offsets.append([start, at])
    return tokens, offsets


def _by_whitespace(text: str) -> Pieces:
    tokens, offsets = whitespace_tokens(text)
    if tokens:
        yield text, tokens, offsets


def _by_language(language: str, split: bool) -> Tokeniser:
    def tokenise(text: str) -> Pieces:
        pipeline = _pipeline(language, split)
        if len(text) > LONGEST_RUN and max(map(len, text.split()), default=0) > LONGEST_RUN:
            raise TextTooLong(
                f"more than {LONGEST_RUN:,} characters without a space, which tokeniser "
                f"'{language}' does not take; break them up, or use the tokeniser 'whitespace'"
            )
        if len(text) > pipeline.max_length:
            raise TextTooLong(
                f"a text of {len(text):,} characters, but tokeniser '{language}' takes at most "
                f"{pipeline.max_length:,}; break it into lines or rows"
            )
        document = pipeline(text) if split else pipeline.make_doc(text)
        for sentence in document.sents if split else (document[:],):
            found = [[w.idx, w.idx + len(w)] for w in sentence if not w.is_space]
            places = _whole_characters(text, found if language != ANY else _cut_runs(text, found))
            if places:
                start, end = (places[0][0], places[-1][1]) if split else (0, len(text))
                words = [text[a:b] for a, b in places]
                yield text[start:end], words, [[a - start, b - start] for a, b in places]

    return tokenise


def _whole_characters(text: str, places: Offsets) -> Offsets:
    """Join the pieces of what people see as one character: an emoji family, a flag, an accent."""
    joined: Offsets = []
    for start, end in places:
        while joined and joined[-1][1] == start < end and _goes_on(text, joined[-1][0], start):
            start += 1
            joined[-1][1] = start
        if start < end:
            joined.append([start, end])
    return joined


def _goes_on(text: str, first: int, at: int) -> bool:
    """Return whether the character at a place belongs to the one before it, begun at ``first``."""
    before, here = text[at - 1], text[at]
    if before == JOINER or here == JOINER or here in TONES or unicodedata.category(here) in MARKS:
        return True
    flags = len(text[first:at]) - len(text[first:at].rstrip(FLAG_LETTERS))
    return here in FLAG_LETTERS and flags % 2 == 1


def _cut_runs(text: str, places: Offsets) -> Offsets:
    """Cut words of scripts that put no space between words into their characters."""
    return [
        [start + match.start(), start + match.end()]
        for start, end in places
        for match in UNSPACED.finditer(text[start:end])
    ]


@lru_cache(maxsize=8)
def _pipeline(language: str, split: bool) -> Any:
    """spaCy's blank pipeline for a language, which has rules but no model."""
    spacy = _spacy()
    try:
        pipeline = spacy.blank(language)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise FormatError(
            f"Tokeniser '{language}' cannot be had: {reason} Use 'whitespace', 'xx' (any "
            "language) or a language code of spaCy such as 'en', 'de', 'zh'."
        ) from error
    if split:
        pipeline.add_pipe("sentencizer")
    return pipeline


def _spacy() -> Any:
    """spaCy, imported on first use.

    Its numeric library loads torch where torch is installed, which costs seconds and 200 MB and
    is never used by blank pipelines: torch is hidden while spaCy is imported.
    """
    if "spacy" in sys.modules or "torch" in sys.modules:
        return importlib.import_module("spacy")
    sys.modules["torch"] = None  # type: ignore[assignment]
    try:
        return importlib.import_module("spacy")
    finally:
        del sys.modules["torch"]
