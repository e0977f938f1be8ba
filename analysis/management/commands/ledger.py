from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.errors import AnalysisError
from analysis.insights import ledger, proposals
from annotation.errors import Refused
from annotation.jobs.insights import (
    InsightKind,
    NoSettings,
    compute_insight,
    stored_result,
)
from annotation.projects.selectors import find_project
from mtl_engine.errors import EngineError
from mtl_engine.settings import Settings


class Command(BaseCommand):
    help = "Say what a project's choice has saved against chance, and what replays propose."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument(
            "--replay", type=int, default=0, metavar="MINUTES", help="the past in other ways first"
        )
        parser.add_argument("--seeds", type=int, default=5, help="of each replay (5)")
        parser.add_argument("--apply", action="store_true", help="take up what is proposed")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            project = find_project(options["project"])
            plans: list[tuple[InsightKind, Settings]] = [(ledger.LEDGER, NoSettings())]
            if options["replay"]:
                proposals.PROPOSALS.check(project)
                wanted = {"minutes": options["replay"], "n_seeds": options["seeds"]}
                how = proposals.ProposalSettings.from_dict(wanted)
                plans.append((proposals.PROPOSALS, how))
            for kind, settings in plans:
                compute_insight(project=project, kind=kind, settings=settings)
            if options["apply"]:
                proposals.apply_proposal(project=project, actor=None)
        except (AnalysisError, EngineError, Refused) as error:
            raise CommandError(str(error)) from error
        for words in ledger.ledger_words(project, stored_result(project, "ledger")):
            self.stdout.write(words)
        replayed = stored_result(project, "proposals")
        for row in (replayed or {"rows": []})["rows"]:
            ends = row["interval"]
            between = f" ({100 * ends[0]:+.1f} to {100 * ends[1]:+.1f})" if ends else ""
            self.stdout.write(f"  {row['words']}: {100 * row['gain']:+.1f} points{between}")
        if words := proposals.proposal_words(replayed):
            self.stdout.write(words)
