"""The live check of a choice: what the strategy and chance bring for the same cost.

Two models learn from the same sentences, and besides one from the random share of the rounds, the
other from as much of what the strategy has selected. Both answer the test sentences.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from mtl_engine.active_learning.evaluate import FEWEST, N_RESAMPLES, results_on
from mtl_engine.active_learning.pool import TEST, LabelledData, LabelledExample
from mtl_engine.active_learning.price import price_items
from mtl_engine.costs import CostModel
from mtl_engine.ensemble import Ensemble
from mtl_engine.evaluation import TaskResult
from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.types import Example

Verdict = Literal["better", "equal", "worse"]
LEAST_CONTROL = 10  # sentences of the random share below which nothing is said
LEAST_SHARE = 0.8  # of the control's cost that the selected part has to reach


@dataclass(frozen=True)
class Comparison:
    """How a task's score by choice differs from that by chance, at the same cost."""

    chance: float
    chosen: float
    interval: tuple[float, float]  # 95 % of the difference, by paired bootstrap over sentences

    @property
    def difference(self) -> float:
        """Return what the choice has brought beyond chance."""
        return self.chosen - self.chance

    @property
    def verdict(self) -> Verdict:
        """Return what the interval allows to say."""
        if self.interval[0] > 0:
            return "better"
        return "worse" if self.interval[1] < 0 else "equal"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "difference": self.difference, "verdict": self.verdict}


def matched_data(
    data: LabelledData,
    tasks: Sequence[TaskSpec],
    model: CostModel,
    rng: np.random.Generator,
) -> LabelledData | None:
    """Return the data with the control's part replaced by as much of what was selected.

    Equal cost is by the seconds of the cost model. None where there is too little of either.
    """
    usable = [one for one in data.examples if one.part != TEST]
    seconds = dict(zip(map(id, usable), _seconds(usable, tasks, model), strict=True))
    control = [one for one in usable if one.is_control]
    selected = [one for one in usable if one.is_selected]
    wanted = sum(seconds[id(one)] for one in control)
    taken: list[LabelledExample] = []
    spent = 0.0
    for place in rng.permutation(len(selected)):
        one = selected[place]
        if spent + seconds[id(one)] <= wanted:
            taken.append(one)
            spent += seconds[id(one)]
    if len(control) < LEAST_CONTROL or spent < LEAST_SHARE * wanted:
        return None
    rest = [one for one in data.examples if not one.is_control and not one.is_selected]
    return LabelledData((*rest, *(replace(one, is_selected=False) for one in taken)))


def compare_ensembles(
    by_chance: Ensemble,
    by_choice: Ensemble,
    test: Sequence[Example],
    *,
    other_test: Sequence[Example] | None = None,
) -> dict[str, Comparison]:
    """Return for each task that both answer how they differ on the same test sentences.

    ``other_test`` are these sentences with the answers that the second is judged by, where its
    labels are others.
    """
    other_test = test if other_test is None else other_test
    chance = results_on(by_chance, test, has_temperatures=False)
    choice = results_on(by_choice, other_test, has_temperatures=False)
    found: dict[str, Comparison] = {}
    for name in chance.keys() & choice.keys():
        n = len(chance[name].rows)
        if n < FEWEST or list(chance[name].rows) != list(choice[name].rows):
            continue
        scores = _scorer(by_chance, name, chance[name], test)
        others = _scorer(by_choice, name, choice[name], other_test)
        draws = np.random.default_rng(0).integers(n, size=(N_RESAMPLES, n))
        gaps = [others(drawn) - scores(drawn) for drawn in draws.tolist()]
        low, high = np.quantile(gaps, [0.025, 0.975])
        found[name] = Comparison(
            float(chance[name].main), float(choice[name].main), (float(low), float(high))
        )
    return {name: found[name] for name in chance if name in found}


def _scorer(
    ensemble: Ensemble, name: str, result: TaskResult, test: Sequence[Example]
) -> Callable[[Sequence[int]], float]:
    """Return a function that gives the score on some of the tested sentences."""
    gold = [test[row].labels[name] for row in result.rows]
    sizes = [len(test[row].tokens) for row in result.rows]
    judge = ensemble.owners()[name].model.head(name).judge

    def score(drawn: Sequence[int]) -> float:
        answers = [result.predicted[i] for i in drawn]
        return float(judge([gold[i] for i in drawn], answers, [sizes[i] for i in drawn]).main)

    return score


def _seconds(
    examples: Sequence[LabelledExample], tasks: Sequence[TaskSpec], model: CostModel
) -> list[float]:
    n_tokens = np.array([len(one.example.tokens) for one in examples], dtype=np.int64)
    items, is_answered = np.zeros((2, len(examples), len(tasks)))
    for row, one in enumerate(examples):
        for column, task in enumerate(tasks):
            if task.name in one.example.labels:
                entries = KINDS[task.kind].entries(one.example.labels[task.name])
                n_marked = sum(entry is not None for entry in entries)
                items[row, column], is_answered[row, column] = n_marked, 1.0
    costs = price_items(tasks, n_tokens, items, "minutes", model).costs
    found: list[float] = (costs.read + (costs.label * is_answered).sum(axis=1)).tolist()
    return found
