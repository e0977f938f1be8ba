from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.formats.records import ReadOptions
from annotation.management import RefusingCommand
from annotation.predictions.outside import import_suggestions
from annotation.projects.selectors import find_project


class Command(RefusingCommand):
    help = "Store a file's labels as suggestions on sentences that are in the project already."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument("file", type=Path)
        parser.add_argument("--source", required=True, help="whose they are, as people will read")
        parser.add_argument("--format", default="jsonl")

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        with options["file"].open("rb") as stream:
            report = import_suggestions(
                project=project,
                source=options["source"],
                stream=stream,
                file_name=options["file"].name,
                format=options["format"],
                options=ReadOptions(tokeniser=project.language),
            )
        for problem in report.problems:
            self.stderr.write(problem)
        self.stdout.write(f"Stored {report.n_stored:,} suggestions, dropped {report.n_dropped:,}.")
