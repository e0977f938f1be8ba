"""Making, changing, pausing and deleting projects, their tasks and their webhooks."""

import shutil
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Greatest

from annotation.accounts.access import new_token
from annotation.accounts.log import record
from annotation.archive.tables import (
    forget_deleted,
    project_folders,
    project_tables,
    shared_cache_folders,
)
from annotation.bridge import tasks_by_name
from annotation.errors import Conflict, InvalidInput, NotFound, Problem, unknown_name
from annotation.jobs.services import forget_project
from annotation.models import (
    Ask,
    Delivery,
    Label,
    Membership,
    Progress,
    Project,
    Queue,
    Role,
    Task,
    Webhook,
)
from annotation.notifications.outbox import TEST, call_facts, webhook_events
from annotation.notifications.transport import find_host
from annotation.projects.documents import make_documents
from annotation.projects.spec import (
    NewTask,
    ProjectSettings,
    ProjectSpec,
    TaskLabels,
    allocate_key,
    pair_problems,
    read_spec,
    read_tasks,
    reserved_keys,
)
from annotation.projects.tasks import hide_task, rename_task
from config.store import RoundFiles
from mtl_engine.kinds import KINDS

TASK_FIELDS = ("guidelines", "target_score", "is_open", "is_nested", "pairs", "window")
MOST_WEBHOOKS = 10  # of a project
MOST_TESTS = 5  # that wait


@transaction.atomic
def create_project(*, spec: ProjectSpec | Mapping[str, Any], owner: Any = None) -> Project:
    """Make a project with its tasks and labels; its owner becomes a member.

    ``spec`` is a read specification or the mapping of a TOML file or REST body.
    """
    if not isinstance(spec, ProjectSpec):
        spec = read_spec(spec)
    _refuse_used_name(spec.name, owner)
    try:
        with transaction.atomic():
            project = Project.objects.create(**spec.values, created_by=owner)
    except IntegrityError:  # somebody was quicker
        raise _used_name(spec.name) from None
    _create_tasks(project, spec.tasks, first_position=0)
    if owner is not None:
        Membership.objects.create(project=project, user=owner, role=Role.OWNER)
    record("project.created", project=project, actor=owner)
    return project


@transaction.atomic
def update_project(*, project: Project, changes: Mapping[str, Any], actor: Any = None) -> Project:
    """Change what a project says about itself; tasks and labels have verbs of their own."""
    values = ProjectSettings.read(dict(changes), is_partial=True)
    if values.get("name", project.name) != project.name:
        _refuse_used_name(values["name"], actor)
    changed = [key for key, value in values.items() if getattr(project, key) != value]
    for key, value in values.items():
        setattr(project, key, value)
    try:
        with transaction.atomic():
            project.save(update_fields=list(values))
    except IntegrityError:  # whoever made the project has another one of this name
        raise _used_name(values.get("name", project.name)) from None
    if "overlap" in changed:
        _ask_more_or_fewer_people(project)
    if changed:
        record("project.changed", project=project, actor=actor, fields=changed)
    return project


@transaction.atomic
def set_project_state(*, project: Project, state: Project.State, actor: Any) -> Project:
    """Pause, archive or take up a project again; nothing of it is lost."""
    if project.state != state:
        project.state = state
        project.save(update_fields=["state"])
        record(f"project.{state.value}", project=project, actor=actor)
    return project


@transaction.atomic
def add_task(*, project: Project, task: Mapping[str, Any], actor: Any = None) -> Task:
    """Add one question to a project; a label whose key gets another meaning by it has a new one."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # one at a time
    present = list(
        project.tasks.select_related("parent", "second_parent").prefetch_related("labels")
    )
    kinds = {*(t.kind for t in present), *({str(task.get("kind"))} & KINDS.keys())}
    reserved = reserved_keys(kinds)
    problems: list[Problem] = []
    tasks = read_tasks([*(_as_written(t, reserved) for t in present), dict(task)], problems)
    if problems:
        own = f"tasks.{len(present)}"
        raise InvalidInput([Problem(p.path.removeprefix(own)[1:], p.message) for p in problems])
    *specs, new = tasks
    for before, after in zip(present, specs, strict=True):
        _change_keys(before, after)
    _create_tasks(project, [new], first_position=len(present))
    if new.spec.is_document:
        for corpus in project.corpora.all():
            make_documents(corpus)
    if actor is not None:
        record("task.added", project=project, actor=actor, task=new.spec.name)
    return project.tasks.get(name=new.spec.name)


@transaction.atomic
def update_task(*, task: Task, changes: Mapping[str, Any], actor: Any = None) -> Task:
    """Rename or hide a task, change what it says, its target, and what its answers may look like.

    ``changes`` are those of ``TaskChanges``, read already.
    """
    if "name" in changes:
        rename_task(task=task, name=changes["name"], actor=actor)
    if "is_hidden" in changes:
        hide_task(task=task, is_hidden=changes["is_hidden"], actor=actor)
    kind = KINDS[task.kind]
    if changes.get("is_nested") and not kind.may_nest:
        message = f"Only a spans task may be nested, not one of kind {task.kind}."
        raise InvalidInput([Problem("is_nested", message)])
    if "window" in changes and not (task.is_document and kind.parent_kind):
        message = f"Only links of whole documents have a window, not '{task.name}'."
        raise InvalidInput([Problem("window", message)])
    if changes.get("pairs"):
        _check_pairs(task, changes)
    changed = [key for key in TASK_FIELDS if changes.get(key, ...) not in (..., getattr(task, key))]
    for key in TASK_FIELDS:
        if key in changes:
            setattr(task, key, changes[key])
    task.save(update_fields=[key for key in TASK_FIELDS if key in changes])
    if changed and actor is not None:
        record("task.changed", project=task.project, actor=actor, task=task.name, fields=changed)
    return task


def _check_pairs(task: Task, changes: Mapping[str, Any]) -> None:
    """Refuse pairs of labels that there are not."""
    if not KINDS[task.kind].may_have_two_parents:
        message = f"Only a relations task has pairs, not one of kind {task.kind}."
        raise InvalidInput([Problem("pairs", message)])
    specs = tasks_by_name(task.project_id)
    links = replace(specs[task.name], is_open=changes.get("is_open", task.is_open))
    ends = [specs[links.parents[side]] for side in (0, -1)]
    labels = [TaskLabels(spec.label_set, spec.is_open) for spec in (links, *ends)]
    problems = list(pair_problems(changes["pairs"], labels[0], labels[1:]))
    if problems:
        raise InvalidInput(problems)


@transaction.atomic
def delete_project(*, project: Project, actor: Any = None) -> None:
    """Remove a project with its sentences, answers, log and files; that it was is kept.

    Rows go from the children up, without being loaded. Files go when the rows are gone for good.
    """
    project.log.update(undone_by=None)
    project.log.all().delete()
    record("project.deleted", project=None, actor=actor, name=project.name)
    folders = [*project_folders(project), *shared_cache_folders()]
    stored = [RoundFiles(name, {}) for name in project.rounds.values_list("folder", flat=True)]
    for model, path in reversed(project_tables()):
        rows = model._base_manager.filter(**{path or "pk": project.pk})
        rows._raw_delete(connection.alias)
    transaction.on_commit(lambda: remove_folders(folders))
    transaction.on_commit(partial(forget_project, project.pk))
    transaction.on_commit(forget_deleted)
    for files in stored:
        transaction.on_commit(files.remove)


def remove_folders(folders: Iterable[Path]) -> None:
    """Remove folders of the data directory with all they hold."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _ask_more_or_fewer_people(project: Project) -> None:
    """Let the open queue want as many answers as the project now does.

    What was answered and what is in somebody's hands counts; a round whose settings say how many
    answers it wants keeps to them.
    """
    queue = Queue.objects.filter(project=project, is_current=True).select_related("round").first()
    if queue is None or (queue.round is not None and queue.round.config.get("overlap")):
        return
    Queue.objects.filter(pk=queue.pk).update(overlap=project.overlap)
    asks = Ask.objects.filter(queue=queue, is_check=False)
    asks.update(overlap=Greatest(Value(project.overlap), F("n_answers") + F("n_leases")))
    asks.filter(n_answers__gte=F("overlap")).update(is_open=False)
    wanting = asks.filter(sentence__left_out="", n_answers__lt=F("overlap")).exclude(tasks=[])
    asks.filter(pk__in=wanting.values("pk")).update(is_open=True)
    own = Progress.objects.filter(queue=queue)
    own.update(first_rank=1, n_closed=0)  # what was closed may be open, and the other way round
    first = own.order_by("id").first()
    if first is not None:
        n_closed = asks.filter(is_open=False).count()
        own.filter(pk=first.pk).update(n_closed=n_closed)


def _create_tasks(project: Project, tasks: Iterable[NewTask], *, first_position: int) -> None:
    made = {task.name: task for task in project.tasks.all()}
    kinds = {*(t.kind for t in made.values())}
    ordered = sorted(
        enumerate(tasks, start=first_position), key=lambda numbered: bool(numbered[1].spec.parent)
    )
    for position, new in ordered:
        spec = new.spec
        made[spec.name] = task = Task.objects.create(
            project=project,
            name=spec.name,
            kind=spec.kind,
            position=position,
            parent=made.get(spec.parent) if spec.parent else None,
            second_parent=made.get(spec.second_parent) if spec.second_parent else None,
            is_document=spec.is_document,
            window=spec.window,
            is_open=spec.is_open,
            is_nested=spec.is_nested,
            pairs=spec.pairs,
            guidelines=new.guidelines,
            target_score=new.target_score,
        )
        labels = []
        taken = {*reserved_keys(kinds), *(label.key for label in new.labels)}
        for i, label in enumerate(new.labels):
            key = label.key or allocate_key(spec.kind, label.name, taken)
            taken.add(key)
            labels.append(
                Label(
                    task=task,
                    name=label.name,
                    position=i,
                    colour=label.colour,
                    key=key,
                    description=label.description,
                )
            )
        Label.objects.bulk_create(labels)


def _as_written(task: Task, reserved: Collection[str]) -> dict[str, Any]:
    """Return a stored task as a project file would write it, without the keys it must give up."""
    labels = [
        {"name": label.name, "key": "" if label.key in reserved else label.key}
        for label in task.labels.all()
    ]
    written: dict[str, Any] = {"name": task.name, "kind": task.kind, "labels": labels, "open": True}
    if task.is_document:
        written["document"] = True
        if KINDS[task.kind].parent_kind:
            written["window"] = task.window
    for key in ("parent", "second_parent"):
        if getattr(task, key):
            written[key] = getattr(task, key).name
    return written


def _change_keys(task: Task, new: NewTask) -> None:
    for label, wanted in zip(task.labels.all(), new.labels, strict=True):
        if label.key != wanted.key and label.key:
            label.key = wanted.key
            label.save(update_fields=["key"])


def _refuse_used_name(name: str, person: Any) -> None:
    """Refuse a name that the person can see in use; projects of others stay unknown to them.

    Commands name projects, so where nobody asks (``person`` is None) no project may have the name.
    """
    known = Project.objects.filter(name=name)
    if person is not None:
        known = known.filter(Q(created_by=person) | Q(memberships__user=person))
    if known.exists():
        raise _used_name(name)


def _used_name(name: str) -> Conflict:
    return Conflict(f"There is a project '{name}' already. Choose another name.")


@dataclass(frozen=True)
class NewWebhook:
    """A webhook and its secret, which is shown this once."""

    webhook: Webhook
    secret: str


def get_webhook(project: Project, webhook_id: int) -> Webhook:
    """Return a webhook of a project."""
    found = project.webhooks.filter(pk=webhook_id).first()
    if found is None:
        raise NotFound("This webhook does not exist in this project.")
    return found


def deliveries_of(webhook: Webhook) -> QuerySet[Delivery]:
    """Return what was sent to a webhook or waits for it, newest first."""
    return webhook.deliveries.order_by("-id")


@transaction.atomic
def add_webhook(*, project: Project, url: str, events: Iterable[str], actor: Any) -> NewWebhook:
    """Let a program be told of events; its address must be on a host that the admin lists."""
    wanted = _events(events)
    find_host(url)
    if project.webhooks.count() >= MOST_WEBHOOKS:
        raise Conflict(f"A project has at most {MOST_WEBHOOKS} webhooks. Remove one first.")
    secret = new_token()
    made = Webhook.objects.create(
        project=project, url=url, events=wanted, secret=secret, created_by=actor
    )
    record("webhook.added", project=project, actor=actor, url=url, events=wanted)
    return NewWebhook(made, secret)


@transaction.atomic
def change_webhook(
    *,
    webhook: Webhook,
    actor: Any,
    events: Iterable[str] | None = None,
    is_active: bool | None = None,
) -> Webhook:
    """Tell a program of other events, or of nothing for a while."""
    if events is not None:
        webhook.events = _events(events)
    if is_active is not None:
        webhook.is_active = is_active
    webhook.save(update_fields=["events", "is_active"])
    record(
        "webhook.changed",
        project=webhook.project,
        actor=actor,
        url=webhook.url,
        events=webhook.events,
        state="on" if webhook.is_active else "off",
    )
    return webhook


@transaction.atomic
def remove_webhook(*, webhook: Webhook, actor: Any) -> None:
    """Tell a program nothing any more, and forget what it was told."""
    record("webhook.removed", project=webhook.project, actor=actor, url=webhook.url)
    webhook.delete()


def send_test(*, webhook: Webhook, actor: Any, now: datetime) -> Delivery:
    """Queue a call that says nothing but that it is a test."""
    waiting = webhook.deliveries.filter(event=TEST.name, state=Delivery.State.WAITING)
    if waiting.count() >= MOST_TESTS:
        raise Conflict(f"{MOST_TESTS} tests wait already. Is a worker running?")
    if not webhook.is_active:
        raise Conflict("This webhook is switched off. Switch it on first.")
    return Delivery.objects.create(
        project=webhook.project,
        webhook=webhook,
        event=TEST.name,
        payload=call_facts(TEST.name, webhook.project, {}),
        next_try_at=now,
        created_at=now,
    )


def _events(events: Iterable[str]) -> list[str]:
    """Return the names of events that webhooks may ask for, in their order; at least one."""
    names = [event.name for event in webhook_events()]
    given = list(events)
    problems = [
        Problem("events", unknown_name("event", name, names)) for name in given if name not in names
    ]
    if not given:
        problems.append(Problem("events", f"Choose at least one: {', '.join(names)}."))
    if problems:
        raise InvalidInput(problems)
    return [name for name in names if name in given]
