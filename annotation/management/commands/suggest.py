from argparse import ArgumentParser
from typing import Any

from annotation.management import RefusingCommand
from annotation.predictions.outside import require_source
from annotation.predictions.sources import ask_source
from annotation.projects.selectors import find_project


class Command(RefusingCommand):
    help = "Ask a chat endpoint or a local model for suggestions; only those that an admin lists."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument("--source", required=True, help="whose they are, as people will read")
        parser.add_argument("--url", default="", help="of the endpoint, for example .../v1")
        parser.add_argument("--model", default="", help="what the endpoint calls the model")
        parser.add_argument("--directory", default="", help="a zero-shot or tagging model")
        parser.add_argument("--task", action="append", default=[], help="all, if not stated")
        parser.add_argument("--limit", type=int, default=200, help="sentences to ask about")

    def handle(self, *args: Any, **options: Any) -> None:
        report = ask_source(
            project=find_project(options["project"]),
            source=require_source(options["source"]),
            url=options["url"],
            model=options["model"],
            directory=options["directory"],
            tasks=options["task"],
            limit=options["limit"],
            told=lambda *_: None,
        )
        for problem in report.problems:
            self.stderr.write(problem)
        self.stdout.write(f"Stored {report.n_stored:,} suggestions, dropped {report.n_dropped:,}.")
