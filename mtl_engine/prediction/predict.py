"""Answers and how sure they are, for any number of sentences in bounded memory."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from mtl_engine.batching import by_length
from mtl_engine.devices import array_of, find_device, free_memory
from mtl_engine.documents import read_words
from mtl_engine.encoders.pack import Pack, Pieces, collate
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.executors import Executor, LocalExecutor
from mtl_engine.feature_store import MemoryStore
from mtl_engine.features import Features
from mtl_engine.kinds import KINDS
from mtl_engine.model import MultiTaskModel
from mtl_engine.precision import Precision, chosen_precision
from mtl_engine.prediction.dropout import DropoutScope, dropout_votes
from mtl_engine.types import Answer

Output = Literal["answers", "confidence", "entropy", "probabilities", "votes", "vectors", "errors"]
OUTPUTS: tuple[Output, ...] = get_args(Output)
BATCH_TOKENS = 1024  # sub-words in a batch: larger ones are no faster on a CPU
CHUNK = 1024  # sentences that are sorted by length together


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
    errors: Mapping[str, np.ndarray] = field(default_factory=dict)  # (units,) expected to be wrong
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
    batch_tokens: int


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
    executor: Executor | None = None,
) -> Iterator[Prediction]:
    """Yield a prediction per sentence, in their order; at most 1,024 sentences are held at once.

    ``features`` keeps what the frozen part computes; ``dropout`` "full" draws votes with dropout
    everywhere (the paper's), "top" only above the frozen part, which is then computed once.
    ``precision`` "auto" lets the encoder compute in bfloat16 if that is measured faster here.
    ``on_progress`` is told after each batch how many sentences have been computed. ``executor`` may
    be a cluster, whose nodes hold more sentences and compute them on the devices that they have.
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
        batch_tokens=batch_tokens,
    )
    model.with_parents(request.tasks)
    if features is not None:
        features.require_of(model.encoder)
    progress = _Progress(on_progress)
    asked = Asked(model, features, request, progress)
    executor = executor or LocalExecutor()
    for found in executor.map(_predict_chunk, asked, _chunks(sentences)):
        if executor.is_remote:
            progress.add(len(found))
        yield from found


@dataclass(frozen=True)
class Asked:
    """A model and what it is asked; on its way to another process only that goes along."""

    model: MultiTaskModel
    features: Features | None
    request: Request
    progress: "_Progress"

    def __reduce__(self) -> Any:
        return _arrive, (self.model, self.features is not None, self.request)


class _Progress:
    """Counts sentences and tells how many there were."""

    def __init__(self, tell: Callable[[int], None] | None) -> None:
        self.tell = tell
        self.n_done = 0

    def add(self, n: int) -> None:
        self.n_done += n
        if self.tell is not None:
            self.tell(self.n_done)


Chunk = tuple[int, list[Sequence[str]]]  # sentences before it, and its own


def _arrive(model: MultiTaskModel, has_features: bool, request: Request) -> Asked:
    """Return what is asked of a model in a process that it came to, on the device found there."""
    model.to(find_device())
    features = Features(model.encoder, MemoryStore(0)) if has_features else None
    return Asked(model, features, request, _Progress(None))


def _chunks(sentences: Iterable[Sequence[str]]) -> Iterator[Chunk]:
    remaining = iter(sentences)
    number = 0
    while chunk := list(islice(remaining, CHUNK)):
        yield number, chunk
        number += len(chunk)


def _predict_chunk(asked: Asked, chunk: Chunk) -> list[Prediction]:
    """Return a prediction per sentence; chance depends on nothing but the seed and the chunk."""
    number, sentences = chunk  # there are at most as many batches as sentences
    pieces = read_words(asked.model.encoder, sentences)
    found: dict[int, Prediction] = {}
    for rows in by_length([len(sentence) for sentence in pieces], asked.request.batch_tokens):
        batch = [pieces[row] for row in rows]
        number += 1
        predictions = _predict_in_memory(asked.model, batch, asked.features, asked.request, number)
        for row, prediction in zip(rows.tolist(), predictions, strict=True):
            found[row] = _answered(asked.model, prediction, sentences[row])
        asked.progress.add(len(rows))
    return [found[row] for row in range(len(sentences))]


def _answered(model: MultiTaskModel, prediction: Prediction, tokens: Sequence[str]) -> Prediction:
    """Return a prediction whose answers are those of people, where a head learns others."""
    answers = {
        name: KINDS[model.head(name).task.kind].from_learned(answer, tokens)
        for name, answer in prediction.answers.items()
    }
    return replace(prediction, answers=answers) if answers else prediction


def _predict_in_memory(
    model: MultiTaskModel,
    pieces: list[Pieces],
    features: Features | None,
    request: Request,
    number: int,
) -> list[Prediction]:
    """Return the predictions of a batch, in halves when the memory of the device runs out."""
    try:
        return _predict_batch(model, pieces, features, request, number)
    except torch.OutOfMemoryError:
        if len(pieces) == 1:
            raise
    free_memory(model.device)
    middle = len(pieces) // 2
    halves = (pieces[:middle], pieces[middle:])
    return [
        p for half in halves for p in _predict_in_memory(model, half, features, request, number)
    ]


@torch.no_grad()
def _predict_batch(
    model: MultiTaskModel,
    pieces: list[Pieces],
    features: Features | None,
    request: Request,
    number: int,
) -> list[Prediction]:
    model.eval()
    pack = collate(pieces, model.device)
    bottom = None if features is None else features.rows(pieces)
    columns: dict[str, dict[str, Sequence[Any]]] = {name: {} for name in COLUMNS}
    vectors: np.ndarray | None = None
    if request.outputs - {"votes"}:
        with chosen_precision(request.precision, model.device):
            states = model.states(pack, model.with_parents(request.tasks), bottom)
        states = {name: its_states.in_single_precision() for name, its_states in states.items()}
        scores = model.scores_of(states)
        for task in request.tasks:
            reading = model.head(task).read(
                scores[task], request.temperatures.get(task, 1.0), is_greedy=request.is_greedy
            )
            _fill(columns, task, reading, request.outputs)
            if "errors" in request.outputs:
                plain = model.head(task).read(scores[task], is_greedy=request.is_greedy)
                columns["errors"][task] = model.head(task).expected_errors(plain)
        if "vectors" in request.outputs:
            pooled = [states[task].pooled for task in request.tasks]
            vectors = array_of(torch.stack(pooled).mean(0))
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
    "errors",
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
