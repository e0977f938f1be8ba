"""What expected-error coverage knows of a pool: clusters, expected errors, what is labelled."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mtl_engine.active_learning.pool import Pool, Rows
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.clusters import SAMPLE, ClusterNumbers, Clusters, fit_clusters
from mtl_engine.encoders import new_encoder
from mtl_engine.ensemble import Ensemble
from mtl_engine.feature_store import MemoryStore
from mtl_engine.features import MEMORY_LIMIT, Features, open_features
from mtl_engine.kinds import KINDS, Clustering, is_partial
from mtl_engine.prediction import UnitErrors
from mtl_engine.selection import TaskUnits, Units
from mtl_engine.selection.coverage import (
    LEAST_WORDS,
    REPEATED,
    RESIDUE,
    fragments,
    length_classes,
    near_duplicates,
    text_keys,
)
from mtl_engine.types import Example, TaskSpec

CLUSTER_LAYERS = 4  # of a pre-trained encoder: words in context, not yet tuned to any task
UNKNOWN_ERROR = 0.5  # of a task that no model has learned yet
SHORT = 4  # words of a sentence that is always asked whole
RANDOM_WORDS = 0.25  # of the asked words, at most, beside those that the model is least sure of
WORD_SEED = 7  # tells the draw of words from other draws


def pool_units(
    ensemble: Ensemble,
    pool: Pool,
    errors: Mapping[str, UnitErrors],
    known: Sequence[Example],
    settings: ActiveLearningSettings,
    *,
    groups: Rows,
) -> Units:
    """Return the units of a pool, in the order of its tasks.

    ``errors`` are the models' expected errors by task, ``known`` the sentences that they have
    learned from, ``groups`` those that say the same.
    """
    features = _features(ensemble)
    keys = text_keys(pool.all_tokens())
    known_keys = text_keys(example.tokens for example in known)
    clusters = _clusters(features, pool, known, keys, known_keys, ensemble)
    of_pool = clusters.assign(features, pool.all_tokens())
    of_known = clusters.assign(features, [example.tokens for example in known])
    counter = _Counter(clusters, of_pool, of_known, _has_sentence_task(pool))
    modes = settings.task_modes()
    tasks, names = [], []
    for task in pool.tasks:
        clustering = KINDS[task.kind].clustering
        is_known = _known_units(task, known, is_by_sentence=clustering.level == "sentences")
        units = counter.units(clustering, errors.get(task.name), is_known)
        tasks.append(replace(units, mode=modes.get(task.name, clustering.mode)))
        names.append(counter.names(clustering))
    return Units(
        tasks=tuple(tasks),
        groups=groups,
        opening=settings.opening_cost,
        by_row=settings.whole_sentences,
        names=tuple(names),
        parents=tuple(
            (number, pool.names.index(parent))
            for number, task in enumerate(pool.tasks)
            for parent in task.parents
        ),
    )


def sentence_groups(pool: Pool, known: Sequence[Example] = ()) -> Rows:
    """Return a number per sentence (n,), equal for those that say the same: one of them is asked.

    Below 0 nobody is asked: what repeats a known sentence (one with some answers does not repeat
    itself), and mere residue. Of a task about whole sentences a single word can be all there is.
    """
    groups, is_repeated = near_duplicates(pool.all_tokens(), (one.tokens for one in known))
    least = 1 if _has_sentence_task(pool) else LEAST_WORDS
    is_residue = fragments(pool.all_tokens(), least_words=least)
    groups = np.where(is_residue, RESIDUE, groups)
    return np.where(is_repeated & ~pool.is_closed.any(axis=1), REPEATED, groups)


def _has_sentence_task(pool: Pool) -> bool:
    return any(KINDS[task.kind].labels_on == "sentence" for task in pool.tasks)


def with_asked_words(
    units: Units,
    pool: Pool,
    settings: ActiveLearningSettings,
    *,
    learned: Collection[str],
    seed: int,
) -> Units:
    """Return the units with the words that an ask would name, of kinds that allow it.

    Of each sentence a share: the words of most expected error and some drawn by chance, or all by
    chance. Short sentences, dev sentences and tasks that no model has learned are asked whole. What
    dev sentences have beyond the share counts for nothing: nobody learns from them, and a rule that
    looks for most units would take no others.
    """
    if settings.word_asks == "off":
        return units
    rng = np.random.default_rng([seed, WORD_SEED])
    is_short = pool.n_tokens <= SHORT
    tasks = []
    for task, own in zip(pool.tasks, units.tasks, strict=True):
        if KINDS[task.kind].may_ask_words and task.name in learned:
            n_asked = np.where(is_short, own.counts, np.ceil(settings.word_share * own.counts))
            n_random = n_asked if settings.word_asks == "random" else n_asked * RANDOM_WORDS
            asked = _named_units(own, n_asked - np.floor(n_random), n_asked, rng)
            own = replace(own, asked=asked)
        tasks.append(own)
    return replace(units, tasks=tuple(tasks), whole=pool.is_dev())


def _named_units(
    units: TaskUnits, n_unsure: NDArray[Any], n_asked: NDArray[Any], rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which units are asked: so many of most error (n,), the rest of them by chance."""
    owner = np.repeat(np.arange(len(units.counts)), units.counts)
    first = np.repeat(np.cumsum(units.counts) - units.counts, units.counts)
    asked = np.zeros(len(owner), dtype=bool)
    for wanted, value in ((n_unsure, units.error), (n_asked, rng.random(len(owner)))):
        order = np.lexsort((-value, ~asked, owner))  # those that are asked already come first
        rank = np.empty(len(owner), dtype=np.int64)
        rank[order] = np.arange(len(owner))
        asked = rank - first < wanted[owner]
    return asked


def _known_units(
    task: TaskSpec, known: Sequence[Example], *, is_by_sentence: bool
) -> NDArray[np.bool_]:
    """Return which units of known sentences have an answer to a task, sentence after sentence."""
    found: list[bool] = []
    for example in known:
        answer = example.labels.get(task.name)
        if is_by_sentence:
            found.append(answer is not None)
        elif answer is not None and is_partial(answer):
            found += [entry is not None for entry in answer]
        else:
            found += [answer is not None] * len(example.tokens)
    return np.array(found, dtype=bool)


class _Counter:
    """Counts units per cluster, in the pool and among what is known."""

    def __init__(
        self,
        clusters: Clusters,
        of_pool: ClusterNumbers,
        of_known: ClusterNumbers,
        has_sentence_task: bool,
    ) -> None:
        self.clusters = clusters
        self.of_pool, self.of_known = of_pool, of_known
        self.n_kinds = clusters.size("sentence_kinds") if has_sentence_task else 1

    def units(
        self, clustering: Clustering, errors: UnitErrors | None, is_known: NDArray[np.bool_]
    ) -> TaskUnits:
        """Return a task's units; ``is_known`` (u,) says which of known sentences are answered."""
        counts, cluster = self._of(self.of_pool, clustering)
        if errors is None:
            error = np.full(len(cluster), UNKNOWN_ERROR, dtype=np.float32)
        else:
            assert (errors.counts == counts).all(), "clusters and scores are of the same sentences"
            error = np.clip(errors.values, 0.0, 1.0)
        size = self._size(clustering)
        known_counts, known_cluster = self._of(self.of_known, clustering)
        owner = np.repeat(np.arange(len(known_counts)), known_counts)
        is_counted = is_known
        if not clustering.by_length:
            labelled = np.bincount(known_cluster[is_counted], minlength=size)
            return TaskUnits(counts, cluster, error, labelled, clustering.kappa)
        length = length_classes(self.of_pool.counts)
        n_lengths = TaskUnits(counts, cluster, error, np.zeros(size), length=length).n_lengths
        key = known_cluster * n_lengths + length_classes(self.of_known.counts)[owner]
        labelled = np.bincount(key[is_counted], minlength=size * n_lengths)
        return TaskUnits(
            counts,
            cluster,
            error,
            labelled.reshape(size, n_lengths),
            clustering.kappa,
            length=length,
        )

    def names(self, clustering: Clustering) -> tuple[str, ...]:
        """Return the commonest words of each cluster."""
        if clustering.level == "sentences":
            return ("",) * self._size(clustering)
        per_word = self.n_kinds if clustering.level == "words" else 1
        named = [", ".join(words) for words in self.clusters.names[clustering.level]]
        named += [""] * (self.clusters.size(clustering.level) - len(named))
        return tuple(name for name in named for _ in range(per_word))

    def _size(self, clustering: Clustering) -> int:
        is_fine = clustering.level == "words"
        return self.clusters.size(clustering.level) * (self.n_kinds if is_fine else 1)

    def _of(self, numbers: ClusterNumbers, clustering: Clustering) -> tuple[Rows, Rows]:
        """Return units per sentence, and their clusters; words differ by the kind of sentence."""
        found = numbers.levels[clustering.level].astype(np.int64)
        if clustering.level == "sentences":
            return np.ones(len(found), dtype=np.int64), found
        if clustering.level == "words" and self.n_kinds > 1:
            kind = np.repeat(numbers.levels["sentence_kinds"], numbers.counts)
            found = found * self.n_kinds + kind
        return numbers.counts, found


def _clusters(
    features: Features,
    pool: Pool,
    known: Sequence[Example],
    keys: NDArray[np.uint64],
    known_keys: NDArray[np.uint64],
    ensemble: Ensemble,
) -> Clusters:
    """Return the clusters of the text, kept beside the features.

    The sample has the lowest keys of all sentences, labelled or not, so it changes only with the
    text, and a replay finds the same clusters.
    """
    distinct, first = np.unique(np.concatenate([keys, known_keys]), return_index=True)
    name = blake2b(distinct[:SAMPLE].tobytes(), digest_size=16).hexdigest()
    path = None
    if ensemble.cache_dir is not None:
        path = ensemble.cache_dir / features.encoder.fingerprint() / "clusters" / f"{name}.npz"
        if path.exists():
            return Clusters.load(path)
    places = np.sort(first[:SAMPLE])
    rows, others = places[places < len(keys)], places[places >= len(keys)] - len(keys)
    sample = [*pool.read_tokens(rows), *(known[place].tokens for place in others)]
    order = np.argsort(text_keys(sample), kind="stable")
    found = fit_clusters(features, [sample[place] for place in order])
    if path is not None:
        found.save(path)
    return found


def _features(ensemble: Ensemble) -> Features:
    """Return the states that clusters are found in: of layers that stay as they are pre-trained.

    A model whose own frozen part is lower is not asked. An encoder that learns from scratch has
    only its words' embeddings to offer.
    """
    model = ensemble.members[0].model
    encoder, config = model.encoder, model.config.encoder
    is_layered = config.kind == "transformer" and len(encoder.layers) > 1
    if is_layered and encoder.n_frozen < min(CLUSTER_LAYERS, len(encoder.layers)):
        with torch.random.fork_rng(devices=[]):
            encoder = new_encoder(replace(config, frozen_layers=CLUSTER_LAYERS, lora_rank=0))
    found = open_features(encoder, ensemble.cache_dir)
    return found or Features(encoder, MemoryStore(MEMORY_LIMIT))
