"""The sequences of the data that show best what each topic does."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.methods.sequential_lda.corpus import Tasks, build_corpus
from analysis.methods.sequential_lda.mixtures import TaskMixtures
from analysis.methods.sequential_lda.prediction import topic_shares


@dataclass(frozen=True)
class TypicalSequence:
    """A sequence that a topic explains well and others do not."""

    steps: Any
    count: int  # times it occurs in the data
    share: float  # posterior of the topic, averaged over those times


def typical_sequences(
    model: TaskMixtures, tasks: Tasks, *, n: int = 5
) -> list[list[TypicalSequence]]:
    """The n sequences of the data that speak most for each topic.

    A topic's responsibility for a sequence, added up over its repetitions, is taken beyond what
    the topic's share of all sequences would give; among equals the one that is more probable per
    step comes first.
    """
    corpus = build_corpus(tasks, model.space_)
    logs = model.topics_.log_likelihood(model.topics_.prepare(corpus.sequences))
    shares = topic_shares(model.theta_[corpus.task_of], logs[corpus.kind_of])
    weights = np.zeros_like(logs)
    np.add.at(weights, corpus.kind_of, shares)
    counts = np.bincount(corpus.kind_of, minlength=len(logs))
    n_topics = logs.shape[1]
    beyond = weights - counts[:, None] * shares.mean(axis=0) if n_topics > 1 else weights
    per_step = logs / corpus.sequences.lengths[:, None]
    found = []
    for k in range(n_topics):
        order = np.lexsort((-per_step[:, k], -np.round(beyond[:, k], 1)))[:n]
        found.append(
            [
                TypicalSequence(
                    model.space_.decode(corpus.sequences[int(v)]),
                    int(counts[v]),
                    float(weights[v, k] / counts[v]),
                )
                for v in order
                if beyond[v, k] > 0
            ]
        )
    return found
