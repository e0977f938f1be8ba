"""Tags: one label per word, from a linear layer; optionally a CRF over neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor, nn

from mtl_engine.devices import array_of, tensor_of
from mtl_engine.heads.crf import Crf
from mtl_engine.heads.interface import (
    AxisNames,
    Head,
    JudgedItem,
    Reading,
    States,
    softmax,
    split_by,
)
from mtl_engine.heads.losses import cross_entropy
from mtl_engine.kinds.kind import ParentSpans
from mtl_engine.types import Answer, TaskSpec


@dataclass(frozen=True)
class TagScores:
    """Logits of every word."""

    states: States
    logits: Tensor  # (W, s)


UNKNOWN = -1  # of a word that teaches nothing: not asked, or what answers bring is new in dev


class TagHead(Head):
    """A linear layer over each word's vector; ``names`` are the tags in output order."""

    def __init__(self, task: TaskSpec, width: int, *, dropout: float, has_crf: bool) -> None:
        super().__init__(task)
        self.names = self.tag_names()
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(width, len(self.names))
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)
        self.crf = Crf(len(self.names)) if has_crf else None

    def tag_names(self) -> list[str]:
        """Return the tags that a word can have."""
        if not self.task.classes:
            self.require_labels()
        return list(self.task.classes or self.task.labels)

    def axis_names(self) -> AxisNames:
        one, two = (self.names,), (self.names, self.names)
        names: AxisNames = {"linear.weight": one, "linear.bias": one}
        if self.crf is not None:
            names |= {"crf.start": one, "crf.end": one, "crf.follow": two}
        return names

    def encode(self, n_tokens: int, answer: Answer) -> np.ndarray:
        self.require_length(n_tokens, answer)
        if self.task.classes:
            numbers = [self.numbers.get(label, UNKNOWN) for label in answer]
        else:
            numbers = [UNKNOWN if label is None else self.label_number(label) for label in answer]
        return np.array(numbers, dtype=np.int64)

    def n_answered(self, target: np.ndarray, n_words: int) -> int:
        return int((target != UNKNOWN).sum())

    def forward(self, states: States, *parents: object) -> TagScores:
        return TagScores(states, self.linear(self.dropout(states.words)))

    def losses(self, scores: TagScores, targets: Sequence[np.ndarray], smoothing: float) -> Tensor:
        gold = tensor_of(np.concatenate(targets), scores.logits)
        if self.crf is not None:
            return self.crf.losses(scores.logits, gold, scores.states.counts, smoothing)
        losses = cross_entropy(scores.logits, gold.clamp(min=0), smoothing)
        return scores.states.mean_by_sentence(losses, gold != UNKNOWN)

    def read(
        self, scores: TagScores, temperature: float = 1.0, *, is_greedy: bool = False
    ) -> Reading:
        return TagReading(self.names, *self._distributions(scores, temperature))

    def wrong_units(
        self, scores: TagScores, reading: "TagReading", targets: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        return split_by(reading.best != np.concatenate(targets), scores.states.counts)

    def judge_items(
        self,
        scores: TagScores,
        answers: Sequence[Answer],
        *,
        parents: Sequence[ParentSpans | None] | None = None,
        temperature: float = 1.0,
    ) -> list[list[JudgedItem]]:
        reading = self.read(scores, temperature)
        found = []
        for answer, rows in zip(answers, reading.probabilities(), strict=True):
            target = self.encode(len(rows), answer)
            best = rows.argmax(1)
            found.append(
                [
                    JudgedItem(
                        (i, answer[i]),
                        (i, self.names[best[i]]),
                        float(rows[i, target[i]]) if target[i] != UNKNOWN else 0.0,
                        float(rows[i, best[i]]),
                    )
                    for i in range(len(rows))
                ]
            )
        return found

    def calibration_rows(
        self, scores: TagScores, targets: Sequence[np.ndarray]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        logits = array_of(scores.logits)
        if self.crf is not None:
            logits = log(self.crf.marginals(scores.logits, scores.states.counts))
        gold = np.concatenate(targets)
        return [logits[gold != UNKNOWN]], [gold[gold != UNKNOWN]]

    def _distributions(
        self, scores: TagScores, temperature: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return probabilities (W, s), the best tags (W,), and words per sentence (B,)."""
        counts = scores.states.counts
        if self.crf is not None:
            marginals = self.crf.marginals(scores.logits, counts)
            best = self.crf.best(scores.logits, counts)
            return softmax(log(marginals), temperature), best, counts
        probabilities = softmax(array_of(scores.logits), temperature)
        return probabilities, probabilities.argmax(1), counts


def log(probabilities: np.ndarray) -> np.ndarray:
    """Return logarithms; of 0 a very low one."""
    return np.log(np.maximum(probabilities, 1e-30))


class TagReading(Reading):
    """Tags read from a distribution per word."""

    def __init__(
        self, names: list[str], probabilities: np.ndarray, best: np.ndarray, counts: np.ndarray
    ) -> None:
        self.names = names
        self.rows = probabilities  # (W, s)
        self.best = best  # (W,)
        self.counts = counts

    def probabilities(self) -> list[np.ndarray]:
        return split_by(self.rows, self.counts)

    def answers(self) -> list[Answer]:
        return self.tags()

    def tags(self) -> list[list[str]]:
        """Return the best tag of every word."""
        return [[self.names[tag] for tag in tags] for tags in self.votes()]

    def item_confidence(self) -> list[list[float]]:
        return [rows.tolist() for rows in self.best_probability()]

    def unit_errors(self) -> list[np.ndarray]:
        return [1 - rows for rows in self.best_probability()]

    def best_probability(self) -> list[np.ndarray]:
        """Return (m,) the probability of every word's best tag."""
        rows = np.take_along_axis(self.rows, self.best[:, None], axis=1)[:, 0]
        return split_by(rows, self.counts)

    def votes(self) -> list[np.ndarray]:
        return split_by(self.best, self.counts)
