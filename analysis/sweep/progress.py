"""A progress bar with the time left."""

import time
from shutil import get_terminal_size
from typing import TextIO

WIDTH = 24


class Progress:
    """Shows how many of n runs are finished: in place on a terminal, else a line each."""

    def __init__(self, n: int, out: TextIO) -> None:
        self.n = n
        self.n_done = 0
        self._out = out
        self._started = time.perf_counter()

    def start(self) -> None:
        """Show on a terminal that work has begun: a first run may take minutes."""
        if self.n and self._out.isatty():
            self._show(f"[{'.' * WIDTH}] 0/{self.n}")

    def advance(self, label: str) -> None:
        """Count one more finished run and show it."""
        self.n_done += 1
        elapsed = time.perf_counter() - self._started
        left = elapsed / self.n_done * (self.n - self.n_done)
        filled = round(WIDTH * self.n_done / self.n)
        line = (
            f"[{'#' * filled}{'.' * (WIDTH - filled)}] {self.n_done}/{self.n} "
            f"{as_duration(left)} left  {label}"
        )
        self._show(line)

    def wait_for(self, n_runs: int) -> None:
        """Say that other sweeps have the rest in hand."""
        self._show(f"{self.n_done}/{self.n} waiting for {n_runs} that another sweep computes")

    def _show(self, line: str) -> None:
        """Write over the last line of a terminal, cut to its width; elsewhere write one more."""
        if self._out.isatty():
            width = get_terminal_size().columns - 1
            end = "\n" if self.n_done == self.n else ""
            self._out.write(f"\r\x1b[2K{line[:width]}{end}")
        else:
            self._out.write(line + "\n")
        self._out.flush()


def as_duration(seconds: float) -> str:
    """Return a length of time as people say it."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
