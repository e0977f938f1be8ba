"""The files of a study: where they lie, and the hash that runs are known by."""

import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from analysis.errors import AnalysisError

DATA_VARIABLE = "TANDEM_DATA"
DATA_FOLDER = "data"


def data_file(name: str) -> Path:
    """Return the path of a file or folder that a study names.

    It may lie where the name says; else it is looked for in the folder of public corpora. Study
    files that name it from there mean the same run on every machine.
    """
    folder = Path(os.environ.get(DATA_VARIABLE) or DATA_FOLDER)
    for path in (Path(name), folder / name):
        if path.exists():
            return path
    raise AnalysisError(
        f"No file '{name}', neither here nor in the folder of corpora '{folder}'. Set "
        f"{DATA_VARIABLE} to the folder that has it; docs/studies.md tells what goes in there."
    )


def hash_files(paths: Iterable[Path]) -> str:
    """Return the SHA-256 of files one after the other."""
    return _hash(tuple((path, path.stat().st_mtime_ns) for path in paths))


@lru_cache(maxsize=64)
def _hash(files: tuple[tuple[Path, int], ...]) -> str:
    """Return the hash of files that last changed at these times; many runs name the same ones."""
    digest = hashlib.sha256()
    for path, _ in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()
