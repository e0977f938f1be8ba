"""What monitoring asks."""

import pytest
from django.contrib.auth import get_user_model
from django.db import OperationalError
from django.utils import timezone

from annotation.accounts.services import create_token
from annotation.jobs.services import beat
from annotation.models import Job, Round
from annotation.queue.asks import ask_everything
from config import VERSION
from tests.annotation.queue.conftest import NOON, Desk, new_project


def test_a_server_that_works_says_so_to_anybody(client, db):
    answer = client.get("/health/")
    assert answer.status_code == 200
    found = answer.json()
    assert found.pop("disk_free_mb") > 0
    assert found == {
        "status": "ok",
        "version": VERSION,
        "database": "ok",
        "n_missing_migrations": 0,
        "n_workers": 0,
        "lanes": {"training": 0, "files": 0, "research": 0},
        "worker_seconds": None,
    }


def test_a_full_disk_and_missing_migrations_are_told(client, db, monkeypatch):
    monkeypatch.setattr("annotation.jobs.health.disk_free", lambda: 5 * 2**20)
    answer = client.get("/health/")
    assert (answer.status_code, answer.json()["status"]) == (503, "the disk is full")
    monkeypatch.setattr("annotation.jobs.health._missing_migrations", lambda: 2)
    answer = client.get("/health/")
    assert (answer.status_code, answer.json()["status"]) == (503, "migrations are missing")


def test_admins_read_metrics_by_session_or_token_and_nobody_else(client, db):
    project = new_project(n_sentences=3)
    ask_everything(project=project, now=NOON)
    desk = Desk(project)
    ann = desk.person("ann")
    desk.submit(ann, desk.take(ann), seconds=7.5)
    desk.take(ann, timezone.now())
    Round.objects.create(project=project, number=1, state=Round.State.FAILED)
    Job.objects.create(project=project, kind="round", state=Job.State.QUEUED)
    beat(name="host:1:a", now=timezone.now())
    admin = get_user_model().objects.create_superuser("admin")
    assert client.get("/metrics/").status_code == 401
    client.force_login(ann)
    assert client.get("/metrics/").status_code == 404
    token = create_token(user=admin, name="scraper", scope="read", now=timezone.now()).secret
    client.logout()
    answer = client.get("/metrics/", headers={"Authorization": f"Token {token}"})
    assert answer.status_code == 200
    lines = set(answer.content.decode().splitlines())
    of = f'{{project="{project.pk}"}}'
    assert lines >= {
        f"tandem_asks_open{of} 2.0",
        f"tandem_leases{of} 1.0",
        f"tandem_answers_total{of} 1.0",
        f"tandem_answer_seconds_total{of} 7.5",
        'tandem_jobs{kind="round",state="queued"} 1.0',
        f'tandem_rounds{{project="{project.pk}",state="failed"}} 1.0',
        "tandem_workers 1.0",
    }
    assert any(line.startswith("tandem_worker_heartbeat_age_seconds ") for line in lines)
    assert any('route="metrics/",status="404"' in line for line in lines)


def test_without_its_database_a_server_is_not_healthy(client, monkeypatch):
    def fails():
        raise OperationalError("gone")

    monkeypatch.setattr("annotation.jobs.health.connection.ensure_connection", fails)
    answer = client.get("/health/")
    assert (answer.status_code, answer.json()["status"]) == (503, "no database")


def test_the_health_command_asks_the_server_that_runs(tmp_path):
    from tests.releases.server import Server

    with Server(tmp_path) as server:
        port = server.address.rsplit(":")[-1]
        server.environment |= {"TANDEM_BIND": f"0.0.0.0:{port}", "TANDEM_HOSTS": "localhost"}
        assert '"status": "ok"' in server.command("health")
    with pytest.raises(AssertionError, match="does not answer"):
        server.command("health")
