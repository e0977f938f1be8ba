"""Items of answers as models that did not learn from them see them: confident learning.

Northcutt, Jiang & Chuang (2021), as in cleanlab: how likely an answer is counts relative to how
likely answers with its label are on the whole, so that rare labels are not taken for errors.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mtl_engine.kinds.kind import Item

NOTHING = ""  # the label of a place where nothing is marked
SMOOTHING = 1.0  # answers' worth of belief in the mean of all labels
FLOOR = 1e-6


@dataclass(frozen=True)
class Judgement:
    """An item of an answer as models that did not learn from it see it."""

    row: int
    task: str
    given: Item | None  # None = nothing is answered here
    expected: Item | None
    likelihood: float  # of what was given
    best: float  # of what is expected
    presence: float = 1.0  # that anything stands here

    @property
    def place(self) -> Item:
        """Return where it is: the item without its label."""
        item = self.given or self.expected or ()
        return item[:-1]


def label_thresholds(judged: Sequence[Judgement]) -> dict[tuple[str, str], float]:
    """Return the mean likelihood of answers with each label of each task."""
    sums: dict[tuple[str, str], list[float]] = defaultdict(list)
    overall: dict[str, list[float]] = defaultdict(list)
    for one in judged:
        sums[one.task, label_of(one.given)].append(one.likelihood)
        overall[one.task].append(one.likelihood)
    return {
        key: (sum(values) + SMOOTHING * float(np.mean(overall[key[0]]))) / (len(values) + SMOOTHING)
        for key, values in sums.items()
    }


def adjusted_margin(one: Judgement, thresholds: Mapping[tuple[str, str], float]) -> float:
    """Return the log-odds of the expected against the given label, each relative to its own."""
    if one.given == one.expected:
        return math.log(1 - min(one.likelihood, 1 - FLOOR)) - math.log(one.likelihood + FLOOR)
    own = thresholds[one.task, label_of(one.given)]
    other = thresholds.get((one.task, label_of(one.expected)), own)
    for_other = math.log(one.best + FLOOR) - math.log(other + FLOOR)
    return for_other - (math.log(one.likelihood + FLOOR) - math.log(own + FLOOR))


def estimated_errors(judged: Sequence[Judgement]) -> dict[str, int]:
    """Return how many items of each task are confidently of another label (the joint's rest)."""
    thresholds = label_thresholds(judged)
    found: Counter[str] = Counter()
    for one in judged:
        sure = thresholds.get((one.task, label_of(one.expected)))
        if one.given != one.expected and sure is not None and one.best >= sure:
            found[one.task] += 1
    return dict(found)


def label_of(item: Item | None) -> str:
    """Return the label of an item; one that is lacking has an empty one."""
    return NOTHING if item is None else str(item[-1])
