"""Writers of the studies' records."""

from pathlib import Path

from django.conf import settings

from analysis.models import Run
from analysis.models import Study as StudyRow
from analysis.sweep.driver import Finished, Plan
from analysis.sweep.records import RunStore, run_key
from analysis.sweep.study_file import Study


def run_store() -> RunStore:
    """Return where the runs of all studies are kept."""
    return RunStore(Path(settings.TANDEM_HOME) / "studies")


def record_study(study: Study) -> StudyRow:
    """Return the study's row, brought up to date with its file.

    Runs that the file no longer wants are kept, and left out of reports.
    """
    row, _ = StudyRow.objects.update_or_create(
        name=study.name,
        scale=study.scale,
        defaults={
            "kind": study.kind.name,
            "description": study.description,
            "note": study.note,
            "varying": list(study.varying),
        },
    )
    wanted = {run_key(config) for config in study.runs()}
    for run in row.runs.all():
        if run.is_wanted != (run.key in wanted):
            row.runs.filter(pk=run.pk).update(is_wanted=run.key in wanted)
    return row


def record_found(row: StudyRow, plan: Plan, store: RunStore) -> None:
    """Keep the runs that the study wants and that this or another sweep has finished before."""
    known = set(row.runs.filter(state=Run.State.FINISHED).values_list("key", flat=True))
    for key, config in plan.wanted:
        if key not in known and store.is_finished(key):
            record_run(row, Finished(key, config, store.read(key)[1]))


def record_run(row: StudyRow, finished: Finished) -> Run:
    """Keep what a run brought; a run that failed before and now finished is replaced."""
    outcome = finished.outcome
    run, _ = Run.objects.update_or_create(
        study=row,
        key=finished.key,
        defaults={
            "settings": finished.config.settings,
            "seed": finished.config.seed,
            "state": Run.State.FAILED if outcome.error else Run.State.FINISHED,
            "final": outcome.final,
            "error": outcome.error,
            "seconds": outcome.seconds,
            "cpu_seconds": outcome.cpu_seconds,
        },
    )
    return run
