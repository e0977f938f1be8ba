from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.archive.services import verify_archive
from annotation.management import RefusingCommand


class Command(RefusingCommand):
    help = "Read a backup or a project's file whole and compare it with its hashes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        tables = verify_archive(path=options["file"])
        for name, n_rows in tables.items():
            self.stdout.write(f"{name}: {n_rows:,} rows")
        self.stdout.write(f"{options['file']} is whole.")
