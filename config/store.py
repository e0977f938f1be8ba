"""Files of rounds in a store that machines share: a folder, S3, Google or Azure, by fsspec.

A file lies under its SHA-256 in the folder of its round; which files a round has is a row of the
database, written with the stage that made them. So any worker continues any round, and a page is
shown by whichever machine is asked. Without ``TANDEM_STORE`` the data directory is all there is.
"""

import hashlib
import importlib.util
import logging
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from django.core.exceptions import ImproperlyConfigured

from config.home import home, replaced_file
from mtl_engine.checksums import file_sha256

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

logger = logging.getLogger(__name__)
PIECE = 1 << 20
PACKAGES = {"file": "fsspec", "s3": "s3fs", "gs": "gcsfs", "az": "adlfs"}  # by scheme
UNFINISHED = ("snapshot", "members")  # how names begin of what an unfinished training leaves

Digests = Mapping[str, str]  # SHA-256 by path in a round's folder


def store_url() -> str:
    """Return the address of the store, empty without one; refuse one that cannot be read."""
    url = os.environ.get("TANDEM_STORE", "").strip()
    if not url:
        return ""
    scheme = url.split("://", 1)[0] if "://" in url else "file"
    if scheme not in PACKAGES:
        raise ImproperlyConfigured(
            f"TANDEM_STORE is '{url}'; use a folder, or an address that begins with "
            f"{', '.join(f'{name}://' for name in PACKAGES)}."
        )
    if importlib.util.find_spec(PACKAGES[scheme]) is None:
        raise ImproperlyConfigured(
            f"TANDEM_STORE is '{url}', which {PACKAGES[scheme]} reads: run "
            f"`pip install {PACKAGES[scheme]}`."
        )
    return url


@dataclass(frozen=True)
class RoundFiles:
    """The files of a round, here and in the store; without a store nothing happens."""

    folder: str  # of the round
    digests: Digests  # as the round has recorded them

    def bring(self, name: str) -> None:
        """Let a recorded file or folder lie here as it was recorded, if it can be had.

        Whoever reads it checks it: what is damaged in the store as well stays away.
        """
        if not store_url():
            return
        for one in self.digests:
            if one == name or one.startswith(f"{name}/"):
                self._bring(one)

    def publish(self) -> Digests:
        """Store what lies here and is not recorded yet; return what the round has to record."""
        if not store_url():
            return self.digests
        directory = home().round(self.folder)
        store = Store(store_url())
        kept = {n: d for n, d in self.digests.items() if not n.startswith(UNFINISHED)}
        for path in sorted(directory.rglob("*")):
            name = path.relative_to(directory).as_posix()
            if path.is_file() and not any(part.startswith(".") for part in Path(name).parts):
                kept[name] = file_sha256(path)
                if not store.has(self._key(kept[name])):
                    store.put(self._key(kept[name]), path)
        return kept

    def forget(self, before: Digests) -> None:
        """Remove what the round recorded before and no longer does."""
        if store_url():
            for digest in set(before.values()) - set(self.digests.values()):
                Store(store_url()).remove(self._key(digest))

    def remove(self) -> None:
        """Remove everything from the store."""
        if store_url():
            Store(store_url()).remove(f"rounds/{self.folder}")

    def _bring(self, name: str) -> None:
        digest, directory = self.digests[name], home().round(self.folder)
        path = directory / name
        if not path.resolve().is_relative_to(directory.resolve()):
            raise ValueError(f"The file '{name}' would lie outside the folder of its round.")
        if path.exists() and file_sha256(path) == digest:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with replaced_file(path) as out:
                Store(store_url()).get(self._key(digest), digest, out)
        except OSError as error:
            logger.warning("'%s' of round %s is not to be had: %s", name, self.folder, error)

    def _key(self, digest: str) -> str:
        return f"rounds/{self.folder}/{digest}"


@dataclass(frozen=True)
class Store:
    """Files below an address; each appears whole or not at all."""

    url: str

    def has(self, key: str) -> bool:
        return bool(self._files.exists(self._path(key)))

    def put(self, key: str, path: Path) -> None:
        """Store a file."""
        with (
            path.open("rb") as source,
            self._files.open(self._path(key), "wb", autocommit=False) as out,
        ):
            shutil.copyfileobj(source, out, PIECE)
        out.commit()

    def get(self, key: str, digest: str, out: BinaryIO) -> None:
        """Copy a file to ``out``; one that is not what its digest says is removed and refused."""
        found = hashlib.sha256()
        with self._files.open(self._path(key), "rb") as source:
            while piece := source.read(PIECE):
                found.update(piece)
                out.write(piece)
        if found.hexdigest() != digest:
            self.remove(key)
            raise OSError(f"'{self._path(key)}' was damaged and is removed")

    def remove(self, key: str) -> None:
        """Remove a file, or a folder with all it holds."""
        if self.has(key):
            self._files.rm(self._path(key), recursive=True)

    def _path(self, key: str) -> str:
        return f"{self._opened[1]}/{key}"

    @property
    def _files(self) -> "AbstractFileSystem":
        return self._opened[0]

    @cached_property
    def _opened(self) -> "tuple[AbstractFileSystem, str]":
        from fsspec.core import url_to_fs

        is_folder = self.url.startswith("file://") or "://" not in self.url
        options: dict[str, Any] = (
            {"auto_mkdir": True} if is_folder else {"use_listings_cache": False}
        )
        files, root = url_to_fs(self.url, **options)
        return files, str(root).rstrip("/")
