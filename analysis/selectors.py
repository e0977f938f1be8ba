"""Readers of the studies' records."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, QuerySet

from analysis.models import Run, Study
from analysis.report.completeness import AbsentRun
from analysis.report.runs import ReportRun
from analysis.report.tables import StudyReport, build_report
from analysis.sweep.kinds import get_kind
from analysis.sweep.records import RunStore


def finished_runs(study: Study) -> QuerySet[Run]:
    """Return the finished runs that the study file wants as it is now."""
    return study.runs.filter(state=Run.State.FINISHED, is_wanted=True)


def study_rows() -> list[dict[str, Any]]:
    """Return all studies, newest first, with how many of the runs that they want are there."""
    studies = Study.objects.order_by("-created_at").annotate(
        n_wanted=Count("runs", filter=Q(runs__is_wanted=True)),
        n_finished=Count("runs", filter=Q(runs__is_wanted=True, runs__state=Run.State.FINISHED)),
        n_failed=Count("runs", filter=Q(runs__is_wanted=True, runs__state=Run.State.FAILED)),
    )
    counts = ("n_wanted", "n_finished", "n_failed")
    return [{"study": row} | {name: getattr(row, name) for name in counts} for row in studies]


def study_report(study: Study, *, compared: str | None = None) -> StudyReport:
    """Return the report of a study's finished runs, and of those that it still wants."""
    store = RunStore(Path(settings.TANDEM_HOME) / "studies")
    kind = get_kind(study.kind)
    runs, absent = [], []
    for row in study.runs.filter(is_wanted=True):
        if row.state == Run.State.FINISHED and store.is_finished(row.key):
            config, outcome = store.read(row.key)
            runs.append(ReportRun(config["settings"], config["seed"], outcome))
        else:
            absent.append(AbsentRun(row.settings, row.seed, row.error))
    return build_report(
        runs,
        name=str(study),
        varying=study.varying,
        description=study.description,
        note=study.note,
        compared=compared,
        replicates=kind.replicates,
        defaults=kind.defaults,
        baseline=kind.baseline,
        asides=kind.asides,
        data_keys=kind.data_keys,
        absent=absent,
    )
