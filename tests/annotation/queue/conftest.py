"""A small project with a queue, and people who work through it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import get_user_model

from annotation.accounts.access import hash_token
from annotation.models import Corpus, Membership, Role, Sentence
from annotation.projects.services import create_project
from annotation.queue.asks import ask_everything
from annotation.queue.leases import claim_next
from annotation.queue.selectors import describe_lease, get_lease
from annotation.queue.submissions import Work, submit

NOON = datetime(2030, 5, 1, 12, 0, tzinfo=UTC)
TOKENS = ["Ann", "visits", "Rome", "."]
ANSWERS = {
    "entities": [[0, 1, "PER"], [2, 3, "LOC"]],
    "links": [[0, 1, 2, 3, "in"]],
    "topic": "travel",
}


def minutes(n):
    return NOON + timedelta(minutes=n)


class Desk:
    """A project and the verbs of its annotators, with a clock that tests set."""

    def __init__(self, project):
        self.project = project
        self.n_keys = 0

    def person(self, name, role=Role.ANNOTATOR):
        user = get_user_model().objects.create_user(name)
        Membership.objects.create(project=self.project, user=user, role=role)
        return user

    def take(self, user, now=NOON):
        """Return the lease that a person gets as the page sees it, or nothing."""
        lease = claim_next(project=self.project, annotator_id=user.pk, now=now)
        return None if lease is None else describe_lease(lease)

    def submit(self, user, lease, answers=None, now=NOON, key=None, **work):
        self.n_keys += 1
        return submit(
            lease=get_lease(user, lease["id"]),
            token=lease["token"],
            work=Work(answers=ANSWERS if answers is None else answers, **work),
            key=key or f"key-{self.n_keys}",
            request_hash=hash_token(repr((lease["id"], lease["token"], answers, work))),
            now=now,
        )


def add_sentences(project, n, **fields):
    number = project.corpora.count()
    corpus = Corpus.objects.create(project=project, name=f"c{number}", format="text", n_sentences=n)
    return Sentence.objects.bulk_create(
        Sentence(
            project=project,
            corpus=corpus,
            position=i,
            text="Ann visits Rome.",
            tokens=TOKENS,
            offsets=[[0, 3], [4, 10], [11, 15], [15, 16]],
            n_tokens=4,
            **fields,
        )
        for i in range(n)
    )


def new_project(n_sentences=5, overlap=1, name="Journeys"):
    project = create_project(
        spec={
            "name": name,
            "overlap": overlap,
            "lease_minutes": 15,
            "tasks": [
                {"name": "entities", "kind": "spans", "labels": ["PER", "LOC"]},
                {"name": "links", "kind": "relations", "parent": "entities", "labels": ["in"]},
                {"name": "topic", "kind": "classes", "labels": ["travel", "other"]},
            ],
        }
    )
    add_sentences(project, n_sentences)
    return project


@pytest.fixture
def desk(db):
    """Five sentences, each wanted once."""
    project = new_project()
    ask_everything(project=project, now=NOON)
    return Desk(project)


@pytest.fixture
def pair_desk(db):
    """Three sentences, each wanted from two people."""
    project = new_project(n_sentences=3, overlap=2)
    ask_everything(project=project, now=NOON)
    return Desk(project)


@pytest.fixture
def ann(desk):
    return desk.person("ann")


@pytest.fixture
def ben(desk):
    return desk.person("ben")
