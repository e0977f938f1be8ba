"""Writers of the studies' records."""

from pathlib import Path

from django.conf import settings

from analysis.models import Run
from analysis.models import Study as StudyRow
from analysis.sweep.driver import Finished
from analysis.sweep.records import RunStore
from analysis.sweep.study_file import Study


def study_store(study: Study) -> RunStore:
    """Return where a study's runs are kept."""
    name = f"{study.name}-{study.scale}" if study.scale else study.name
    return RunStore(Path(settings.TANDEM_HOME) / "studies" / _as_file_name(name))


def record_study(study: Study) -> StudyRow:
    """Return the study's row, brought up to date with its file."""
    row, _ = StudyRow.objects.update_or_create(
        name=study.name,
        scale=study.scale,
        defaults={
            "kind": study.kind.name,
            "description": study.description,
            "note": study.note,
            "varying": list(study.varying),
            "directory": str(study_store(study).directory.relative_to(settings.TANDEM_HOME)),
        },
    )
    return row


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


def _as_file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
