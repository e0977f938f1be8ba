from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management import RefusingCommand
from annotation.models import Round


class Command(RefusingCommand):
    help = "Compute a round again from its manifest and say whether it asks the same."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("round", type=int, help="the round's id, or its number with --project")
        parser.add_argument("--project", help="name or id of its project")

    def handle(self, *args: Any, **options: Any) -> None:
        from annotation.rounds.stages import replay_round  # loads torch

        replayed = self._find(options["round"], options["project"])
        replay = replay_round(replayed)
        if not replay.is_same:
            raise CommandError(f"Round {replayed.number} differs. {replay.difference}")
        self.stdout.write(f"Round {replayed.number} replays to the same {replay.n_asks} asks.")

    def _find(self, number: int, project: str | None) -> Round:
        from annotation.projects.selectors import find_project

        rounds = Round.objects.select_related("project")
        found = (
            rounds.filter(project=find_project(project), number=number).first()
            if project
            else rounds.filter(pk=number).first()
        )
        if found is None:
            raise CommandError(f"No round {number}.")
        return found
