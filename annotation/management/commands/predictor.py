from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from annotation.predictions.predictor import run_predictor


class Command(BaseCommand):
    help = "Run the predictor: a warm process that answers questions to models."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--bind", default="127.0.0.1:0", help="where it listens; any free port unless stated"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        run_predictor(bind=options["bind"])
