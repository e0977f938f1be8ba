"""Answers and how sure they are, for any number of sentences in bounded memory."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from mtl_engine.batching import by_length
from mtl_engine.encoders.pack import Pack, Pieces, collate
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.features import Features
from mtl_engine.model import MultiTaskModel
from mtl_engine.precision import Precision, chosen_precision
from mtl_engine.prediction.dropout import DropoutScope, dropout_votes
from mtl_engine.types import Answer

Output = Literal["answers", "confidence", "entropy", "probabilities", "votes", "vectors"]
OUTPUTS: tuple[Output, ...] = get_args(Output)
BATCH_TOKENS = 1024  # sub-words in a batch: larger ones are no faster on a CPU
CHUNK = 2048  # sentences that are sorted by length together


@dataclass(frozen=True)
class Prediction:
    """What the model says of one sentence; everything is by task name, empty if not asked for."""

    answers: Mapping[str, Answer] = field(default_factory=dict)
    items: Mapping[str, list[float]] = field(default_factory=dict)  # a probability per item
    n_expected: Mapping[str, float] = field(default_factory=dict)  # items expected, with "answers"
    confidence: Mapping[str, float] = field(default_factory=dict)
    is_judged: Mapping[str, bool] = field(default_factory=dict)  # with "confidence": see Scores
    entropy: Mapping[str, float] = field(default_factory=dict)  # nats, summed over the sentence
    probabilities: Mapping[str, np.ndarray] = field(default_factory=dict)  # (rows, s)
    votes: Mapping[str, np.ndarray] = field(default_factory=dict)  # (k, m) ints
    vector: np.ndarray | None = None  # (h,) the pooled sentence


@dataclass(frozen=True)
class Request:
    """What to say of the sentences, and how."""

    tasks: tuple[str, ...]
    outputs: frozenset[str]
    temperatures: Mapping[str, float]
    n_passes: int
    dropout: DropoutScope
    seed: int
    is_greedy: bool
    precision: Precision


def predict(
    model: MultiTaskModel,
    sentences: Iterable[Sequence[str]],
    *,
    tasks: Sequence[str] | None = None,
    outputs: Collection[str] = ("answers", "confidence"),
    temperatures: Mapping[str, float] | None = None,
    features: Features | None = None,
    batch_tokens: int = BATCH_TOKENS,
    n_passes: int = 10,
    dropout: DropoutScope = "full",
    seed: int = 0,
    is_greedy: bool = False,
    precision: Precision = "float32",
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[Prediction]:
    """Yield a prediction per sentence, in their order; at most 2,048 sentences are held at once.

    ``features`` keeps what the frozen part computes; ``dropout`` "full" draws votes with dropout
    everywhere (the paper's), "top" only above the frozen part, which is then computed once.
    ``precision`` "auto" lets the encoder compute in bfloat16 if that is measured faster here.
    ``on_progress`` is told after each batch how many sentences have been computed.
    """
    request = Request(
        tasks=tuple(tasks or [task.name for task in model.tasks]),
        outputs=_known_outputs(outputs),
        temperatures=_checked_temperatures(model, temperatures or {}),
        n_passes=_at_least_one("n_passes", n_passes),
        dropout=_one_of("dropout scope", dropout, get_args(DropoutScope)),
        seed=seed,
        is_greedy=is_greedy,
        precision=_one_of("precision", precision, get_args(Precision)),
    )
    model.with_parents(request.tasks)
    if features is not None:
        features.require_of(model.encoder)
    remaining = iter(sentences)
    number = n_done = 0
    while chunk := list(islice(remaining, CHUNK)):
        pieces = model.encoder.read(chunk)
        found: list[Prediction | None] = [None] * len(chunk)
        for rows in by_length([len(sentence) for sentence in pieces], batch_tokens):
            batch = [pieces[row] for row in rows]
            number += 1
            for row, prediction in zip(
                rows, _predict_batch(model, batch, features, request, number), strict=True
            ):
                found[row] = prediction
            n_done += len(rows)
            if on_progress is not None:
                on_progress(n_done)
        yield from (prediction for prediction in found if prediction is not None)


@torch.no_grad()
def _predict_batch(
    model: MultiTaskModel,
    pieces: list[Pieces],
    features: Features | None,
    request: Request,
    number: int,
) -> list[Prediction]:
    model.eval()
    pack = collate(pieces)
    bottom = None if features is None else features.rows(pieces)
    columns: dict[str, dict[str, Sequence[Any]]] = {name: {} for name in COLUMNS}
    vectors: np.ndarray | None = None
    if request.outputs - {"votes"}:
        with chosen_precision(request.precision):
            states = model.states(pack, model.with_parents(request.tasks), bottom)
        states = {name: its_states.in_single_precision() for name, its_states in states.items()}
        scores = model.scores_of(states)
        for task in request.tasks:
            reading = model.head(task).read(
                scores[task], request.temperatures.get(task, 1.0), is_greedy=request.is_greedy
            )
            _fill(columns, task, reading, request.outputs)
        if "vectors" in request.outputs:
            pooled = [states[task].pooled for task in request.tasks]
            vectors = torch.stack(pooled).mean(0).numpy()
    if "votes" in request.outputs:
        columns["votes"] = _votes(model, pack, bottom, request, number)
    return [_row(columns, vectors, row) for row in range(len(pieces))]


COLUMNS = (
    "answers",
    "items",
    "n_expected",
    "confidence",
    "is_judged",
    "entropy",
    "probabilities",
    "votes",
)


def _fill(columns: dict[str, Any], task: str, reading: Any, outputs: frozenset[str]) -> None:
    if "answers" in outputs:
        columns["answers"][task] = reading.answers()
        columns["items"][task] = reading.item_confidence()
        columns["n_expected"][task] = reading.expected_items().tolist()
    if "confidence" in outputs:
        columns["confidence"][task] = reading.confidence().tolist()
        columns["is_judged"][task] = reading.is_judged().tolist()
    if "entropy" in outputs:
        columns["entropy"][task] = reading.entropy().tolist()
    if "probabilities" in outputs:
        columns["probabilities"][task] = reading.probabilities()


def _row(columns: dict[str, dict[str, Sequence[Any]]], vectors: Any, row: int) -> Prediction:
    values: dict[str, Any] = {
        name: {task: column[row] for task, column in tasks.items()}
        for name, tasks in columns.items()
    }
    return Prediction(**values, vector=None if vectors is None else vectors[row])


def _votes(
    model: MultiTaskModel, pack: Pack, bottom: Tensor | None, request: Request, number: int
) -> dict[str, Sequence[Any]]:
    passes = dropout_votes(
        model,
        pack,
        bottom,
        request.tasks,
        n_passes=request.n_passes,
        scope=request.dropout,
        seed=(request.seed * 1_000_003 + number) % 2**63,
    )
    return dict(passes)


def _one_of(what: str, name: Any, known: Sequence[str]) -> Any:
    if name not in known:
        raise UnknownName(what, name, known)
    return name


def _at_least_one(what: str, number: int) -> int:
    if number < 1:
        raise EngineError(f"{what} is {number}; it must be 1 or more.")
    return number


def _known_outputs(outputs: Collection[str]) -> frozenset[str]:
    return frozenset(_one_of("output", output, OUTPUTS) for output in outputs)


def _checked_temperatures(
    model: MultiTaskModel, temperatures: Mapping[str, float]
) -> Mapping[str, float]:
    for name, temperature in temperatures.items():
        if name not in model.number:
            raise UnknownName("task", name, model.number)
        if not 0 < temperature < inf:
            raise EngineError(
                f"The temperature of '{name}' is {temperature}; it must be a number above 0."
            )
    return temperatures
