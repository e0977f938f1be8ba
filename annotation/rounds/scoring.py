"""The scoring stage: how sure the model is of everything that can be asked."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.rounds.learning import open_model
from annotation.rounds.workspace import Workspace
from annotation.selectors.pool import Pool, stream_tokens
from mtl_engine.prediction import score

Report = Callable[[str, int, int | None], None]


def score_pool(
    workspace: Workspace,
    pool: Pool,
    *,
    method: str,
    temperatures: Mapping[str, float],
    seed: int,
    report: Report,
) -> dict[str, Any]:
    """Return arrays over the pool: confidence (NaN = closed), information, expected items."""
    model, features = open_model(workspace)
    learned = [task.name for task in model.tasks]
    scores = score(
        model,
        stream_tokens(pool.ids),
        tasks=learned,
        method="dropout" if method == "dropout" else "entropy",
        temperatures=dict(temperatures),
        features=features,
        seed=seed,
        on_progress=lambda n_done: report("scoring", n_done, len(pool.ids)),
    )
    columns = [learned.index(name) if name in learned else None for name in pool.tasks]
    confidence = _columns(scores.confidence, columns, fill="mean")
    confidence[pool.is_closed] = np.nan
    return {
        "ids": pool.ids,
        "n_tokens": pool.n_tokens,
        "is_closed": pool.is_closed,
        "confidence": confidence,
        "information": _columns(scores.information, columns, fill="zero"),
        "n_expected": _columns(scores.n_expected, columns, fill="zero"),
        "n_items": _columns(scores.n_items.astype(float), columns, fill="zero"),
    }


def sentence_vectors(workspace: Workspace, ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the sentences of these ids, which must rise, as the round's model reads them."""
    model, features = open_model(workspace)
    scores = score(
        model,
        stream_tokens(ids),
        tasks=[task.name for task in model.tasks],
        has_vectors=True,
        features=features,
    )
    assert scores.vectors is not None
    return scores.vectors


def unscored_pool(pool: Pool) -> dict[str, Any]:
    """Return the same arrays before there is a model: everything is equally unsure."""
    confidence = np.where(pool.is_closed, np.nan, 0.5)
    nothing = np.zeros_like(confidence)
    return {
        "ids": pool.ids,
        "n_tokens": pool.n_tokens,
        "is_closed": pool.is_closed,
        "confidence": confidence,
        "information": nothing,
        "n_expected": nothing,
        "n_items": nothing,
    }


def _columns(
    values: NDArray[np.float64], columns: Sequence[int | None], *, fill: str
) -> NDArray[np.float64]:
    """Return one column a task; a task that is not learned yet gets a row's mean, or zero.

    With the mean it is asked for where the other tasks are, and changes no ranking.
    """
    missing = values.mean(axis=1) if fill == "mean" else np.zeros(len(values))
    return np.stack([missing if c is None else values[:, c] for c in columns], axis=1)
