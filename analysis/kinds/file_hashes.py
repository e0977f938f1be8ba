"""The hash of a study's files: runs are known by what they read."""

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path


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
