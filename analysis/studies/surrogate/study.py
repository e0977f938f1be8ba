"""The study kind ``surrogate``: one way to choose the source tasks of one target."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.data.files import hash_files
from analysis.data.glue import SourceSettings
from analysis.sweep.registry import Row, StudyKind
from config.home import home
from mtl_engine.errors import Problem
from mtl_engine.settings import Choice, Settings, setting

APPLICATIONS = ("weak_supervision", "text", "groups")
CHOICES = ("STL", "all", "selected", "estimated", "pairwise")
ROBUST = "GroupDRO"  # all sources, by weights that follow the worst group
LABEL_MODELS = ("majority vote", "Dawid-Skene")  # one source made of all: what they say together


@dataclass(frozen=True)
class SurrogateStudySettings(Settings):
    """The examples of an application, a target among its tasks, and how sources are chosen."""

    application: str = setting(
        "", title="Application", choices=[Choice(name) for name in APPLICATIONS]
    )
    target: str = setting("", title="The target task")
    choice: str = setting(
        "selected",
        title="How sources are chosen",
        choices=[Choice(name) for name in (*CHOICES, ROBUST, *LABEL_MODELS)],
        help="`GroupDRO`: `groups` alone; the two ways of voting: `weak_supervision` alone.",
    )
    folder: str = setting("", title="weak_supervision: a data set of WRENCH")
    sources: tuple[SourceSettings, ...] = setting((), title="text: the tasks")
    table: str = setting("", title="groups: a CSV file")
    by: str = setting("", title="groups: the column whose values are the tasks")
    outcome: str = setting("", title="groups: the column to predict")
    threshold: float = setting(0.0, title="groups: the outcome is positive above this number")
    positive: str = setting("", title="groups: or where it is this text")
    inputs: tuple[str, ...] = setting(
        (), title="groups: the columns to predict from", help="A name with * holds words."
    )
    group_by: tuple[str, ...] = setting(
        (), title="groups: columns whose values are the groups of people"
    )
    n_train: int = setting(1500, title="Most training examples of a source", low=1)
    min_votes: int = setting(20, title="Fewest examples of a source", low=1)
    most_sources: int = setting(20, title="Most sources", low=1)
    n_features: int = setting(64, title="Principal components of sentence vectors", low=1)
    n_target: int = setting(60, title="Examples of the target to learn from", low=1)
    n_dev: int = setting(60, title="Examples of the target to choose by", low=1)
    n_subsets: int = setting(48, title="Subsets that the surrogate is fitted to", low=1)
    subset_size: int = setting(3, title="Sources of a subset", low=1)
    n_seeds: int = setting(2, title="Trainings of a subset", low=1)
    hidden: int = setting(32, title="Hidden units of the network", help="0: linear.", low=0)
    n_steps: int = setting(150, title="Steps of a training", low=1)
    group_step: float = setting(0.1, title="GroupDRO: how fast weights follow losses", above=0)

    def conflicts(self) -> Iterator[Problem]:
        """Yield what every study needs."""
        if not self.target:
            yield Problem("target", "The setting 'target' is needed: the task to help.")
        needed = {ROBUST: "groups", **dict.fromkeys(LABEL_MODELS, "weak_supervision")}
        if self.application != needed.get(self.choice, self.application):
            message = f"'{self.choice}' is for the application '{needed[self.choice]}' alone."
            yield Problem("choice", message)


def _run(settings: SurrogateStudySettings, seed: int, data: Any) -> Iterator[Row]:
    from analysis.studies.surrogate.runs import run_surrogate  # loads torch

    yield from run_surrogate(settings, seed, data)


def _load(settings: SurrogateStudySettings) -> Any:
    from analysis.studies.surrogate.tabular_tasks import read_pool

    return read_pool(settings, home().sentence_vectors)


def _fingerprint(settings: SurrogateStudySettings) -> str:
    from analysis.studies.surrogate.tabular_tasks import pool_files

    return hash_files(pool_files(settings))


STUDY = StudyKind(
    name="surrogate",
    settings=SurrogateStudySettings,
    run=_run,
    load=_load,
    fingerprint=_fingerprint,
    version=3,
    data_keys=(
        "application",
        "folder",
        "sources",
        "table",
        "by",
        "outcome",
        "threshold",
        "positive",
        "inputs",
        "group_by",
        "n_train",
        "min_votes",
        "most_sources",
        "n_features",
    ),
    replicates=("target",),
)
