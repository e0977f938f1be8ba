"""Removing everything that belongs to a project, table by table, whatever its size."""

from django.db import connection

from annotation.models import Project
from annotation.project_tables import project_tables


def delete_rows_of(project: Project) -> None:
    """Delete a project's rows from the children up, without loading them."""
    for model, path in reversed(project_tables()):
        rows = model._base_manager.filter(**{path or "pk": project.pk})
        rows._raw_delete(connection.alias)
