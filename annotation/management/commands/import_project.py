from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.archive.services import import_project
from annotation.management import RefusingCommand


class Command(RefusingCommand):
    help = "Make a project from a file that export_project has written."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--name", default="", help="another name than in the file")

    def handle(self, *args: Any, **options: Any) -> None:
        project = import_project(path=options["file"], name=options["name"])
        self.stdout.write(f"Imported project {project.pk} '{project.name}'.")
