"""Which runs are being computed: sweeps at the same time share the work and repeat none of it."""

import errno
import fcntl
import os
from pathlib import Path
from types import TracebackType

from analysis.errors import AnalysisError

DIGITS = 15  # of a run's name, in base 16: a place in a file is below 2 ** 63
HELD = (errno.EACCES, errno.EAGAIN)


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


def _place(key: str) -> int:
    return int(key[:DIGITS], 16)
