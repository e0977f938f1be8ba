from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from analysis.insights.models import Repair
from analysis.insights.suspects import (
    SUSPECTS,
    SuspectSettings,
    decide_suspect,
    open_suspects,
    repair_counts,
)
from annotation.accounts.access import get_project
from annotation.errors import Refused
from annotation.jobs.insights import compute_insight
from annotation.models import Project, Role
from annotation.projects.selectors import find_project, find_user
from mtl_engine.errors import EngineError

DECISIONS = {
    Repair.Decision.KEPT: ("keep", "the answer is right"),
    Repair.Decision.REPAIRED: ("repair", "take what is expected"),
    Repair.Decision.ASKED: ("ask", "have it asked again"),
}


class Command(BaseCommand):
    help = (
        "List answers that may be wrong: models without them and other layers doubt them. Decide "
        "about them by their number."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument("--stored", action="store_true", help="show the stored list only")
        parser.add_argument("--parts", type=int, default=5, help="of the cross-validation (5)")
        parser.add_argument("--show", type=int, default=20, help="suspects to print (20)")
        for decision, words in DECISIONS.items():
            parser.add_argument(
                f"--{words[0]}", type=int, action="append", default=[], dest=decision.value,
                metavar="NUMBER", help=words[1],
            )  # fmt: skip
        parser.add_argument("--as", dest="user", help="the curator who decides")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            project = find_project(options["project"])
            is_decided = self._decide(project, options)
            if not options["stored"] and not is_decided:
                SUSPECTS.check(project)
                settings = SuspectSettings.from_dict({"n_folds": options["parts"]})
                compute_insight(project=project, kind=SUSPECTS, settings=settings)
            rows = open_suspects(project)
        except (EngineError, Refused) as error:
            raise CommandError(str(error)) from error
        for row in rows[: options["show"]]:
            self.stdout.write(
                f"{row['number']:>4}  {row['probability']:.2f}  {row['task']}  "
                f"{row['given_words']}  ->  {row['expected_words']}  | {' '.join(row['tokens'])}"
            )
            for why in row["why"]:
                self.stdout.write(f"      {why}")
        self.stdout.write(f"{len(rows)} answers to look at.")
        counts = repair_counts(project)
        if any(counts.values()):
            self.stdout.write(", ".join(f"{n} {decision}" for decision, n in counts.items()))

    def _decide(self, project: Project, options: dict[str, Any]) -> bool:
        """Decide about the suspects that are named by number; return whether any was."""
        wanted = [(one, number) for one in DECISIONS for number in options[one.value]]
        if not wanted:
            return False
        if not options["user"]:
            raise CommandError("--as: say which curator decides.")
        person = find_user(options["user"])
        get_project(person, project.pk, at_least=Role.CURATOR)
        for decision, number in wanted:
            decide_suspect(
                project=project,
                number=number,
                decision=decision,
                person=person,
                now=timezone.now(),
            )
        return True
