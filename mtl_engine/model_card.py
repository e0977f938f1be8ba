"""The README that travels with a saved model."""

from collections.abc import Mapping
from typing import Any


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
