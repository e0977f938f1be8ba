"""Clusters of words and sentences that are alike in an encoder's frozen states.

Fitted once on unlabelled text: standardised states, principal components, k-means on a sample.
What a task can get wrong is then counted per cluster (see `mtl_engine.selection.coverage`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mtl_engine.errors import EngineError
from mtl_engine.features import Features

Floats: TypeAlias = NDArray[np.float32]
Numbers: TypeAlias = NDArray[np.int32]

N_COMPONENTS = 64
SIZES = {"words": 300, "coarse_words": 100, "sentences": 60, "sentence_kinds": 8}
WORD_LEVELS = ("words", "coarse_words")
SAMPLE = 15_000  # words, and sentences, that clusters are fitted on
LEAST_PER_CLUSTER = 5  # members of the sample; fewer clusters are made of a small pool
MOST_STEPS = 30  # of k-means
N_NAMES = 5  # commonest words that name a cluster
N_NEIGHBOURS = 20  # whose distance says how typical a sentence is
CHUNK = 512  # sentences whose states are held at once


@dataclass(frozen=True)
class Projection:
    """Standardised principal components of states."""

    mean: Floats  # (h,)
    axes: Floats  # (h, d) scaled by the standard deviations

    def __call__(self, states: Floats) -> Floats:
        return np.asarray((states - self.mean) @ self.axes, dtype=np.float32)


@dataclass(frozen=True)
class ClusterNumbers:
    """The clusters of n sentences and of their words, one sentence after another, by level."""

    counts: NDArray[np.int64]  # (n,) words per sentence
    levels: dict[str, Numbers]  # (words,) or (n,)


@dataclass(frozen=True)
class Clusters:
    """Centres of clusters at several levels, and the commonest words of those of words."""

    encoder: str  # fingerprint of the frozen part whose states these are
    words: Projection
    sentences: Projection
    centres: dict[str, Floats]  # (k, d) by level
    names: dict[str, tuple[tuple[str, ...], ...]]  # by level of words, per cluster

    def size(self, level: str) -> int:
        """Return how many clusters a level has."""
        return len(self.centres[level])

    def assign(self, features: Features, sentences: Iterable[Sequence[str]]) -> ClusterNumbers:
        """Return the clusters of sentences and their words; a part of them is held at once."""
        if features.encoder.fingerprint() != self.encoder:
            raise EngineError(
                "The clusters were fitted on another encoder's states; fit them again with this "
                "encoder: fit_clusters(features, sentences)."
            )
        counts: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        found: dict[str, list[Numbers]] = {level: [np.empty(0, np.int32)] for level in self.centres}
        for states in _states(features, sentences):
            counts.append(states.counts)
            words, pooled = _unit(self.words(states.words)), self.sentences(states.sentences)
            for level, centres in self.centres.items():
                points = words if level in WORD_LEVELS else pooled
                found[level].append(_nearest(points, centres).astype(np.int32))
        return ClusterNumbers(
            np.concatenate(counts), {level: np.concatenate(of) for level, of in found.items()}
        )

    def save(self, path: Path) -> None:
        """Write the clusters into a file, as numpy keeps arrays."""
        arrays: dict[str, NDArray[np.generic]] = {
            "encoder": np.array(self.encoder),
            **{f"centres.{level}": centres for level, centres in self.centres.items()},
        }
        for part in ("words", "sentences"):
            projection: Projection = getattr(self, part)
            arrays |= {f"mean.{part}": projection.mean, f"axes.{part}": projection.axes}
        for level, names in self.names.items():
            arrays[f"names.{level}"] = np.array(["\t".join(words) for words in names])
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: Path) -> "Clusters":
        """Return clusters that were saved."""
        with np.load(path, allow_pickle=False) as kept:
            arrays = dict(kept)
        return cls(
            encoder=str(arrays["encoder"]),
            words=Projection(arrays["mean.words"], arrays["axes.words"]),
            sentences=Projection(arrays["mean.sentences"], arrays["axes.sentences"]),
            centres={level: arrays[f"centres.{level}"] for level in SIZES},
            names={
                level: tuple(
                    tuple(word for word in line.split("\t") if word)
                    for line in arrays[f"names.{level}"].tolist()
                )
                for level in WORD_LEVELS
            },
        )


def fit_clusters(
    features: Features, sentences: Iterable[Sequence[str]], *, seed: int = 0
) -> Clusters:
    """Return clusters of a sample of sentences; at most SAMPLE of them are read."""
    sample = [tokens for tokens in islice(sentences, SAMPLE) if tokens]
    if not sample:
        raise EngineError("There is no sentence to find clusters in; import some text first.")
    rng = np.random.default_rng(seed)
    spelled = [word for tokens in sample for word in tokens]
    kept = np.sort(rng.permutation(len(spelled))[:SAMPLE])
    words, pooled = _sampled_states(features, sample, kept)
    of_words, of_sentences = _fit_projection(words), _fit_projection(pooled)
    points = {True: _unit(of_words(words)), False: of_sentences(pooled)}
    centres = {
        level: _k_means(points[level in WORD_LEVELS], size, rng) for level, size in SIZES.items()
    }
    return Clusters(
        encoder=features.encoder.fingerprint(),
        words=of_words,
        sentences=of_sentences,
        centres=centres,
        names={
            level: _names([spelled[i] for i in kept], _nearest(points[True], centres[level]))
            for level in WORD_LEVELS
        },
    )


def typical_order(
    features: Features, sentences: Iterable[Sequence[str]], n: int, *, seed: int = 0
) -> NDArray[np.int64]:
    """Return sentences in the order of TypiClust (Hacohen et al. 2022), before there is a model.

    They are divided into n clusters; the most typical of each come first, of the largest cluster
    before the others, then the second of each. Typical is what has its neighbours near.
    """
    pooled = np.concatenate([part.sentences for part in _states(features, sentences)])
    points = _fit_projection(pooled)(pooled)
    nearest = _nearest(points, _k_means(points, n, np.random.default_rng(seed)))
    sizes = np.bincount(nearest)
    place = np.zeros(len(points), dtype=np.int64)  # of each sentence in its cluster
    for cluster in np.flatnonzero(sizes):
        own = np.flatnonzero(nearest == cluster)
        gaps = np.linalg.norm(points[own, None] - points[None, own], axis=2)
        near = np.sort(gaps, axis=1)[:, 1 : N_NEIGHBOURS + 1]
        distance = near.mean(axis=1) if near.shape[1] else np.zeros(len(own))
        place[own[np.argsort(distance, kind="stable")]] = np.arange(len(own))
    return np.lexsort((nearest, -sizes[nearest], place))


@dataclass(frozen=True)
class _States:
    counts: NDArray[np.int64]  # (B,)
    words: Floats  # (W, h) at each word's first sub-word
    sentences: Floats  # (B, h) means over sub-words


def _sampled_states(
    features: Features, sentences: Iterable[Sequence[str]], kept: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return the states of some words, ascending, and of all sentences; few are held at once."""
    words, pooled, n_before = [], [], 0
    for part in _states(features, sentences):
        own = kept[(kept >= n_before) & (kept < n_before + len(part.words))] - n_before
        words.append(part.words[own])
        pooled.append(part.sentences)
        n_before += len(part.words)
    return np.concatenate(words), np.concatenate(pooled)


def _states(features: Features, sentences: Iterable[Sequence[str]]) -> Iterator[_States]:
    features.encoder.train(features.encoder.training)  # dropout is off in the frozen part
    remaining = iter(sentences)
    while chunk := list(islice(remaining, CHUNK)):
        pieces = features.encoder.read(chunk)
        rows = features.rows(pieces).numpy()
        sizes = np.array([len(sentence) for sentence in pieces])
        counts = np.array([len(sentence.firsts) for sentence in pieces], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        firsts = np.concatenate([sentence.firsts for sentence in pieces]).astype(np.int64)
        sums = np.add.reduceat(rows, starts, axis=0)
        yield _States(
            counts=counts,
            words=rows[firsts + np.repeat(starts, counts)],
            sentences=np.asarray(sums / sizes[:, None], dtype=np.float32),
        )


def _fit_projection(states: Floats) -> Projection:
    """Return the principal components of standardised states, at most N_COMPONENTS."""
    mean, scale = states.mean(axis=0), states.std(axis=0)
    scale = np.where(scale > 1e-6, scale, 1.0)
    centred = (states - mean) / scale
    values, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    best = np.argsort(-values, kind="stable")[:N_COMPONENTS]
    axes = vectors[:, best]
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), np.arange(len(best))] < 0, -1.0, 1.0)
    return Projection(mean.astype(np.float32), (axes / scale[:, None]).astype(np.float32))


def _unit(points: Floats) -> Floats:
    length = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(points / np.maximum(length, 1e-12), dtype=np.float32)


def _k_means(points: Floats, size: int, rng: np.random.Generator) -> Floats:
    """Return centres (k, d) by Lloyd's algorithm from a k-means++ start."""
    size = int(np.clip(len(points) // LEAST_PER_CLUSTER, 1, size))
    centres = points[_spread(points, size, rng)]
    nearest = np.full(len(points), -1)
    for _ in range(MOST_STEPS):
        following = _nearest(points, centres)
        if (following == nearest).all():
            break
        nearest = following
        counts = np.bincount(nearest, minlength=size)
        used = np.flatnonzero(counts)
        firsts = (np.cumsum(counts) - counts)[used]
        sums = np.add.reduceat(points[np.argsort(nearest, kind="stable")], firsts, axis=0)
        centres = centres.copy()
        centres[used] = sums / counts[used, None]
    return centres


def _spread(points: Floats, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return points drawn with probability in proportion to their squared distance to the drawn."""
    drawn = [int(rng.integers(len(points)))]
    gap = ((points - points[drawn[0]]) ** 2).sum(axis=1).astype(np.float64)
    while len(drawn) < size:
        total = gap.sum()
        odds = gap / total if total > 0 else np.full(len(points), 1 / len(points))
        drawn.append(int(rng.choice(len(points), p=odds)))
        gap = np.minimum(gap, ((points - points[drawn[-1]]) ** 2).sum(axis=1))
    return np.array(drawn)


def _nearest(points: Floats, centres: Floats) -> NDArray[np.int64]:
    if not len(points):
        return np.empty(0, dtype=np.int64)
    half = 0.5 * (centres**2).sum(axis=1)
    return np.argmax(points @ centres.T - half, axis=1)


def _names(words: Sequence[str], nearest: NDArray[np.int64]) -> tuple[tuple[str, ...], ...]:
    """Return the commonest words of each cluster, in lower case."""
    counts: dict[int, Counter[str]] = {}
    for word, cluster in zip(words, nearest.tolist(), strict=True):
        counts.setdefault(cluster, Counter())[word.lower()] += 1
    return tuple(
        tuple(word for word, _ in counts.get(cluster, Counter()).most_common(N_NAMES))
        for cluster in range(int(nearest.max(initial=0)) + 1)
    )
