from typing import Any

from django.core.management.base import BaseCommand

from analysis.web.services import index_studies, run_store


class Command(BaseCommand):
    help = "Make the index of studies anew from the files of their runs."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{index_studies(run_store())} studies.")
