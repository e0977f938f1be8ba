"""Phrases of the demo's grammar: words with their parts of speech and inner structure."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from annotation.demo import lexicon


@dataclass(frozen=True)
class Word:
    """A word of a phrase; ``head`` is its head's place in the phrase, None at the top."""

    form: str
    pos: str
    head: int | None
    relation: str


def person(rng: Random) -> list[Word]:
    """Return a name: first and last, or the last name alone."""
    last = rng.choice(lexicon.SURNAMES)
    if rng.random() < 0.3:
        return [Word(last, "PROPN", None, "")]
    first = rng.choice(lexicon.FIRST_NAMES)
    return [Word(first, "PROPN", None, ""), Word(last, "PROPN", 0, "flat")]


def city(rng: Random) -> list[Word]:
    """Return a place of one or two words."""
    name = rng.choice(lexicon.CITIES)
    if rng.random() < 0.2:
        prefix = rng.choice(lexicon.CITY_PREFIXES)
        return [Word(prefix, "PROPN", 1, "compound"), Word(name, "PROPN", None, "")]
    return [Word(name, "PROPN", None, "")]


def organisation(rng: Random) -> list[Word]:
    """Return an organisation, at times named after a person or a place."""
    tail = rng.choice(lexicon.ORG_TAILS)
    stems = [rng.choice(lexicon.ORG_STEMS + lexicon.CITIES)]
    if rng.random() < 0.25:
        stems.append(rng.choice(lexicon.SURNAMES))
    words = [Word(stem, "PROPN", len(stems), "compound") for stem in stems]
    return [*words, Word(tail, "PROPN", None, "")]


def airline(rng: Random) -> list[Word]:
    """Return an airline, with or without its last word."""
    stem = rng.choice(lexicon.AIRLINES)
    if rng.random() < 0.5:
        return [Word(stem, "PROPN", None, "")]
    return [Word(stem, "PROPN", 1, "compound"), Word("Airways", "PROPN", None, "")]


def date(rng: Random) -> list[Word]:
    """Return a day of the week or a day of a month."""
    kind = rng.random()
    if kind < 0.45:
        return [Word(rng.choice(lexicon.DAYS), "PROPN", None, "")]
    if kind < 0.6:
        return [Word("next", "ADJ", 1, "amod"), Word(rng.choice(lexicon.DAYS), "PROPN", None, "")]
    month = rng.choice(lexicon.MONTHS)
    if kind < 0.75:
        return [Word(month, "PROPN", None, "")]
    return [Word(month, "PROPN", None, ""), Word(str(rng.randint(1, 28)), "NUM", 0, "nummod")]


def time(rng: Random) -> list[Word]:
    """Return a time of day."""
    if rng.random() < 0.4:
        return [Word(rng.choice(lexicon.PARTS_OF_DAY), "NOUN", None, "")]
    hour, half = rng.choice(lexicon.NUMBERS[:10]), rng.choice(("am", "pm"))
    return [Word(hour, "NUM", None, ""), Word(half, "NOUN", 0, "nmod:unmarked")]


def money(rng: Random) -> list[Word]:
    """Return an amount of money."""
    amount = rng.choice(lexicon.NUMBERS)
    scale = rng.choice(("million", "hundred", "thousand"))
    return [
        Word(amount, "NUM", 1, "compound"),
        Word(scale, "NUM", 2, "nummod"),
        Word("crowns", "NOUN", None, ""),
    ]


def product(rng: Random) -> list[Word]:
    """Return a thing with its determiner and perhaps an adjective."""
    noun = rng.choice(lexicon.PRODUCTS)
    if rng.random() < 0.5:
        return [Word("the", "DET", 1, "det"), Word(noun, "NOUN", None, "")]
    adjective = rng.choice(lexicon.ADJECTIVES)
    return [
        Word("a", "DET", 2, "det"),
        Word(adjective, "ADJ", 2, "amod"),
        Word(noun, "NOUN", None, ""),
    ]


def title(rng: Random) -> list[Word]:
    """Return somebody's office."""
    return [Word(rng.choice(lexicon.TITLES), "NOUN", None, "")]


def room(rng: Random) -> list[Word]:
    """Return a room to book."""
    return _noun_phrase(rng.choice(lexicon.ROOMS))


def meal(rng: Random) -> list[Word]:
    """Return a meal on board."""
    return _noun_phrase(rng.choice(lexicon.MEALS))


def cabin(rng: Random) -> list[Word]:
    """Return a class of travel."""
    return [
        Word(rng.choice(lexicon.CLASSES), "NOUN", 1, "compound"),
        Word("class", "NOUN", None, ""),
    ]


def _noun_phrase(text: str) -> list[Word]:
    *before, noun = text.split()
    last = len(before)
    words = [
        Word(form, "DET", last, "det") if form == "a" else Word(form, "ADJ", last, "amod")
        for form in before
    ]
    return [*words, Word(noun, "NOUN", None, "")]


PHRASES: dict[str, Callable[[Random], list[Word]]] = {
    "PERSON": person,
    "PLACE": city,
    "ORG": organisation,
    "AIRLINE": airline,
    "DATE": date,
    "TIME": time,
    "MONEY": money,
    "PRODUCT": product,
    "TITLE": title,
    "ROOM": room,
    "MEAL": meal,
    "CABIN": cabin,
}
