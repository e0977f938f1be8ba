"""The report of a study from the files of its runs."""

from analysis.report.completeness import AbsentRun
from analysis.report.runs import ReportRun
from analysis.report.tables import StudyReport, build_report
from analysis.sweep.registry import get_kind
from analysis.sweep.store import RunStore, StudyRecord


def finished_runs(store: RunStore, record: StudyRecord) -> list[ReportRun]:
    """Return the finished runs that a study wants."""
    return [
        ReportRun(config.settings, config.seed, outcome)
        for config, outcome in store.outcomes(record)
        if outcome is not None and not outcome.error
    ]


def study_report(
    store: RunStore, record: StudyRecord, *, compared: str | None = None
) -> StudyReport:
    """Return the report of a study's finished runs, and of those that it still wants."""
    kind = get_kind(record.kind)
    absent = [
        AbsentRun(config.settings, config.seed, outcome.error if outcome else "")
        for config, outcome in store.outcomes(record)
        if outcome is None or outcome.error
    ]
    return build_report(
        finished_runs(store, record),
        name=str(record),
        varying=record.varying,
        description=record.description,
        note=record.note,
        compared=compared,
        replicates=kind.replicates,
        defaults=kind.defaults,
        baseline=kind.baseline,
        secondary_metrics=kind.secondary_metrics,
        round_metrics=kind.round_metrics,
        data_keys=kind.data_keys,
        absent=absent,
    )
