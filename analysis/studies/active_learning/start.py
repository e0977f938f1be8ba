"""The sentences that the first model of a simulation learns from."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from analysis.data.labelled import HiddenPool
from analysis.studies.active_learning.settings import BY_CHANCE, SimulationSettings
from mtl_engine.active_learning.cover import CLUSTER_LAYERS, sentence_groups
from mtl_engine.active_learning.pool import Cells, Rows
from mtl_engine.clusters import typical_order
from mtl_engine.costs import Costs
from mtl_engine.devices import seeded
from mtl_engine.encoders import new_encoder
from mtl_engine.feature_store import MemoryStore
from mtl_engine.features import MEMORY_LIMIT, Features, open_features


def first_cells(
    oracle: HiddenPool,
    settings: SimulationSettings,
    actual: Costs,
    *,
    seed: int,
    cache_dir: Path | None = None,
) -> Cells:
    """Return the cells (n, t) that are known at the start.

    The pool is in random order, so its first sentences are drawn by chance. Typical ones are taken
    until they cost as much as those.
    """
    asked = np.zeros(oracle.is_open.shape, dtype=bool)
    rows = np.arange(settings.initial)
    if settings.start != BY_CHANCE:
        order = _typical_rows(oracle, settings, seed, cache_dir)
        price = actual.by_row(oracle.is_open)
        is_paid = np.cumsum(price[order]) <= price[rows].sum()
        rows = order[: max(1, int(is_paid.sum()))]
    asked[rows] = True
    return asked


def _typical_rows(
    oracle: HiddenPool, settings: SimulationSettings, seed: int, cache_dir: Path | None
) -> Rows:
    """Return the typical sentences first, each wording once, and no residue."""
    pool = oracle.pool()
    config = settings.engine_config(seed=seed).encoder
    if config.kind == "transformer":
        config = replace(config, frozen_layers=CLUSTER_LAYERS)
    with seeded(seed, torch.device("cpu")):
        encoder = new_encoder(config)
    features = open_features(encoder, cache_dir) or Features(encoder, MemoryStore(MEMORY_LIMIT))
    order = typical_order(features, pool.all_tokens(), settings.initial, seed=seed)
    groups = sentence_groups(pool)[order]
    _, first = np.unique(groups, return_index=True)
    kept = np.sort(first[groups[first] >= 0])
    return np.asarray(pool.ids[order[kept]], dtype=np.int64)
