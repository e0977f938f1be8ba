"""Atomic writes: a reader finds all of the old file or folder or all of the new one.

Everything is written under a hidden name and reaches the disk before it takes its place. A file
takes it in one step. So does a folder where the file system can exchange two; elsewhere the old
one steps aside under a fixed name first, where readers and the next writer find it if the writer
is killed just then.

``replaced_*`` puts the newest in place; with ``first_*`` the first of several writers wins.
"""

import ctypes
import errno
import glob
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from mtl_engine.errors import EngineError

Result = TypeVar("Result")

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of Linux
CANNOT_EXCHANGE = (errno.EINVAL, errno.ENOSYS, errno.EPERM, errno.EOPNOTSUPP)
N_ATTEMPTS = 10


@contextmanager
def replaced_file(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to, and put it in place of the wanted one when all went well."""
    with _hidden_file(path) as (file, new):
        yield file
        file.flush()
        os.fsync(file.fileno())
        os.replace(new, path)
    _sync(path.parent)


@contextmanager
def first_file(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to that gets the wanted name, unless another writer was first."""
    with _hidden_file(path) as (file, new):
        yield file
        file.flush()
        os.fsync(file.fileno())
        try:
            os.link(new, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            os.replace(new, path)
    _sync(path.parent)


@contextmanager
def first_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write to that gets the wanted name, unless another writer was first."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = _hidden(folder)
    try:
        yield new
        new.chmod(0o755)
        _reach_disk(new)
        try:
            os.rename(new, folder)
        except OSError:
            if not folder.is_dir():
                raise
        _sync(folder.parent)
    finally:
        _remove(new)


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write to, and put it in place of the wanted one when all went well.

    What an earlier writer left when it was killed is put back or removed; one writer at a time.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    _tidy(folder)
    new = _hidden(folder)
    try:
        yield new
        new.chmod(0o755)
        _reach_disk(new)
        _put_in_place(new, folder)
    finally:
        _remove(new)


def read_whole(folder: Path, read: Callable[[Path], Result]) -> Result:
    """Return what ``read`` makes of the folder, again if it was replaced in between."""
    for _ in range(N_ATTEMPTS):
        place = current_place(folder)
        before = _identity(place)
        try:
            result = read(place)
        except (EngineError, OSError):
            if _identity(place) == before and current_place(folder) == place:
                raise
        else:
            if _identity(place) == before:
                return result
    raise EngineError(f"'{folder}' was replaced {N_ATTEMPTS} times while it was read; try again.")


def current_place(folder: Path) -> Path:
    """Return the folder, or where a killed writer has left it if it is not in its place."""
    aside = _aside(folder)
    return aside if not folder.exists() and aside.exists() else folder


def remove_folder(folder: Path) -> None:
    """Remove a folder in one step for its readers, with what a killed writer has left of it."""
    _remove(_aside(folder))
    if folder.exists():
        hidden = folder.parent / f".{folder.name}.new-removed"
        _remove(hidden)
        os.rename(folder, hidden)
        _remove(hidden)


def _put_in_place(new: Path, folder: Path) -> None:
    """Move the new folder to its name; what stood there then stands at ``new``, or is gone."""
    if not folder.exists():
        os.rename(new, folder)
    elif not _exchange(new, folder):
        os.rename(folder, _aside(folder))
        os.rename(new, folder)
        _remove(_aside(folder))
    _sync(folder.parent)


def _exchange(new: Path, folder: Path) -> bool:
    """Let two folders change names in one step; return False where that cannot be done."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    paths = os.fsencode(new), os.fsencode(folder)
    if rename(AT_FDCWD, paths[0], AT_FDCWD, paths[1], RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in CANNOT_EXCHANGE:
        return False
    raise OSError(code, os.strerror(code), str(folder))


def _tidy(folder: Path) -> None:
    """Put back an old folder that stepped aside for a new one that never came; remove the rest."""
    if current_place(folder) != folder:
        os.rename(_aside(folder), folder)
    for left in folder.parent.glob(f".{glob.escape(folder.name)}.new-*"):
        _remove(left)
    _remove(_aside(folder))


@contextmanager
def _hidden_file(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Give a file beside the path, for its owner alone; its name is gone at the end."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.new-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield cast(BinaryIO, file), Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _hidden(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix=f".{folder.name}.new-", dir=folder.parent))


def _aside(folder: Path) -> Path:
    return folder.parent / f".{folder.name}.old"


def _remove(path: Path) -> None:
    """Remove a folder with all it holds, or the link or file that stood in its place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return what tells a folder from another that takes its name; None if there is none."""
    try:
        found = folder.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def _reach_disk(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        _sync(path)


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
