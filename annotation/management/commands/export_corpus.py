from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.bulk import standing_still
from annotation.management.arguments import read_mapping
from annotation.management.refusing import RefusingCommand
from annotation.selectors.projects import find_corpora, find_project
from annotation.services.exporting import WAYS, export_corpus, export_to_file


class Command(RefusingCommand):
    help = "Export the sentences of a project with gold, or with people's answers, to a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument("--format", required=True)
        parser.add_argument("--labels", default="gold", metavar="|".join(WAYS))
        parser.add_argument("--corpus", action="append", default=[], help="all, if not stated")
        parser.add_argument("--task", action="append", default=[], help="all, if not stated")
        parser.add_argument("--map", action="append", default=[], metavar="TASK=LAYER")
        parser.add_argument("--scheme", default="", help="IOB1, IOB2, IO or BIOES")
        parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        with standing_still():
            pieces = export_corpus(
                project=project,
                format=options["format"],
                labels=options["labels"],
                corpora=find_corpora(project, options["corpus"]),
                tasks=options["task"],
                mapping=read_mapping(options["map"]),
                scheme=options["scheme"],
            )
            n_bytes = export_to_file(options["output"], pieces)
        self.stdout.write(f"Wrote {n_bytes:,} bytes to {options['output']}.")
