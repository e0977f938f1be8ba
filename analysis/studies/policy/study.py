"""The study kind ``policy``: real text tasks, trained with tasks drawn by one policy."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.data.files import hash_files
from analysis.data.glue import SourceSettings, read_sources, source_files
from analysis.sweep.registry import Row, StudyKind
from mtl_engine.active_learning.settings import ModelSettings
from mtl_engine.errors import Problem
from mtl_engine.settings import Choice, setting

SINGLE = "SINGLE TASK"  # no policy: a model per task, each trained on its own sentences alone
POLICIES = ("RANDOM", "TASK SIZE", "EXP3.S", "LEARNED", SINGLE)


@dataclass(frozen=True)
class PolicyStudySettings(ModelSettings):
    """Tasks from files, a model, and the policy that draws whose batch comes next."""

    sources: tuple[SourceSettings, ...] = setting((), title="The tasks")
    policy: str = setting("RANDOM", title="Policy", choices=[Choice(name) for name in POLICIES])
    entropy_weight: float = setting(0.25, title="Entropy weight of LEARNED", low=0)
    eta: float = setting(1e-3, title="Learning rate of EXP3.S", above=0)
    epsilon: float = setting(0.05, title="Exploration of EXP3.S", low=0, high=1)
    n_points: int = setting(4, title="Points of the curves", low=1)
    label_smoothing: float = setting(
        0.0,
        title="Label smoothing",
        help="None: the reward of equation 16 reads losses as likelihoods.",
        low=0,
        below=1,
    )

    @property
    def task_order(self) -> str:
        """Return what the engine is told; the study's own policies draw the tasks."""
        return "uniform"

    def conflicts(self) -> Iterator[Problem]:
        """Yield that there is nothing to train on."""
        if not self.sources:
            yield Problem("sources", "The setting 'sources' is needed: tables, one per task.")
        yield from super().conflicts()


def _run(settings: PolicyStudySettings, seed: int, data: Any) -> Iterator[Row]:
    from analysis.studies.policy.runs import run_policy  # loads torch

    yield from run_policy(settings, seed, data)


def fingerprint(settings: PolicyStudySettings) -> str:
    """Return the hash of the tasks' files."""
    return hash_files(source_files(settings.sources))


STUDY = StudyKind(
    name="policy",
    settings=PolicyStudySettings,
    run=_run,
    load=lambda settings: read_sources(settings.sources),
    fingerprint=fingerprint,
    version=4,
    data_keys=("sources",),
)
