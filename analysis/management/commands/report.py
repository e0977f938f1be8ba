from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.errors import AnalysisError
from analysis.report.output import as_markdown, write_report
from analysis.report.study import study_report
from analysis.sweep.store import RunStore, StudyRecord
from analysis.web.services import run_store


class Command(BaseCommand):
    help = "Say what a study's finished runs show: tables, comparisons, curves."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the study's name, as its file gives it")
        parser.add_argument("--scale", default="", help="the scale it was swept at")
        parser.add_argument(
            "--compare",
            metavar="SETTING",
            help="the setting whose values are compared in pairs, or: configuration",
        )
        parser.add_argument("-o", "--output", type=Path, help="directory for all forms")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            store = run_store()
            record = swept_study(store, options["study"], options["scale"])
            report = study_report(store, record, compared=options["compare"])
        except AnalysisError as error:
            raise CommandError(str(error)) from error
        if not report.n_runs:
            raise CommandError(f"'{record}' has no finished run yet. {report.absence}")
        if options["output"] is None:
            self.stdout.write(as_markdown(report))
            return
        for path in write_report(report, options["output"]):
            self.stdout.write(str(path))


def swept_study(store: RunStore, name: str, scale: str) -> StudyRecord:
    """Return a study that was swept; an unknown one is an error that says what to ask for."""
    record = store.find_study(name, scale)
    if record is not None:
        return record
    wanted = f"{name} --scale {scale}" if scale else name
    records = sorted(store.studies(), key=lambda record: (record.name, record.scale))
    known = [f"{each.name} --scale {each.scale}" if each.scale else each.name for each in records]
    remedy = f"Known: {', '.join(known)}" if known else "run_sweep FILE computes one"
    raise AnalysisError(f"No study '{wanted}' was swept. {remedy}.")
