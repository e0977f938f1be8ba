"""The study kind ``active_learning``: one strategy on one corpus, labels hidden until asked for."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from analysis.active_learning.corpus import LabelledCorpus
from analysis.active_learning.settings import Protocol
from analysis.errors import AnalysisError
from analysis.kinds.corpus_files import read_corpus
from analysis.kinds.corpus_project import project_fingerprint, read_project
from analysis.kinds.data_files import data_file, hash_files
from analysis.sweep.kinds import Row, StudyKind, register
from mtl_engine.config import BUNDLED, EngineConfig

DATA_KEYS = ("project", "train", "test", "format", "tasks", "test_size", "max_words")
PROTOCOL = {f.name: f.default for f in fields(Protocol) if f.name != "weights"}
ENGINE = {
    "encoder": BUNDLED,
    "architecture": "SMT",
    "label_smoothing": 0.1,  # 0 = plain cross-entropy
    "frozen_layers": 2,
    "epochs": 0,  # 0 = as many as suit the number of sentences
    "learning_rate": 4e-4,
    "head_factor": 10.0,
    "batch_size": 8,
    "patience": 4,
    "policy": "joint",
}
TRAINING = ("epochs", "learning_rate", "head_factor", "batch_size", "patience", "policy")


def engine_config(settings: Mapping[str, Any], seed: int) -> EngineConfig:
    """Return the engine's settings of a run."""
    is_tiny = settings["encoder"] == "tiny"
    return EngineConfig.from_dict(
        {
            "encoder": {
                "kind": "tiny" if is_tiny else "transformer",
                "name": BUNDLED if is_tiny else settings["encoder"],
                "frozen_layers": settings["frozen_layers"],
            },
            "model": {"architecture": settings["architecture"]},
            "training": {
                "seed": seed,
                "label_smoothing": settings["label_smoothing"],
                **{name: settings[name] for name in TRAINING},
            },
        }
    )


def feature_cache() -> Path:
    """Return where runs share what frozen layers compute."""
    return Path(os.environ.get("TANDEM_HOME") or ".tandem") / "caches" / "features"


def _run(settings: Mapping[str, Any], seed: int, data: LabelledCorpus) -> Iterator[Row]:
    from analysis.active_learning.protocol import run_protocol

    yield from run_protocol(
        data,
        read_protocol(settings),
        engine_config(settings, seed),
        seed=seed,
        cache_dir=feature_cache(),
    )


def read_protocol(settings: Mapping[str, Any]) -> Protocol:
    """Return the part of the settings that says how the budget is spent; refused if it is odd."""
    chosen = {name: settings[name] for name in PROTOCOL}
    return Protocol(**chosen, weights=dict(settings["weights"]))


def _check(settings: Mapping[str, Any]) -> None:
    has_files = bool(settings["train"] and settings["test"])
    if has_files == bool(settings["project"]):
        raise AnalysisError(
            "A study of kind 'active_learning' needs the settings 'train' and 'test', two files, "
            "or the setting 'project', the number of a project of this server."
        )
    check_sizes(settings)
    read_protocol(settings)
    engine_config(settings, 0)


def check_sizes(settings: Mapping[str, Any]) -> None:
    """Refuse sizes of data that cannot be."""
    for name in ("project", "test_size", "max_words"):
        if type(settings[name]) is not int or settings[name] < 0:
            raise AnalysisError(
                f"{name} is {settings[name]!r}; a whole number from 0 on is needed."
            )


def _load(settings: Mapping[str, Any]) -> LabelledCorpus:
    part = {name: settings[name] for name in ("tasks", "test_size", "max_words")}
    if settings["project"]:
        return read_project(settings["project"], **part)
    train, test = data_file(settings["train"]), data_file(settings["test"])
    return read_corpus(train, test, format=settings["format"], **part)


def _fingerprint(settings: Mapping[str, Any]) -> str:
    if settings["project"]:
        return project_fingerprint(settings["project"])
    return hash_files(data_file(settings[name]) for name in ("train", "test"))


ACTIVE_LEARNING = register(
    StudyKind(
        name="active_learning",
        defaults={
            "train": "",
            "test": "",
            "project": 0,  # a project of this server, in place of two files
            "format": "slu",
            "tasks": [],  # layers of the format; empty = all of them
            "test_size": 400,
            "max_words": 0,  # longer sentences are left out; 0 = none are
            "weights": {},
            **PROTOCOL,
            **ENGINE,
        },
        run=_run,
        load=_load,
        fingerprint=_fingerprint,
        check=_check,
        data_keys=DATA_KEYS,
        baseline={"strategy": "RANDOM"},
        asides=("OE", "ECE", "confidence", "accuracy"),
    )
)
