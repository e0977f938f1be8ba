"""Insights in templates: what is stored of them and where their pages are."""

from dataclasses import dataclass

from django import template

from annotation.jobs.insights import INSIGHTS, KnownInsight, insights_at
from annotation.models import Project, Role
from annotation.web.frame import page_of

register = template.Library()


@dataclass(frozen=True)
class InsightPage:
    """A link to an insight's page."""

    name: str
    title: str
    href: str


@register.simple_tag
def insight_pages(project: Project, place: str) -> list[InsightPage]:
    """Return the pages of the insights that belong to one of this app's pages."""
    return [
        InsightPage(kind.name, kind.title, page_of(kind.page, project))
        for kind in INSIGHTS.values()
        if kind.place == place
    ]


@register.simple_tag
def known_insights(project: Project, place: str) -> list[KnownInsight]:
    """Return the insights that one of this app's pages shows itself."""
    return insights_at(project, place)


@register.filter
def may_compute(known: KnownInsight, role: Role | None) -> bool:
    """Return whether a role may have an insight computed again."""
    return role is not None and role.reaches(known.kind.role)
