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
        parser.add_argument("--scale", default="")
        parser.add_argument("--compare", help="the setting whose values are compared in pairs")
        parser.add_argument("-o", "--output", type=Path, help="directory for all forms")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(name=options["study"], scale=options["scale"]).first()
        if study is None:
            known = ", ".join(str(row) for row in Study.objects.order_by("name")) or "none"
            raise CommandError(f"No study '{options['study']}' was swept. Known: {known}.")
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
