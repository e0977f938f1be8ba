"""What expected-error coverage knows of a pool: clusters, expected errors, what is labelled."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

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
from mtl_engine.kinds import KINDS, Clustering
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
from mtl_engine.types import Example

CLUSTER_LAYERS = 4  # of a pre-trained encoder: words in context, not yet tuned to any task
UNKNOWN_ERROR = 0.5  # of a task that no model has learned yet


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
        is_known = np.array([task.name in example.labels for example in known], dtype=bool)
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
        """Return a task's units; ``is_known`` says which known sentences have its answer."""
        counts, cluster = self._of(self.of_pool, clustering)
        if errors is None:
            error = np.full(len(cluster), UNKNOWN_ERROR, dtype=np.float32)
        else:
            assert (errors.counts == counts).all(), "clusters and scores are of the same sentences"
            error = np.clip(errors.values, 0.0, 1.0)
        size = self._size(clustering)
        known_counts, known_cluster = self._of(self.of_known, clustering)
        owner = np.repeat(np.arange(len(known_counts)), known_counts)
        is_counted = is_known[owner]
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
