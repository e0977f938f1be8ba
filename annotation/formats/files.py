"""Opening files on disk as their formats read them."""

from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from annotation.formats.archives import bundle
from annotation.formats.brat import FORMAT as BRAT

_ENDINGS = (".txt", ".ann")


def open_file(path: Path, format: str) -> BinaryIO:
    """The file, opened; for brat also a .txt or .ann with its twin, or a folder of such.

    The latter are handed on as the archive that the format reads.
    """
    if format != BRAT.name or not (path.is_dir() or path.suffix in _ENDINGS):
        return path.open("rb")
    folder = path if path.is_dir() else path.parent
    if path.is_dir():
        found = sorted(file for ending in _ENDINGS for file in path.rglob(f"*{ending}"))
    else:
        found = [file for ending in _ENDINGS if (file := path.with_suffix(ending)).is_file()]
    with ExitStack() as opened:
        return bundle(
            (file.relative_to(folder).as_posix(), opened.enter_context(file.open("rb")))
            for file in found
        )
