"""The F1 of the real task on a text that is prepared once and read by many models."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from analysis.studies.mtl_simulation.corpus import Ints, TaggedText
from analysis.studies.mtl_simulation.model import (
    Parameters,
    encode_words,
    project_words,
    task_logits,
)
from analysis.studies.mtl_simulation.scoring import chunk_f1

TOKENS_AT_ONCE = 256  # over all models of a stack: gates stay in the processor's cache


class ChunkEvaluator:
    """Predicts the first task of a stack on one text; each word is projected once."""

    def __init__(self, text: TaggedText, context: int) -> None:
        words, numbers = np.unique(text.windows(context), return_inverse=True)
        self._words = torch.from_numpy(words)
        self._windows = torch.from_numpy(numbers.reshape(len(text.words), -1))
        self._gold = text.gold

    @torch.no_grad()
    def predict(self, parameters: Parameters, vectors: Tensor) -> Ints:
        """Return (s, m) labels."""
        table = project_words(parameters, vectors[self._words])
        found = []
        size = max(1, TOKENS_AT_ONCE // len(parameters["input"]))
        for first in range(0, len(self._windows), size):
            windows = self._windows[first : first + size]
            states = encode_words(parameters, table, windows)
            found.append(task_logits(parameters, states, only_first=True)[:, 0].argmax(-1))
        labels: Ints = torch.cat(found, dim=1).numpy()
        return labels

    def scores(self, parameters: Parameters, vectors: Tensor) -> NDArray[np.float64]:
        """Return (s,) F1 by the rules of conlleval."""
        return np.array([chunk_f1(row, self._gold) for row in self.predict(parameters, vectors)])
