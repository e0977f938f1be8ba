"""Real web servers on the kind of database that the run is for, killed and judged."""

import os
import uuid
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg
import pytest

from benchmarks.web_server import WebServer


@pytest.fixture
def server(tmp_path):
    """A web server with a database of its own; it is not started yet."""
    with _empty_database() as url:
        server = WebServer(tmp_path, url)
        yield server
        server.kill_all()


@contextmanager
def _empty_database():
    """Yield the address of an empty database beside that of the tests, or nothing for SQLite."""
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        yield None
        return
    name = f"chaos_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield urlsplit(url)._replace(path=f"/{name}").geturl()
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
