"""The label that a place foretells, whatever a model of the words alone says of it.

A logistic regression per task reads the words around an item and the answers of all other layers,
gold or not, and says which label stands at such a place; it never says whether anything does. The
sentences come in parts, and the regression that judges one part learns from the others.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from analysis.methods.label_errors.contradictions import (
    ARC,
    CLASS,
    LINK,
    SPAN,
    WORD,
    Form,
    form_of,
    word_at,
)
from analysis.methods.label_errors.judgement import NOTHING, Judgement, label_of
from mtl_engine.kinds import TaskSpec
from mtl_engine.types import Example

N_PARTS = 5
LEAST_USES = 2  # of a clue, below which it tells nothing of other places
PENALTY = 0.5  # inverse strength of the ridge
MOST_STEPS = 100
MOST_BETWEEN = 8  # words between two spans that are clues to their link
FAR = 6  # words from which all distances are alike
NO_LABEL = 1e-3  # likelihood of a label that the other parts never use

Version = tuple[Sequence[Judgement], Sequence[Example]]
Specs = Mapping[str, TaskSpec]
Clues = Callable[[Judgement, Example, Specs], Iterator[str]]
CLUES: dict[Form, Clues] = {}


def foretold_labels(
    versions: Sequence[Version],
    tasks: Sequence[TaskSpec],
    *,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> list[np.ndarray]:
    """Return (n, 3) for the judged items of each version: how likely labels are at such a place.

    These are the label that was given, the likeliest other one, and the one that the models expect;
    NaN where nothing is answered. The first version alone is learned from.
    """
    found = [np.full((len(judged), 3), np.nan) for judged, _ in versions]
    part = parts_of(groups or list(range(len(versions[0][1]))), seed)
    specs = {task.name: task for task in tasks}
    for task in tasks:
        if form_of(task) not in CLUES:
            continue
        own = [_items_of(task.name, judged) for judged, _ in versions]
        clues = [
            _clues(*version, numbers, specs) for version, numbers in zip(versions, own, strict=True)
        ]
        parts = [
            part[[judged[number].row for number in numbers]]
            for (judged, _), numbers in zip(versions, own, strict=True)
        ]
        given = [label_of(versions[0][0][number].given) for number in own[0]]
        for held in range(N_PARTS):
            model = _Labels.taught_by(clues[0], given, parts[0] != held)
            if model is None:
                continue
            for (judged, _), numbers, of_items, rows, into in zip(
                versions, own, clues, parts, found, strict=True
            ):
                asked = np.flatnonzero(rows == held)
                if len(asked):
                    items = [judged[numbers[k]] for k in asked]
                    into[[numbers[k] for k in asked]] = model.of(
                        [of_items[k] for k in asked], items
                    )
    return found


class _Labels:
    """A regression of labels on clues."""

    def __init__(self, clues: Sequence[Sequence[str]], labels: Sequence[str]) -> None:
        from sklearn.linear_model import LogisticRegression  # takes a second to load

        self.columns = known_clues(clues)
        self.model = LogisticRegression(C=PENALTY, max_iter=MOST_STEPS, tol=1e-3)
        self.model.fit(clue_matrix(clues, self.columns), labels)
        self.places = {label: column for column, label in enumerate(self.model.classes_)}

    @classmethod
    def taught_by(
        cls, clues: Sequence[Sequence[str]], labels: Sequence[str], is_taught: np.ndarray
    ) -> "_Labels | None":
        """Return what some items teach; None where they have fewer than two labels."""
        rows = [row for row in np.flatnonzero(is_taught).tolist() if labels[row] != NOTHING]
        if len({labels[row] for row in rows}) < 2:
            return None
        return cls([clues[row] for row in rows], [labels[row] for row in rows])

    def of(self, clues: Sequence[Sequence[str]], items: Sequence[Judgement]) -> np.ndarray:
        """Return (n, 3) how likely the given, the likeliest other and the expected label are."""
        all_labels = self.model.predict_proba(clue_matrix(clues, self.columns))
        found = np.full((len(items), 3), np.nan)
        for row, (one, p) in enumerate(zip(items, all_labels, strict=True)):
            if one.given is None:
                continue
            own, other = (self.places.get(label_of(i)) for i in (one.given, one.expected))
            rivals = p if own is None else np.delete(p, own)
            found[row, 0] = NO_LABEL if own is None else p[own]
            found[row, 1] = rivals.max()
            found[row, 2] = rivals.max() if other is None else p[other]
        return found


def known_clues(clues: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return the clues that tell something of other places, with their columns."""
    uses = Counter(clue for own in clues for clue in own)
    known = sorted(clue for clue, n in uses.items() if n >= LEAST_USES)
    return {clue: column for column, clue in enumerate(known)}


def clue_matrix(clues: Sequence[Sequence[str]], known: Mapping[str, int]) -> Any:
    """Return the sparse matrix (n, clues) of which place has which clue."""
    from scipy.sparse import csr_matrix

    columns, ends = [], [0]
    for own in clues:
        columns += sorted({known[clue] for clue in own if clue in known})
        ends.append(len(columns))
    shape = (len(clues), max(1, len(known)))
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=shape)


def parts_of(groups: Sequence[Hashable], seed: int) -> np.ndarray:
    """Return (n,) the part of each sentence, groups whole."""
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    part = np.random.default_rng([seed, N_PARTS]).permutation(len(numbers)) % N_PARTS
    return np.array([part[numbers[group]] for group in groups])


def _items_of(task: str, judged: Sequence[Judgement]) -> list[int]:
    return [number for number, one in enumerate(judged) if one.task == task]


def _clues(
    judged: Sequence[Judgement], examples: Sequence[Example], numbers: Sequence[int], specs: Specs
) -> list[list[str]]:
    found = []
    for one in (judged[number] for number in numbers):
        example = examples[one.row]
        found.append(list(CLUES[form_of(specs[one.task])](one, example, specs)))
    return found


def _clues_of(form: Form) -> Callable[[Clues], Clues]:
    def register(function: Clues) -> Clues:
        CLUES[form] = function
        return function

    return register


@_clues_of(CLASS)
def _about_sentence(one: Judgement, example: Example, specs: Specs) -> Iterator[str]:
    words = [word.lower() for word in example.tokens]
    yield from (f"word {word}" for word in words)
    yield from (f"words {a} {b}" for a, b in zip(["^", *words], [*words, "$"], strict=True))
    for name, spans in _layers(SPAN, one, example, specs):
        labels = sorted({span[-1] for span in spans})
        yield from (f"{name} {label}" for label in labels)
        yield f"all {name} {','.join(labels)}"
    yield from _classes(one, example, specs)


@_clues_of(WORD)
def _about_word(one: Judgement, example: Example, specs: Specs) -> Iterator[str]:
    place = one.place[0]
    yield from _word_itself(example, place)
    for name, tags in _layers(WORD, one, example, specs):
        yield from (f"{name} {by} {_at(tags, place + by)}" for by in (-1, 0, 1))
    for name, tree in _layers(ARC, one, example, specs):
        head, label = tree[place][:2]
        yield f"{name} {label}"
        yield f"{name} under {word_at(example, head - 1)}"
        yield from (f"{name} over {arc[1]}" for arc in tree if arc[0] == place + 1)
    for name, spans in _layers(SPAN, one, example, specs):
        yield from (f"in {name} {span[-1]}" for span in spans if span[0] <= place < span[1])


@_clues_of(ARC)
def _about_arc(one: Judgement, example: Example, specs: Specs) -> Iterator[str]:
    place, head = one.place[0], one.place[1] - 1
    yield from _word_itself(example, place)
    yield f"under {word_at(example, head)}"
    yield f"arc {word_at(example, place)} {word_at(example, head)}"
    yield f"far {min(FAR, abs(place - head))} {head < place}"
    for name, tags in _layers(WORD, one, example, specs):
        own, above = _at(tags, place), _at(tags, head) if head >= 0 else "root"
        yield from (f"{name} {by} {_at(tags, place + by)}" for by in (-1, 0, 1))
        yield f"{name} {own} under {above}"
        yield f"{name} {own} under {above} {head < place}"
    for number, (above, label, *_) in enumerate(example.labels[one.task]):
        if above == place + 1:
            yield f"over {label}"
        elif above == head + 1 and number != place:
            yield f"beside {label}"
        elif number == head:
            yield f"head {label}"
    for name, spans in _layers(SPAN, one, example, specs):
        yield from (f"in {name} {span[-1]}" for span in spans if span[0] <= place < span[1])


@_clues_of(SPAN)
def _about_span(one: Judgement, example: Example, specs: Specs) -> Iterator[str]:
    start, end = one.place[:2]
    words = [word_at(example, place) for place in range(start, end)]
    before, behind = word_at(example, start - 1), word_at(example, end)
    yield f"text {' '.join(words)}"
    yield from (f"word {word}" for word in words)
    yield from (f"first {words[0]}", f"last {words[-1]}", f"ends in {words[-1][-3:]}")
    yield from (f"before {before}", f"behind {behind}", f"long {min(4, end - start)}")
    yield f"before {word_at(example, start - 2)} {before}"
    yield f"behind {behind} {word_at(example, end + 1)}"
    yield f"looks {' '.join(_looks(word) for word in example.tokens[start:end][:3])}"
    for name, tags in _layers(WORD, one, example, specs):
        yield from (f"{name} {' '.join(tags[start:end])}", f"{name} last {tags[end - 1]}")
        yield f"{name} before {_at(tags, start - 1)}"
    for name, tree in _layers(ARC, one, example, specs):
        outside = [arc for arc in tree[start:end] if not start < arc[0] <= end]
        yield f"{name} arcs out {len(outside)}"
        for above, label, *_ in outside[:2]:
            yield from (f"{name} {label}", f"{name} {label} under {word_at(example, above - 1)}")
    for name, links in _layers(LINK, one, example, specs):
        if one.task in specs[name].parents:
            yield from (f"{name} from {link[4]}" for link in links if link[:2] == [start, end])
            yield from (f"{name} to {link[4]}" for link in links if link[2:4] == [start, end])
    yield from _classes(one, example, specs)


@_clues_of(LINK)
def _about_link(one: Judgement, example: Example, specs: Specs) -> Iterator[str]:
    first, second = list(one.place[:2]), list(one.place[2:4])
    is_turned = second[0] < first[0]
    start, end = (second[1], first[0]) if is_turned else (first[1], second[0])
    spans = [s for name in specs[one.task].parents for s in example.labels.get(name, ())]
    label_at = {(span[0], span[1]): span[-1] for span in spans}
    types = [label_at.get((place[0], place[1])) for place in (first, second)]
    yield from (f"from {types[0]}", f"to {types[1]}", f"{types[0]} to {types[1]}")
    yield from (f"{types[0]} to {types[1]} {is_turned}", f"turned {is_turned}")
    yield f"far {min(FAR, max(0, end - start))}"
    yield f"spans between {sum(start <= place < end for place, _ in label_at)}"
    for side, place in (("from", first), ("to", second)):
        words = [word_at(example, number) for number in range(*place)]
        yield from (f"{side} text {' '.join(words)}", f"{side} last {words[-1]}")
    between = [word_at(example, number) for number in range(start, min(end, start + MOST_BETWEEN))]
    yield from (f"between {word} {is_turned}" for word in between)
    yield from (f"between {a} {b}" for a, b in itertools.pairwise(between))
    yield from (f"before {word_at(example, min(first[0], second[0]) - 1)}",)
    yield from (f"behind {word_at(example, max(first[1], second[1]))}",)
    for link in example.labels[one.task]:
        here, there = link[:2], link[2:4]
        if (here, there) != (first, second):
            sides = (("from", here, first), ("to", there, second))
            yield from (f"also {side} {link[4]}" for side, a, b in sides if a == b)
            sides = (("from", here, second), ("to", there, first))
            yield from (f"chain {side} {link[4]}" for side, a, b in sides if a == b)


def _word_itself(example: Example, place: int) -> Iterator[str]:
    before, word, behind = (word_at(example, place + by) for by in (-1, 0, 1))
    yield from (f"word {word}", f"before {before}", f"behind {behind}")
    yield from (f"words {before} {word}", f"words {word} {behind}")
    yield from (f"ends in {word[-3:]}", f"ends in {word[-2:]}", f"first {place == 0}")
    yield f"looks {_looks(example.tokens[place])}"


def _classes(one: Judgement, example: Example, specs: Specs) -> Iterator[str]:
    for name, value in _layers(CLASS, one, example, specs):
        yield f"{name} {value}"


def _layers(
    form: Form, one: Judgement, example: Example, specs: Specs
) -> Iterator[tuple[str, Any]]:
    """Yield the other layers of a form that the sentence has answers to."""
    for name, task in specs.items():
        if name != one.task and form_of(task) == form and name in example.labels:
            yield name, example.labels[name]


def _at(values: Sequence[Any], place: int) -> Any:
    return values[place] if 0 <= place < len(values) else "none"


def _looks(word: str) -> str:
    """Return how a word is written: capital, digits, hyphen."""
    parts = ("X" if word[:1].isupper() else "x", "9" * any(c.isdigit() for c in word))
    return "".join(parts) + "-" * ("-" in word)
