"""The study kind ``sequential_lda``: one method on planted or real sequences of many tasks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.data.files import data_file, hash_files
from analysis.sweep.registry import Row, StudyKind
from mtl_engine.errors import Problem
from mtl_engine.settings import Choice, Settings, setting

PLANTED = ("chains", "hidden", "clouds", "systems")
REAL = ("names", "biofam", "digits")
METHODS = (
    "one by one",
    "one by one, shrunk",
    "one by one, mixtures",
    "aggregate",
    "aggregate, mixture",
    "multinomial LDA",
    "SequentialLDA, plain",
    "SequentialLDA",
)
TOPICS = ("markov", "hmm", "rnn", "gaussian", "gaussian_hmm", "kalman")


@dataclass(frozen=True)
class SequenceStudySettings(Settings):
    """Sequences of many tasks, what is asked of them, and the method that answers."""

    data: str = setting(
        "chains",
        title="Data",
        help="Planted: chains, hidden (HMMs), clouds (normal distributions), systems (rotations). "
        "Real: names, biofam, digits (rows of images, with scikit-learn).",
        choices=[Choice(name) for name in (*PLANTED, *REAL)],
    )
    path: str = setting("", title="Folder of names, or file of biofam")
    question: str = setting(
        "seen tasks",
        title="Whose sequences are predicted",
        help="Of the tasks that were learned from, or of new ones that have few sequences while "
        "the others have `n_known`.",
        choices=(Choice("seen tasks"), Choice("new tasks")),
    )
    method: str = setting(
        "SequentialLDA", title="Method", choices=[Choice(name) for name in METHODS]
    )
    topic: str = setting("markov", title="Topics", choices=[Choice(name) for name in TOPICS])
    order: int = setting(1, title="Order of chains", low=1, high=5)
    n_topics: int = setting(
        3, title="Number of topics", help="0: chosen by held-out likelihood.", low=0
    )
    n_tasks: int = setting(20, title="Tasks of planted data", low=2)
    n_sequences: int = setting(15, title="Training sequences per task", low=1)
    n_known: int = setting(50, title="Training sequences of the tasks that are not new", low=1)
    n_test: int = setting(40, title="Test sequences per task", low=1)
    n_restarts: int = setting(4, title="Starts of EM", low=1)
    max_iter: int = setting(200, title="Most iterations of EM", low=1)

    @property
    def is_planted(self) -> bool:
        """Return whether the truth is known."""
        return self.data in PLANTED

    def conflicts(self) -> Iterator[Problem]:
        """Yield data that is missing, and topics that cannot read it."""
        if self.data in ("names", "biofam") and not self.path:
            yield Problem("path", f"The setting 'path' is needed with data '{self.data}'.")
        is_continuous = self.data in ("clouds", "systems", "digits")
        if is_continuous != (self.topic in ("gaussian", "gaussian_hmm", "kalman")):
            yield Problem("topic", f"Topics '{self.topic}' cannot read data '{self.data}'.")
        if is_continuous and self.method in ("multinomial LDA", "one by one, shrunk"):
            yield Problem("method", f"'{self.method}' is for symbols, not for points.")


def _run(settings: SequenceStudySettings, seed: int, data: Any) -> Iterator[Row]:
    from analysis.studies.sequential_lda.runs import run_method

    yield {"final": run_method(settings, seed, data)}


def _load(settings: SequenceStudySettings) -> Any:
    from analysis.data.sequence_sets import read_biofam, read_digits, read_names

    if settings.data == "names":
        return read_names(data_file(settings.path))
    if settings.data == "biofam":
        return read_biofam(data_file(settings.path))
    return read_digits() if settings.data == "digits" else None


def _fingerprint(settings: SequenceStudySettings) -> str:
    if not settings.path:
        return ""
    path = data_file(settings.path)
    return hash_files(sorted(path.glob("*.txt")) if path.is_dir() else [path])


STUDY = StudyKind(
    name="sequential_lda",
    settings=SequenceStudySettings,
    run=_run,
    load=_load,
    fingerprint=_fingerprint,
    data_keys=("data", "path"),
    baseline={"method": "aggregate"},
)
