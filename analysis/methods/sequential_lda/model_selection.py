"""The number of topics by held-out likelihood."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.corpus import Tasks, check_tasks
from analysis.methods.sequential_lda.model import SequentialLDA
from analysis.methods.sequential_lda.space import alphabet_of
from analysis.methods.sequential_lda.topics.registry import family


@dataclass(frozen=True)
class TopicChoice:
    """Held-out log-likelihood per sequence of every candidate in every fold."""

    candidates: tuple[int, ...]
    scores: FloatArray  # (candidates, folds)

    @property
    def best(self) -> int:
        """The candidate with the best mean score; the smaller one of equals."""
        return self.candidates[int(np.argmax(self.scores.mean(axis=1)))]


def choose_n_topics(
    tasks: Tasks, candidates: Sequence[int], *, n_folds: int = 3, seed: int = 0, **options: Any
) -> TopicChoice:
    """Cross-validate the number of topics; `options` go to SequentialLDA.

    Every task's sequences are dealt into folds; a model learns from the others and scores the
    fold with the mixtures it inferred.
    """
    check_tasks(tasks)
    if not candidates:
        raise AnalysisError("candidates is empty; give the numbers of topics to try.")
    if n_folds < 2 or sum(len(sequences) for sequences in tasks) < n_folds:
        raise AnalysisError(f"n_folds is {n_folds}; use 2 up to the number of sequences.")
    topic = options.get("topic", "markov")
    if not family(topic).continuous and options.get("alphabet") is None:
        options["alphabet"] = alphabet_of(tasks, halting=True).symbols
    candidates = tuple(sorted(set(candidates)))
    rng = np.random.default_rng(seed)
    scores = np.empty((len(candidates), n_folds))
    for fold, (kept, held) in enumerate(fold_pairs(tasks, n_folds, rng)):
        for row, n_topics in enumerate(candidates):
            model = SequentialLDA(n_topics, seed=seed, **options).fit(kept)
            scores[row, fold] = model.score(held)
    return TopicChoice(candidates, scores)


def fold_pairs(
    tasks: Tasks, n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[list[list[Any]], list[list[Any]]]]:
    """Yield per fold what is learned from and what is held out, by task.

    Dealing goes on from task to task, so no fold stays empty and none takes all of tasks with one
    sequence each.
    """
    dealt, folds = 0, []
    for sequences in tasks:
        folds.append((rng.permutation(len(sequences)) + dealt) % n_folds)
        dealt += len(sequences)
    for fold in range(n_folds):
        kept = [_chosen(s, f != fold) for s, f in zip(tasks, folds, strict=True)]
        held = [_chosen(s, f == fold) for s, f in zip(tasks, folds, strict=True)]
        yield kept, held


def _chosen(sequences: Sequence[Any], inside: Any) -> list[Any]:
    return [sequence for sequence, is_in in zip(sequences, inside, strict=True) if is_in]
