"""A small project of the demo's grammar, people who answer from its gold, and a worker."""

import io

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from annotation.corpora.imports import import_corpus
from annotation.demo.services import TRAVEL_DESK, corpus_lines
from annotation.jobs.worker import JobWorker
from annotation.models import Membership, Role
from annotation.projects.services import create_project

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
    return JobWorker().run_all


@pytest.fixture
def now():
    return timezone.now()
