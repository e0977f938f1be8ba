"""Models on disk: parameters in model.npz, everything else in model.json; nothing pickled."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.mixtures import TaskMixtures
from analysis.methods.sequential_lda.space import Alphabet, RealSpace, Space
from analysis.methods.sequential_lda.topics.registry import family, settings_of

VERSION = 1
PREFIX = "topics."


def save_model(
    model: TaskMixtures, directory: Path | str, *, task_names: Sequence[str] | None = None
) -> None:
    """Write model.npz and model.json into a directory, creating it."""
    folder = Path(directory)
    names = list(task_names) if task_names is not None else None
    if names is not None and len(names) != len(model.theta_):
        raise AnalysisError(f"{len(names)} task names for {len(model.theta_)} tasks.")
    topics = model.topics_
    description = {
        "version": VERSION,
        "family": topics.family,
        "settings": dataclasses.asdict(topics.settings),
        "space": _space_to_json(topics.space),
        "task_names": names,
    }
    text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
    arrays: dict[str, Any] = {"theta": model.theta_, "alpha": np.asarray(model.alpha_)}
    if model.gamma_ is not None:
        arrays["gamma"] = model.gamma_
    arrays.update({PREFIX + name: value for name, value in topics.arrays().items()})
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "model.npz", **arrays)
    (folder / "model.json").write_text(text, encoding="utf-8")


def load_model(directory: Path | str) -> TaskMixtures:
    """The model that save_model wrote."""
    folder = Path(directory)
    description = _description(folder)
    with np.load(folder / "model.npz", allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    name = description["family"]
    topics = family(name).from_arrays(
        _space_from_json(description["space"]),
        settings_of(name, description["settings"]),
        {key.removeprefix(PREFIX): arrays[key] for key in arrays if key.startswith(PREFIX)},
    )
    alpha = arrays["alpha"]
    return TaskMixtures(
        topics,
        arrays["theta"],
        alpha=float(alpha) if alpha.ndim == 0 else alpha,
        gamma=arrays.get("gamma"),
    )


def load_task_names(directory: Path | str) -> list[str] | None:
    """The task names saved with a model, if any."""
    names: list[str] | None = _description(Path(directory))["task_names"]
    return names


def _description(folder: Path) -> dict[str, Any]:
    path = folder / "model.json"
    if not path.is_file():
        raise AnalysisError(f"{folder} holds no model.json; it is not a saved model.")
    description: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if description.get("version") != VERSION:
        raise AnalysisError(
            f"{path} has format version {description.get('version')!r}; this program reads "
            f"version {VERSION}."
        )
    return description


def _space_to_json(space: Space) -> dict[str, Any]:
    if isinstance(space, RealSpace):
        return {"kind": "real", **dataclasses.asdict(space)}
    strange = [s for s in space.symbols if not isinstance(s, str | int | float | bool | None)]
    if strange:
        raise AnalysisError(
            f"Symbol {strange[0]!r} cannot be written as JSON; use strings or numbers as symbols."
        )
    return {"kind": "alphabet", "symbols": list(space.symbols), "halting": space.halting}


def _space_from_json(stored: dict[str, Any]) -> Space:
    if stored["kind"] == "alphabet":
        return Alphabet(tuple(stored["symbols"]), stored["halting"])
    return RealSpace(
        stored["dimension"],
        stored["halting"],
        tuple(stored["centre"]),
        tuple(stored["variance"]),
    )
