"""Readers of the index of studies."""

from typing import Any

from django.db.models import QuerySet

from analysis.web.models import Study
from analysis.web.services import replay_name
from annotation.models import Project


def visible_studies(user: Any, project: Project) -> QuerySet[Study]:
    """Return the studies that a member of a project may look at, newest first.

    Admins see all of the server's, as they may hold any data; others the replays of their project.
    """
    found = Study.objects.order_by("-created_at")
    if user.is_superuser:
        return found
    name = replay_name(project)
    return found.filter(name__in=[name, f"{name}-changed"])
