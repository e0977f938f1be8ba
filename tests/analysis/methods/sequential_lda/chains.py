"""Small generators with known parameters, for the tests of SequentialLDA."""

import numpy as np

from analysis.methods.sequential_lda.space import Alphabet
from analysis.methods.sequential_lda.topics.contexts import Contexts
from analysis.methods.sequential_lda.topics.hmm import HMMSettings, HMMTopics
from analysis.methods.sequential_lda.topics.markov import MarkovSettings, MarkovTopics
from analysis.methods.sequential_lda.topics.state_chains import StateChains


def markov_topics(*chains, pseudo_count=0.0):
    """Order-1 chains given as (initial, transitions, halts)."""
    size = len(chains[0][0])
    space = Alphabet(tuple(range(size)))
    rows = np.zeros((len(chains), size + 2, size + 1))
    rows[:, -1] = 1 / (size + 1)
    for k, (initial, transitions, halts) in enumerate(chains):
        rows[k, 0, :-1] = initial
        rows[k, 1:-1, :-1] = transitions
        rows[k, 1:-1, -1] = halts
    contexts = Contexts(space, 1, np.arange(size + 1))
    settings = MarkovSettings(pseudo_count=pseudo_count)
    return MarkovTopics(space, settings, contexts, rows, np.full(rows.shape[1:], pseudo_count))


CHAIN_A = ([0.6, 0.4], [[0.5, 0.2], [0.3, 0.4]], [0.3, 0.3])
CHAIN_B = ([0.1, 0.9], [[0.1, 0.6], [0.7, 0.1]], [0.3, 0.2])


def two_chains():
    """Chains A and B of the worked example."""
    return markov_topics(CHAIN_A, CHAIN_B)


def hmm_topics(starts, moves, emissions, endings, *, halting=True):
    """Hidden Markov models from their matrices, each with a leading topic axis."""
    emissions = np.array(emissions, dtype=float)
    space = Alphabet(tuple(range(emissions.shape[2])), halting)
    settings = HMMSettings(n_states=emissions.shape[1], pseudo_count=0.0)
    chains = StateChains(
        np.array(starts, dtype=float),
        np.array(moves, dtype=float),
        np.array(endings, dtype=float) if halting else np.zeros_like(np.array(starts)),
        0.0,
        halting,
    )
    return HMMTopics(space, settings, chains, emissions, np.zeros(space.size))


def one_hmm(*, halting=True):
    """The hidden Markov model of the worked example."""
    return hmm_topics(
        [[0.6, 0.4]],
        [[[0.7, 0.3], [0.2, 0.8]]],
        [[[0.9, 0.1], [0.2, 0.8]]],
        [[0.2, 0.4]],
        halting=halting,
    )
