"""The files of a round: what it learned from, its model, its scores, its choice."""

import gzip
import hashlib
import io
import json
import os
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from django.conf import settings

from mtl_engine.folders import remove_folder
from mtl_engine.types import Example

TRAIN, DEV, TEST = "train", "dev", "test"
WITHHELD = "withheld"  # the model's answers to blind asks, for comparison only


@dataclass(frozen=True)
class KeptExample:
    """A labelled sentence as the round saw it."""

    example: Example
    split: str
    is_chosen: bool  # by a strategy, not by chance or import


class Workspace:
    """A directory for one round; files appear whole or not at all."""

    def __init__(self, round_id: int | str) -> None:
        self.directory = Path(settings.TANDEM_HOME) / "rounds" / str(round_id)
        self.directory.mkdir(parents=True, exist_ok=True)

    @classmethod
    def scratch(cls) -> Self:
        """Return a workspace that belongs to no round; its maker removes it."""
        return cls(f"scratch-{uuid.uuid4().hex}")

    @property
    def model(self) -> Path:
        return self.directory / "model"

    @property
    def snapshot(self) -> Path:
        return self.directory / "snapshot"

    @property
    def policy_log(self) -> Path:
        return self.directory / "policy_log.jsonl"

    def drop_snapshot(self) -> None:
        """Forget a training that has ended."""
        remove_folder(self.snapshot)

    def save_examples(self, examples: Iterable[KeptExample]) -> None:
        """Keep what the round learns from and is tested on."""
        out = io.BytesIO()
        with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as file:
            for kept in examples:
                row = {
                    "id": kept.example.id,
                    "split": kept.split,
                    "is_chosen": kept.is_chosen,
                    "tokens": list(kept.example.tokens),
                    "labels": dict(kept.example.labels),
                }
                file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        _write(self.directory / "examples.jsonl.gz", out.getvalue())

    def examples(self) -> list[KeptExample]:
        """Return what the round learns from and is tested on."""
        with gzip.open(self.directory / "examples.jsonl.gz", "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        return [
            KeptExample(
                Example(tuple(row["tokens"]), row["labels"], row["id"]),
                row["split"],
                row["is_chosen"],
            )
            for row in rows
        ]

    def has(self, name: str) -> bool:
        """Return whether a file or directory of the round is there."""
        return (self.directory / name).exists()

    def save_arrays(self, name: str, arrays: Mapping[str, Any]) -> None:
        """Keep arrays under a name."""
        out = io.BytesIO()
        np.savez_compressed(out, **arrays)
        _write(self.directory / f"{name}.npz", out.getvalue())

    def arrays(self, name: str) -> dict[str, Any]:
        """Return the arrays kept under a name."""
        with np.load(self.directory / f"{name}.npz", allow_pickle=False) as file:
            return {key: file[key] for key in file.files}

    def save_json(self, name: str, value: Any) -> None:
        """Keep a plain value under a name."""
        _write(self.directory / f"{name}.json", json.dumps(value, ensure_ascii=False).encode())

    def json(self, name: str) -> Any:
        """Return the plain value kept under a name."""
        return json.loads((self.directory / f"{name}.json").read_text(encoding="utf-8"))

    def file_hash(self, name: str) -> str:
        """Return the SHA-256 of one file, by its path in the directory."""
        digest = hashlib.sha256()
        with (self.directory / name).open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
        return digest.hexdigest()


def _write(path: Path, content: bytes) -> None:
    """Write a file under another name, make it durable, and move it into place."""
    scratch = path.with_name(f".{path.name}.writing")
    with scratch.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(scratch, path)
