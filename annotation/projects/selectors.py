"""Projects as pages, commands and REST read them: by name, in words, and how far they are."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db.models import Count, Exists, Model, OuterRef, Sum

from annotation.accounts.access import visible_projects
from annotation.errors import Refused, unknown_name
from annotation.models import (
    Annotation,
    Corpus,
    Gold,
    Label,
    Membership,
    Project,
    Role,
    Sentence,
    Task,
    WordAnswer,
)
from annotation.models.project import project_settings
from config.home import command
from mtl_engine.kinds import KINDS
from mtl_engine.languages import MULTILINGUAL, is_multilingual, looks_english

LOOKED_AT = 200  # sentences, to see their language
CHUNK = 1_000
CURRENT = (Annotation, WordAnswer, Gold)  # answers that people would miss


def find_project(name_or_id: str) -> Project:
    """Return a project by its name, or else by its id; several people may use one name."""
    named = list(Project.objects.filter(name=name_or_id).order_by("pk"))
    if len(named) > 1:
        ids = ", ".join(f"{one.pk} (of {one.created_by})" for one in named)
        raise Refused(f"Several projects are called '{name_or_id}'. Give the number of one: {ids}.")
    project = named[0] if named else None
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


def encoder_hint(project: Project) -> str:
    """Return what to do where the bundled encoder, which is English, cannot read the sentences.

    Languages that are stated count; without any, how the first sentences look.
    """
    stated = {project.language, *project.corpora.values_list("language", flat=True)}
    codes = {code.partition("-")[0].lower() for code in stated} - {"", "xx"}
    others = ", ".join(sorted(codes - {"en"}))
    rows = Sentence.objects.filter(project=project).order_by("id")
    if others:
        said = f"The bundled encoder reads English, and there are sentences in {others}."
    elif looks_english(rows.values_list("tokens", flat=True)[:LOOKED_AT]):
        return ""
    else:
        said = "The bundled encoder reads English, and these sentences do not look English."
    listed = sorted(settings.ENCODERS, key=lambda name: not is_multilingual(name))
    if listed:
        return (
            f"{said} Choose an encoder of their language, or one of many, under Model; listed "
            f"here: {', '.join(listed)}."
        )
    return (
        f"{said} None that reads other languages is listed here. Fetch an encoder of their "
        f"language, or one of many (`{command('fetch_encoder')} {MULTILINGUAL}`), list it in "
        "TANDEM_ENCODERS and choose it under Model."
    )


def describe_project(project: Project) -> dict[str, Any]:
    """Return what a member may know about a project."""
    tasks = project.tasks.select_related("parent", "second_parent").prefetch_related("labels")
    return {
        "id": project.pk,
        "name": project.name,
        **{about.name: getattr(project, about.name) for about in project_settings()},
        "state": project.state,
        "n_sentences": n_sentences_of(project),
        "created_at": project.created_at,
        "tasks": [describe_task(task) for task in tasks],
    }


def drawn_tasks(project: Project) -> list[dict[str, Any]]:
    """Return the tasks as pages draw them: retired labels stand apart from those offered."""
    tasks = describe_project(project)["tasks"]
    return [
        {
            **task,
            "labels": [label for label in task["labels"] if not label["is_retired"]],
            "retired": [label for label in task["labels"] if label["is_retired"]],
        }
        for task in tasks
    ]


def describe_task(task: Task) -> dict[str, Any]:
    """Return a task with its labels."""
    return {
        "id": task.pk,
        "name": task.name,
        "kind": task.kind,
        "parent": task.parent.name if task.parent else None,
        "second_parent": task.second_parent.name if task.second_parent else None,
        "is_document": task.is_document,
        "window": task.window,
        "is_nested": task.is_nested,
        "is_open": task.is_open,
        "is_hidden": task.is_hidden,
        "pairs": task.pairs,
        "guidelines": task.guidelines,
        "target_score": task.target_score,
        "labels": [describe_label(label) for label in task.labels.all()],
    }


def describe_label(label: Label) -> dict[str, Any]:
    """Return a label."""
    return {
        "id": label.pk,
        "name": label.name,
        "colour": label.colour,
        "key": label.key,
        "description": label.description,
        "is_retired": label.is_retired,
    }


@dataclass(frozen=True)
class Usage:
    """How often a label is in use, or what a change would touch."""

    n_answers: int = 0
    n_gold: int = 0
    n_sentences: int = 0
    n_people: int = 0
    n_conflicts: int = 0  # items that would become equal and be one
    examples: tuple[str, ...] = ()

    @property
    def is_used(self) -> bool:
        """Return whether anything has it."""
        return bool(self.n_answers or self.n_gold)


@dataclass(frozen=True)
class LabelUse:
    """How often a label is in answers and gold, and when it was used last."""

    n_answers: int
    n_gold: int
    last: datetime | None

    @property
    def n(self) -> int:
        """Return in how many answers it is, gold counted too."""
        return self.n_answers + self.n_gold


def label_uses(task: Task) -> dict[str, LabelUse]:
    """Return how often each label of a task is in use and when last, reading every answer once."""
    kind = KINDS[task.kind]
    answers: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    last: dict[str, datetime] = {}
    for model, counts in ((Annotation, answers), (WordAnswer, answers), (Gold, gold)):
        rows = model._default_manager.filter(task=task).values_list("value", "updated_at")
        for value, at in rows.iterator(CHUNK):
            for name in set(kind.labels_of(value)):
                counts[name] += 1
                last[name] = max(at, last.get(name, at))
    return {
        name: LabelUse(answers[name], gold[name], last.get(name))
        for name in {*task.labels.values_list("name", flat=True), *last}
    }


def label_usage(label: Label, *, into: Label | None = None) -> Usage:
    """Return how often a label is in use, and what merging it into another would make one."""
    return merge_usage([label], into)


def merge_usage(labels: Sequence[Label], into: Label | None) -> Usage:
    """Return what some labels of one task are in, and what becomes one if another replaces them."""
    task = labels[0].task
    kind = KINDS[task.kind]
    names = {label.name for label in labels}
    mapping = dict.fromkeys(names, into.name) if into else {}
    counts: dict[type[Model], int] = defaultdict(int)
    sentences: set[int] = set()
    people: set[int] = set()
    n_conflicts = 0
    examples: list[int] = []
    for model in CURRENT:
        has_author = model is not Gold
        columns = ("sentence_id", "value", *(["author_id"] if has_author else []))
        rows = model._default_manager.filter(task=task).values_list(*columns)
        for sentence_id, value, *author in rows.iterator(CHUNK):
            if names.isdisjoint(kind.labels_of(value)):
                continue
            counts[model] += 1
            sentences.add(sentence_id)
            people.update(author)
            if mapping:
                after = kind.replace_labels(value, mapping)
                n_conflicts += len(kind.items(value)) - len(kind.items(after))
            if len(examples) < 3 and sentence_id not in examples:
                examples.append(sentence_id)
    texts = task.project.sentences.filter(pk__in=examples).values_list("text", flat=True)
    return Usage(
        counts[Annotation] + counts[WordAnswer],
        counts[Gold],
        len(sentences),
        len(people),
        n_conflicts,
        tuple(texts),
    )


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
    documents = Sentence.objects.filter(project__in=projects, is_document=True)
    n_documents = Counter(documents.values_list("project", flat=True))
    progress: dict[int, list[TaskProgress]] = defaultdict(list)
    for task in tasks:
        gold = n_gold.get(task.pk, 0)
        answered = gold + n_others.get(task.pk, 0)
        of = n_documents if task.is_document else n_sentences
        total = of.get(task.project_id, 0)
        progress[task.project_id].append(TaskProgress(task, total, gold, answered))
    return progress


def _n_gold(tasks: Any) -> dict[int, int]:
    return dict(Gold.objects.filter(task__in=tasks).values_list("task").annotate(n=Count("pk")))


def _n_annotated_without_gold(tasks: Any) -> dict[int, int]:
    """Return how many sentences only people have answered, by task."""
    gold = Gold.objects.filter(sentence=OuterRef("sentence"), task=OuterRef("task"))
    answers = Annotation.objects.filter(task__in=tasks).exclude(Exists(gold))
    return dict(answers.values_list("task").annotate(n=Count("sentence", distinct=True)))
