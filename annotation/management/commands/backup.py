from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.archive.services import back_up, back_up_to
from annotation.management import RefusingCommand


class Command(RefusingCommand):
    help = "Write the whole server to one file while it runs, and read it back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("-o", "--output", type=Path, metavar="FILE")
        where.add_argument(
            "--to",
            metavar="PLACE",
            help="A folder or a URL (s3://bucket/folder): a new file each time, named by its time.",
        )
        parser.add_argument(
            "--keep", type=int, default=0, metavar="N", help="With --to: remove all but the newest."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["to"]:
            name, n_rows, n_removed = back_up_to(place=options["to"], keep=options["keep"])
            self.stdout.write(f"Wrote {n_rows:,} rows to {name}, removed {n_removed} older ones.")
            return
        n_rows = back_up(path=options["output"])
        self.stdout.write(f"Wrote {n_rows:,} rows to {options['output']}. Keep it as a secret.")
