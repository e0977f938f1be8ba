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
    """Return the study's row, brought up to date with its file, with a row for every run it wants.

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
    wanted = {run_key(config): config for config in study.runs()}
    known = dict(row.runs.values_list("key", "is_wanted"))
    for key, is_wanted in known.items():
        if is_wanted != (key in wanted):
            row.runs.filter(key=key).update(is_wanted=key in wanted)
    Run.objects.bulk_create(
        (
            Run(
                study=row,
                key=key,
                settings=config.settings,
                seed=config.seed,
                state=Run.State.MISSING,
            )
            for key, config in wanted.items()
            if key not in known
        ),
        ignore_conflicts=True,  # another sweep of the study may do the same
    )
    return row


def record_found(row: StudyRow, plan: Plan, store: RunStore) -> None:
    """Keep the runs that the study wants and that this or another sweep has finished before."""
    known = set(row.runs.filter(state=Run.State.FINISHED).values_list("key", flat=True))
    for key, config in plan.wanted:
        if key not in known and store.is_finished(key):
            record_run(row, Finished(key, config, store.read(key)[1]))


def record_run(row: StudyRow, finished: Finished) -> Run:
    """Keep what a run brought; a run that failed before and now finished is replaced.

    Other studies that want the same run have it too.
    """
    outcome = finished.outcome
    brought = {
        "state": Run.State.FAILED if outcome.error else Run.State.FINISHED,
        "final": outcome.final,
        "error": outcome.error,
        "seconds": outcome.seconds,
        "cpu_seconds": outcome.cpu_seconds,
    }
    run, _ = Run.objects.update_or_create(
        study=row,
        key=finished.key,
        defaults={"settings": finished.config.settings, "seed": finished.config.seed, **brought},
    )
    if not outcome.error:
        Run.objects.filter(key=finished.key).exclude(state=Run.State.FINISHED).update(**brought)
    return run
