"""Trained models that answer all tasks of a project together, and their folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtl_engine.atomic import current_place, replaced_folder
from mtl_engine.checkpoint import DESCRIPTION, load_model, read_description, save_model
from mtl_engine.devices import AUTO
from mtl_engine.executors import Executor
from mtl_engine.features import open_features
from mtl_engine.model import MultiTaskModel
from mtl_engine.types import Metrics, TaskSpec


@dataclass(frozen=True)
class TrainedModel:
    """A model of one or more tasks, and how its confidence is corrected."""

    model: MultiTaskModel
    temperatures: Mapping[str, float] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=dict)  # of the development sentences

    @property
    def names(self) -> tuple[str, ...]:
        """Return the tasks that the model answers."""
        return tuple(task.name for task in self.model.tasks)


@dataclass(frozen=True)
class Ensemble:
    """Trained models that answer all tasks together; a task belongs to the first that has it."""

    members: tuple[TrainedModel, ...]
    cache_dir: Path | None = None  # of the frozen layers' outputs
    executor: Executor | None = None  # where it is asked; None = in this process

    @property
    def tasks(self) -> tuple[TaskSpec, ...]:
        """Return the tasks that are answered, each once."""
        found = {task.name: task for member in self.members[::-1] for task in member.model.tasks}
        order = [name for member in self.members for name in member.names]
        return tuple(found[name] for name in dict.fromkeys(order))

    @property
    def temperatures(self) -> dict[str, float]:
        """Return each task's temperature."""
        return {
            name: member.temperatures[name]
            for name, member in self.owners().items()
            if name in member.temperatures
        }

    def owners(self) -> dict[str, TrainedModel]:
        """Return the member that answers each task."""
        return {name: member for member in self.members[::-1] for name in member.names}

    def options(self, member: TrainedModel) -> dict[str, Any]:
        """Return what every question to a member is asked with."""
        return {
            "temperatures": dict(member.temperatures),
            "features": open_features(member.model.encoder, self.cache_dir),
            "executor": self.executor,
        }


def save_ensemble(ensemble: Ensemble, folder: Path, *, data_hash: str) -> None:
    """Write a single model as a model's folder, several as numbered folders in one."""
    if len(ensemble.members) == 1:
        save_member(ensemble.members[0], folder, data_hash=data_hash)
        return
    with replaced_folder(folder) as new:
        for number, member in enumerate(ensemble.members):
            save_member(member, new / str(number), data_hash=data_hash)


def save_member(trained: TrainedModel, folder: Path, *, data_hash: str = "") -> None:
    """Write one trained model with its temperatures."""
    save_model(
        trained.model,
        folder,
        metrics=trained.metrics,
        temperatures=trained.temperatures,
        data_hash=data_hash,
    )


def load_ensemble(
    folder: Path,
    *,
    cache_dir: Path | None = None,
    device: str = AUTO,
    executor: Executor | None = None,
) -> Ensemble:
    """Return the models that were saved in a folder, on a device, asked by an executor."""
    place = current_place(folder)
    parts = [folder]
    if place.exists() and not (place / DESCRIPTION).exists():
        parts = sorted((part for part in place.iterdir() if part.name.isdecimal()), key=_number)
    members = tuple(load_member(part, device=device) for part in parts)
    return Ensemble(members, cache_dir, executor)


def load_member(folder: Path, *, device: str = AUTO) -> TrainedModel:
    """Return one trained model with its temperatures, on a device."""
    description = read_description(folder)
    model = load_model(folder, device=device)
    return TrainedModel(model, description["temperatures"], description["metrics"])


def _number(folder: Path) -> int:
    return int(folder.name)
