"""From text to tokens and back: offsets are code points, and nothing is ever shifted to fit.

Text is cut by white space, or by a language of spaCy.
"""

import importlib
import importlib.util
import logging
import os
import re
import sys
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

from annotation.formats.columns import Spans
from annotation.formats.records import (
    CannotWrite,
    FormatError,
    Offsets,
    ReadOptions,
    SentenceRecord,
)


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
                f"with tokens of {text[max(0, start - 10) : end + 10]!r}; correct the offsets, "
                "have words cut where spans begin and end, or give the tokens or another tokeniser"
            )  # fmt: skip
        snapped.append([first_at[start], end_at[end], label])
    return snapped


def cut_tokens(
    sentence: tuple[str, list[str], Offsets], edges: Iterable[int]
) -> tuple[tuple[str, list[str], Offsets], int]:
    """The sentence with its tokens cut where an edge of a span lies in one, and how many were.

    Tokens that are not the text they stand for, as the words of a multi-word token, stay whole.
    """
    text, tokens, offsets = sentence
    wanted = sorted(set(edges))
    if not wanted:
        return sentence, 0
    new_tokens: list[str] = []
    new_offsets: Offsets = []
    n_cut = 0
    for token, (start, end) in zip(tokens, offsets, strict=True):
        inside = wanted[bisect_right(wanted, start) : bisect_left(wanted, end)]
        if not inside or text[start:end] != token:
            new_tokens.append(token)
            new_offsets.append([start, end])
            continue
        n_cut += 1
        for a, b in pairwise([start, *inside, end]):
            new_tokens.append(text[a:b])
            new_offsets.append([a, b])
    return (text, new_tokens, new_offsets), n_cut


def character_spans(spans: Spans, sentence: SentenceRecord) -> list[list[Any]]:
    """The spans in characters; raises CannotWrite if reading them would give other tokens."""
    offsets = sentence.offsets
    if any(len(span) > 3 for span in spans):
        raise CannotWrite(
            f"sentence {sentence.key or sentence.text[:40]!r}: a span in several pieces, which has "
            "no place here; write jsonl, csv or brat instead"
        )
    found = [[offsets[start][0], offsets[end - 1][1], label] for start, end, label in spans]
    if snap_spans(found, sentence.text, offsets) != [list(span) for span in spans]:
        raise CannotWrite(
            f"sentence {sentence.key or sentence.text[:40]!r}: a span begins or ends within a "
            "multi-word token, which has no place in characters; write jsonl or conllu instead"
        )
    return found


def replace_words(
    text: str,
    offsets: Sequence[list[int]],
    words: tuple[int, int],
    forms: Sequence[str],
    *,
    is_multiword: bool = False,
) -> tuple[str, Offsets]:
    """The text and where its words lie, with new words in the place of those from start to end.

    Words that spell the same text leave it as it is, others are written into it, unless they are
    the words of one multi-word token; raises Misaligned where only some of such words are taken.
    """
    (start, end), old = words, [list(pair) for pair in offsets]
    around = _shared(old, start, end)
    if around is not None:  # some words of one multi-word token: all lie where it lies
        return text, [*old[:start], *([*around] for _ in forms), *old[end:]]
    for edge in (start, end):
        if 0 < edge < len(old) and old[edge - 1] == old[edge]:
            message = "Some of these words are a multi-word token together: take all of them."
            raise Misaligned(edge, message)
    if start < end:
        first, last = old[start][0], old[end - 1][1]
    else:
        first = last = old[start - 1][1] if start else 0
    surface = text[first:last]
    if is_multiword and surface and forms:
        return text, [*old[:start], *([first, last] for _ in forms), *old[end:]]
    found = _locate(forms, surface)
    if found is not None and (forms or not surface):
        places = [[first + a, first + b] for a, b in found]
        return text, [*old[:start], *places, *old[end:]]
    return _rewrite(text, old, words, (first, last), forms)


def _rewrite(
    text: str,
    old: Offsets,
    words: tuple[int, int],
    place: tuple[int, int],
    forms: Sequence[str],
) -> tuple[str, Offsets]:
    """Return the text with other words written into it, and where all words lie then."""
    (start, end), (first, last) = words, place
    new = " ".join(forms)
    if not new:  # one of the spaces around it goes along
        if first and text[first - 1 : first] == " ":
            first -= 1
        elif text[last : last + 1] == " ":
            last += 1
    elif start == end:
        new = f" {new}" if start else f"{new} "
    shift = len(new) - (last - first)
    at = first + len(new) - len(new.lstrip())
    places = []
    for form in forms:
        places.append([at, at + len(form)])
        at += len(form) + 1
    behind = [[a + shift, b + shift] for a, b in old[end:]]
    return text[:first] + new + text[last:], [*old[:start], *places, *behind]


def _shared(offsets: Sequence[list[int]], start: int, end: int) -> list[int] | None:
    """Return the place of the multi-word token of which only some words are changed."""
    touched = offsets[max(0, start - (start == end)) : end + (start == end)]
    if len(touched) < 1 + (start == end) or any(pair != touched[0] for pair in touched):
        return None
    size = sum(pair == touched[0] for pair in offsets)
    return list(touched[0]) if size > max(1, end - start) else None


def _locate(forms: Sequence[str], surface: str) -> list[tuple[int, int]] | None:
    """Return where words lie in a text that has nothing else but spaces, None if they do not."""
    at, found = 0, []
    for form in forms:
        while at < len(surface) and surface[at].isspace():
            at += 1
        if not surface.startswith(form, at):
            return None
        found.append((at, at + len(form)))
        at += len(form)
    return found if not surface[at:].strip() else None


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(x) is int for x in value)


WHITESPACE = "whitespace"
ANY = "xx"  # spaCy's rules for no language in particular
JOINER = "\u200d"
TONES = "".join(map(chr, range(0x1F3FB, 0x1F400)))  # of skin
FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # two make a flag
PICTURE = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]")
FLAG_TAGS = "".join(map(chr, range(0xE0020, 0xE0080)))  # invisible: of England, of Wales
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
        if split:
            _mend_borders(document, needs_space=language == "ko")
        for sentence in document.sents if split else (document[:],):
            found = [[w.idx, w.idx + len(w)] for w in sentence if not w.is_space]
            places = _whole_characters(text, found if language != ANY else _cut_runs(text, found))
            if places:
                start, end = (places[0][0], places[-1][1]) if split else (0, len(text))
                words = [text[a:b] for a, b in places]
                yield text[start:end], words, [[a - start, b - start] for a, b in places]

    return tokenise


def _mend_borders(document: Any, *, needs_space: bool) -> None:
    """Let sentences begin with the sign that opens them, which rules give to the one before.

    Where borders need a space, what follows a quotation at once goes on with its sentence.
    """
    for word in document[1:]:
        if not word.is_sent_start:
            continue
        before = word.nbor(-1)
        if before.is_punct and not before.whitespace_ and before.i and before.nbor(-1).whitespace_:
            word.is_sent_start, before.is_sent_start = False, True
        elif needs_space and not before.whitespace_:
            word.is_sent_start = False


def _whole_characters(text: str, places: Offsets) -> Offsets:
    """Join the pieces of what people see as one character: an emoji family, a flag, an accent.

    Such pictures are words of their own, also where a tokeniser takes a row of them for one.
    """
    joined: Offsets = []
    for start, end in _cut_pictures(text, places):
        while joined and joined[-1][1] == start < end and _goes_on(text, joined[-1][0], start):
            start += 1
            joined[-1][1] = start
        if start < end:
            joined.append([start, end])
    return joined


def _cut_pictures(text: str, places: Offsets) -> Iterator[tuple[int, int]]:
    for start, end in places:
        found = [at for match in PICTURE.finditer(text, start, end) for at in match.span()]
        yield from pairwise(sorted({start, *found, end}))


def _goes_on(text: str, first: int, at: int) -> bool:
    """Return whether the character at a place belongs to the one before it, begun at ``first``."""
    before, here = text[at - 1], text[at]
    if JOINER in (before, here) or here in TONES or here in FLAG_TAGS:
        return True
    if unicodedata.category(here) in MARKS:
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


# What spaCy needs to cut a language into words, beyond itself: pip install 'tandem[languages]'.
PACKAGES = {"ja": "sudachipy sudachidict_core", "th": "pythainlp", "vi": "pyvi", "zh": "jieba"}
END_OF_QUOTE = r"""[.!?…]+(?=["'”’」』])"""
COMMA = r"(?<!\d),|,(?!\d)"  # but not that of 3,000
EXTRA = "pip install 'tandem[languages]'"


def _tokeniser_settings(language: str) -> dict[str, Any]:
    """How spaCy is told to cut words where its own way needs more than there is, or is coarse.

    Chinese is cut into words if jieba is installed, else into characters; Korean, which has spaces
    between words, by rules instead of a dictionary program.
    """
    if language == "zh" and importlib.util.find_spec("jieba") is not None:
        _read_dictionary(importlib.import_module("jieba"))
        return {"nlp": {"tokenizer": {"segmenter": "jieba"}}}
    if language == "th":
        os.environ.setdefault("PYTHAINLP_READ_ONLY", "1")  # it makes a folder in the home else
    if language == "ko":
        return {"nlp": {"tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}}
    return {}


def _read_dictionary(jieba: Any) -> None:
    """Have jieba read its own dictionary.

    Left alone it unmarshals a file of the machine's temporary directory, which anybody may have
    put there, and tells of it.
    """
    jieba.setLogLevel(logging.WARNING)
    words = jieba.dt
    if not words.initialized:
        words.FREQ, words.total = words.gen_pfdict(words.get_dict_file())
        words.initialized = True


@lru_cache(maxsize=8)
def _pipeline(language: str, split: bool) -> Any:
    """spaCy's blank pipeline for a language, which has rules but no model."""
    spacy = _spacy()
    try:
        pipeline = spacy.blank(language, config=_tokeniser_settings(language))
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        needed = PACKAGES.get(language)
        if needed and isinstance(error, ImportError):
            raise FormatError(
                f"Tokeniser '{language}' needs {needed}, which is not installed here: {EXTRA}, or "
                f"pip install {needed}. Until then use 'xx', which cuts scripts without spaces "
                "into characters, or import words that are cut already."
            ) from error
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise FormatError(
            f"Tokeniser '{language}' cannot be had: {reason} Use 'whitespace', 'xx' (any "
            "language) or a language code of spaCy such as 'en', 'de', 'zh'."
        ) from error
    if language == "ko":  # what is quoted has a particle behind the closing sign, not a space
        from spacy.util import compile_infix_regex

        others = [infix for infix in pipeline.Defaults.infixes if infix != ","]
        infixes = [*others, COMMA, END_OF_QUOTE]
        pipeline.tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
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
