"""People and projects that many tests start from."""

import pytest
from django.contrib.auth import get_user_model

from annotation.services.projects import create_project


@pytest.fixture
def ada(db):
    return get_user_model().objects.create_user("ada")


@pytest.fixture
def bob(db):
    return get_user_model().objects.create_user("bob")


@pytest.fixture
def admin(db):
    return get_user_model().objects.create_superuser("admin")


@pytest.fixture
def project(ada):
    """A project with one task of each kind, owned by ada."""
    spec = {
        "name": "Harbour",
        "tasks": [
            {"name": "entities", "kind": "spans", "labels": ["PER", "LOC"], "nested": False},
            {"name": "pos", "kind": "tags", "labels": ["NOUN", "VERB", "PUNCT"]},
            {"name": "topic", "kind": "classes", "labels": ["delay", "arrival"]},
            {"name": "tree", "kind": "tree", "labels": []},
            {"name": "links", "kind": "relations", "labels": ["in"], "parent": "entities"},
        ],
    }
    return create_project(spec=spec, owner=ada)
