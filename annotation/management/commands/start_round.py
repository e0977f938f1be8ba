import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.jobs.insights import (
    NoSettings,
    inputs_hash,
    keep_insight,
    known_insight,
    stored_result,
)
from annotation.management import RefusingCommand
from annotation.models import Project, Round
from annotation.projects.selectors import find_project, find_user
from annotation.rounds.preview import PREVIEW, compute
from annotation.rounds.selectors import find_round
from annotation.rounds.services import launch_round
from annotation.rounds.settings import RoundSettings, shown_settings
from mtl_engine.errors import EngineError
from mtl_engine.settings import read_assignments


class Command(RefusingCommand):
    help = "Launch a round of active learning; a worker carries it out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="a setting that differs from the project's defaults, for example unit=minutes",
        )
        parser.add_argument(
            "--repeat", type=int, metavar="ROUND", help="begin with the settings of this round"
        )
        parser.add_argument(
            "--preview", action="store_true", help="say what the defaults would buy, launch nothing"
        )
        parser.add_argument("--as", dest="user", help="who launches it")
        parser.add_argument("--wait", action="store_true", help="return when its queue is open")

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        if options["preview"]:
            if options["set"] or options["repeat"] is not None:
                raise CommandError(
                    "--preview is of the project's defaults, without other settings."
                )
            self._preview(project)
            return
        user = find_user(options["user"]) if options["user"] else None
        changes = self._changes(project, options["repeat"], options["set"])
        new = launch_round(project=project, changes=changes, created_by=user)
        self.stdout.write(f"Round {new.number} of '{project}' is queued.")
        if options["wait"]:
            self._wait(new)

    def _changes(
        self, project: Project, repeat: int | None, assignments: list[str]
    ) -> dict[str, Any]:
        try:
            chosen = read_assignments(RoundSettings, assignments)
        except EngineError as error:
            raise CommandError(str(error)) from error
        repeated = shown_settings(find_round(project, repeat)) if repeat is not None else {}
        return {**repeated, **chosen}

    def _preview(self, project: Project) -> None:
        """Print what each budget buys, and what the usual one asks first."""
        PREVIEW.check(project)
        if not known_insight(project, PREVIEW.name).is_current:
            inputs = inputs_hash(PREVIEW, project, {})
            result = compute(project, NoSettings(), lambda stage, done, total: None)
            keep_insight(project=project, kind=PREVIEW, settings={}, inputs=inputs, result=result)
        found = stored_result(project, PREVIEW.name)
        if not found:
            raise CommandError("The tasks changed since the last round: the next one tells more.")
        for minutes, bought in found["budgets"].items():
            self.stdout.write(f"{minutes} minutes: {bought['n_sentences']} sentences")
            for row in bought.get("market", ()):
                self.stdout.write(
                    f"  {row['title']}: {row['n']} of {row['n_offered']}, {row['minutes']} min, "
                    f"{row['points_per_minute']:.2f} points per minute, "
                    f"at best {row['best_per_minute']:.2f}"
                )
        for one in found["examples"]:
            self.stdout.write(f"{one['rank']:>3}  {one['text']}  | {one['why']}")

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
