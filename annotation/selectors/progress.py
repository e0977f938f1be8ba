"""How far a project is: sentences, and answers to each task."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Sum

from annotation.models import Annotation, Gold, Project, Role, Suggestion, Task
from annotation.selectors.access import role_in, visible_projects


@dataclass(frozen=True)
class TaskProgress:
    """What has been answered to one task of a project."""

    task: Task
    n_sentences: int
    n_gold: int
    n_answered: int  # sentences with a person's answer or a gold one
    n_suggested: int


@dataclass(frozen=True)
class ProjectCard:
    """A project as the list shows it."""

    project: Project
    role: Role | None
    tasks: list[TaskProgress]
    n_sentences: int
    n_people: int

    @property
    def n_answered(self) -> int:
        """Return the answers that count, over all tasks."""
        return sum(task.n_answered for task in self.tasks)

    @property
    def n_wanted(self) -> int:
        """Return the answers there would be if every task were answered on every sentence."""
        return self.n_sentences * len(self.tasks)


def project_cards(user: Any) -> list[ProjectCard]:
    """Return the projects that a person sees, with their progress."""
    return [project_card(user, project) for project in visible_projects(user)]


def project_card(user: Any, project: Project) -> ProjectCard:
    """Return one project with its progress."""
    tasks = task_progress(project)
    return ProjectCard(
        project=project,
        role=role_in(user, project.pk),
        tasks=tasks,
        n_sentences=n_sentences_of(project),
        n_people=project.memberships.count(),
    )


def n_sentences_of(project: Project) -> int:
    """Return how many sentences a project has, from the counts its corpora keep."""
    return project.corpora.aggregate(n=Sum("n_sentences"))["n"] or 0


def task_progress(project: Project) -> list[TaskProgress]:
    """Return how many sentences have an answer, for every task in its order."""
    n_sentences = n_sentences_of(project)
    return [
        TaskProgress(
            task=task,
            n_sentences=n_sentences,
            n_gold=Gold.objects.filter(task=task).count(),
            n_answered=_n_answered(task),
            n_suggested=Suggestion.objects.filter(task=task).count(),
        )
        for task in project.tasks.prefetch_related("labels")
    ]


def _n_answered(task: Task) -> int:
    gold = Gold.objects.filter(task=task).values("sentence_id")
    own = Annotation.objects.filter(task=task).values("sentence_id")
    return gold.union(own).count()
