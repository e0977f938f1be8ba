"""How far projects are: sentences, and answers to each task."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Sum

from annotation.models import Annotation, Corpus, Gold, Membership, Project, Role, Task
from annotation.selectors.access import visible_projects


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
    return _cards(user, list(visible_projects(user)))


def project_card(user: Any, project: Project) -> ProjectCard:
    """Return one project with its progress."""
    return _cards(user, [project])[0]


def task_progress(project: Project) -> list[TaskProgress]:
    """Return how many sentences have an answer, for every task in its order."""
    return _progress([project], _n_sentences([project]))[project.pk]


def n_sentences_of(project: Project) -> int:
    """Return how many sentences a project has, from the counts its corpora keep."""
    return _n_sentences([project]).get(project.pk, 0)


def _cards(user: Any, projects: Sequence[Project]) -> list[ProjectCard]:
    """Return cards with a handful of queries, however many projects there are."""
    n_sentences = _n_sentences(projects)
    progress = _progress(projects, n_sentences)
    people = Membership.objects.filter(project__in=projects)
    n_people = dict(people.values_list("project").annotate(n=Count("pk")))
    roles = dict(people.filter(user=user).values_list("project", "role"))
    return [
        ProjectCard(
            project=project,
            role=Role.OWNER if user.is_superuser else Role(roles[project.pk]),
            tasks=progress[project.pk],
            n_sentences=n_sentences.get(project.pk, 0),
            n_people=n_people.get(project.pk, 0),
        )
        for project in projects
    ]


def _n_sentences(projects: Sequence[Project]) -> dict[int, int]:
    corpora = Corpus.objects.filter(project__in=projects)
    return dict(corpora.values_list("project").annotate(n=Sum("n_sentences")))


def _progress(
    projects: Sequence[Project], n_sentences: dict[int, int]
) -> dict[int, list[TaskProgress]]:
    """Return the progress of every task, by project."""
    tasks = Task.objects.filter(project__in=projects).prefetch_related("labels")
    n_gold = _n_gold(tasks)
    n_others = _n_annotated_without_gold(tasks)
    progress: dict[int, list[TaskProgress]] = defaultdict(list)
    for task in tasks:
        gold = n_gold.get(task.pk, 0)
        answered = gold + n_others.get(task.pk, 0)
        total = n_sentences.get(task.project_id, 0)
        progress[task.project_id].append(TaskProgress(task, total, gold, answered))
    return progress


def _n_gold(tasks: Any) -> dict[int, int]:
    return dict(Gold.objects.filter(task__in=tasks).values_list("task").annotate(n=Count("pk")))


def _n_annotated_without_gold(tasks: Any) -> dict[int, int]:
    """Return how many sentences only people have answered, by task."""
    gold = Gold.objects.filter(sentence=OuterRef("sentence"), task=OuterRef("task"))
    answers = Annotation.objects.filter(task__in=tasks).exclude(Exists(gold))
    return dict(answers.values_list("task").annotate(n=Count("sentence", distinct=True)))
