"""Insights: what methods find out about a project, computed by the worker and stored.

The methods live in an app above this one. That app registers each of its insights when Django
starts; nothing here imports it, and no page computes one: pages show what is stored and how old
it is.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from annotation.errors import Conflict, InvalidInput, NotFound, Problem, unknown_name
from annotation.jobs.services import OPEN, Progress, enqueue_job, finish_job
from annotation.models import Annotation, Gold, Insight, Job, Project, Role
from mtl_engine.errors import EngineError
from mtl_engine.settings import Settings


@dataclass(frozen=True)
class NoSettings(Settings):
    """The settings of an insight that has none."""


@dataclass(frozen=True)
class InsightKind:
    """One thing that can be found out about a project."""

    name: str
    title: str
    compute: str  # path of ``function(project, settings, progress) -> result``; worker only
    inputs: Callable[[Project], Any]  # JSON values that change when the result would; cheap
    settings: type[Settings] = NoSettings
    check: Callable[[Project], None] = lambda project: None  # raises Refused where it cannot be
    is_wanted: Callable[[Project], bool] = lambda project: False  # computed again after a round
    role: Role = Role.OWNER  # who may ask for it
    page: str = "overview"  # name of the address that shows it
    job: str = Job.Kind.INSIGHT  # the kind of job that computes it, which says in which lane
    place: str = (
        ""  # the page of this app that links to it: "rounds", "settings", "review" or "overview"
    )


@dataclass(frozen=True)
class KnownInsight:
    """What is stored of an insight, and the job that computes a newer one."""

    kind: InsightKind
    stored: Insight | None
    running: Job | None
    failed: Job | None  # the newest job, where it came to nothing
    is_current: bool  # nothing that the stored result was computed from has changed


INSIGHTS: dict[str, InsightKind] = {}


def register_insight(kind: InsightKind) -> InsightKind:
    """Add a kind of insight; called in the ``ready`` of the app that computes it."""
    INSIGHTS[kind.name] = kind
    return kind


def get_insight(name: str) -> InsightKind:
    """Return a registered kind of insight."""
    if name not in INSIGHTS:
        raise NotFound(unknown_name("insight", name, INSIGHTS))
    return INSIGHTS[name]


def known_insight(project: Project, name: str) -> KnownInsight:
    """Return the newest result of an insight, its age, and whether it is being computed."""
    kind = get_insight(name)
    stored = Insight.objects.filter(project=project, name=name).first()
    newest = _jobs(project, name).order_by("-pk").first()
    return KnownInsight(
        kind,
        stored,
        newest if newest and newest.state in OPEN else None,
        newest if newest and newest.state == Job.State.FAILED else None,
        stored is not None and stored.inputs == inputs_hash(kind, project, stored.settings),
    )


def insights_at(project: Project, place: str) -> list[KnownInsight]:
    """Return the insights that a page of this app shows or links to."""
    return [known_insight(project, kind.name) for kind in INSIGHTS.values() if kind.place == place]


def stored_result(project: Project, name: str) -> dict[str, Any] | None:
    """Return the stored result of an insight, or nothing before it was first computed."""
    stored = Insight.objects.filter(project=project, name=name).first()
    return stored.result if stored else None


def start_insight(
    *,
    project: Project,
    name: str,
    settings: Mapping[str, Any],
    created_by: Any,
    only_if_old: bool = False,
) -> Job:
    """Queue the computing of an insight; one of a kind at a time.

    ``only_if_old`` leaves a result alone that is current by the time the worker comes to it.
    """
    kind = get_insight(name)
    try:
        values = kind.settings.from_dict(settings).to_dict()
    except EngineError as error:
        problems = getattr(error, "problems", [Problem("", str(error))])
        raise InvalidInput(problems) from error
    kind.check(project)
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        if _jobs(project, name).filter(state__in=OPEN).exists():
            raise Conflict(f"{kind.title}: this is being computed already.")
        return enqueue_job(
            project=project,
            kind=kind.job,
            arguments={"insight": name, "settings": values, "only_if_old": only_if_old},
            created_by=created_by,
        )


def queue_insights(*, project: Project) -> list[Job]:
    """Queue every insight that is wanted after a round and whose inputs have changed."""
    queued = []
    for kind in INSIGHTS.values():
        known = known_insight(project, kind.name)
        if known.is_current or known.running or not kind.is_wanted(project):
            continue
        settings = known.stored.settings if known.stored else {}
        queued.append(
            start_insight(
                project=project,
                name=kind.name,
                settings=settings,
                created_by=None,
                only_if_old=True,
            )
        )
    return queued


def run_insight(job: Job, progress: Progress) -> None:
    """Compute an insight and store it in place of the one before."""
    kind = get_insight(job.arguments["insight"])
    if job.arguments["only_if_old"] and known_insight(job.project, kind.name).is_current:
        finish_job(job=job, result={}, now=timezone.now())
        return
    values = job.arguments["settings"]
    inputs = inputs_hash(kind, job.project, values)  # before: later changes make the result old
    compute = import_string(kind.compute)
    result = compute(job.project, kind.settings.from_dict(values), progress)
    now = timezone.now()
    with transaction.atomic():
        keep_insight(project=job.project, kind=kind, settings=values, inputs=inputs, result=result)
        finish_job(job=job, result={}, now=now)


def compute_insight(
    *,
    project: Project,
    kind: InsightKind,
    settings: Settings,
    progress: Progress = lambda stage, done, total: None,
) -> None:
    """Compute an insight without a job of its own, and store it in place of the one before."""
    values = settings.to_dict()
    inputs = inputs_hash(kind, project, values)
    result = import_string(kind.compute)(project, settings, progress)
    keep_insight(project=project, kind=kind, settings=values, inputs=inputs, result=result)


def keep_insight(
    *, project: Project, kind: InsightKind, settings: dict[str, Any], inputs: str, result: Any
) -> Insight:
    """Store a result in place of the one before."""
    row, _ = Insight.objects.update_or_create(
        project=project,
        name=kind.name,
        defaults={
            "settings": settings,
            "inputs": inputs,
            "result": result,
            "computed_at": timezone.now(),
        },
    )
    return row


def inputs_hash(kind: InsightKind, project: Project, settings: Mapping[str, Any]) -> str:
    """Return the hash of what a result is computed from."""
    text = json.dumps([settings, kind.inputs(project)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def newest_of(rows: QuerySet[Any], last: str = "updated_at") -> dict[str, Any]:
    """Return how many rows there are, and the newest: an input that changes when they do."""
    return rows.aggregate(n=Count("pk"), last=Max(last))


def newest_answers(project: Project) -> list[list[Any]]:
    """Return the newest answer and gold of each task: inputs of what is learned from answers."""
    return [
        [
            task.name,
            task.kind,
            *(
                model.objects.filter(task=task).order_by("-pk").values_list("pk", flat=True).first()
                for model in (Annotation, Gold)
            ),
        ]
        for task in project.tasks.all()
    ]


def _jobs(project: Project, name: str) -> Any:
    return project.jobs.filter(kind=get_insight(name).job, arguments__insight=name)
