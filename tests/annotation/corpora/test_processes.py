"""Whole processes against a database of their own: two imports at once, kill -9, the worker."""

import os
import subprocess
import sys
import uuid
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection

from tests.annotation.corpora.test_imports import CONLLU

pytestmark = pytest.mark.own_database

ROOT = Path(__file__).resolve().parents[3]
PROJECT = """
name = "NAME"
[[tasks]]
name = "entities"
kind = "spans"
labels = ["PER", "LOC"]
[[tasks]]
name = "tree"
kind = "tree"
labels = []
"""
MIGRATE = """
import django; django.setup()
from annotation.management.commands.serve import migrate; migrate()
"""
IMPORT_AND_TELL = """
import sys, django
django.setup()
from annotation.models import Project
from annotation.corpora.imports import import_corpus
with open(sys.argv[1], "rb") as stream:
    import_corpus(
        project=Project.objects.get(name=sys.argv[2]), stream=stream, file_name="big.conllu",
        format="conllu", labels="gold",
        progress=lambda stage, done, total: print(stage, done, flush=True),
    )
"""
COUNT = """
import sys, django
django.setup()
from annotation.models import Corpus, Gold, Label, Project, Sentence
project = Project.objects.get(name=sys.argv[1])
print(project.corpora.count(), project.sentences.count(),
      Gold.objects.filter(task__project=project).count(),
      Label.objects.filter(task__project=project, task__kind="tree").count())
"""

IMPORT = ("manage.py", "import_corpus", "--format=conllu", "--labels=gold")


def many(n):
    """Return n copies of the two sentences, each with ids of its own."""
    return "".join(
        CONLLU.replace("sent_id = s1", f"sent_id = a{i}").replace("sent_id = s2", f"sent_id = b{i}")
        for i in range(n)
    )


class Server:
    """An installation of its own, driven by processes."""

    def __init__(self, home, database_url):
        self.home = home
        self.environment = {
            **os.environ,
            "TANDEM_HOME": str(home),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        self.environment.pop("DATABASE_URL", None)
        if database_url:
            self.environment["DATABASE_URL"] = database_url

    def start(self, *arguments):
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        return out

    def create_project(self, name):
        file = self.home / f"{name}.toml"
        file.write_text(PROJECT.replace("NAME", name))
        self.run("manage.py", "create_project", str(file))

    def counts(self, project):
        """Return how many corpora, sentences, gold answers and tree labels there are."""
        return tuple(map(int, self.run("-c", COUNT, project).split()))


@contextmanager
def empty_server(home, django_db_blocker):
    """Give an installation with an empty database of the kind the tests run on."""
    url, name = "", f"own_{uuid.uuid4().hex}"
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")
        url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
    yield Server(home, url)
    if url:
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def server(tmp_path_factory, django_db_setup, django_db_blocker):
    """An installation with a database that is up to date."""
    with empty_server(tmp_path_factory.mktemp("home"), django_db_blocker) as server:
        server.run("-c", MIGRATE)
        yield server


def test_processes_that_start_together_migrate_an_empty_database_once(
    tmp_path, django_db_setup, django_db_blocker
):
    with empty_server(tmp_path, django_db_blocker) as server:
        started = [server.start("-c", MIGRATE) for _ in range(3)]
        errors = [process.communicate(timeout=300)[1] for process in started]
        assert [process.returncode for process in started] == [0, 0, 0], errors


def test_an_import_that_is_killed_leaves_nothing_and_can_be_repeated(server, tmp_path):
    server.create_project("killed")
    file = tmp_path / "big.conllu"
    file.write_text(many(1500))
    for moment in ("reading", "storing 2000"):
        process = server.start("-c", IMPORT_AND_TELL, str(file), "killed")
        for line in process.stdout:
            if line.startswith(moment):
                process.kill()
                break
        assert process.wait() == -9
        process.stdout.close()
        process.stderr.close()
    assert server.counts("killed") == (0, 0, 0, 0)
    server.run(*IMPORT, "killed", str(file))
    assert server.counts("killed") == (1, 3000, 6000, 3)


def test_two_imports_at_once_both_arrive_whole(server, tmp_path):
    server.create_project("double")
    processes = []
    for name in ("one", "two", "one"):  # two want the same name: one of them is refused
        file = tmp_path / f"{name}.conllu"
        file.write_text(many(800))
        processes.append(server.start(*IMPORT, "double", str(file)))
    ends = [(process.communicate(timeout=300), process.returncode) for process in processes]
    assert sorted(code for _, code in ends) == [0, 0, 1], ends
    assert any("a corpus 'one' already" in err for (_, err), code in ends if code)
    assert server.counts("double") == (2, 3200, 6400, 3)


def test_a_backup_moves_a_server_to_an_sqlite_of_its_own(server, tmp_path):
    server.create_project("moved")
    file = tmp_path / "moved.conllu"
    file.write_text(many(50))
    server.run(*IMPORT, "moved", str(file))
    server.run("manage.py", "backup", "-o", str(tmp_path / "backup.zip"))
    other = Server(tmp_path / "other", "")
    other.run("manage.py", "migrate", "-v0", "--skip-checks")
    other.run("manage.py", "restore", str(tmp_path / "backup.zip"))
    assert other.counts("moved") == server.counts("moved") == (1, 100, 200, 3)
    out = tmp_path / "out.conllu"
    other.run("manage.py", "export_corpus", "moved", "--format=conllu", "-o", str(out))
    assert out.read_bytes() == file.read_bytes()
