"""Readers of the index of studies, and of what came out for the papers."""

import re
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from analysis.sweep.study_file import SHIPPED
from analysis.web.models import Study
from annotation.models import Project

PAPERS = SHIPPED / "papers.md"  # a page of the documentation, that goes with the studies
LINK = re.compile(
    r" ?\(\[[^]]*]\([^)]*\)\)"
)  # in parentheses: to a result, which stays in the source
STUDY_FILE = re.compile(r"`studies/(\w+)\.toml`")
EMPHASIS = re.compile(r"[*`]+")


@dataclass(frozen=True)
class PaperItem:
    """A table, figure or definition: what the paper says, what came out, what gives it again."""

    name: str
    says: str
    here: str
    verdict: str
    studies: tuple[str, ...]  # shipped ones, by name
    tests: tuple[str, ...]  # and benchmarks


@dataclass(frozen=True)
class Paper:
    """A paper and its items."""

    title: str
    items: tuple[PaperItem, ...]


def visible_studies(user: Any, project: Project) -> QuerySet[Study]:
    """Return the studies that a member of a project may look at, newest first.

    Admins see all of the server's, as they may hold any data; others the replays of their project.
    """
    found = Study.objects.order_by("-created_at")
    if user.is_superuser:
        return found
    return found.filter(name__in=replay_names(project.pk))


def replay_names(project_id: int) -> tuple[str, str]:
    """Return what the replays of a project are called; its members may look at them.

    The second one is of those with other settings.
    """
    return f"replay-{project_id}", f"replay-{project_id}-changed"


def papers() -> list[Paper]:
    """Return what the documentation says of every item of the papers."""
    _, *parts = PAPERS.read_text(encoding="utf-8").split("\n## ")
    found = [Paper(part.partition("\n")[0], tuple(map(_item, _rows(part)))) for part in parts]
    return [paper for paper in found if paper.items]


def _rows(part: str) -> list[list[str]]:
    """Return the cells of a part's table, without its head."""
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _item(cells: list[str]) -> PaperItem:
    by = cells[-1]
    name, says, here, verdict = (EMPHASIS.sub("", LINK.sub("", cell)) for cell in cells[:-1])
    tests = tuple(re.findall(r"`([^`]+)`", STUDY_FILE.sub("", by)))
    return PaperItem(name, says, here, verdict, tuple(STUDY_FILE.findall(by)), tests)
