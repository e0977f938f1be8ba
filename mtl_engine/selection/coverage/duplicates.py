"""What nobody is asked twice, or at all: sentences that say the same, and mere residue."""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.order import Rows

Keys: TypeAlias = NDArray[np.uint64]
Flags: TypeAlias = NDArray[np.bool_]
REPEATED = -1  # group of sentences that repeat a labelled one
RESIDUE = -2  # group of fragments: nobody learns from "Yo," or "RE:???"; below 0 = not asked
LEAST_WORDS = 3  # with a letter, of a sentence that is no fragment


def fragments(sentences: Iterable[Sequence[str]], *, least_words: int = LEAST_WORDS) -> Flags:
    """Return which sentences (n,) are mere residue: fewer words with a letter than that.

    Addresses and links are no words. Where most sentences are like that, the text is made of them,
    and none is residue.
    """
    found = np.fromiter((_n_words(tokens) < least_words for tokens in sentences), dtype=bool)
    return found if 2 * found.sum() <= len(found) else np.zeros_like(found)


def duplicate_groups(
    sentences: Iterable[Sequence[str]], labelled: Iterable[Sequence[str]] = ()
) -> Rows:
    """Return a number per sentence (n,), equal for sentences that say the same.

    Sentences are compared without case, digits and punctuation, so that dates and signatures of
    one template are duplicates. REPEATED is the group of those that repeat a labelled one.
    """
    keys = text_keys(sentences)
    return np.where(np.isin(keys, text_keys(labelled)), REPEATED, group_keys(keys))


def text_keys(sentences: Iterable[Sequence[str]]) -> Keys:
    """Return a number per sentence (n,), equal for duplicates and else drawn as if by chance."""
    return np.fromiter((_key(tokens) for tokens in sentences), dtype=np.uint64)


def group_keys(keys: Keys) -> Rows:
    """Return the group of each key (n,), numbered in the order of first sight."""
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[group]


def _key(tokens: Sequence[str]) -> int:
    text = re.sub(r"\d+", "0", " ".join(tokens).casefold())
    gist = re.sub(r"[\W_]+", " ", text).strip() or text
    return int.from_bytes(blake2b(gist.encode(), digest_size=8).digest())


def _n_words(tokens: Sequence[str]) -> int:
    return sum(
        any(map(str.isalpha, token)) and "@" not in token and "://" not in token for token in tokens
    )
