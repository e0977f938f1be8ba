"""Checksums of a folder's files, in the form that ``sha256sum -c`` reads.

A folder that is complete is sealed; whoever reads it compares. Folders without a seal are those of
earlier versions and are taken as they are.
"""

import hashlib
from pathlib import Path

from mtl_engine.errors import EngineError

SEAL = "SHA256SUMS"


def seal(folder: Path) -> None:
    """Write the checksums of all files in a folder that is complete."""
    lines = [f"{file_sha256(path)}  {name}\n" for name, path in _files(folder).items()]
    (folder / SEAL).write_text("".join(lines), encoding="utf-8")


def check_seal(folder: Path) -> None:
    """Refuse a folder whose files are not those that were sealed."""
    path = folder / SEAL
    if not path.exists():
        return
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        stated = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except (OSError, ValueError) as error:
        raise EngineError(f"'{path}' is damaged: {error}") from error
    files = _files(folder)
    for name, digest in stated.items():
        if name not in files or file_sha256(files[name]) != digest:
            raise EngineError(f"'{folder / name}' is missing or damaged: its checksum is another.")


def is_whole(folder: Path) -> bool:
    """Return whether a folder's files are those that were sealed."""
    try:
        check_seal(folder)
    except EngineError:
        return False
    return True


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(folder: Path) -> dict[str, Path]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SEAL)
    return {path.relative_to(folder).as_posix(): path for path in paths}
