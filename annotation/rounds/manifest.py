"""What makes a round replayable: seeds, settings, versions, hashes and every ask."""

from importlib import metadata
from typing import Any

from annotation.models import Round
from annotation.rounds.workspace import Workspace
from config import VERSION

PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "scipy", "mip", "safetensors")


def build_manifest(round: Round, workspace: Workspace) -> dict[str, Any]:
    """Return the manifest of a round whose asks are chosen."""
    has_model = workspace.model.exists()
    return {
        "version": VERSION,
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "seed": round.config["seed"],
        "config": round.config,
        "pool_hash": round.stages["scoring"]["pool_hash"],
        "labels_hash": workspace.file_hash("examples.jsonl.gz"),
        "model_hash": workspace.file_hash("model/model.safetensors") if has_model else None,
        "scores_hash": workspace.file_hash("scores.npz"),
        "asks": workspace.json("choice")["asks"],
    }
