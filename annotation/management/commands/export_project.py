from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.archive.services import export_project
from annotation.management import RefusingCommand
from annotation.projects.selectors import find_project


class Command(RefusingCommand):
    help = "Write a project with all its answers and people to one file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        n_rows = export_project(project=find_project(options["project"]), path=options["output"])
        self.stdout.write(f"Wrote {n_rows:,} rows to {options['output']}.")
