"""Sentences with all their answers, drawn from the templates."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from annotation.demo.phrases import PHRASES
from annotation.demo.templates import Template

PHRASE = re.compile(r"(\w+)=\{([^:}]*):(-?)([A-Z]+)\}/([^>\s]+)>(\w+)")
WORD = re.compile(r"(?:(\w+)=)?([^/\s=]+)/([A-Z]+)/([^>\s]+)(?:>(\w+))?")


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
    seen: set[tuple[str, ...]] = set()
    while len(seen) < n:
        sentence = fill(rng.choice(templates), rng)
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
        sentence.entities.append([start, end, kind])
