"""Where features are kept: in memory, or in a file that processes share."""

import errno
import fcntl
import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

RECORD = np.dtype([("key", "S16"), ("start", "<i8"), ("n", "<i8")])
STRUCK_OUT = bytes(RECORD.itemsize)  # a record without rows
DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT)


class FeatureStore(ABC):
    """Features of one encoder's frozen part, by key."""

    @abstractmethod
    def get(self, key: bytes) -> np.ndarray | None:
        """Return the features (p, width) kept under a key, or None."""

    @abstractmethod
    def put(self, items: Sequence[tuple[bytes, np.ndarray]]) -> None:
        """Keep features, as far as there is room."""


class MemoryStore(FeatureStore):
    """Features in memory, for one training."""

    def __init__(self, limit_bytes: int) -> None:
        self._kept: dict[bytes, np.ndarray] = {}
        self._room = limit_bytes

    def get(self, key: bytes) -> np.ndarray | None:
        return self._kept.get(key)

    def put(self, items: Sequence[tuple[bytes, np.ndarray]]) -> None:
        for key, rows in items:
            if key not in self._kept and rows.nbytes <= self._room:
                self._kept[key] = rows
                self._room -= rows.nbytes


class DiskStore(FeatureStore):
    """Features in a file that only grows; several processes may share it.

    They are read piece by piece and not mapped: a process is as large as what it works on.
    An index record is written after its rows have reached the disk, so a process that dies in
    between leaves nothing half-kept. Records whose rows were cut off the file are struck out
    before others take their place.
    """

    ROWS = "rows.f32"

    def __init__(self, folder: Path, width: int, limit_bytes: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._rows_file = folder / self.ROWS
        self._index_file = folder / "index.bin"
        self._lock_file = folder / "lock"
        self._width = width
        self._limit_rows = limit_bytes // (4 * width)
        self._known: dict[bytes, tuple[int, int]] = {}
        self._lost: list[int] = []  # numbers of records whose rows are not in the file
        self._n_records = 0
        self._end = 0  # rows in use
        self._rows_file.touch()
        self._index_file.touch()
        self._rows = os.open(self._rows_file, os.O_RDONLY)
        weakref.finalize(self, os.close, self._rows)
        self._refresh()

    def get(self, key: bytes) -> np.ndarray | None:
        place = self._known.get(key)
        if place is None:
            return None
        start, n = place
        bytes_per_row = 4 * self._width
        data = os.pread(self._rows, n * bytes_per_row, start * bytes_per_row)
        if len(data) < n * bytes_per_row:  # cut off meanwhile
            return None
        return np.frombuffer(data, dtype=np.float32).reshape(n, self._width)

    def put(self, items: Sequence[tuple[bytes, np.ndarray]]) -> None:
        with self._locked():
            self._refresh()
            self._strike_out_lost()
            new = [(key, rows) for key, rows in items if key not in self._known]
            records, kept, end = [], [], self._end
            for key, rows in new:
                if end + len(rows) <= self._limit_rows:
                    records.append((key, end, len(rows)))
                    kept.append(np.ascontiguousarray(rows, dtype=np.float32))
                    end += len(rows)
            if records:
                self._append_if_possible(kept, np.array(records, dtype=RECORD))

    def _append_if_possible(self, kept: list[np.ndarray], records: np.ndarray) -> None:
        try:
            self._append(kept, records)
        except OSError as error:
            if error.errno not in DISK_IS_FULL:
                raise

    def _append(self, kept: list[np.ndarray], records: np.ndarray) -> None:
        with self._rows_file.open("r+b") as file:
            file.seek(self._end * self._width * 4)
            for rows in kept:
                file.write(rows.data)
            file.flush()
            os.fsync(file.fileno())
        with self._index_file.open("r+b") as file:
            file.seek(self._n_records * RECORD.itemsize)
            file.write(records.tobytes())
        self._refresh()

    def _refresh(self) -> None:
        """Take in records that were added; all anew if the rows were cut short meanwhile."""
        if self._rows_in_file() < self._end:
            self._known, self._lost, self._n_records, self._end = {}, [], 0, 0
        with self._index_file.open("rb") as file:
            file.seek(self._n_records * RECORD.itemsize)
            data = file.read()
        n_rows = self._rows_in_file()
        whole = len(data) // RECORD.itemsize * RECORD.itemsize
        for key, start, n in np.frombuffer(data[:whole], dtype=RECORD).tolist():
            if not 0 <= start <= start + n <= n_rows:
                self._lost.append(self._n_records)
            elif n > 0:
                self._known[key.ljust(16, b"\0")] = (start, n)
                self._end = max(self._end, start + n)
            self._n_records += 1

    def _strike_out_lost(self) -> None:
        with self._index_file.open("r+b") as file:
            for number in self._lost:
                file.seek(number * RECORD.itemsize)
                file.write(STRUCK_OUT)
        self._lost = []

    def _rows_in_file(self) -> int:
        return self._rows_file.stat().st_size // (4 * self._width)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock_file.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
