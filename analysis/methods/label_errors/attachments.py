"""How likely a word hangs where it hangs, whatever a model of the words alone says of it.

A logistic regression tells the arcs of trees from arcs to other words of the sentence: by label,
distance and direction, by the tags of other layers, by the arcs that it would cross and those
beside it. The sentences come in parts; what judges one part has learned from the others.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.methods.label_errors.contexts import (
    FAR,
    N_PARTS,
    Version,
    clue_matrix,
    known_clues,
    parts_of,
)
from analysis.methods.label_errors.contradictions import ARC, WORD, form_of, word_at
from analysis.methods.label_errors.judgement import Judgement
from mtl_engine.kinds import TaskSpec
from mtl_engine.types import Example

PENALTY = 0.5  # inverse strength of the ridge
MOST_STEPS = 100
N_TAUGHT = 2  # other heads per arc that are learned from
N_RIVALS = 6  # other heads that one is compared with
MOST_CROSSED = 3
MOST_TAUGHT = 20_000  # arcs that are learned from


def foretold_heads(
    versions: Sequence[Version],
    tasks: Sequence[TaskSpec],
    *,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> list[np.ndarray]:
    """Return (n, 2) for the judged items of each version: log-odds of the head that was given, and
    of the likeliest rival.

    NaN where no word hangs. The first version alone is learned from.
    """
    found = [np.full((len(judged), 2), np.nan) for judged, _ in versions]
    part = parts_of(groups or list(range(len(versions[0][1]))), seed)
    tags = [task.name for task in tasks if form_of(task) == WORD]
    for task in tasks:
        if form_of(task) != ARC:
            continue
        judges = _judges(versions[0], task.name, tags, part, seed)
        for version, into in zip(versions, found, strict=True):
            rng = np.random.default_rng([seed, N_RIVALS])
            trees = _Trees(version[1], task.name, tags)
            for number, one in enumerate(version[0]):
                judge = judges.get(int(part[one.row]))
                if judge is not None and one.task == task.name and one.given is not None:
                    into[number] = _compared(one, trees.of(one.row), judge, rng)
    return found


def _compared(
    one: Judgement, tree: "_Tree", judge: "_Judge", rng: np.random.Generator
) -> tuple[float, float]:
    word, given = one.place[0], _head(one.given)
    rivals = {*tree.rivals(word, N_RIVALS, rng), _head(one.expected)} - {given}
    odds = [judge.odds(tree.clues(word, head)) for head in (given, *sorted(rivals))]
    return odds[0], max(odds[1:], default=0.0)


class _Judge:
    """A regression that tells given heads from others."""

    def __init__(self, clues: Sequence[Sequence[str]], is_given: Sequence[bool]) -> None:
        from sklearn.linear_model import LogisticRegression  # takes a second to load

        columns = known_clues(clues)
        model = LogisticRegression(C=PENALTY, max_iter=MOST_STEPS, tol=1e-3)
        model.fit(clue_matrix(clues, columns), is_given)
        self.weights = {clue: model.coef_[0, column] for clue, column in columns.items()}
        self.bias = float(model.intercept_[0])

    def odds(self, clues: Iterable[str]) -> float:
        """Return the log-odds that a word hangs there."""
        return self.bias + math.fsum(self.weights.get(clue, 0.0) for clue in set(clues))


def _judges(
    version: Version, task: str, tags: Sequence[str], part: np.ndarray, seed: int
) -> dict[int, _Judge]:
    """Return what the other parts teach each part; a part without arcs elsewhere has none."""
    judged, examples = version
    rng = np.random.default_rng([seed, N_TAUGHT])
    trees = _Trees(examples, task, tags)
    own = [n for n, one in enumerate(judged) if one.task == task and one.given is not None]
    clues: list[list[str]] = []
    is_given: list[bool] = []
    of_part: list[int] = []
    for number in rng.permutation(own)[:MOST_TAUGHT]:
        one = judged[number]
        word, head, tree = one.place[0], _head(one.given), trees.of(one.row)
        for other in (head, *tree.rivals(word, N_TAUGHT, rng)):
            clues.append(list(tree.clues(word, other)))
            is_given.append(other == head)
            of_part.append(int(part[one.row]))
    found = {}
    for held in range(N_PARTS):
        rest = [k for k, own in enumerate(of_part) if own != held]
        if len({is_given[k] for k in rest}) == 2:
            found[held] = _Judge([clues[k] for k in rest], [is_given[k] for k in rest])
    return found


def _head(item: Sequence[int] | None) -> int:
    return int(item[1]) if item else 0


@dataclass(frozen=True)
class _Tree:
    """A sentence with its arcs; heads are 1 more than the place of the word, 0 is the root."""

    example: Example
    heads: Sequence[int]
    labels: Sequence[str]
    tags: Sequence[Sequence[str]]  # per layer

    def rivals(self, word: int, n: int, rng: np.random.Generator) -> list[int]:
        """Return at most n other words that this one could hang on without a circle."""
        found: list[int] = []
        for head in (rng.permutation(len(self.heads)) + 1).tolist():
            if len(found) == n:
                break
            if head not in (word + 1, self.heads[word]) and not self._is_below(head, word):
                found.append(head)
        return found

    def _is_below(self, head: int, word: int) -> bool:
        for _ in range(len(self.heads)):
            if head in (0, word + 1):
                return head != 0
            head = self.heads[head - 1]
        return True

    def clues(self, word: int, head: int) -> Iterator[str]:
        """Yield what is known of an arc from a word to a head, its label included."""
        label, place = self.labels[word], head - 1
        far = "root" if not head else f"{min(FAR, abs(word - place))} {place < word}"
        own, above = (
            word_at(self.example, word),
            "root" if not head else word_at(self.example, place),
        )
        over = "root" if not head else self.labels[place]
        yield from (f"far {far}", f"{label} far {far}", f"{label} on {above}", f"{own} on {above}")
        yield from (f"{label} over {over}", f"over {over}", f"on {above}")
        beside = [k for k, h in enumerate(self.heads) if h == head and k != word]
        yield f"{label} beside {sum(self.labels[k] == label for k in beside) > 0}"
        yield from {f"{label} with {self.labels[k]}" for k in beside}
        crossed = self._crossed(word, place) if head else 0
        yield from (f"crosses {crossed}", f"{label} crosses {crossed}")
        for layer, tags in enumerate(self.tags):
            tag, upper = tags[word], "root" if not head else tags[place]
            yield from (f"{layer} {tag} on {upper}", f"{layer} {label} on {upper}")
            yield from (f"{layer} {tag} {label} on {upper}", f"{layer} {tag} {upper} far {far}")
            if head:
                first, last = sorted((word, place))
                between = tags[first + 1 : last]
                yield f"{layer} {label} on {upper} past {min(2, list(between).count(upper))}"
                yield from {f"{layer} {tag} {upper} between {other}" for other in between}

    def _crossed(self, word: int, place: int) -> int:
        first, last = sorted((word, place))
        n = 0
        for other, head in enumerate(self.heads):
            if other != word and head:
                a, b = sorted((other, head - 1))
                n += a < first < b < last or first < a < last < b
        return min(MOST_CROSSED, n)


class _Trees:
    """The trees of sentences, each made once."""

    def __init__(self, examples: Sequence[Example], task: str, tags: Sequence[str]) -> None:
        self.examples, self.task, self.tags = examples, task, tags
        self.known: dict[int, _Tree] = {}

    def of(self, row: int) -> _Tree:
        """Return the tree of a sentence."""
        if row not in self.known:
            labels = self.examples[row].labels
            arcs = labels[self.task]
            layers = [labels[name] for name in self.tags if name in labels]
            heads, names = [arc[0] for arc in arcs], [str(arc[1]) for arc in arcs]
            self.known[row] = _Tree(self.examples[row], heads, names, layers)
        return self.known[row]
