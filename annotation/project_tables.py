"""The tables that belong to a project, found by following foreign keys.

A table added later takes part in archives and deletion without another line here.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.apps import apps
from django.db.models import Field, ForeignKey, Model

from annotation.models import Project


@cache
def project_tables() -> Sequence[tuple[type[Model], str]]:
    """Return every model with a path to its project, parents before children.

    The path is a look-up: "" for the project itself, "sentence__project" for an annotation.
    """
    ordered: list[tuple[type[Model], str]] = [(Project, "")]
    paths: dict[type[Model], str] = {Project: ""}
    waiting = [model for model in apps.get_models() if model is not Project]
    while True:
        ready = [m for m in waiting if _path(m, paths) is not None and not _waits(m, waiting)]
        if not ready:
            return tuple(ordered)
        for model in ready:
            paths[model] = _path(model, paths) or ""
            ordered.append((model, paths[model]))
            waiting.remove(model)


def foreign_keys(model: type[Model]) -> list[ForeignKey[Any, Any]]:
    """Return the foreign keys of a model."""
    return [field for field in model._meta.local_fields if isinstance(field, ForeignKey)]


def stored_fields(model: type[Model]) -> list[Field[Any, Any]]:
    """Return the columns of a model, its key first."""
    return list(model._meta.local_concrete_fields)


def _path(model: type[Model], paths: dict[type[Model], str]) -> str | None:
    """Return the shortest required path to the project, or nothing."""
    found = [
        f"{field.name}__{paths[field.related_model]}".removesuffix("__")
        for field in foreign_keys(model)
        if field.related_model in paths and not field.null and field.related_model is not model
    ]
    return min(found, key=len, default=None)


def _waits(model: type[Model], waiting: Sequence[type[Model]]) -> bool:
    """Return whether a model points to another one that has not been placed yet."""
    return any(
        field.related_model in waiting and field.related_model is not model
        for field in foreign_keys(model)
        if _leads_to_project(field.related_model)
    )


@cache
def _leads_to_project(model: type[Model]) -> bool:
    return model is Project or any(
        _leads_to_project(field.related_model)
        for field in foreign_keys(model)
        if field.related_model is not model and not field.null
    )
