"""Zip archives: checked before a member is read, written in pieces."""

import io
import lzma
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from annotation.formats.opening import Source

_EPOCH = (1980, 1, 1, 0, 0, 0)  # members have no dates, so that equal answers make equal bytes
_COPY = 1 << 20
_BROKEN = (  # what the standard library raises on archives that are damaged or of a kind unknown
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    OSError,
    EOFError,
    ValueError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
)


def open_archive(source: Source) -> zipfile.ZipFile:
    """The archive in a file; gives up the file if it is none, too large or names bad paths."""
    try:
        archive = zipfile.ZipFile(_seekable(source))
    except _BROKEN as error:
        source.stop(1, f"no zip archive ({error}); put the .txt and .ann files into a zip")
    limits = source.options.limits
    members = archive.infolist()
    if len(members) > limits.archive_members:
        source.stop(1, f"{len(members):,} members, at most {limits.archive_members:,} are allowed")
    total = sum(member.file_size for member in members)
    if total > limits.file_bytes:
        source.stop(1, f"{total:,} bytes uncompressed, at most {limits.file_bytes:,} are allowed")
    for member in members:
        path = PurePosixPath(member.filename)
        if path.is_absolute() or ".." in path.parts or "\\" in member.filename:
            source.stop(1, f"member {member.filename[:80]!r} is no path within the archive")
    return archive


def read_member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """The bytes of a member; raises ValueError with the reason where they cannot be had."""
    member = archive.getinfo(name)
    if member.flag_bits & 1:
        raise ValueError("the member is encrypted; make an archive without a password")
    if member.file_size > most:
        raise ValueError(f"{member.file_size:,} bytes, at most {most:,} are allowed for a document")
    try:
        with archive.open(member) as file:
            data = file.read(most + 1)
    except _BROKEN as error:
        raise ValueError(f"cannot be uncompressed ({error}); make the archive again") from error
    if len(data) > most:
        raise ValueError(f"more than {most:,} bytes, the limit for a document")
    return data


def write_archive(members: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    """The bytes of an archive of texts by name, member by member."""
    sink = _Sink()
    with zipfile.ZipFile(cast(BinaryIO, sink), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members:
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)
            yield sink.take()
    yield sink.take()


def bundle(files: Iterable[tuple[str, BinaryIO]]) -> BinaryIO:
    """An archive of open files by name, for what is handed in as several files."""
    target = tempfile.SpooledTemporaryFile(max_size=16 * _COPY)  # noqa: SIM115
    with zipfile.ZipFile(target, "w") as archive:
        for name, stream in files:
            with archive.open(zipfile.ZipInfo(name, _EPOCH), "w") as member:
                while data := stream.read(_COPY):
                    member.write(data)
    target.seek(0)
    return cast(BinaryIO, target)


def _seekable(source: Source) -> BinaryIO:
    """The source's bytes as a file that can seek, which is how archives are read."""
    copy = tempfile.SpooledTemporaryFile(max_size=16 * _COPY)  # noqa: SIM115
    while data := source.read_bytes(_COPY):
        copy.write(data)
    copy.seek(0)
    return cast(BinaryIO, copy)


class _Sink(io.RawIOBase):
    """Takes what a writer gives and hands it on; it cannot seek, so archives are streamed."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """What has been written since the last time."""
        data, self._parts = b"".join(self._parts), []
        return data
