"""The models that many runs begin with: trained once, found by what they learned from.

All strategies of a study start from the same labelled sentences, so the first training of a seed
is the same for each. It is kept with the caches, which may be removed at any time.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from mtl_engine.checkpoint import load_model, save_model
from mtl_engine.config import EngineConfig
from mtl_engine.examples import examples_hash
from mtl_engine.model import MultiTaskModel
from mtl_engine.training import train, trained_model
from mtl_engine.types import Example, TaskSpec

FOLDER = "first_models"


def shared_model(
    examples: Sequence[Example],
    dev: Sequence[Example],
    tasks: Sequence[TaskSpec],
    config: EngineConfig,
    cache_dir: Path | None,
) -> MultiTaskModel:
    """Return the model of these examples: the one found, or a new one that others will find."""
    folder = cache_dir / FOLDER / _key(examples, dev, tasks, config) if cache_dir else None
    if folder and folder.exists():
        return load_model(folder)
    model = trained_model(train(examples, dev, tasks, config, cache_dir=cache_dir))
    if folder:
        _keep(model, folder)
    return model


def _key(
    examples: Sequence[Example],
    dev: Sequence[Example],
    tasks: Sequence[TaskSpec],
    config: EngineConfig,
) -> str:
    known = {
        "config": config.to_dict(),
        "tasks": [asdict(task) for task in tasks],
        "examples": examples_hash(examples),
        "dev": examples_hash(dev),
        "versions": [version(name) for name in ("torch", "transformers")],
    }
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:20]


def _keep(model: MultiTaskModel, folder: Path) -> None:
    """Put the model in its place; of two runs that trained it at once, the first one's stays."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as own:
        save_model(model, Path(own) / folder.name)
        try:
            os.rename(Path(own) / folder.name, folder)
        except OSError:
            if not folder.exists():
                raise
