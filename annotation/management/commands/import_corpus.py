from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.formats.files import open_file
from annotation.formats.options import ReadOptions
from annotation.import_report import ImportRefused, ImportReport
from annotation.management.arguments import read_mapping
from annotation.management.refusing import RefusingCommand
from annotation.selectors.projects import find_project, find_user
from annotation.services.importing import LABELS_AS, import_corpus


class Command(RefusingCommand):
    help = "Import a file into a project as a new corpus, all of it or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument("file")
        parser.add_argument("--format", required=True)
        parser.add_argument("--labels", required=True, choices=LABELS_AS)
        parser.add_argument("--as", dest="author", metavar="USER", help="whose annotations")
        parser.add_argument("--map", action="append", default=[], metavar="TASK=LAYER")
        parser.add_argument("--name", default="", metavar="CORPUS")
        parser.add_argument("--dry-run", action="store_true", help="look, and store nothing")
        parser.add_argument("--tokeniser", default="", help="whitespace, or a language such as en")
        parser.add_argument("--split-sentences", action="store_true")
        parser.add_argument("--scheme", default="", help="IOB1, IOB2, IO or BIOES")
        parser.add_argument("--columns", default="", help="names, separated by commas")
        parser.add_argument("--text-column", default="")
        parser.add_argument("--annotator", default="", help="whose answers to read from the file")
        parser.add_argument("--encoding", default="utf-8")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["file"])
        try:
            report = _import(path, options)
        except ImportRefused as refusal:
            report = refusal.report
        self.stdout.write("\n".join(report.lines()))
        if not report.is_good:
            rows = "\n".join(map(str, report.problems))
            raise CommandError(f"Nothing was imported; {len(report.problems)} problems:\n{rows}")
        verb = "would be" if options["dry_run"] else "is"
        self.stdout.write(f"{path} {verb} corpus '{report.corpus_name}'.")


def _import(path: Path, options: dict[str, Any]) -> ImportReport:
    with open_file(path, options["format"]) as stream:
        return import_corpus(
            project=find_project(options["project"]),
            stream=stream,
            file_name=str(path),
            format=options["format"],
            labels=options["labels"],
            author=find_user(options["author"]) if options["author"] else None,
            mapping=read_mapping(options["map"]),
            name=options["name"],
            options=_read_options(options),
            is_dry_run=options["dry_run"],
        )


def _read_options(options: dict[str, Any]) -> ReadOptions:
    return ReadOptions(
        encoding=options["encoding"],
        tokeniser=options["tokeniser"],
        split_sentences=options["split_sentences"],
        scheme=options["scheme"],
        columns=tuple(filter(None, options["columns"].split(","))),
        text_column=options["text_column"],
        annotator=options["annotator"],
    )
