from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.refusing import RefusingCommand
from annotation.services.backups import back_up


class Command(RefusingCommand):
    help = "Write the whole server to one file while it runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        n_rows = back_up(path=options["output"])
        self.stdout.write(f"Wrote {n_rows:,} rows to {options['output']}. Keep it as a secret.")
