from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.corpora.imports import import_corpus
from annotation.corpora.jobs import AUTO, recognise_format
from annotation.corpora.report import (
    DUPLICATES,
    LABELS_AS,
    NEW_LABELS,
    ImportChoices,
    ImportRefused,
    ImportReport,
)
from annotation.formats.brat import open_file
from annotation.formats.records import ReadOptions
from annotation.management import RefusingCommand, read_mapping
from annotation.projects.selectors import find_project, find_user


class Command(RefusingCommand):
    help = "Import a file into a project as a new corpus, all of it or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument("file")
        parser.add_argument("--format", default=AUTO, help="recognised from the file unless said")
        parser.add_argument("--labels", required=True, choices=LABELS_AS)
        parser.add_argument(
            "--as", dest="author", metavar="USER|test", help="whose annotations, or the test slice"
        )
        parser.add_argument("--new-labels", choices=NEW_LABELS, default="refuse")
        parser.add_argument(
            "--map-label", action="append", default=[], metavar="TASK:LABEL=OURS",
            help="a label of the file that the task calls otherwise",
        )  # fmt: skip
        parser.add_argument("--duplicates", choices=DUPLICATES, default="keep")
        parser.add_argument("--skip-bad", action="store_true", help="import what is good")
        parser.add_argument(
            "--onto-existing", action="store_true", help="labels for sentences that are there"
        )
        parser.add_argument("--map", action="append", default=[], metavar="TASK=LAYER")
        parser.add_argument(
            "--column", action="append", default=[], metavar="COLUMN=TASK",
            help="a column of a table, or key of jsonl, that answers a task; no other does",
        )  # fmt: skip
        parser.add_argument("--name", default="", metavar="CORPUS")
        parser.add_argument("--dry-run", action="store_true", help="look, and store nothing")
        parser.add_argument(
            "--language", default="", help="of the sentences, such as de: the project's unless said"
        )
        parser.add_argument(
            "--tokeniser", default="", help="whitespace, or a language such as en: the project's"
        )
        parser.add_argument("--split-sentences", action="store_true")
        parser.add_argument("--scheme", default="", help="IOB1, IOB2, IO or BIOES")
        parser.add_argument("--columns", default="", help="names, separated by commas")
        parser.add_argument("--text-column", default="")
        parser.add_argument(
            "--label-separator", default="", help="between several labels in a cell, as | in a|b"
        )
        parser.add_argument(
            "--cut-tokens",
            action="store_true",
            help="cut a token where a span begins or ends inside it",
        )
        parser.add_argument("--annotator", default="", help="whose answers to read from the file")
        parser.add_argument("--encoding", default="utf-8")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["file"])
        try:
            report = _import(path, options)
        except ImportRefused as refusal:
            report = refusal.report
        self.stdout.write("\n".join(report.lines()))
        for kind in report.problem_kinds():
            lines = ", ".join(map(str, kind.lines))
            more = ", ..." if kind.n > len(kind.lines) else ""
            self.stderr.write(f"{kind.n:,} x {kind.message} (lines {lines}{more})")
        if not report.is_good:
            rows = "\n".join(map(str, report.problems))
            raise CommandError(f"Nothing was imported; {report.n_problems} problems:\n{rows}")
        verb = "would be" if options["dry_run"] else "is"
        if options["onto_existing"]:
            self.stdout.write(f"The labels of {path} {verb} on the sentences.")
        else:
            self.stdout.write(f"{path} {verb} corpus '{report.corpus_name}'.")


def _import(path: Path, options: dict[str, Any]) -> ImportReport:
    project = find_project(options["project"])
    format = recognise_format(path) if options["format"] == AUTO else options["format"]
    with open_file(path, format) as stream:
        return import_corpus(
            project=project,
            stream=stream,
            file_name=str(path),
            format=format,
            labels=options["labels"],
            author=find_user(options["author"])
            if options["author"] not in (None, "test")
            else None,
            mapping={**read_mapping(options["map"]), **_columns(options["column"])},
            name=options["name"],
            options=_read_options(options, options["language"] or project.language),
            choices=ImportChoices(
                new_labels=options["new_labels"],
                label_map=_label_map(options["map_label"]),
                duplicates=options["duplicates"],
                skips_bad=options["skip_bad"],
                is_test=options["author"] == "test",
                language=options["language"],
                is_onto_existing=options["onto_existing"],
            ),
            is_dry_run=options["dry_run"],
        )


def _read_options(options: dict[str, Any], language: str) -> ReadOptions:
    return ReadOptions(
        encoding=options["encoding"],
        tokeniser=options["tokeniser"] or language,
        split_sentences=options["split_sentences"],
        scheme=options["scheme"],
        columns=tuple(filter(None, options["columns"].split(","))),
        text_column=options["text_column"],
        label_separator=options["label_separator"],
        cuts_tokens=options["cut_tokens"],
        annotator=options["annotator"],
    )


def _columns(pairs: list[str]) -> dict[str, str]:
    """Return the column of each task from COLUMN=TASK arguments."""
    for pair in pairs:
        if "=" not in pair:
            raise CommandError(f"--column {pair}: write COLUMN=TASK.")
    return {task: column for column, task in (pair.rsplit("=", 1) for pair in pairs)}


def _label_map(pairs: list[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for pair in pairs:
        task, colon, rest = pair.partition(":")
        label, equals, ours = rest.partition("=")
        if not (colon and equals and task and label and ours):
            raise CommandError(f"'{pair}' is not TASK:LABEL=OURS.")
        found.setdefault(task, {})[label] = ours
    return found
