"""The pricing step: what asking costs, in seconds of a person's work or in the paper's units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from mtl_engine.active_learning.pool import Cells, Floats, Pool
from mtl_engine.active_learning.settings import COST, ActiveLearningSettings
from mtl_engine.costs import CostModel, Costs
from mtl_engine.kinds import KINDS, TaskSpec

Unit = Literal["seconds", "cost"]


@dataclass(frozen=True)
class Prices:
    """What reading and labelling every sentence of a pool costs, and in which unit."""

    costs: Costs
    unit: Unit
    whole: Costs | None = None  # the same without single words, where some are named

    def seconds(self, row: int, tasks: Sequence[int]) -> float | None:
        """Return the seconds that some tasks of a sentence take; None in other units."""
        if self.unit != "seconds":
            return None
        return float(self.costs.read[row] + self.costs.label[row, list(tasks)].sum())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the costs by name, ready to be kept."""
        found = {"read": self.costs.read, "label": self.costs.label}
        return found if self.whole is None else {**found, "whole": self.whole.label}

    def of_whole_sentences(self) -> "Prices":
        """Return what whole sentences cost, whatever words asks would name."""
        return self if self.whole is None else Prices(self.whole, self.unit)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], unit: Unit) -> Self:
        """Return costs that were kept."""
        whole = Costs(arrays["read"], arrays["whole"]) if "whole" in arrays else None
        return cls(Costs(arrays["read"], arrays["label"]), unit, whole)


def price_pool(
    pool: Pool,
    n_expected: Floats,
    settings: ActiveLearningSettings,
    model: CostModel,
    n_words: Floats | None = None,
) -> Prices:
    """Return what asking is expected to cost, before the answers are known.

    ``n_expected`` (n, t) are the items that the models expect; ``model`` knows people's seconds;
    ``n_words`` (n, t) are the words that asks name, where they do.
    """
    items = items_to_mark(pool.tasks, pool.n_tokens, n_expected, settings.unit)
    found = price_items(pool.tasks, pool.n_tokens, items, settings.unit, model)
    if n_words is None:
        return found
    may_name = np.array([KINDS[task.kind].may_ask_words for task in pool.tasks])
    named = np.where(may_name, np.minimum(items, np.maximum(n_words, 1.0)), items)
    of_words = price_items(pool.tasks, pool.n_tokens, named, settings.unit, model)
    return replace(of_words, whole=found.costs)


def price_items(
    tasks: Sequence[TaskSpec], n_tokens: NDArray[Any], items: Floats, unit: str, model: CostModel
) -> Prices:
    """Return what marking so many items (n, t) costs."""
    if unit != COST:
        return Prices(model.predict(n_tokens, items), "seconds")
    columns = [KINDS[task.kind].cost_in_tokens(items[:, k]) for k, task in enumerate(tasks)]
    return Prices(Costs(n_tokens.astype(np.float64), np.stack(columns, axis=1)), "cost")


def items_to_mark(
    tasks: Sequence[TaskSpec], n_tokens: NDArray[Any], n_expected: Floats, unit: str = COST
) -> Floats:
    """Return how many things each task asks a person to mark (n, t).

    In the paper's units at least 1: a sentence in which a model expects no span is not free. In
    seconds beginning a task is paid for, and what is expected counts as it is: rounded up, short
    sentences would look dear and a round would ask for less than its minutes.
    """
    tokens = n_tokens.astype(np.float64)
    columns = []
    for k, task in enumerate(tasks):
        kind = KINDS[task.kind]
        is_expected = unit != COST and kind.unit not in ("sentence", "token")
        expected = n_expected[:, k].astype(np.float64)
        columns.append(expected if is_expected else kind.items_to_mark(tokens, expected))
    return np.stack(columns, axis=1)


def charge(costs: Costs, bought: Cells, known: Cells) -> float:
    """Return what newly bought cells (n, t) cost; a sentence with known cells is read already."""
    is_first = bought.any(axis=1) & ~known.any(axis=1)
    return float(costs.read[is_first].sum() + costs.label[bought].sum())
