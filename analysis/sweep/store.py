"""What is kept of runs: directories that appear whole or not at all, and who computes which."""

import errno
import fcntl
import hashlib
import json
import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any

from analysis.errors import AnalysisError
from analysis.sweep.registry import Row, get_kind
from analysis.sweep.study_file import RunConfig, Settings
from config.home import first_folder, replaced_file

DIGITS = 15  # of a run's name, in base 16: a place in a file is below 2 ** 63
HELD = (errno.EACCES, errno.EAGAIN)
STUDY_FIELDS = ("name", "scale", "kind", "description", "note", "varying")
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
    kind = get_kind(config.kind)
    key = (config.kind, kind.data_key(config.settings))
    if key not in _hashes:
        _hashes[key] = kind.fingerprint(kind.read(config.settings))
    return _hashes[key]


_hashes: dict[tuple[str, str], str] = {}  # of data that was asked for since ``forget_data``


def forget_data() -> None:
    """Make the next hashes those of the data as it is then."""
    _hashes.clear()


class Claims:
    """The runs that this process computes and no other one may.

    A claim is a lock on one byte of an empty file. The kernel lifts it when its process ends, even
    by kill -9, so no claim outlives its owner and nothing is left to tidy; on NFS it holds for all
    hosts. It tells processes apart, not threads.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab")

    def take(self, key: str) -> bool:
        """Claim a run and return whether it is ours: another process may be at it."""
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key), os.SEEK_SET)
        except OSError as error:
            if error.errno in HELD:
                return False
            raise AnalysisError(
                f"{self._path} cannot be locked ({error.strerror}): sweeps need a file system with "
                "locks. Set TANDEM_HOME to a folder on one."
            ) from error
        return True

    def give_back(self, key: str) -> None:
        """End the claim of a run."""
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(key), os.SEEK_SET)

    def __enter__(self) -> "Claims":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()  # which ends all claims


@dataclass(frozen=True)
class StudyRecord:
    """A study as its newest sweep knew it: what it is, and which runs it wants."""

    name: str
    scale: str
    kind: str
    description: str
    note: str  # what was scaled down
    varying: tuple[str, ...]
    runs: tuple[tuple[str, RunConfig], ...]  # by their keys

    def __str__(self) -> str:
        return f"{self.name} ({self.scale})" if self.scale else self.name


class RunStore:
    """The directories of runs, by their names: studies that want the same run share it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "runs").mkdir(parents=True, exist_ok=True)
        (directory / "failures").mkdir(exist_ok=True)
        (directory / "records").mkdir(exist_ok=True)

    def keep_study(self, record: StudyRecord) -> None:
        """Write down what a study is and wants, in place of what an earlier sweep wrote."""
        shared, combinations = _factored([config.settings for _, config in record.runs])
        numbers = {_text(each): i for i, each in enumerate(combinations)}
        rows = [
            [
                key,
                numbers[json.dumps(_without(config.settings, shared), sort_keys=True)],
                config.seed,
            ]
            for key, config in record.runs
        ]
        values = {name: getattr(record, name) for name in STUDY_FIELDS}
        content = {**values, "settings": shared, "combinations": combinations, "runs": rows}
        with replaced_file(self._record(record.name, record.scale)) as file:
            file.write(json.dumps(content, indent=None, sort_keys=True).encode())

    def studies(self) -> Iterator[StudyRecord]:
        """Yield every study that was swept."""
        for path in sorted((self.directory / "records").glob("*.json")):
            yield _read_record(path)

    def find_study(self, name: str, scale: str) -> StudyRecord | None:
        """Return a study that was swept, by its name and scale."""
        path = self._record(name, scale)
        return _read_record(path) if path.exists() else None

    def forget(self, record: StudyRecord) -> None:
        """Remove a study with all its runs, which no other study may want."""
        self._record(record.name, record.scale).unlink(missing_ok=True)
        for key, _ in record.runs:
            runs = [self.directory / "runs" / key, *(self.directory / "failures").glob(f"{key}-*")]
            for path in runs:
                shutil.rmtree(path, ignore_errors=True)

    def outcomes(self, record: StudyRecord) -> Iterator[tuple[RunConfig, Outcome | None]]:
        """Yield the runs that a study wants, with what came of them: failed, or nothing yet."""
        failures = self.failures()
        for key, config in record.runs:
            if self.is_finished(key):
                yield config, self.read(key)[1]
            else:
                yield config, read_run(failures[key])[1] if key in failures else None

    def failures(self) -> dict[str, Path]:
        """Return the newest failure of every run that ever failed."""
        found = [
            (int(number), key, path)
            for path in (self.directory / "failures").iterdir()
            for key, _, number in [path.name.rpartition("-")]
            if number.isdigit()  # a folder that is being written has another name
        ]
        return {key: path for _, key, path in sorted(found)}

    def _record(self, name: str, scale: str) -> Path:
        """Return the file of a study; names may hold what paths must not."""
        mark = hashlib.sha256(json.dumps([name, scale]).encode()).hexdigest()[:20]
        return self.directory / "records" / f"{mark}.json"

    def claims(self) -> Claims:
        """Return a way to claim runs while they are computed."""
        return Claims(self.directory / "claims")

    def is_finished(self, key: str) -> bool:
        """Return whether a run is there; a run that is there is whole."""
        return (self.directory / "runs" / key).is_dir()

    def save(self, key: str, config: RunConfig, outcome: Outcome) -> Path:
        """Write a run; where another sweep finished the same one first, that one stays."""
        target = self._target(key, outcome)
        with first_folder(target) as new:
            _write_json(new / "config.json", vars(config) | {"settings": config.settings})
            _write_json(new / "environment.json", environment())
            with (new / "rounds.jsonl").open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in outcome.rows)
            _write_json(
                new / "status.json",
                {
                    "state": "failed" if outcome.error else "finished",
                    "seconds": round(outcome.seconds, 3),
                    "cpu_seconds": round(outcome.cpu_seconds, 3),
                    "error": outcome.error,
                },
            )
        return target

    def read(self, key: str) -> tuple[dict[str, Any], Outcome]:
        """Return a finished run's config and outcome."""
        return read_run(self.directory / "runs" / key)

    def finished(self) -> Iterator[tuple[dict[str, Any], Outcome]]:
        """Yield the config and outcome of every finished run."""
        for path in sorted((self.directory / "runs").glob("[!.]*")):  # hidden: being written
            yield read_run(path)

    def _target(self, key: str, outcome: Outcome) -> Path:
        if not outcome.error:
            return self.directory / "runs" / key
        n = sum(1 for path in (self.directory / "failures").glob(f"{key}-*"))
        return self.directory / "failures" / f"{key}-{n + 1}"


def _factored(settings: Sequence[Settings]) -> tuple[Settings, list[Settings]]:
    """Return what all settings share, and of each distinct one the rest."""
    first = settings[0] if settings else {}
    shared = {
        name: value
        for name, value in first.items()
        if all(other.get(name) == value for other in settings)
    }
    rest = {_text(_without(each, shared)): None for each in settings}
    return shared, [json.loads(text) for text in rest]


def _without(settings: Settings, shared: Settings) -> Settings:
    return {name: value for name, value in settings.items() if name not in shared}


def _text(settings: Settings) -> str:
    return json.dumps(settings, sort_keys=True)


def _read_record(path: Path) -> StudyRecord:
    content = json.loads(path.read_text(encoding="utf-8"))
    shared, combinations = content["settings"], content["combinations"]
    runs = tuple(
        (key, RunConfig(content["kind"], {**shared, **combinations[number]}, seed))
        for key, number, seed in content["runs"]
    )
    values = {name: content[name] for name in STUDY_FIELDS}
    return StudyRecord(**{**values, "varying": tuple(values["varying"])}, runs=runs)


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


def _place(key: str) -> int:
    return int(key[:DIGITS], 16)
