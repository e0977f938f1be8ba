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
