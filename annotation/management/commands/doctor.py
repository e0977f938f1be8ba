from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.jobs.health import examine, repair
from annotation.management import RefusingCommand


class Command(RefusingCommand):
    help = "Check an installation: database, files, jobs, settings; repair what is safe to repair."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="mend what can be mended safely")

    def handle(self, *args: Any, **options: Any) -> None:
        found = examine()
        if options["repair"]:
            for line in repair():
                self.stdout.write(f"mended: {line}")
            found = examine()
        for finding in found:
            hint = " (doctor --repair mends it)" if finding.can_be_mended else ""
            self.stdout.write(f"{finding.what}{hint}")
        if found:
            raise CommandError(f"{len(found)} findings.")
        self.stdout.write("Nothing is wrong.")
