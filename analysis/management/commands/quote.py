from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from analysis.errors import AnalysisError
from analysis.insights import quote, what_ifs
from analysis.insights.quote.estimate import Wish, quoted
from analysis.insights.quote.facts import facts_of
from analysis.insights.quote.kept import judged_quotes, keep_quote, make_plan
from analysis.insights.quote.words import as_text, change_words, duration, span
from annotation.errors import Refused
from annotation.jobs.insights import NoSettings, compute_insight
from annotation.projects.selectors import find_project
from mtl_engine.errors import EngineError


class Command(BaseCommand):
    help = "Say what a project's targets will cost, with intervals, and whether quotes held."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument("--target", action="append", default=[], metavar="TASK=SCORE")
        parser.add_argument("--deadline", help="a day, as 2027-04-11")
        parser.add_argument("--weekly-hours", type=float, help="of all people together")
        parser.add_argument("--if", action="append", default=[], dest="ifs", metavar="WHAT-IF")
        parser.add_argument(
            "--train-what-ifs", type=int, default=0, metavar="MINUTES", help="before quoting (0)"
        )
        parser.add_argument("--keep", action="store_true", help="to be judged later")
        parser.add_argument(
            "--plan", action="store_true", help="make it the project's targets, deadline and hours"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            project = find_project(options["project"])
            if options["train_what_ifs"]:
                minutes = {"minutes": options["train_what_ifs"]}
                settings = what_ifs.WhatIfSettings.from_dict(minutes)
                what_ifs.WHAT_IFS.check(project)
                compute_insight(project=project, kind=what_ifs.WHAT_IFS, settings=settings)
            compute_insight(project=project, kind=quote.QUOTE, settings=NoSettings())
            wish = Wish(
                dict(_target(text) for text in options["target"]),
                options["deadline"],
                options["weekly_hours"],
                tuple(dict.fromkeys(options["ifs"])),
            )
            facts = facts_of(project)
            found = quoted(project, facts, wish, today=timezone.localdate())
            if options["keep"]:
                keep_quote(project=project, found=found, created_by=None, now=timezone.now())
            changes: list[str] = []
            if options["plan"]:
                changes = make_plan(project=project, found=found, wish=wish, actor=None)
        except (AnalysisError, EngineError, Refused) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(as_text(found))
        for one in found["what_ifs"]:
            self.stdout.write(f"  --if {one['name']}: {one['words']}, {change_words(one)}")
        for words in changes:
            self.stdout.write(f"planned: {words}")
        for row in judged_quotes(project):
            needed = "" if row["needed"] is None else f", needed {duration(row['needed'])}"
            self.stdout.write(
                f"round {row['round']}: {row['name']} {span(row)}{needed}: {row['verdict']}"
            )


def _target(text: str) -> tuple[str, float | None]:
    name, sign, score = text.rpartition("=")
    try:
        return name, float(score) if score else None
    except ValueError:
        sign = ""
    raise CommandError(f"--target {text}: write it as TASK=SCORE, for example Entities=.85{sign}.")
