"""What every head offers: scores from states, a loss per sentence, and a reading of the scores.

A head sees only the sentences it is given: to train on sentences that are labelled for its task,
the trainer selects their states first, so no head ever masks a missing answer. Heads of kinds whose
single words can be asked mask the other words.
"""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from mtl_engine.calibration import N_KNOTS, UNITS_PER_KNOT, fit_expected_error
from mtl_engine.confidence import entropy_confidence, summed_entropy
from mtl_engine.devices import array_of, tensor_of
from mtl_engine.encoders.pack import mean_by, within
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.kinds import KINDS, Judgement
from mtl_engine.kinds.kind import Item, ParentSpans
from mtl_engine.types import Answer, TaskSpec

AxisNames: TypeAlias = dict[str, tuple[list[str] | None, ...]]  # weight -> names along its axes


@dataclass(frozen=True)
class States:
    """What the encoder says of B sentences with W words in all."""

    words: Tensor  # (W, h)
    counts: np.ndarray  # (B,) words in each sentence
    pooled: Tensor  # (B, h)
    inner: np.ndarray | None = None  # (W,) each word's sentence in its document; None = no document
    spans: tuple[Mapping[str, Sequence[Sequence[Any]]], ...] = ()  # (B,) known of documents

    @cached_property
    def sentence_of_word(self) -> Tensor:  # (W,)
        return tensor_of(np.repeat(np.arange(len(self.counts)), self.counts), self.words)

    def mean_by_sentence(self, values: Tensor, is_known: Tensor | None = None) -> Tensor:
        """Return (B,) means of one value per word; of known words (W,) alone if these are given."""
        if is_known is None or bool(is_known.all()):
            return mean_by(values, self.sentence_of_word, len(self.counts))
        return mean_by(values[is_known], self.sentence_of_word[is_known], len(self.counts))

    def in_single_precision(self) -> "States":
        """Return the states in single precision, whatever the encoder computed in."""
        if self.words.dtype == torch.float32:
            return self
        return replace(self, words=self.words.float(), pooled=self.pooled.float())

    def select(self, rows: Sequence[int]) -> "States":
        """Return the states of some sentences, in the given order."""
        if len(rows) == len(self.counts) and list(rows) == list(range(len(rows))):
            return self
        starts = starts_of(self.counts)
        words = [np.arange(starts[row], starts[row] + self.counts[row]) for row in rows]
        chosen = np.concatenate(words)
        return States(
            words=self.words[tensor_of(chosen, self.words)],
            counts=self.counts[list(rows)],
            pooled=self.pooled[tensor_of(np.array(rows, dtype=np.int64), self.pooled)],
            inner=None if self.inner is None else self.inner[chosen],
            spans=tuple(self.spans[row] for row in rows) if self.spans else (),
        )


@dataclass(frozen=True)
class JudgedItem:
    """An item of a given answer beside what the model would say in its place."""

    given: Item | None  # None = nothing is answered here
    expected: Item | None
    likelihood: float  # of what was given
    best: float  # of what is expected
    presence: float = 1.0  # that anything stands here: a span, a link, an arc to this head


class Reading(ABC):
    """What a head's scores say, sentence by sentence."""

    @abstractmethod
    def probabilities(self) -> list[np.ndarray]:
        """Return the distributions (rows, s) that the confidence of each sentence is read from."""

    @abstractmethod
    def answers(self) -> list[Answer]:
        """Return the decoded answer of each sentence."""

    @abstractmethod
    def item_confidence(self) -> list[list[float]]:
        """Return a probability for each item of each answer, in the answer's order."""

    @abstractmethod
    def votes(self) -> list[np.ndarray]:
        """Return (m,) ints per sentence that two passes can be compared by."""

    @abstractmethod
    def unit_errors(self) -> list[np.ndarray]:
        """Return per sentence how likely the answer to each unit is wrong, by the scores alone.

        A unit is a word; a sentence where the whole of it is answered. What is answered about
        spans and pairs of them counts at the word where the (first) span begins.
        """

    def confidence(self) -> np.ndarray:
        """Return (B,) in [0, 1], low = ask first."""
        return entropy_confidence(self.probabilities())

    def entropy(self) -> np.ndarray:
        """Return (B,) the summed entropy in nats: what an answer is expected to tell."""
        return summed_entropy(self.probabilities())

    def is_judged(self) -> np.ndarray:
        """Return (B,) whether the confidence rests on anything: not so where no pair was kept."""
        return np.array([len(rows) > 0 for rows in self.probabilities()])

    def expected_items(self) -> np.ndarray:
        """Return (B,) how many items the answer is expected to have."""
        return np.array([len(answer) for answer in self.item_confidence()], dtype=float)


@dataclass(frozen=True)
class Parent:
    """What a head is told of a parent task while it learns."""

    scores: Any
    targets: Sequence[Any]  # per sentence; None where the parent has no answer


class Head(nn.Module, ABC):
    """A task's own part of the model."""

    is_by_word = True  # whether long sentences have more to answer, and weigh more in learning
    loss_weight = 1.0  # beside other tasks' losses; TrainingConfig's task_weights come on top
    has_decision = False  # whether ``fit_decision`` sets anything

    def __init__(self, task: TaskSpec) -> None:
        super().__init__()
        self.task = task
        self.index = {label: number for number, label in enumerate(task.labels)}
        self.error_knots: Tensor  # (2, k) raw and expected error; -1 = not fitted
        self.register_buffer("error_knots", -torch.ones(2, N_KNOTS))

    @abstractmethod
    def encode(self, n_tokens: int, answer: Answer) -> Any:
        """Return the answer as arrays; an answer that does not fit the task is an error."""

    @abstractmethod
    def forward(self, states: States, *parents: Any) -> Any:
        """Return the scores of all sentences; ``parents`` are those of the parent tasks."""

    @abstractmethod
    def losses(self, scores: Any, targets: Sequence[Any], smoothing: float) -> Tensor:
        """Return (B,) the loss of each sentence."""

    def n_answered(self, target: Any, n_words: int) -> int:
        """Return how many words of a sentence an answer is about: what it weighs in learning."""
        return n_words

    def training_losses(
        self, states: States, targets: Sequence[Any], smoothing: float, *parents: "Parent"
    ) -> Tensor:
        """Return (B,) the loss of each sentence, straight from the states."""
        scores = self(states, *(parent.scores for parent in parents))
        return self.losses(scores, targets, smoothing)

    @abstractmethod
    def read(self, scores: Any, temperature: float = 1.0, *, is_greedy: bool = False) -> Reading:
        """Return what the scores say; greedy decoding may give a tree that is none."""

    @abstractmethod
    def calibration_rows(
        self, scores: Any, targets: Sequence[Any]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return logits (rows, s) and right columns (rows,) to fit a temperature on."""

    @abstractmethod
    def wrong_units(self, scores: Any, reading: Any, targets: Sequence[Any]) -> list[np.ndarray]:
        """Return per sentence which units of the reading are wrong."""

    def judge_items(
        self,
        scores: Any,
        answers: Sequence[Answer],
        *,
        parents: Sequence[ParentSpans | None] | None = None,
        temperature: float = 1.0,
    ) -> list[list[JudgedItem]]:
        """Return how likely each item of given answers is, and items that they seem to lack.

        ``parents`` are the spans of the parent tasks. A head that cannot tell says nothing.
        """
        return [[] for _ in answers]

    def fit_expected_error(self, dev: Iterable[tuple[Any, Sequence[Any]]]) -> None:
        """Learn from scores and targets of dev sentences how often units like those are wrong."""
        raw, wrong = [], []
        for scores, targets in dev:
            reading = self.read(scores)
            raw += reading.unit_errors()
            wrong += self.wrong_units(scores, reading, targets)
        if sum(map(len, raw)) >= UNITS_PER_KNOT:
            knots = fit_expected_error(np.concatenate(raw), np.concatenate(wrong))
            self.error_knots.fill_(1.0)
            self.error_knots[:, : knots.shape[1]] = tensor_of(knots, self.error_knots)
            self.error_knots[1, knots.shape[1] :] = float(knots[1, -1])

    def expected_errors(self, reading: "Reading") -> list[np.ndarray]:
        """Return per sentence how likely each unit is wrong, as far as dev sentences have told."""
        raw = reading.unit_errors()
        if not self.is_error_fitted:
            return raw
        places, values = array_of(self.error_knots)
        return [np.interp(errors, places, values) for errors in raw]

    @property
    def is_error_fitted(self) -> bool:
        return float(self.error_knots[0, 0]) >= 0

    def fit_decision(self, dev: Iterable[tuple[Any, Sequence[Any]]]) -> None:
        """Set what answering decides by, from the scores and targets of dev sentences.

        Only heads with ``has_decision`` have such a thing.
        """

    def judge(
        self, gold: Sequence[Answer], predicted: Sequence[Answer], sizes: Sequence[int]
    ) -> Judgement:
        """Return the scores of predicted answers; ``sizes`` are the sentences' words."""
        return KINDS[self.task.kind].judge(self.task, gold, predicted, sizes)

    def axis_names(self) -> AxisNames:
        """Return, for each weight with an entry per label, what its axes stand for."""
        return {}

    def label_number(self, label: str) -> int:
        """Return the number of a label; one that the task does not list is an error."""
        try:
            return self.index[label]
        except KeyError:
            raise UnknownName(f"label of task '{self.task.name}'", label, self.index) from None

    def require_labels(self) -> None:
        """Refuse a task without labels where every answer needs one."""
        if not self.task.labels:
            raise EngineError(
                f"Task '{self.task.name}' of kind {self.task.kind} has no labels; give it at "
                "least one before training."
            )

    def require_length(self, n_tokens: int, answer: Sequence[Any]) -> None:
        """Refuse an answer that has not one entry per token."""
        if len(answer) != n_tokens:
            raise EngineError(
                f"The answer of task '{self.task.name}' has {len(answer)} entries for a sentence "
                f"of {n_tokens} tokens; it needs one per token."
            )


def split_by(rows: np.ndarray, counts: np.ndarray) -> list[np.ndarray]:
    """Return one array per sentence from rows that lie one after another."""
    return np.split(rows, np.cumsum(counts)[:-1])


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Return where each sentence's rows begin."""
    return np.cumsum(counts) - counts


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Return distributions over the last axis; minus infinity has probability 0."""
    scaled = logits.astype(np.float64) / temperature
    scaled -= scaled.max(axis=-1, keepdims=True, initial=-1e30)
    np.exp(scaled, out=scaled)
    return scaled / scaled.sum(axis=-1, keepdims=True)


def lay_out(rows: Tensor, counts: np.ndarray) -> tuple[Tensor, Tensor]:
    """Return (B, T, ...) with the rows (W, ...) of each sentence, and (B, T) where words are."""
    sentence = tensor_of(np.repeat(np.arange(len(counts)), counts), rows)
    place = tensor_of(within(counts), rows)
    width = int(counts.max())
    grid = rows.new_zeros(len(counts), width, *rows.shape[1:]).index_put((sentence, place), rows)
    is_word = tensor_of(np.arange(width) < counts[:, None], rows)
    return grid, is_word


def any_by(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Return (n_groups,) whether any value of each group is true."""
    return np.bincount(group, values, minlength=n_groups) > 0


def at_least_one(probabilities: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Return (n_groups,) the probability that something of each group happens."""
    none = np.log1p(-np.minimum(probabilities, 1 - 1e-12))
    return -np.expm1(np.bincount(group, none, minlength=n_groups))


def votes_by_place(
    answers: Sequence[Answer],
    counts: np.ndarray,
    place: Callable[[Sequence[Any]], int] = itemgetter(0),
) -> list[np.ndarray]:
    """Return (m,) per sentence: a digest of each word's rows, by default those that begin there."""
    votes = []
    for rows, count in zip(answers, counts, strict=True):
        own: list[list[Any]] = [[] for _ in range(count)]
        for row in rows:
            own[place(row)].append(row)
        digests = [1 + zlib.crc32(repr(of_word).encode()) if of_word else 0 for of_word in own]
        votes.append(np.array(digests, dtype=np.int64))
    return votes
