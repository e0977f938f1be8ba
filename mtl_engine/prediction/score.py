"""A pool of sentences scored for selection: one row per sentence, one column per task."""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mtl_engine.confidence import dropout_agreement, vote_disagreement
from mtl_engine.errors import UnknownName
from mtl_engine.executors import Executor
from mtl_engine.features import Features
from mtl_engine.model import MultiTaskModel
from mtl_engine.prediction.dropout import DropoutScope
from mtl_engine.prediction.predict import BATCH_TOKENS, Prediction, predict

Method = Literal["entropy", "dropout"]
METHODS: tuple[Method, ...] = ("entropy", "dropout")


@dataclass(frozen=True)
class UnitErrors:
    """How likely the answer to each unit of n sentences is wrong: of a word, or of the sentence.

    Calibrated on the dev sentences of the training; without any, the raw error above the pool's
    first decile, below which lies what smoothed labels leave of doubt. With dropout votes it is the
    share of passes that disagree, where votes are about the units: the part that labels can reduce.
    """

    counts: np.ndarray  # (n,) units of each sentence
    values: np.ndarray  # (u,) float32 in [0, 1], sentence after sentence


@dataclass(frozen=True)
class Scores:
    """What selection needs to know of n sentences and t tasks."""

    tasks: tuple[str, ...]
    confidence: np.ndarray  # (n, t) in [0, 1], low = ask first
    is_judged: np.ndarray  # (n, t) False where confidence is 1 for lack of anything to judge
    information: np.ndarray  # (n, t) nats that an answer is expected to tell: summed entropy
    n_items: np.ndarray  # (n, t) items in the decoded answer: spans, relations, tokens, 1 class
    n_expected: np.ndarray  # (n, t) items expected from the probabilities
    vectors: np.ndarray | None  # (n, h) float32 pooled sentences, if asked for
    errors: Mapping[str, UnitErrors] | None = None  # by task, if asked for


def score(
    model: MultiTaskModel,
    sentences: Iterable[Sequence[str]],
    *,
    tasks: Sequence[str] | None = None,
    method: Method = "entropy",
    temperatures: Mapping[str, float] | None = None,
    has_vectors: bool = False,
    has_errors: bool = False,
    features: Features | None = None,
    batch_tokens: int = BATCH_TOKENS,
    n_passes: int = 10,
    dropout: DropoutScope = "full",
    seed: int = 0,
    on_progress: Callable[[int], None] | None = None,
    executor: Executor | None = None,
) -> Scores:
    """Return how sure the model is of every sentence; memory grows by a few numbers per sentence.

    ``method`` "dropout" measures confidence by the agreement of ``n_passes`` dropout passes.
    ``on_progress`` is told after each batch how many sentences have been scored; ``executor`` is
    where they are.
    """
    if method not in METHODS:
        raise UnknownName("confidence method", method, METHODS)
    names = tuple(tasks or [task.name for task in model.tasks])
    outputs = {"answers", "confidence", "entropy"}
    outputs |= {"votes"} if method == "dropout" else set()
    outputs |= {"vectors"} if has_vectors else set()
    outputs |= {"errors"} if has_errors else set()
    rows = array("d")  # 8 bytes a number, however large the pool
    vectors: list[np.ndarray] = []
    errors: dict[str, array[float]] = {name: array("f") for name in names}
    counts: dict[str, array[int]] = {name: array("q") for name in names}
    for prediction in predict(
        model,
        sentences,
        tasks=names,
        outputs=outputs,
        temperatures=temperatures,
        features=features,
        batch_tokens=batch_tokens,
        n_passes=n_passes,
        dropout=dropout,
        seed=seed,
        on_progress=on_progress,
        executor=executor,
    ):
        rows.extend(_numbers(prediction, names, method))
        if prediction.vector is not None:
            vectors.append(prediction.vector)
        for name in prediction.errors:
            found = _unit_errors(prediction, name)
            errors[name].extend(found.tolist())
            counts[name].append(len(found))
    table = np.array(rows, dtype=np.float64).reshape(-1, 5, len(names))
    return Scores(
        tasks=names,
        confidence=table[:, 0],
        is_judged=table[:, 1].astype(bool),
        information=table[:, 2],
        n_items=table[:, 3].astype(np.int64),
        n_expected=table[:, 4],
        vectors=np.array(vectors, dtype=np.float32) if has_vectors else None,
        errors={
            name: UnitErrors(
                counts=np.array(counts[name], dtype=np.int64),
                values=_above_floor(model, name, np.array(errors[name], dtype=np.float32)),
            )
            for name in names
        }
        if has_errors
        else None,
    )


def _unit_errors(prediction: Prediction, name: str) -> np.ndarray:
    votes = prediction.votes.get(name)
    if votes is None or votes.shape[1] != len(prediction.errors[name]):
        return prediction.errors[name]
    return vote_disagreement(votes)


def _above_floor(model: MultiTaskModel, task: str, errors: np.ndarray) -> np.ndarray:
    if model.head(task).is_error_fitted or not len(errors):
        return errors
    return np.maximum(errors - np.quantile(errors, 0.1).astype(np.float32), np.float32(0))


def _numbers(prediction: Prediction, names: Sequence[str], method: Method) -> list[float]:
    if method == "dropout":
        confidence = [float(dropout_agreement([prediction.votes[name]])[0]) for name in names]
    else:
        confidence = [prediction.confidence[name] for name in names]
    return [
        *confidence,
        *(prediction.is_judged[name] for name in names),
        *(prediction.entropy[name] for name in names),
        *(len(prediction.items[name]) for name in names),
        *(prediction.n_expected[name] for name in names),
    ]
