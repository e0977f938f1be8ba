"""Finding projects and people by the names that commands are given."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model

from annotation.errors import Refused, unknown_name
from annotation.models import Corpus, Project


def find_project(name_or_id: str) -> Project:
    """Return a project by its name, or else by its id."""
    project = Project.objects.filter(name=name_or_id).first()
    if project is None and name_or_id.isdecimal():
        project = Project.objects.filter(pk=name_or_id).first()
    if project is None:
        known = Project.objects.values_list("name", flat=True)
        raise Refused(unknown_name("project", name_or_id, known))
    return project


def find_corpora(project: Project, names: Sequence[str]) -> list[Corpus]:
    """Return corpora of a project by their names."""
    known = {corpus.name: corpus for corpus in project.corpora.all()}
    for name in names:
        if name not in known:
            raise Refused(unknown_name("corpus", name, known))
    return [known[name] for name in names]


def find_user(username: str) -> Any:
    """Return a person by name."""
    users = get_user_model().objects
    user = users.filter(username=username).first()
    if user is None:
        raise Refused(unknown_name("person", username, users.values_list("username", flat=True)))
    return user
