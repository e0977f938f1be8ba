"""The index of studies, made anew from their files, and studies started in the browser."""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from analysis.errors import AnalysisError
from analysis.sweep.executors import SerialExecutor
from analysis.sweep.plan import Finished, plan_sweep, study_record, sweep
from analysis.sweep.store import RunStore, StudyRecord
from analysis.sweep.study_file import SHIPPED, parse_study
from analysis.web.models import Study
from analysis.web.selectors import replay_names
from annotation.errors import Conflict, InvalidInput, Problem
from annotation.jobs.services import OPEN, add_to_log, enqueue_job, fail_job, finish_job
from annotation.jobs.services import Progress as Told
from annotation.models import Job, Progress, Project
from config.home import home

STUDY_JOB = "study"


def run_store() -> RunStore:
    """Return where the runs of all studies are kept."""
    return RunStore(home().studies)


@transaction.atomic
def index_studies(store: RunStore) -> int:
    """Make the index anew from the files, and return how many studies it lists."""
    found = {(record.name, record.scale): record for record in store.studies()}
    for row in Study.objects.all():
        if (row.name, row.scale) not in found:
            row.delete()
    for record in found.values():
        index_study(store, record)
    return len(found)


def index_study(store: RunStore, record: StudyRecord) -> Study:
    """Bring one study's line up to date."""
    keys = [key for key, _ in record.runs]
    finished = {key for key in keys if store.is_finished(key)}
    failed = (store.failures().keys() & set(keys)) - finished
    row, _ = Study.objects.update_or_create(
        name=record.name,
        scale=record.scale,
        defaults={
            "kind": record.kind,
            "description": record.description,
            "note": record.note,
            "n_wanted": len(keys),
            "n_finished": len(finished),
            "n_failed": len(failed),
        },
    )
    return row


def shipped_studies() -> dict[str, dict[str, Any]]:
    """Return the study files that come with Tandem, by name, as parsed tables."""
    return {
        path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
        for path in sorted(SHIPPED.glob("*.toml"))
    }


def forget_replays(project_id: int) -> None:
    """Remove the replays of a project that is gone: they tell its name, and how well it learned."""
    store = run_store()
    names = replay_names(project_id)
    for name in names:
        record = store.find_study(name, scale="")
        if record is not None:
            store.forget(record)
    Study.objects.filter(name__in=names).delete()


def start_study(
    *,
    project: Project,
    content: Mapping[str, Any],
    created_by: Any,
    scale: str = "",
    changes: Mapping[str, Any] | None = None,
) -> Job:
    """Queue a study for the worker of research; one that cannot run is refused at once."""
    table = dict(content)
    if changes:
        table["name"] = f"{table.get('name', 'study')}-changed"
        for part in (table, *(t for name, t in table.get("scales", {}).items() if name == scale)):
            part["settings"] = {**part.get("settings", {}), **changes}
    try:
        study = parse_study(table, where="This study", scale=scale)
    except AnalysisError as error:
        raise InvalidInput([Problem("", str(error))]) from error
    if project.jobs.filter(kind=STUDY_JOB, state__in=OPEN, arguments__name=study.name).exists():
        raise Conflict(f"The study {study.name} is running already: stop it first.")
    arguments = {"name": study.name, "scale": scale, "content": table}
    return enqueue_job(project=project, kind=STUDY_JOB, arguments=arguments, created_by=created_by)


STEPS = 10  # rounds of a replay, about: its figures need more points than the project had rounds


def replay_minutes(project: Project) -> float:
    """Return the minutes of a replay's round: a tenth of the work so far, of one answer each."""
    seconds = Progress.objects.filter(queue__project=project).aggregate(n=Sum("seconds"))["n"]
    return float(max(1, round((seconds or 0) / 60 / max(1, project.overlap) / STEPS)))


def start_replay(
    *,
    project: Project,
    strategies: Sequence[str],
    n_seeds: int,
    changes: Mapping[str, Any],
    created_by: Any,
) -> Job:
    """Queue the question what other strategies would have saved in a project."""
    content = {
        "name": replay_names(project.pk)[0],
        "kind": "replay",
        "description": f"What other strategies would have saved in {project.name}.",
        "seeds": list(range(n_seeds)),
        "settings": {"project": project.pk, "amount": replay_minutes(project), **changes},
        "factors": {"strategy": list(strategies)},
    }
    return start_study(project=project, content=content, created_by=created_by)


def newest_job(project: Project, study: Study) -> Job | None:
    """Return the newest job of a study that was started in a project."""
    arguments = {"arguments__name": study.name, "arguments__scale": study.scale}
    return project.jobs.filter(kind=STUDY_JOB, **arguments).order_by("-pk").first()


def go_on(*, project: Project, study: Study, created_by: Any) -> Job:
    """Queue a study again as it was started: finished runs are kept, the others computed."""
    last = newest_job(project, study)
    if last is None:
        raise Conflict(f"The study {study} was started elsewhere: go on with it there.")
    if last.state in OPEN:
        raise Conflict(f"The study {study} is running already.")
    return enqueue_job(
        project=project, kind=STUDY_JOB, arguments=last.arguments, created_by=created_by
    )


def run_study(job: Job, progress: Told) -> None:
    """Compute the runs that are missing, one after the other; the worker calls it.

    Stopped between two runs, it goes on there when it is started again.
    """
    content, scale = job.arguments["content"], job.arguments["scale"]
    study = parse_study(content, where=job.arguments["name"], scale=scale)
    store = run_store()
    plan = plan_sweep(study, store)
    record = study_record(study, plan)
    store.keep_study(record)
    index_study(store, record)
    n_done = len(plan.wanted) - len(plan.missing)

    def keep(finished: Finished) -> None:
        nonlocal n_done
        n_done += 1
        add_to_log(job=job, text=finished.config.label(dict.fromkeys(study.varying)))
        index_study(store, record)
        progress("computing runs", n_done, len(plan.wanted))

    progress("computing runs", n_done, len(plan.wanted))
    result = sweep(plan, store, SerialExecutor(), on_finished=keep)
    row = index_study(store, record)
    for config, error in result.failures:
        add_to_log(job=job, text=f"{config.label(dict.fromkeys(study.varying))}: {error}")
    if result.failures:
        words = f"{len(result.failures)} of {result.n_wanted} runs failed; the log says why."
        fail_job(job=job, message=words, now=timezone.now(), result={"study": row.pk})
        return
    finish_job(job=job, result={"study": row.pk}, now=timezone.now())
