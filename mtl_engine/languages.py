"""Whether texts are English, which the bundled encoder reads; nothing here needs torch."""

import re
from collections.abc import Iterable, Sequence

MULTILINGUAL = "FacebookAI/xlm-roberta-base"  # an example for texts that are not English
ENGLISH = frozenset(
    "the of and to in a is that for it as was with be by on not he i this are or his from at which "
    "but have an had they you were their one all we can her has there been if more when will would "
    "who so no what my me do does did how show your please".split()
)
ENGLISH_SHARE = 0.12  # of words; other languages share but a few of these
FEWEST_WORDS = 200
MANY = re.compile(r"multilingual|xlm|mmbert|mbert|mdeberta|rembert|labse|bge-m3", re.IGNORECASE)


def looks_english(sentences: Iterable[Sequence[str]]) -> bool:
    """Return whether texts may be English, by how many of their words every English text has.

    Where there are too few words to tell, they may be.
    """
    words = [token.lower() for tokens in sentences for token in tokens if token.isalpha()]
    if len(words) < FEWEST_WORDS:
        return True
    return sum(word in ENGLISH for word in words) >= ENGLISH_SHARE * len(words)


def is_multilingual(encoder: str) -> bool:
    """Return whether an encoder is one of many languages, by the names that such have."""
    return MANY.search(encoder) is not None
