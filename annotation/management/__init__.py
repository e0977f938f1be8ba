"""What commands share: refusals as plain messages with status 1, and arguments."""

from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.errors import Refused
from annotation.formats.records import FormatError
from mtl_engine.errors import EngineError


class RefusingCommand(BaseCommand):
    """A command whose refusals are messages, not tracebacks.

    It leaves the start-up checks to the server: they load every page and double its time.
    """

    requires_system_checks = ()

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; what a service or the disk refuses becomes an error message."""
        try:
            return super().execute(*args, **options)
        except (Refused, FormatError, EngineError, OSError) as error:
            raise CommandError(str(error)) from error


def read_mapping(pairs: Sequence[str]) -> dict[str, str]:
    """Return the layer of each task from TASK=LAYER arguments."""
    for pair in pairs:
        if "=" not in pair:
            raise Refused(f"--map {pair}: write TASK=LAYER.")
    return dict(pair.split("=", 1) for pair in pairs)
