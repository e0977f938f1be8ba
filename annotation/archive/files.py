"""The zip of an archive: tables as lines of JSON, files as they are, and a manifest of hashes."""

import hashlib
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

import orjson

from annotation.errors import Refused
from config import VERSION as PRODUCT_VERSION

VERSION = 1
MANIFEST = "manifest.json"
Row = list[Any]
DAMAGE = (  # whatever reading a zip that was changed on the disk ends in
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError),
    *(KeyError, ValueError, TypeError, AttributeError, IndexError, OverflowError, struct.error),
    OSError,  # a place before the beginning of the file
)


class ArchiveWriter:
    """Writes tables and files one after the other, then the manifest."""

    def __init__(self, file: BinaryIO, *, kind: str, about: dict[str, Any]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=5)
        self._manifest: dict[str, Any] = {
            "tandem_archive": VERSION,
            "product_version": PRODUCT_VERSION,
            "kind": kind,
            "about": about,
            "tables": {},
            "files": {},
        }

    def add_table(self, name: str, columns: list[str], rows: Iterable[Row]) -> int:
        """Write a table whose first column is its id, in the order of ids; return its size."""
        digest, n_rows, first_id, last_id = hashlib.sha256(), 0, None, None
        with self._zip.open(f"tables/{name}.jsonl", "w", force_zip64=True) as member:
            for row in rows:
                line = orjson.dumps(row) + b"\n"
                digest.update(line)
                member.write(line)
                first_id = row[0] if n_rows == 0 else first_id
                last_id = row[0]
                n_rows += 1
        self._manifest["tables"][name] = {
            "columns": columns,
            "n_rows": n_rows,
            "first_id": first_id,
            "last_id": last_id,
            "sha256": digest.hexdigest(),
        }
        return n_rows

    def add_file(self, name: str, path: Path) -> None:
        """Write a file from the disk; one that was replaced or removed meanwhile is left out."""
        digest = hashlib.sha256()
        try:
            source = path.open("rb")
        except FileNotFoundError:
            return
        with (
            source,
            self._zip.open(f"files/{name}", "w", force_zip64=True) as member,
        ):
            for piece in _pieces(source):
                digest.update(piece)
                member.write(piece)
        self._manifest["files"][name] = {"sha256": digest.hexdigest()}

    def __enter__(self) -> "ArchiveWriter":
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Write the manifest, without which the archive is no archive, if all went well."""
        if error is None:
            self._zip.writestr(MANIFEST, json.dumps(self._manifest, indent=1))
        self._zip.close()


class ArchiveReader:
    """Reads an archive and refuses what is not whole."""

    def __init__(self, path: Path, file: BinaryIO | None = None) -> None:
        """Open the archive at a path, or one that is open in ``file`` and has no name yet."""
        self.path = path
        try:
            self._zip = zipfile.ZipFile(file or path)
            self.manifest = json.loads(self._zip.read(MANIFEST))
            version = self.manifest["tandem_archive"]
            _check_manifest(self.manifest)
        except DAMAGE as error:
            raise Refused(f"{path} is no archive of this product, or was cut: {error}.") from error
        if version != VERSION:
            raise Refused(
                f"{path} has archive version {version}; this installation reads {VERSION}. "
                "Use the version of the product that wrote it."
            )

    @property
    def kind(self) -> str:
        """What the archive holds: project or server."""
        return str(self.manifest["kind"])

    @property
    def written_by(self) -> str:
        """The version of the product that wrote the archive; the first one did not say."""
        return str(self.manifest.get("product_version", "0.1.0"))

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """What the manifest says of each table."""
        return dict(self.manifest["tables"])

    @property
    def file_names(self) -> list[str]:
        """The names of the files."""
        return list(self.manifest["files"])

    def rows(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table; refuse at the end if they are not those that were written."""
        digest, n_rows = hashlib.sha256(), 0
        try:
            with self._zip.open(f"tables/{table}.jsonl") as member:
                for line in member:
                    digest.update(line)
                    n_rows += 1
                    yield orjson.loads(line)
        except DAMAGE as error:
            raise Refused(f"{self.path}: table {table} is damaged: {error}.") from error
        self._compare(f"table {table}", digest.hexdigest(), self.tables[table]["sha256"])
        if n_rows != self.tables[table]["n_rows"]:
            raise Refused(f"{self.path}: table {table} has {n_rows} rows; some are missing.")

    def copy_file(self, name: str, target: IO[bytes]) -> None:
        """Write a file of the archive to the disk; refuse it if it is not the one that was read."""
        digest = hashlib.sha256()
        try:
            with self._zip.open(f"files/{name}") as member:
                for piece in _pieces(member):
                    digest.update(piece)
                    target.write(piece)
        except DAMAGE as error:
            raise Refused(f"{self.path}: file {name} is damaged: {error}.") from error
        self._compare(f"file {name}", digest.hexdigest(), self.manifest["files"][name]["sha256"])

    def verify(self) -> int:
        """Read everything once and return the number of rows; refuse what is damaged."""
        n_rows = sum(1 for table in self.tables for _ in self.rows(table))
        with open(os.devnull, "wb") as nowhere:
            for name in self.file_names:
                self.copy_file(name, nowhere)
        return n_rows

    def __enter__(self) -> "ArchiveReader":
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def _compare(self, what: str, found: str, stated: str) -> None:
        if found != stated:
            raise Refused(f"{self.path}: {what} has another hash than the manifest says.")


def _check_manifest(manifest: dict[str, Any]) -> None:
    """Raise what ``DAMAGE`` lists where a manifest does not say what readers ask of it."""
    str(manifest["kind"])
    for table in dict(manifest["tables"]).values():
        if not all(isinstance(column, str) for column in table["columns"]):
            raise TypeError("names of columns are texts")
        int(table["n_rows"])
        str(table["sha256"])
    for file in dict(manifest["files"]).values():
        str(file["sha256"])


def _pieces(source: IO[bytes]) -> Iterator[bytes]:
    while piece := source.read(1 << 20):
        yield piece
