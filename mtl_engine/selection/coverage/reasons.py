"""Why a cell was bought: what it adds for its task, and the clusters that it does so by."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.coverage.batch import CoverageBatch
from mtl_engine.selection.coverage.objective import Objective
from mtl_engine.selection.coverage.units import Units
from mtl_engine.selection.order import Floats

N_FEATURES = 2


@dataclass(frozen=True)
class Feature:
    """A cluster of units that a cell covers."""

    cluster: int
    places: tuple[int, ...]  # the cell's units of it, counted from 0 in the sentence
    pool: int  # open units of it
    labelled: int
    expected_wrong: float  # share of the open units that the model is expected to get wrong
    share: float  # of what the cell adds


@dataclass(frozen=True)
class CellReason:
    """Why one task is asked on one sentence."""

    row: int
    task: int
    share: float  # of the whole batch's gain for the task
    is_by_chance: bool
    features: tuple[Feature, ...]  # what the cell adds by what is often wrong first

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def explain_batch(
    batch: CoverageBatch,
    units: Units,
    is_open: NDArray[np.bool_],
    *,
    n_features: int = N_FEATURES,
) -> list[CellReason]:
    """Return a reason for each bought cell, in the order of buying."""
    objective = Objective(units, is_open)
    counts = [objective.cluster_counts(k) for k in range(objective.n_tasks)]
    entries = objective.entries(np.array([pick.row for pick in batch.picks], dtype=np.int64))
    starts = [np.cumsum(task.counts) - task.counts for task in units.tasks]
    evidence = objective.seen.copy()
    reasons = []
    for number, pick in enumerate(batch.picks):
        own = slice(entries.first[number], entries.first[number + 1])
        feature, amount = entries.feature[own], entries.amount[own]
        known = evidence[feature]
        added = objective.mass[feature] * objective.seen[feature] * amount
        added = added / (known * (known + amount))
        for k in np.flatnonzero(pick.tasks):
            is_own = objective.task[feature] == k
            evidence[feature[is_own]] += amount[is_own]
            by_cluster: dict[int, float] = {}
            for one, gain in zip(feature[is_own].tolist(), added[is_own].tolist(), strict=True):
                cluster = objective.cluster_of(one)[1]
                by_cluster[cluster] = by_cluster.get(cluster, 0.0) + gain
            first = starts[k][pick.row]
            own = slice(first, first + units.tasks[k].counts[pick.row])
            own_units = units.tasks[k].cluster[own]
            asked = units.tasks[k].asked
            if asked is not None:
                own_units = np.where(asked[own], own_units, -1)
            reasons.append(
                CellReason(
                    row=pick.row,
                    task=int(k),
                    share=float(pick.gains[k] / batch.gain[k]) if batch.gain[k] > 0 else 0.0,
                    is_by_chance=pick.is_by_chance,
                    features=_best_features(by_cluster, own_units, counts[k], n_features),
                )
            )
    return reasons


def _best_features(
    gains: dict[int, float],
    own_units: NDArray[Any],
    counts: tuple[Floats, Floats, Floats],
    n_features: int,
) -> tuple[Feature, ...]:
    n_open, error, labelled = counts
    total = sum(gains.values()) or 1.0
    order = sorted(gains, key=lambda cluster: (-gains[cluster] * error[cluster], cluster))
    return tuple(
        Feature(
            cluster=cluster,
            places=tuple(np.flatnonzero(own_units == cluster).tolist()),
            pool=int(n_open[cluster]),
            labelled=int(labelled[cluster]),
            expected_wrong=round(float(error[cluster]), 4),
            share=round(gains[cluster] / total, 4),
        )
        for cluster in order[:n_features]
    )
