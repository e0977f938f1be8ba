"""The study kind ``surrogate``: one way to choose the source tasks of one target."""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.kinds.active_learning import feature_cache
from analysis.kinds.data_files import hash_files
from analysis.sweep.kinds import Row, StudyKind, register

DATA_KEYS = (
    "application",
    "folder",
    "sources",
    "table",
    "by",
    "outcome",
    "threshold",
    "inputs",
    "group_by",
    "n_train",
    "min_votes",
    "most_sources",
    "n_features",
)


def _run(settings: Mapping[str, Any], seed: int, data: Any) -> Iterator[Row]:
    from analysis.kinds.surrogate_runs import run_surrogate  # loads torch

    yield from run_surrogate(settings, seed, data)


def _load(settings: Mapping[str, Any]) -> Any:
    from analysis.kinds.feature_worlds import read_pool

    return read_pool(settings, feature_cache().parent / "sentence_vectors")


def _fingerprint(settings: Mapping[str, Any]) -> str:
    from analysis.kinds.feature_worlds import pool_files

    return hash_files(pool_files(settings))


SURROGATE = register(
    StudyKind(
        name="surrogate",
        defaults={
            "choice": "selected",
            "folder": "",
            "sources": [],
            "table": "",
            "by": "",
            "outcome": "",
            "threshold": 0.0,
            "inputs": [],
            "group_by": [],
            "n_train": 1500,
            "min_votes": 20,
            "most_sources": 20,
            "n_features": 64,
            "n_target": 60,
            "n_dev": 60,
            "n_subsets": 48,
            "subset_size": 3,
            "n_seeds": 2,
            "hidden": 32,
            "n_steps": 150,
        },
        required=("application", "target"),
        run=_run,
        load=_load,
        fingerprint=_fingerprint,
        data_keys=DATA_KEYS,
        replicates=("target",),
        mixed=("threshold",),  # a number to be above, or the text to be
    )
)
