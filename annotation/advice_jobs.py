"""Advice on which tasks to train together, as a job of the worker."""

from pathlib import Path
from typing import Any, Literal, get_args

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation.answers import Problem
from annotation.bridge import as_example, task_specs
from annotation.errors import Conflict, InvalidInput
from annotation.jobs import Progress, enqueue_job
from annotation.models import Job, Project
from annotation.round_config import RoundConfig
from annotation.selectors.training_set import labelled_sentences
from annotation.services.jobs import OPEN, finish_job

Method = Literal["trained", "gradients"]


def start_advice(*, project: Project, method: str, created_by: Any) -> Job:
    """Queue the measuring of a project's tasks; one at a time."""
    if method not in get_args(Method):
        known = ", ".join(get_args(Method))
        raise InvalidInput([Problem("method", f"'{method}' is not a method. Known: {known}.")])
    if project.tasks.count() < 2:
        raise InvalidInput([Problem("", "Advice compares tasks: this project has only one.")])
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        if project.jobs.filter(kind=Job.Kind.ADVICE, state__in=OPEN).exists():
            raise Conflict("This project's tasks are being measured already.")
        return enqueue_job(
            project=project,
            kind=Job.Kind.ADVICE,
            arguments={"method": method},
            created_by=created_by,
        )


def run_advice(job: Job, progress: Progress) -> None:
    """Measure which tasks help which, on what is labelled; the job's result is the advice."""
    from analysis.surrogate.advice import advise  # loads torch when it is called

    tasks = task_specs(job.project)
    examples = [
        as_example(sentence.id, sentence.tokens, sentence.labels, tasks)
        for sentence in labelled_sentences(job.project)
        if not sentence.is_test
    ]
    config = RoundConfig.from_dict(job.project.round_defaults).engine_config()
    advice = advise(
        examples,
        tasks,
        config,
        method=job.arguments["method"],
        on_progress=lambda done, total: progress("training", done, total),
        cache_dir=Path(settings.TANDEM_HOME) / "caches" / "features",
    )
    finish_job(job=job, result=advice.to_dict(), now=timezone.now())
