import time
import tomllib
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.refusing import RefusingCommand
from annotation.models import Round
from annotation.selectors.projects import find_project, find_user
from annotation.services.rounds import launch_round


class Command(RefusingCommand):
    help = "Launch a round of active learning; a worker carries it out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="for example unit=minutes",
        )
        parser.add_argument("--as", dest="user", help="who launches it")
        parser.add_argument("--wait", action="store_true", help="return when its queue is open")

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        user = find_user(options["user"]) if options["user"] else None
        config = {**project.round_defaults, **dict(_setting(text) for text in options["set"])}
        new = launch_round(project=project, config=config, created_by=user)
        self.stdout.write(f"Round {new.number} of '{project}' is queued.")
        if options["wait"]:
            self._wait(new)

    def _wait(self, launched: Round) -> None:
        shown = ""
        while launched.state in Round.RUNNING:
            if launched.state != shown:
                shown = launched.state
                self.stdout.write(f"{shown} ...")
            time.sleep(0.5)
            launched.refresh_from_db()
        if launched.state in (Round.State.FAILED, Round.State.CANCELLED):
            raise CommandError(f"Round {launched.number} {launched.state}: {launched.message}")
        n = launched.stages["selecting"]["n_asks"]
        self.stdout.write(f"Round {launched.number} asks for {n} sentences.")


def _setting(text: str) -> tuple[str, Any]:
    """Return a key and its value, read as TOML where it is TOML, else as text."""
    key, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"--set takes KEY=VALUE, not '{text}'.")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value
