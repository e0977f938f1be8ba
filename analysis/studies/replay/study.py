"""The study kind ``replay``: how fast would a strategy have brought a project where it is today?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from analysis.data.labelled import LabelledCorpus, WorkTimes
from analysis.data.project import read_project, read_times, replay_fingerprint
from analysis.studies.active_learning.settings import SimulationSettings
from analysis.studies.active_learning.study import SECONDARY
from analysis.sweep.registry import Row, StudyKind
from config.home import home
from mtl_engine.active_learning.settings import MINUTES
from mtl_engine.errors import Problem
from mtl_engine.settings import setting

MOST_ROUNDS = 1000  # a replay ends when today's score is reached or nothing is left to ask
NOT_OF_REPLAY = ("unit", "n_rounds", "cost_source", "pool_size")


@dataclass(frozen=True)
class ReplaySettings(SimulationSettings):
    """A project of this server, and how its sentences would have been asked for."""

    RETIRED: ClassVar[tuple[str, ...]] = (*SimulationSettings.RETIRED, "minutes_per_round")

    project: int = setting(0, title="The project", low=0)
    tasks: tuple[str, ...] = setting((), title="Its tasks", help="None: all of them.")
    test_size: int = setting(
        400, title="Test sentences", help="Where no round has frozen a test slice yet.", low=0
    )
    max_words: int = setting(0, title="Longest sentence", help="0: any.", low=0)
    target: float = setting(
        1.0, title="Share of today's mean score that counts as reached", above=0
    )

    @classmethod
    def current(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return values of earlier versions under today's names: ``minutes_per_round``."""
        found = dict(super().current(values))
        if "minutes_per_round" in values:
            found["amount"] = values["minutes_per_round"]
        return found

    def conflicts(self) -> Iterator[Problem]:
        """Yield that there is no project, and settings that a replay does not have."""
        if not self.project:
            yield Problem("project", "The setting 'project' is needed: a project's number.")
        for field in fields(self):
            if field.name in NOT_OF_REPLAY and getattr(self, field.name) != field.default:
                yield Problem(
                    field.name,
                    f"'{field.name}' is no setting of a replay: it asks for {MINUTES} of work, "
                    "round by round, until today's score is reached.",
                )
        yield from super().conflicts()


def _run(
    settings: ReplaySettings, seed: int, data: tuple[LabelledCorpus, WorkTimes]
) -> Iterator[Row]:
    from analysis.studies.active_learning.simulation import measure_everything, simulate

    corpus, times = data
    options: dict[str, Any] = {"seed": seed, "cache_dir": home().features, "times": times}
    today, minutes_today = measure_everything(corpus, settings, **options)
    target = settings.target * today["mean"]
    reached: float | None = None
    row: Row = {}
    for row in simulate(corpus, _to_the_end(settings), **options):
        if "final" in row:
            break
        yield row
        if row["mean"] >= target:
            reached = row["cost"]
        if reached is not None or not row["selected"]:
            break
    needed = minutes_today if reached is None else reached
    yield {
        "final": {
            "saved minutes": minutes_today - needed,
            "needed minutes": needed,
            "minutes until today": minutes_today,
            "score today": today["mean"],
            "score reached": row["mean"],
            "is reached": float(reached is not None),
        }
    }


def _to_the_end(settings: ReplaySettings) -> SimulationSettings:
    values = {field.name: getattr(settings, field.name) for field in fields(SimulationSettings)}
    return replace(SimulationSettings(**values), n_rounds=MOST_ROUNDS)


def _load(settings: ReplaySettings) -> tuple[LabelledCorpus, WorkTimes]:
    tasks = list(settings.tasks)
    corpus = read_project(
        settings.project, tasks=tasks, test_size=settings.test_size, max_words=settings.max_words
    )
    return corpus, read_times(settings.project, tasks)


STUDY = StudyKind(
    name="replay",
    settings=ReplaySettings,
    run=_run,
    load=_load,
    fingerprint=lambda settings: replay_fingerprint(settings.project),
    version=6,
    data_keys=("project", "tasks", "test_size", "max_words"),
    secondary_metrics=SECONDARY,
    round_metrics=("mean",),  # scores of a replay are minutes; its curve is the way there
)
