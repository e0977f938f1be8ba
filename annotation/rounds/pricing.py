"""What asking would cost: in seconds of a person's work, or in the paper's units."""

from typing import Any

import numpy as np

from annotation.models import Project
from annotation.round_config import RoundConfig
from annotation.rounds.choosing import Chosen
from annotation.selectors.pool import Pool
from annotation.selectors.work_times import cost_model

PER_CLASS = 3.0  # the paper's cost of a class, in tokens read


def price_pool(
    project: Project, pool: Pool, arrays: dict[str, Any], config: RoundConfig
) -> tuple[Any, Any, str]:
    """Return reading costs (n,), labelling costs (n, t) and their unit."""
    kinds = dict(project.tasks.values_list("name", "kind"))
    items = items_to_label(pool, arrays["n_expected"], kinds)
    if config.unit == "cost":
        classes = [kinds[name] == "classes" for name in pool.tasks]
        return pool.n_tokens.astype(float), np.where(classes, PER_CLASS, items), "cost"
    model = cost_model(project, pool.tasks)
    costs = model.predict(pool.n_tokens, items)
    return costs.read, costs.label, "seconds"


def items_to_label(pool: Pool, n_expected: Any, kinds: dict[str, str]) -> Any:
    """Return how many things each task asks a person to mark (n, t), at least 1.

    Spans and relations are what the model expects, so that a sentence in which it sees none is
    not free; tags and trees are one a token; a class is one.
    """
    columns = []
    for column, name in enumerate(pool.tasks):
        kind = kinds[name]
        if kind in ("spans", "relations"):
            columns.append(np.maximum(np.ceil(n_expected[:, column] - 1e-9), 1.0))
        elif kind == "classes":
            columns.append(np.ones(len(pool.ids)))
        else:
            columns.append(np.maximum(pool.n_tokens.astype(float), 1.0))
    return np.stack(columns, axis=1)


def seconds_of(chosen: Chosen, arrays: dict[str, Any], unit: str) -> float | None:
    """Return the seconds that an ask is expected to take, where costs are seconds."""
    if unit != "seconds":
        return None
    total = arrays["read"][chosen.row] + arrays["label"][chosen.row, list(chosen.tasks)].sum()
    return round(float(total), 1)
