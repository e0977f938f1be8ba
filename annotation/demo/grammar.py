"""Sentences with all their answers, drawn from the templates."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from annotation.demo.templates import Template

PHRASE = re.compile(r"(\w+)=\{([^:}]*):(-?)([A-Z]+)\}/([^>\s]+)>(\w+)")
WORD = re.compile(r"(?:(\w+)=)?([^/\s=]+)/([A-Z]+)/([^>\s]+)(?:>(\w+))?")
FIRST_NAMES = (
    "Amara Bruno Chen Dalia Emre Farah Goran Hana Idris Jana Kofi Leila Milan Nadia Omar Petra "
    "Quinn Rosa Samir Tove Uma Viktor Wren Yara Zeno Sydney Austin Florence Carson Lin"
).split()
SURNAMES = (
    "Abara Brandt Castell Dorn Eklund Farkas Grau Holm Ibsen Jansen Kovac Lund Marsh Novak Okafor "
    "Pereira Quist Rahal Sato Thorne Ueda Vance Weiss Yilmaz Zoric Lincoln Houston Hamilton Lagos "
    "Verona"
).split()
CITIES = (
    "Arden Bellport Calder Dunmore Eastvale Farrow Glenmoor Harwick Istria Kestrel Lindholm Marrow "
    "Norvik Oakham Pinecrest Ravensby Stonehaven Tarn Velden Westmere Sydney Austin Florence "
    "Lincoln Houston Hamilton Lagos Verona"
).split()
# Names by two parts, of which some are a person's, some a place's: only the context tells.
NAME_STARTS = "Ash Bran Carl Dal Ever Fair Hal Kel Lang Mor Nor Rad Sel Thorn Wake Win".split()
NAME_ENDS = (
    "berg bury dale field ford ham ley man more ridge stead ton well wick wood worth".split()
)
CITY_PREFIXES = ("New", "Port", "San", "Upper", "North")
ORG_STEMS = (
    "Aster Borealis Cobalt Delta Ember Falcon Granite Harbor Ionic Juniper Keystone Lumen Meridian "
    "Nimbus Orchard Pioneer Quarry Redwood Summit Tidal Union Vertex Willow Zenith Lincoln Kestrel"
).split()
ORG_TAILS = ("Airways", "Bank", "Group", "Energy", "Foods", "Motors", "Labs", "Council", "Union")
AIRLINES = ("Falcon", "Borealis", "Meridian", "Nimbus", "Delta", "Zenith", "Tidal", "Willow")
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August October December".split()
PARTS_OF_DAY = ("morning", "afternoon", "evening", "night")
NUMBERS = "two three four five six seven eight nine ten twelve fifteen twenty".split()
TITLES = ("minister", "director", "mayor", "engineer", "lawyer", "coach", "chairman", "editor")
PRODUCTS = ("ferry", "bridge", "turbine", "clinic", "stadium", "pipeline", "museum", "library")
ADJECTIVES = ("new", "costly", "long", "disputed", "modern", "late", "small", "public")
MEALS = ("breakfast", "lunch", "dinner", "a vegetarian meal")
ROOMS = ("a single room", "a double room", "a suite", "a quiet room")
CLASSES = ("economy", "business", "first")
LOWER_CASE, TYPOS = 0.12, 0.1  # shares of sentences


@dataclass
class DemoSentence:
    """A sentence of the demo and its answer to every task."""

    tokens: list[str] = field(default_factory=list)
    label: str = ""
    tags: list[str] = field(default_factory=list)
    entities: list[list[Any]] = field(default_factory=list)
    slots: list[list[Any]] = field(default_factory=list)
    relations: list[list[Any]] = field(default_factory=list)
    tree: list[list[Any]] = field(default_factory=list)


def sentences(templates: Sequence[Template], n: int, *, seed: int) -> Iterator[DemoSentence]:
    """Yield n different sentences; the same seed gives the same ones."""
    rng = Random(seed)
    weights = [template.weight for template in templates]
    seen: set[tuple[str, ...]] = set()
    while len(seen) < n:
        sentence = fill(rng.choices(templates, weights)[0], rng)
        blur(sentence, rng)
        if tuple(sentence.tokens) not in seen:
            seen.add(tuple(sentence.tokens))
            yield sentence


def fill(template: Template, rng: Random) -> DemoSentence:
    """Return the template with words in the place of its phrases."""
    sentence = DemoSentence(label=template.label)
    places: dict[str, int] = {}  # name -> the token of its head word, from 1
    spans: dict[str, list[int]] = {}
    hangers: list[tuple[int, str]] = []  # token, name of its head
    for part in re.findall(r"\w+=\{[^}]*\}/\S+|\S+", template.pattern):
        phrase = PHRASE.fullmatch(part)
        if phrase:
            _add_phrase(sentence, phrase, places, spans, hangers, rng)
        else:
            _add_word(sentence, part, places, hangers)
    if sentence.tokens[-1] == ".":
        sentence.tokens[0] = sentence.tokens[0][0].upper() + sentence.tokens[0][1:]
    for token, name in hangers:
        sentence.tree[token][0] = places[name]
    sentence.relations = sorted(
        [*spans[source], *spans[target], label] for source, target, label in template.relations
    )
    return sentence


def blur(sentence: DemoSentence, rng: Random) -> None:
    """Write some sentences as people do in a hurry: without capitals, or with two letters swapped.

    The answers stay what they are.
    """
    if rng.random() < LOWER_CASE:
        sentence.tokens[:] = [token.lower() for token in sentence.tokens]
    long = [i for i, token in enumerate(sentence.tokens) if len(token) > 4]
    if long and rng.random() < TYPOS:
        i = rng.choice(long)
        token = sentence.tokens[i]
        at = rng.randrange(1, len(token) - 2)
        sentence.tokens[i] = token[:at] + token[at + 1] + token[at] + token[at + 2 :]


def written(tokens: Sequence[str]) -> tuple[str, list[list[int]]]:
    """Return the sentence as people write it, and where each token lies in it."""
    text = ""
    offsets = []
    for token in tokens:
        if text and token not in (",", "."):
            text += " "
        offsets.append([len(text), len(text) + len(token)])
        text += token
    return text, offsets


def _add_word(
    sentence: DemoSentence, part: str, places: dict[str, int], hangers: list[tuple[int, str]]
) -> None:
    match = WORD.fullmatch(part)
    if match is None:
        raise ValueError(f"'{part}' is no word of a template: use name=form/POS/relation>head.")
    name, form, pos, relation, head = match.groups()
    sentence.tokens.append(form)
    sentence.tags.append(pos)
    sentence.tree.append([0, relation])
    if name:
        places[name] = len(sentence.tokens)
    if head:
        hangers.append((len(sentence.tokens) - 1, head))


def _add_phrase(
    sentence: DemoSentence,
    match: re.Match[str],
    places: dict[str, int],
    spans: dict[str, list[int]],
    hangers: list[tuple[int, str]],
    rng: Random,
) -> None:
    name, slot, hidden, kind, relation, head = match.groups()
    start = len(sentence.tokens)
    for i, word in enumerate(PHRASES[kind](rng)):
        sentence.tokens.append(word.form)
        sentence.tags.append(word.pos)
        if word.head is None:
            places[name] = start + i + 1
            hangers.append((start + i, head))
            sentence.tree.append([0, relation])
        else:
            sentence.tree.append([start + word.head + 1, word.relation])
    end = len(sentence.tokens)
    spans[name] = [start, end]
    if slot:
        sentence.slots.append([start, end, slot])
    elif not hidden:
        sentence.entities.append([start, end, WIDER.get(kind, kind)])


@dataclass(frozen=True)
class Word:
    """A word of a phrase; ``head`` is its head's place in the phrase, None at the top."""

    form: str
    pos: str
    head: int | None
    relation: str


def person(rng: Random) -> list[Word]:
    """Return a name: first and last, or the last name alone."""
    last = _either(SURNAMES, rng)
    if rng.random() < 0.3:
        return [Word(last, "PROPN", None, "")]
    first = rng.choice(FIRST_NAMES)
    return [Word(first, "PROPN", None, ""), Word(last, "PROPN", 0, "flat")]


def city(rng: Random) -> list[Word]:
    """Return a place of one or two words."""
    name = _either(CITIES, rng)
    if rng.random() < 0.2:
        prefix = rng.choice(CITY_PREFIXES)
        return [Word(prefix, "PROPN", 1, "compound"), Word(name, "PROPN", None, "")]
    return [Word(name, "PROPN", None, "")]


def organisation(rng: Random) -> list[Word]:
    """Return an organisation, at times named after a person or a place."""
    if rng.random() < 0.25:
        return [Word(_either(ORG_STEMS, rng), "PROPN", None, "")]
    tail = rng.choice(ORG_TAILS)
    stems = [rng.choice(ORG_STEMS + CITIES)]
    if rng.random() < 0.25:
        stems.append(_either(SURNAMES, rng))
    words = [Word(stem, "PROPN", len(stems), "compound") for stem in stems]
    return [*words, Word(tail, "PROPN", None, "")]


def _either(names: Sequence[str], rng: Random) -> str:
    """Return a name of the list, or one that a person, a place or a firm may have."""
    if rng.random() < 0.5:
        return rng.choice(names)
    return rng.choice(NAME_STARTS) + rng.choice(NAME_ENDS)


def airline(rng: Random) -> list[Word]:
    """Return an airline, with or without its last word."""
    stem = rng.choice(AIRLINES)
    if rng.random() < 0.5:
        return [Word(stem, "PROPN", None, "")]
    return [Word(stem, "PROPN", 1, "compound"), Word("Airways", "PROPN", None, "")]


def date(rng: Random) -> list[Word]:
    """Return a day as people name it without a preposition."""
    if rng.random() < 0.2:
        return [Word("next", "ADJ", 1, "amod"), Word(rng.choice(DAYS), "PROPN", None, "")]
    return day(rng)


def day(rng: Random) -> list[Word]:
    """Return a day that something happens on."""
    if rng.random() < 0.6:
        return [Word(rng.choice(DAYS), "PROPN", None, "")]
    number = Word(str(rng.randint(1, 28)), "NUM", 0, "nummod")
    return [Word(rng.choice(MONTHS), "PROPN", None, ""), number]


def month(rng: Random) -> list[Word]:
    """Return a month."""
    return [Word(rng.choice(MONTHS), "PROPN", None, "")]


def count(rng: Random) -> list[Word]:
    """Return a number of things."""
    return [Word(rng.choice(NUMBERS), "NUM", None, "")]


def time(rng: Random) -> list[Word]:
    """Return a time of day."""
    return part_of_day(rng) if rng.random() < 0.4 else hour_of_day(rng)


def part_of_day(rng: Random) -> list[Word]:
    """Return a part of the day."""
    return [Word(rng.choice(PARTS_OF_DAY), "NOUN", None, "")]


def hour_of_day(rng: Random) -> list[Word]:
    """Return an hour."""
    hour, half = rng.choice(NUMBERS[:10]), rng.choice(("am", "pm"))
    return [Word(hour, "NUM", None, ""), Word(half, "NOUN", 0, "nmod:unmarked")]


def money(rng: Random) -> list[Word]:
    """Return an amount of money."""
    amount = rng.choice(NUMBERS)
    scale = rng.choice(("million", "hundred", "thousand"))
    return [
        Word(amount, "NUM", 1, "compound"),
        Word(scale, "NUM", 2, "nummod"),
        Word("crowns", "NOUN", None, ""),
    ]


def price(rng: Random) -> list[Word]:
    """Return what a traveller may pay."""
    return [
        Word(rng.choice(NUMBERS[:9]), "NUM", 1, "compound"),
        Word("hundred", "NUM", 2, "nummod"),
        Word("crowns", "NOUN", None, ""),
    ]


def council(rng: Random) -> list[Word]:
    """Return who decides in a place."""
    return [Word(_either(CITIES, rng), "PROPN", 1, "compound"), Word("Council", "PROPN", None, "")]


def product(rng: Random) -> list[Word]:
    """Return a thing with its determiner and perhaps an adjective."""
    noun = rng.choice(PRODUCTS)
    if rng.random() < 0.5:
        return [Word("the", "DET", 1, "det"), Word(noun, "NOUN", None, "")]
    adjective = rng.choice(ADJECTIVES)
    return [
        Word("a", "DET", 2, "det"),
        Word(adjective, "ADJ", 2, "amod"),
        Word(noun, "NOUN", None, ""),
    ]


def title(rng: Random) -> list[Word]:
    """Return somebody's office."""
    return [Word(rng.choice(TITLES), "NOUN", None, "")]


def room(rng: Random) -> list[Word]:
    """Return a room to book."""
    return _noun_phrase(rng.choice(ROOMS))


def meal(rng: Random) -> list[Word]:
    """Return a meal on board."""
    return _noun_phrase(rng.choice(MEALS))


def cabin(rng: Random) -> list[Word]:
    """Return a class of travel."""
    return [
        Word(rng.choice(CLASSES), "NOUN", 1, "compound"),
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
    "DAY": day,
    "MONTH": month,
    "PART": part_of_day,
    "HOUR": hour_of_day,
    "PRICE": price,
    "COUNCIL": council,
    "COUNT": count,
    "TIME": time,
    "MONEY": money,
    "PRODUCT": product,
    "TITLE": title,
    "ROOM": room,
    "MEAL": meal,
    "CABIN": cabin,
}
WIDER = {  # the entity of a type that is said in one way only
    "DAY": "DATE",
    "MONTH": "DATE",
    "PART": "TIME",
    "HOUR": "TIME",
    "PRICE": "MONEY",
    "COUNCIL": "ORG",
}
