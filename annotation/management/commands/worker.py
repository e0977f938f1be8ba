from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from annotation.jobs.services import LANES
from annotation.jobs.worker import run_worker


class Command(BaseCommand):
    help = "Run a worker: trainings, scorings, and imports and exports of big files."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--batch", action="store_true", help="stop when nothing is left to do")
        parser.add_argument(
            "--lane",
            choices=LANES,
            default="",
            help="only jobs that train or ask models, or only imports and exports; without it all",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        run_worker(batch=options["batch"], lane=options["lane"])
