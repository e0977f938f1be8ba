"""The study kind ``active_learning``: one strategy on one corpus, labels hidden until asked for."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from analysis.active_learning.corpus import LabelledCorpus
from analysis.active_learning.protocol import Protocol, run_protocol
from analysis.kinds.corpus_files import read_corpus
from analysis.sweep.kinds import Row, StudyKind, register
from mtl_engine.config import BUNDLED, EngineConfig

DATA_KEYS = ("train", "test", "format", "tasks", "test_size", "keep")
PROTOCOL = {f.name: f.default for f in fields(Protocol) if f.name != "weights"}
ENGINE = {
    "encoder": BUNDLED,
    "architecture": "SMT",
    "label_smoothing": 0.1,
    "frozen_layers": 2,
    "epochs": 0,
    "policy": "joint",
}


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
                "epochs": settings["epochs"],
                "label_smoothing": float(settings["label_smoothing"]),
                "policy": settings["policy"],
            },
        }
    )


def feature_cache() -> Path:
    """Return where runs share what frozen layers compute."""
    return Path(os.environ.get("TANDEM_HOME") or ".tandem") / "caches" / "features"


def _run(settings: Mapping[str, Any], seed: int, data: LabelledCorpus) -> Iterator[Row]:
    chosen = {name: settings[name] for name in PROTOCOL}
    protocol = Protocol(**chosen, weights=dict(settings["weights"]))
    yield from run_protocol(
        data, protocol, engine_config(settings, seed), seed=seed, cache_dir=feature_cache()
    )


def _load(settings: Mapping[str, Any]) -> LabelledCorpus:
    return read_corpus(
        Path(settings["train"]),
        Path(settings["test"]),
        format=settings["format"],
        tasks=settings["tasks"],
        test_size=settings["test_size"],
        keep=settings["keep"],
    )


def _fingerprint(settings: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for name in ("train", "test"):
        digest.update(Path(settings[name]).read_bytes())
    return digest.hexdigest()


ACTIVE_LEARNING = register(
    StudyKind(
        name="active_learning",
        defaults={
            "format": "slu",
            "tasks": [],  # layers of the format; empty = all of them
            "test_size": 400,
            "keep": 0,  # longest sentence to keep, in words; 0 = all
            "weights": {},
            **PROTOCOL,
            **ENGINE,
        },
        required=("train", "test"),
        run=_run,
        load=_load,
        fingerprint=_fingerprint,
        data_keys=DATA_KEYS,
    )
)
