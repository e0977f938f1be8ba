"""Models and snapshots as folders of safetensors and JSON: nothing is ever unpickled.

A folder is replaced as a whole: a reader sees all of the old one or all of the new one.
``model.safetensors`` holds all weights, ``model.json`` the configuration, tasks, label sets,
metrics, data hash and versions, ``encoder/`` the encoder's own files.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from mtl_engine.atomic import read_whole, replaced_folder
from mtl_engine.checksums import check_seal, seal
from mtl_engine.config import EngineConfig
from mtl_engine.devices import AUTO, find_device
from mtl_engine.encoders import Encoder, load_encoder
from mtl_engine.errors import EngineError
from mtl_engine.model import MultiTaskModel
from mtl_engine.types import Metrics, TaskSpec

if TYPE_CHECKING:  # only snapshots know of training: a model is read without it
    from mtl_engine.training.events import TrainingState

FORMAT = 1
WEIGHTS, DESCRIPTION, CARD, ENCODER = "model.safetensors", "model.json", "README.md", "encoder"
PARTS = ("weights", "best_weights", "optimizer")  # tensors of a snapshot


def save_model(
    model: MultiTaskModel,
    folder: Path | str,
    *,
    metrics: Metrics | None = None,
    temperatures: Mapping[str, float] | None = None,
    data_hash: str = "",
) -> None:
    """Write the model and its card to a new folder; an existing one is replaced."""
    description = {
        "format": FORMAT,
        "config": model.config.to_dict(),
        "tasks": [task.to_dict() for task in model.tasks],
        "metrics": metrics or {},
        "temperatures": dict(temperatures or {}),
        "data_hash": data_hash,
        "versions": {name: version(name) for name in ("torch", "transformers", "safetensors")},
    }
    with replaced_folder(Path(folder)) as new:
        save_file(_contiguous(model.state_dict()), new / WEIGHTS)
        (new / ENCODER).mkdir()
        model.encoder.save_parts(new / ENCODER)
        _write_json(new / DESCRIPTION, description)
        (new / CARD).write_text(model_card(description), encoding="utf-8")
        seal(new)


def load_model(folder: Path | str, *, device: str = AUTO) -> MultiTaskModel:
    """Return the model saved in a folder, on a device."""
    return read_whole(Path(folder), _load_model).to(find_device(device))


def _load_model(path: Path) -> MultiTaskModel:
    config, tasks = _described(path, _read_description(path))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.training.seed)
        model = MultiTaskModel(config, tasks, _saved_encoder(config, path / ENCODER))
    try:
        model.load_state_dict({**_later_tensors(model), **_load_tensors(path / WEIGHTS)})
    except RuntimeError as error:
        raise EngineError(
            f"The weights in '{path}' do not fit its {DESCRIPTION}: {error}. If another version of "
            "this package wrote them, load them with that version, or train the model anew."
        ) from error
    check_seal(path)  # last, so that what is plainly wrong is said by its name
    return model.eval()


# What models of earlier versions did not have, and what stands for it there.
AS_NEW = (
    ".null_offset",
    ".error_knots",
    "shapes.weight",
    ".first_factor.weight",
    ".first_factor.bias",
)
AS_ZERO = (".inside.weight", ".between_most.weight", ".second_factor.weight", ".second_factor.bias")


def _later_tensors(model: MultiTaskModel) -> dict[str, Tensor]:
    """Return values that change nothing of what a model of an earlier version says."""
    state = model.state_dict()
    unfitted = {name: value for name, value in state.items() if name.endswith(AS_NEW)}
    zeros = {n: torch.zeros_like(value) for n, value in state.items() if n.endswith(AS_ZERO)}
    return {**unfitted, **zeros}


def read_description(folder: Path | str) -> dict[str, Any]:
    """Return what is known of a saved model without loading it: tasks, metrics, versions."""
    return read_whole(Path(folder), _read_description)


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / DESCRIPTION
    try:
        description: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EngineError(f"'{folder}' is not a saved model: {error}") from error
    found = description.get("format") if isinstance(description, dict) else None
    if found != FORMAT:
        raise EngineError(f"'{folder}' has format {found!r}; this version reads {FORMAT}.")
    return description


def save_snapshot(state: "TrainingState", folder: Path | str) -> None:
    """Write all that a training needs to go on; an older snapshot there is replaced."""
    values = {name: getattr(state, name) for name in vars(state) if name not in PARTS}
    values["history"] = [asdict(feedback) for feedback in state.history]
    values["stopping"] = asdict(state.stopping)
    with replaced_folder(Path(folder)) as new:
        for part in PARTS:
            save_file(_contiguous(getattr(state, part)), new / f"{part}.safetensors")
        _write_json(new / "snapshot.json", values)
        seal(new)


def load_snapshot(folder: Path | str) -> "TrainingState":
    """Return the snapshot saved in a folder, for ``train(resume_from=...)``."""
    return read_whole(Path(folder), _load_snapshot)


def _load_snapshot(path: Path) -> "TrainingState":
    from mtl_engine.policies import Feedback
    from mtl_engine.training.early_stopping import EarlyStopping
    from mtl_engine.training.events import TrainingState

    try:
        values = json.loads((path / "snapshot.json").read_text(encoding="utf-8"))
        values["history"] = tuple(Feedback(**feedback) for feedback in values["history"])
        values["stopping"] = EarlyStopping(**values["stopping"])
        values["visits"] = tuple(values["visits"])
        tensors: dict[str, Any] = {
            part: _load_tensors(path / f"{part}.safetensors") for part in PARTS
        }
        state = TrainingState(**values, **tensors)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EngineError(f"'{path}' is not a whole snapshot of a training: {error}") from error
    check_seal(path)
    return state


def _described(path: Path, description: Mapping[str, Any]) -> tuple[EngineConfig, list[TaskSpec]]:
    """Return what a saved model's description says of its shape."""
    try:
        config = EngineConfig.from_dict(description["config"])
        return config, [TaskSpec.from_dict(values) for values in description["tasks"]]
    except (EngineError, KeyError, TypeError) as error:
        raise EngineError(
            f"The {DESCRIPTION} in '{path}' does not describe a model: {error}"
        ) from error


def _saved_encoder(config: EngineConfig, folder: Path) -> Encoder:
    try:
        return load_encoder(config.encoder, folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EngineError(f"The encoder in '{folder}' cannot be read: {error}") from error


def _load_tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise EngineError(f"'{path}' is missing or damaged: {error}") from error


def _contiguous(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: weight.detach().contiguous() for name, weight in weights.items()}


def _write_json(path: Path, values: Any) -> None:
    path.write_text(json.dumps(values, indent=1, ensure_ascii=False), encoding="utf-8")


def model_card(description: Mapping[str, Any]) -> str:
    """Return a Markdown card: what the model answers, how it was made, how good it is."""
    config = description["config"]
    encoder, training = config["encoder"], config["training"]
    lines = [
        "# Multi-task model",
        "",
        f"Architecture {config['model']['architecture']} on {_encoder(encoder)}.",
        f"Trained with learning rate {training['learning_rate']:g}, batches of {_batch(training)}, "
        f"label smoothing {training['label_smoothing']:g}, seed {training['seed']}.",
        "",
        "## Tasks",
        "",
        "| task | kind | labels | development scores |",
        "|---|---|---|---|",
        *(_task_row(task, description["metrics"]) for task in description["tasks"]),
        "",
        "Scores are of the development sentences that also chose the best epoch: expect slightly "
        "less on new text.",
        "",
        "## Reading it",
        "",
        "`mtl_engine.checkpoint.load_model(folder)` returns the model, "
        "`mtl_engine.prediction.predict(model, sentences)` its answers.",
        "",
        f"Data hash: `{description['data_hash'] or 'not given'}`. Versions: "
        + ", ".join(f"{name} {number}" for name, number in description["versions"].items())
        + ".",
    ]
    return "\n".join(lines) + "\n"


def _encoder(encoder: Mapping[str, Any]) -> str:
    n_layers = encoder["frozen_layers"]
    if encoder["kind"] == "bilstm":
        state = "learned" if n_layers < 0 else "fixed"
        return f"a Bi-LSTM over word vectors '{encoder['vectors']}', which were {state}"
    name = (
        f"the encoder '{encoder['name']}'"
        if encoder["kind"] == "transformer"
        else "a random encoder"
    )
    rank = encoder["lora_rank"]
    how = f" by changes of rank {rank}" if rank else ""
    if n_layers < 0:
        return f"{name}, all of it trained{how}"
    frozen = f" and bottom {n_layers} layers" if n_layers else ""
    return f"{name}, its embeddings{frozen} frozen, the rest trained{how}"


def _batch(training: Mapping[str, Any]) -> str:
    if training["batch_size"]:
        return f"{training['batch_size']} sentences"
    return f"{training['batch_words']} words" if training["batch_words"] else "32 to 96 words"


def _task_row(task: Mapping[str, Any], metrics: Mapping[str, Mapping[str, float]]) -> str:
    labels = ", ".join(task["labels"][:8]) + (", ..." if len(task["labels"]) > 8 else "")
    scores = metrics.get(task["name"], {})
    shown = ", ".join(f"{name} {value:.3f}" for name, value in scores.items()) or "none"
    return f"| {task['name']} | {task['kind']} | {len(task['labels'])}: {labels} | {shown} |"
