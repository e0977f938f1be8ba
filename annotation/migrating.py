"""Bringing the database up to date when processes start."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management import call_command
from django.db import connection

TURN = 0x54414E44454D  # the name of our lock in PostgreSQL


def migrate() -> None:
    """Apply missing migrations; processes that start at the same moment wait for each other."""
    with _turn():
        call_command("migrate", verbosity=0, interactive=False)


@contextmanager
def _turn() -> Iterator[None]:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [TURN])
            try:
                yield
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [TURN])
    elif connection.is_in_memory_db():  # type: ignore[attr-defined]
        yield
    else:
        with open(f"{connection.settings_dict['NAME']}.migrating", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
