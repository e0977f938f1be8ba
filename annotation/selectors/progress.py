"""How far a project is: sentences, and answers to each task."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Sum

from annotation.models import Annotation, Gold, Project, Role, Task
from annotation.selectors.access import role_in, visible_projects


@dataclass(frozen=True)
class TaskProgress:
    """What has been answered to one task of a project."""

    task: Task
    n_sentences: int
    n_gold: int
    n_answered: int  # sentences with a gold answer or a person's


@dataclass(frozen=True)
class ProjectCard:
    """A project as the list shows it."""

    project: Project
    role: Role | None
    tasks: list[TaskProgress]
    n_sentences: int
    n_people: int


def project_cards(user: Any) -> list[ProjectCard]:
    """Return the projects that a person sees, with their progress."""
    return [project_card(user, project) for project in visible_projects(user)]


def project_card(user: Any, project: Project) -> ProjectCard:
    """Return one project with its progress."""
    return ProjectCard(
        project=project,
        role=role_in(user, project.pk),
        tasks=task_progress(project),
        n_sentences=n_sentences_of(project),
        n_people=project.memberships.count(),
    )


def n_sentences_of(project: Project) -> int:
    """Return how many sentences a project has, from the counts its corpora keep."""
    return project.corpora.aggregate(n=Sum("n_sentences"))["n"] or 0


def task_progress(project: Project) -> list[TaskProgress]:
    """Return how many sentences have an answer, for every task in its order."""
    n_sentences = n_sentences_of(project)
    progress = []
    for task in project.tasks.prefetch_related("labels"):
        n_gold = Gold.objects.filter(task=task).count()
        n_answered = n_gold + _n_annotated_without_gold(task)
        progress.append(TaskProgress(task, n_sentences, n_gold, n_answered))
    return progress


def _n_annotated_without_gold(task: Task) -> int:
    gold = Gold.objects.filter(sentence=OuterRef("sentence"), task=OuterRef("task"))
    answers = Annotation.objects.filter(task=task).exclude(Exists(gold))
    return answers.values("sentence").distinct().count()
