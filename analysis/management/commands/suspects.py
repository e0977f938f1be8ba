from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.insights.suspects import SUSPECTS, SuspectSettings, compute, open_suspects
from annotation.errors import Refused
from annotation.jobs.insights import inputs_hash, keep_insight
from annotation.projects.selectors import find_project
from mtl_engine.errors import EngineError


class Command(BaseCommand):
    help = "List answers that may be wrong: models without them and other layers doubt them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument("--stored", action="store_true", help="show the stored list only")
        parser.add_argument("--parts", type=int, default=5, help="of the cross-validation (5)")
        parser.add_argument("--show", type=int, default=20, help="suspects to print (20)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            project = find_project(options["project"])
            if not options["stored"]:
                SUSPECTS.check(project)
                settings = SuspectSettings.from_dict({"n_folds": options["parts"]})
                inputs = inputs_hash(SUSPECTS, project, settings.to_dict())
                result = compute(project, settings, lambda stage, done, total: None)
                keep_insight(
                    project=project,
                    kind=SUSPECTS,
                    settings=settings.to_dict(),
                    inputs=inputs,
                    result=result,
                )
            rows = open_suspects(project)
        except (EngineError, Refused) as error:
            raise CommandError(str(error)) from error
        for row in rows[: options["show"]]:
            self.stdout.write(
                f"{row['probability']:.2f}  {row['task']}  {row['given_words']}  ->  "
                f"{row['expected_words']}  | {' '.join(row['tokens'])}"
            )
            for why in row["why"]:
                self.stdout.write(f"      {why}")
        self.stdout.write(f"{len(rows)} answers to look at.")
