from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.archive.services import restore
from annotation.management import RefusingCommand


class Command(RefusingCommand):
    help = "Fill an empty server from a backup."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        n_rows = restore(path=options["file"])
        self.stdout.write(f"Restored {n_rows:,} rows from {options['file']}.")
