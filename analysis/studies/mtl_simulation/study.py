"""The study kind ``mtl_simulation``: a real task alone and with simulated tasks beside it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.data.corpora import read_records
from analysis.data.files import data_file, hash_files
from analysis.sweep.registry import Row, StudyKind
from mtl_engine.errors import Problem
from mtl_engine.settings import Choice, Settings, setting

if TYPE_CHECKING:
    from analysis.studies.mtl_simulation.experiment import ExperimentData

MINILM = "minilm"
FILES = ("train", "dev", "test")
CELL = ("n", "n_synthetic", "n_tasks", "alpha", "draws")
SHAPE = ("units", "dense_units", "shared_layers", "private_layers", "context")
TRAINING = ("epochs", "batch_size", "learning_rate", "patience", "look_every")


@dataclass(frozen=True)
class SimulatedTasksSettings(Settings):
    """The corpus of the real task, the simulated tasks, the model and its training."""

    train: str = setting("", title="Sentences to learn from")
    dev: str = setting("", title="Sentences to stop by")
    test: str = setting("", title="Sentences to test on")
    format: str = setting("conll2003", title="Format of the files")
    layer: str = setting("ner", title="Layer of spans that is the real task")
    dev_tokens: int = setting(0, title="Tokens of the dev text", help="0: all.", low=0)
    test_tokens: int = setting(0, title="Tokens of the test text", help="0: all.", low=0)
    vectors: str = setting(
        MINILM,
        title="Word vectors",
        help="`minilm`: the mean of the bundled encoder's sub-word vectors; or a .vec file of "
        "fastText.",
    )
    vector_width: int = setting(
        0, title="Principal components of the vectors", help="0: the vectors as they are.", low=0
    )
    context: int = setting(3, title="Words on each side", low=0)
    n: int = setting(1000, title="Labelled tokens of the real task", low=1)
    n_synthetic: int = setting(
        0, title="Labelled tokens of each simulated task", help="0: as many as n.", low=0
    )
    n_tasks: int = setting(2, title="Tasks, the real one among them", low=2)
    alpha: float = setting(
        0.9, title="Probability that a simulated label is the real one", low=0, high=1
    )
    draws: str = setting(
        "own",
        title="Tokens of a task",
        help="Each task labels tokens of its own, or all the same ones.",
        choices=(Choice("own"), Choice("same")),
    )
    units: int = setting(100, title="LSTM units in each direction", low=1)
    dense_units: int = setting(100, title="Units of a dense layer", low=1)
    shared_layers: int = setting(1, title="Dense layers of all tasks", low=0)
    private_layers: int = setting(1, title="Dense layers of each task", low=0)
    epochs: int = setting(100, title="Epochs", low=1)
    batch_size: int = setting(100, title="Tokens per step", low=1)
    learning_rate: float = setting(0.001, title="Learning rate of Adam", above=0, below=1)
    stops_early: bool = setting(True, title="Early stopping", help="By F1 on the dev text.")
    patience: int = setting(5, title="Looks without a better F1 before a model stops", low=1)
    look_every: int = setting(1, title="Epochs between looks", low=1)
    repeats: int = setting(
        1, title="Models per run", help="Trained as one stack; scores are their means.", low=1
    )

    def conflicts(self) -> Iterator[Problem]:
        """Yield files that are missing, and a real task with more tokens than the others."""
        for name in FILES:
            if not getattr(self, name):
                yield Problem(name, f"The setting '{name}' is needed: a file.")
        if self.n_synthetic and self.n_synthetic < self.n:
            yield Problem(
                "n_synthetic",
                f"n_synthetic {self.n_synthetic} is less than n {self.n}: simulated tasks have at "
                "least the tokens of the real one.",
            )

    def part(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return some settings by their names."""
        return {name: getattr(self, name) for name in names}


def _run(settings: SimulatedTasksSettings, seed: int, data: "ExperimentData") -> Iterator[Row]:
    from analysis.studies.mtl_simulation.experiment import Cell, run_cell
    from analysis.studies.mtl_simulation.model import Shape
    from analysis.studies.mtl_simulation.training import Training

    shape = Shape(
        vector_width=data.vectors.shape[1],
        n_labels=len(data.corpus.labels),
        **settings.part(SHAPE),
    )
    outcome = run_cell(
        data,
        Cell(**settings.part(CELL)),
        shape,
        Training(**settings.part(TRAINING)),
        seeds=[seed * settings.repeats + i for i in range(settings.repeats)],
        stops_early=settings.stops_early,
    )
    single, multi = outcome.f1_single.mean(), outcome.f1_multi.mean()
    final = {
        "f1_multi": multi,
        "f1_single": single,
        "difference": multi - single,
        "ami_max": outcome.ami_max.mean(),
        "ami_arithmetic": outcome.ami_arithmetic.mean(),
        "epochs_multi": outcome.epochs_multi.mean(),
        "epochs_single": outcome.epochs_single.mean(),
    }
    scores = {name: round(float(value), 6) for name, value in final.items()}
    yield {"final": {**scores, "vectors": settings.vectors}}


def _load(settings: SimulatedTasksSettings) -> "ExperimentData":
    import torch

    from analysis.methods.simulator.sentences import token_labels
    from analysis.studies.mtl_simulation.corpus import read_tagged
    from analysis.studies.mtl_simulation.experiment import ExperimentData
    from analysis.studies.mtl_simulation.vectors import word_vectors

    parts = []
    for name in FILES:
        records = read_records(data_file(getattr(settings, name)), settings.format)
        parts.append([(r.tokens, token_labels(r, settings.layer)) for r in records])
    corpus = read_tagged(*parts, dev_tokens=settings.dev_tokens, test_tokens=settings.test_tokens)
    vectors = word_vectors(_vectors(settings), corpus.vocabulary, width=settings.vector_width)
    return ExperimentData(corpus, torch.from_numpy(vectors), settings.context)


def _fingerprint(settings: SimulatedTasksSettings) -> str:
    paths = [data_file(getattr(settings, name)) for name in FILES]
    if settings.vectors != MINILM:
        paths.append(Path(_vectors(settings)))
    return hash_files(paths)


def _vectors(settings: SimulatedTasksSettings) -> str:
    """Return where word vectors come from: the bundled ones by name, others by their path."""
    return MINILM if settings.vectors == MINILM else str(data_file(settings.vectors))


STUDY = StudyKind(
    name="mtl_simulation",
    settings=SimulatedTasksSettings,
    run=_run,
    load=_load,
    fingerprint=_fingerprint,
    version=2,
    data_keys=(
        *FILES,
        "format",
        "layer",
        "dev_tokens",
        "test_tokens",
        "vectors",
        "vector_width",
        "context",
    ),
)
