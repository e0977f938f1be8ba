"""The study kind ``policy``: real text tasks, trained with tasks drawn by one policy."""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.kinds.active_learning import ENGINE
from analysis.kinds.data_files import hash_files
from analysis.sweep.kinds import Row, StudyKind, register


def fingerprint(settings: Mapping[str, Any]) -> str:
    """Return the hash of the tasks' files."""
    from analysis.kinds.task_sources import source_files

    return hash_files(source_files(settings["sources"]))


def _load(settings: Mapping[str, Any]) -> Any:
    from analysis.kinds.task_sources import read_sources  # loads torch

    return read_sources(settings["sources"])


def _run(settings: Mapping[str, Any], seed: int, data: Any) -> Iterator[Row]:
    from analysis.kinds.policy_runs import run_policy  # loads torch

    yield from run_policy(settings, seed, data)


POLICY = register(
    StudyKind(
        name="policy",
        defaults={
            **ENGINE,
            "policy": "RANDOM",
            "entropy_weight": 0.25,
            "eta": 1e-3,
            "epsilon": 0.05,
            "n_points": 4,
            "label_smoothing": 0.0,  # the reward of equation 16 reads losses as likelihoods
        },
        required=("sources",),
        run=_run,
        load=_load,
        fingerprint=fingerprint,
        data_keys=("sources",),
    )
)
