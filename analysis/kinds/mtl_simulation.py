"""The study kind ``mtl_simulation``: a real task alone and with simulated tasks beside it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import AnalysisError
from analysis.kinds.corpus_files import read_records
from analysis.kinds.data_files import data_file, hash_files
from analysis.sweep.kinds import Row, StudyKind, register

if TYPE_CHECKING:
    from analysis.mtl_simulation import Laboratory

FILES = ("train", "dev", "test")
DATA = {
    "format": "conll2003",
    "layer": "ner",
    "dev_tokens": 0,  # 0 = all
    "test_tokens": 0,
    "vectors": "minilm",  # or a .vec file of fastText
    "vector_width": 0,  # principal components; 0 = the vectors as they are
    "context": 3,  # words on each side
}
CELL = {"n": 1000, "n_synthetic": 0, "n_tasks": 2, "alpha": 0.9}
SHAPE = {"units": 100, "dense_units": 100, "shared_layers": 1, "private_layers": 1}
TRAINING = {
    "epochs": 100,
    "batch_size": 100,
    "learning_rate": 0.001,
    "patience": 5,
    "look_every": 1,
}

LEAST = {"repeats": 1, "dev_tokens": 0, "test_tokens": 0, "vector_width": 0}


def _check(settings: Mapping[str, Any]) -> None:
    from analysis.mtl_simulation import Cell, Shape, Training

    Cell(**{name: settings[name] for name in CELL})
    Training(**{name: settings[name] for name in TRAINING})
    shape = {name: settings[name] for name in (*SHAPE, "context")}
    Shape(vector_width=1, n_labels=2, **shape)
    for name, least in LEAST.items():
        if settings[name] < least:
            raise AnalysisError(f"{name} is {settings[name]}: at least {least} is needed.")


def _run(settings: Mapping[str, Any], seed: int, data: "Laboratory") -> Iterator[Row]:
    from analysis.mtl_simulation import Cell, Shape, Training, run_cell

    cell = Cell(**{name: settings[name] for name in CELL})
    shape = Shape(
        vector_width=data.vectors.shape[1],
        n_labels=len(data.corpus.labels),
        context=settings["context"],
        **{name: settings[name] for name in SHAPE},
    )
    training = Training(**{name: settings[name] for name in TRAINING})
    n_repeats = settings["repeats"]
    outcome = run_cell(
        data,
        cell,
        shape,
        training,
        seeds=[seed * n_repeats + i for i in range(n_repeats)],
        stops_early=settings["stops_early"],
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
    yield {"final": {**scores, "vectors": settings["vectors"]}}


def _load(settings: Mapping[str, Any]) -> "Laboratory":
    import torch

    from analysis.mtl_simulation import Laboratory, read_tagged
    from analysis.mtl_simulation.vectors import word_vectors
    from analysis.simulator.sentences import token_labels

    parts = []
    for name in FILES:
        records = read_records(data_file(settings[name]), settings["format"])
        parts.append([(r.tokens, token_labels(r, settings["layer"])) for r in records])
    corpus = read_tagged(
        *parts, dev_tokens=settings["dev_tokens"], test_tokens=settings["test_tokens"]
    )
    vectors = word_vectors(_vectors(settings), corpus.vocabulary, width=settings["vector_width"])
    return Laboratory(corpus, torch.from_numpy(vectors), settings["context"])


def _fingerprint(settings: Mapping[str, Any]) -> str:
    paths = [data_file(settings[name]) for name in FILES]
    if settings["vectors"] != DATA["vectors"]:
        paths.append(Path(_vectors(settings)))
    return hash_files(paths)


def _vectors(settings: Mapping[str, Any]) -> str:
    """Return where word vectors come from: the bundled ones by name, others by their path."""
    name: str = settings["vectors"]
    return name if name == DATA["vectors"] else str(data_file(name))


MTL_SIMULATION = register(
    StudyKind(
        name="mtl_simulation",
        defaults={**DATA, **CELL, **SHAPE, **TRAINING, "stops_early": True, "repeats": 1},
        required=FILES,
        run=_run,
        load=_load,
        fingerprint=_fingerprint,
        check=_check,
        data_keys=(*FILES, *DATA),
    )
)
