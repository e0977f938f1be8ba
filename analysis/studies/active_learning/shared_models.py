"""The models that many runs begin with: trained once, found by what they learned from.

All strategies of a study start from the same labelled sentences, so the first training of a seed
is the same for each. It is kept with the caches, which may be removed at any time.
"""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

from mtl_engine.active_learning.train import Checkpoints, Training
from mtl_engine.atomic import first_folder
from mtl_engine.checkpoint import load_model, save_model
from mtl_engine.ensemble import TrainedModel
from mtl_engine.examples import examples_hash
from mtl_engine.prediction import fit_temperatures

FOLDER = "first_models"


class SharedModels(Checkpoints):
    """Finds trainings of other runs, and keeps new ones for them."""

    def __init__(self, cache_dir: Path | None, *, has_temperature: bool) -> None:
        self.cache_dir, self.has_temperature = cache_dir, has_temperature

    def find(self, training: Training) -> TrainedModel | None:
        folder = self._folder(training)
        if folder is None or not folder.exists():
            return None
        model = load_model(folder)
        can_fit = self.has_temperature and bool(training.dev)
        return TrainedModel(model, fit_temperatures(model, training.dev) if can_fit else {})

    def keep(self, training: Training, trained: TrainedModel) -> None:
        folder = self._folder(training)
        if folder is not None:
            with first_folder(folder) as new:
                save_model(trained.model, new)

    def _folder(self, training: Training) -> Path | None:
        return self.cache_dir / FOLDER / _key(training) if self.cache_dir else None


def _key(training: Training) -> str:
    known = {
        "config": training.config.to_dict(),
        "tasks": [task.to_dict() for task in training.tasks],
        "examples": examples_hash(training.examples),
        "dev": examples_hash(training.dev),
        "versions": [version(name) for name in ("torch", "transformers")],
    }
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:20]
