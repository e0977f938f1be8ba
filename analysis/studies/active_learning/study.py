"""The study kind ``active_learning``: one strategy on one corpus, labels hidden until asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.data.corpora import read_corpus
from analysis.data.files import data_file, hash_files
from analysis.data.labelled import LabelledCorpus
from analysis.data.project import project_fingerprint, read_project
from analysis.studies.active_learning.settings import SimulationSettings
from analysis.sweep.registry import Row, StudyKind
from config.home import home
from mtl_engine.errors import Problem
from mtl_engine.settings import setting

SECONDARY = ("OE", "ECE", "R2", "confidence", "accuracy")


@dataclass(frozen=True)
class ActiveLearningStudySettings(SimulationSettings):
    """A corpus of two files, or a project of this server, and how its labels are bought."""

    train: str = setting("", title="File of the pool")
    test: str = setting("", title="File of the test sentences")
    project: int = setting(0, title="A project of this server, in place of two files", low=0)
    format: str = setting("slu", title="Format of the files")
    tasks: tuple[str, ...] = setting((), title="Layers of the format", help="None: all of them.")
    test_size: int = setting(400, title="Test sentences", help="0: all.", low=0)
    max_words: int = setting(0, title="Longest sentence", help="0: any.", low=0)

    def conflicts(self) -> Iterator[Problem]:
        """Yield that there is no data, or two sources of it, besides what cannot work together."""
        if bool(self.train and self.test) == bool(self.project):
            yield Problem(
                "train",
                "The settings 'train' and 'test', two files, are needed, or the setting 'project', "
                "the number of a project of this server.",
            )
        yield from super().conflicts()

    @property
    def corpus_part(self) -> dict[str, Any]:
        """Return what part of the sentences is read."""
        return {
            "tasks": list(self.tasks),
            "test_size": self.test_size,
            "max_words": self.max_words,
        }


def _run(settings: ActiveLearningStudySettings, seed: int, data: LabelledCorpus) -> Iterator[Row]:
    from analysis.studies.active_learning.simulation import simulate  # loads torch

    yield from simulate(data, settings, seed=seed, cache_dir=home().features)


def _load(settings: ActiveLearningStudySettings) -> LabelledCorpus:
    if settings.project:
        return read_project(settings.project, **settings.corpus_part)
    train, test = data_file(settings.train), data_file(settings.test)
    return read_corpus(train, test, format=settings.format, **settings.corpus_part)


def _fingerprint(settings: ActiveLearningStudySettings) -> str:
    if settings.project:
        return project_fingerprint(settings.project)
    return hash_files(data_file(name) for name in (settings.train, settings.test))


STUDY = StudyKind(
    name="active_learning",
    settings=ActiveLearningStudySettings,
    run=_run,
    load=_load,
    fingerprint=_fingerprint,
    version=7,
    data_keys=("project", "train", "test", "format", "tasks", "test_size", "max_words"),
    baseline={"strategy": "RANDOM"},
    secondary_metrics=SECONDARY,
)
