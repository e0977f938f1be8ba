from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.errors import AnalysisError
from analysis.models import Study
from analysis.report.writing import as_markdown, write_report
from analysis.selectors import study_report


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
        study = Study.objects.filter(name=options["study"], scale=options["scale"]).first()
        if study is None:
            raise CommandError(_not_swept(options["study"], options["scale"]))
        try:
            report = study_report(study, compared=options["compare"])
        except AnalysisError as error:
            raise CommandError(str(error)) from error
        if not report.n_runs:
            raise CommandError(f"'{study}' has no finished run yet. {report.absence}")
        if options["output"] is None:
            self.stdout.write(as_markdown(report))
            return
        for path in write_report(report, options["output"]):
            self.stdout.write(str(path))


def _not_swept(name: str, scale: str) -> str:
    """Return that a study is unknown, and what to ask for instead."""
    wanted = f"{name} --scale {scale}" if scale else name
    rows = Study.objects.order_by("name", "scale")
    known = [f"{row.name} --scale {row.scale}" if row.scale else row.name for row in rows]
    remedy = f"Known: {', '.join(known)}" if known else "run_sweep FILE computes one"
    return f"No study '{wanted}' was swept. {remedy}."
