"""A small project of the demo's grammar, people who answer from its gold, and a worker."""

import io

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from annotation.demo.projects import TRAVEL_DESK, corpus_lines
from annotation.jobs import run_job
from annotation.models import Membership, Role
from annotation.services.importing import import_corpus
from annotation.services.projects import create_project

TINY = {
    "encoder": "tiny",
    "epochs": 2,
    "test_size": 20,
    "unit": "sentences",
    "amount": 12,
    "has_control": False,
}


def import_demo(project, *, n, labelled, first=0):
    """Import n sentences of the travel demo, with or without gold."""
    lines = corpus_lines(TRAVEL_DESK, first=first, last=first + n, labelled=labelled)
    import_corpus(
        project=project,
        stream=io.BytesIO("".join(lines).encode()),
        file_name=f"demo-{first}-{labelled}.jsonl",
        format="jsonl",
        labels="gold" if labelled else "none",
    )


@pytest.fixture
def people(db):
    names = ["ann", "ben", "cem"]
    return [get_user_model().objects.create_user(username=name) for name in names]


@pytest.fixture
def project(db, people):
    made = create_project(spec=TRAVEL_DESK.spec, owner=people[0])
    for person in people[1:]:
        Membership.objects.create(project=made, user=person, role=Role.ANNOTATOR)
    return made


@pytest.fixture
def work():
    """Run everything that is queued, as a worker would, in this process."""
    from django_tasks_db.models import DBTaskResult

    def run_all():
        from annotation.worker import TandemWorker

        loop = TandemWorker(batch=True, interval=0.01)
        for task in DBTaskResult.objects.filter(status="READY"):
            task.claim(loop.worker_id)
            loop.run_task(task)

    assert run_job
    return run_all


@pytest.fixture
def now():
    return timezone.now()
