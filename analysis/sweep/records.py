"""What is kept of a run: a directory that appears whole or not at all."""

import hashlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from analysis.sweep.claims import Claims
from analysis.sweep.kinds import Row, get_kind
from analysis.sweep.study_file import RunConfig

PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "transformers", "gplearn", "mip")


@dataclass(frozen=True)
class Outcome:
    """What a finished or failed run brought back to the sweep."""

    rows: list[Row]
    seconds: float
    cpu_seconds: float
    error: str = ""

    @property
    def final(self) -> Row:
        """Return the run's scores."""
        finals = [row["final"] for row in self.rows if "final" in row]
        return dict(finals[-1]) if finals else {}


def run_key(config: RunConfig) -> str:
    """Return a run's name: a hash of its changed settings, data and kind's version."""
    kind = get_kind(config.kind)
    identity = {
        "kind": config.kind,
        "version": kind.version,
        "settings": kind.changed(config.settings),
        "seed": config.seed,
        "data": data_hash(config),
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:20]


def data_hash(config: RunConfig) -> str:
    """Return the hash of the data that a run's settings mean, as it was when first asked for."""
    return _fingerprint(config.kind, json.dumps(config.settings, sort_keys=True))


def forget_data() -> None:
    """Make the next hashes those of the data as it is then."""
    _fingerprint.cache_clear()


@lru_cache(maxsize=4096)
def _fingerprint(kind_name: str, settings: str) -> str:
    return get_kind(kind_name).fingerprint(json.loads(settings))


class RunStore:
    """The directories of runs, by their names: studies that want the same run share it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "runs").mkdir(parents=True, exist_ok=True)
        (directory / "failures").mkdir(exist_ok=True)

    def claims(self) -> Claims:
        """Return a way to claim runs while they are computed."""
        return Claims(self.directory / "claims")

    def is_finished(self, key: str) -> bool:
        """Return whether a run is there; a run that is there is whole."""
        return (self.directory / "runs" / key).is_dir()

    def save(self, key: str, config: RunConfig, outcome: Outcome) -> Path:
        """Write a run under a temporary name and move it into place."""
        target = self._target(key, outcome)
        scratch = Path(tempfile.mkdtemp(prefix=".writing-", dir=self.directory))
        _write_json(scratch / "config.json", vars(config) | {"settings": config.settings})
        _write_json(scratch / "environment.json", environment())
        with (scratch / "rounds.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in outcome.rows)
        _write_json(
            scratch / "status.json",
            {
                "state": "failed" if outcome.error else "finished",
                "seconds": round(outcome.seconds, 3),
                "cpu_seconds": round(outcome.cpu_seconds, 3),
                "error": outcome.error,
            },
        )
        try:
            os.rename(scratch, target)
        except OSError:
            shutil.rmtree(scratch)
            if not target.is_dir():  # else another sweep finished the same run first
                raise
        return target

    def read(self, key: str) -> tuple[dict[str, Any], Outcome]:
        """Return a finished run's config and outcome."""
        return read_run(self.directory / "runs" / key)

    def finished(self) -> Iterator[tuple[dict[str, Any], Outcome]]:
        """Yield the config and outcome of every finished run."""
        for path in sorted((self.directory / "runs").iterdir()):
            yield read_run(path)

    def _target(self, key: str, outcome: Outcome) -> Path:
        if not outcome.error:
            return self.directory / "runs" / key
        n = sum(1 for path in (self.directory / "failures").glob(f"{key}-*"))
        return self.directory / "failures" / f"{key}-{n + 1}"


def read_run(path: Path) -> tuple[dict[str, Any], Outcome]:
    """Return the config and outcome of one run's directory."""
    config = json.loads((path / "config.json").read_text())
    status = json.loads((path / "status.json").read_text())
    with (path / "rounds.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return config, Outcome(rows, status["seconds"], status["cpu_seconds"], status["error"])


@lru_cache(maxsize=1)
def environment() -> Mapping[str, Any]:
    """Return what a run's numbers may depend on: versions and machine."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _write_json(path: Path, value: Mapping[str, Any] | Sequence[Any]) -> None:
    path.write_text(json.dumps(value, indent=1, sort_keys=True), encoding="utf-8")
