"""Readers of the studies' records."""

from pathlib import Path

from django.conf import settings
from django.db.models import QuerySet

from analysis.models import Run, Study
from analysis.report.runs import ReportRun
from analysis.report.tables import StudyReport, build_report
from analysis.sweep.kinds import get_kind
from analysis.sweep.records import RunStore


def finished_runs(study: Study) -> QuerySet[Run]:
    """Return the finished runs that the study file wants as it is now."""
    return study.runs.filter(state=Run.State.FINISHED, is_wanted=True)


def study_report(study: Study, *, compared: str | None = None) -> StudyReport:
    """Return the report of a study's finished runs."""
    store = RunStore(Path(settings.TANDEM_HOME) / "studies")
    wanted = finished_runs(study).values_list("key", flat=True)
    kind = get_kind(study.kind)
    runs = []
    for key in wanted:
        if store.is_finished(key):
            config, outcome = store.read(key)
            runs.append(ReportRun(config["settings"], config["seed"], outcome))
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
        n_failed=study.runs.filter(state=Run.State.FAILED, is_wanted=True).count(),
    )
