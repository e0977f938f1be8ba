import os

import pytest
from django.db import connection


@pytest.mark.django_db
def test_the_suite_runs_on_the_database_it_was_asked_to():
    wanted = os.environ.get("TANDEM_TEST_DATABASE", "sqlite")
    assert connection.vendor == {"postgres": "postgresql"}.get(wanted, wanted)


@pytest.mark.django_db
def test_sqlite_commits_are_durable_and_foreign_keys_hold():
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL is durable by default")
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA synchronous").fetchone() == (2,)
        assert cursor.execute("PRAGMA foreign_keys").fetchone() == (1,)


@pytest.mark.django_db
def test_sqlite_is_mapped_and_not_copied_into_every_thread():
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL keeps its pages in a process of its own")
    with connection.cursor() as cursor:
        (mapped,) = cursor.execute("PRAGMA mmap_size").fetchone()
        (kept,) = cursor.execute("PRAGMA cache_size").fetchone()
    assert mapped > 2_000_000_000
    assert kept == -4000  # kilobytes of pages that a connection holds on to
