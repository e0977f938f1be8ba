import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.corpora.exports import PREDICTED, export_to_file
from annotation.errors import Refused
from annotation.formats.records import ReadOptions
from annotation.management import RefusingCommand, read_mapping
from annotation.models import Project, Round
from annotation.predictions.services import (
    FileReport,
    predict_file,
    predict_project,
    suggest_predictions,
    write_predictions,
)
from annotation.projects.selectors import find_corpora, find_project
from annotation.rounds.selectors import find_model


class Command(RefusingCommand):
    help = (
        "Write the model's answers to everything without a final answer, or to a file that is not "
        "in the project. Interrupted, it goes on where it stopped when it is run again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument("--round", type=int, help="whose model; the newest, if not stated")
        parser.add_argument("--corpus", action="append", default=[], help="all, if not stated")
        parser.add_argument("--task", action="append", default=[], help="all, if not stated")
        parser.add_argument("--labels", default="model", choices=PREDICTED)
        parser.add_argument("--format", default="jsonl")
        parser.add_argument("--map", action="append", default=[], metavar="TASK=LAYER")
        parser.add_argument("--scheme", default="", help="IOB1, IOB2, IO or BIOES")
        parser.add_argument("-o", "--output", type=Path, metavar="FILE")
        parser.add_argument(
            "--suggest", action="store_true", help="offer the answers to annotators as well"
        )
        parser.add_argument(
            "--input", type=Path, metavar="FILE", help="predict this file, not the project's"
        )
        parser.add_argument("--input-format", default="text")
        parser.add_argument("--tokeniser", default="", help="of text: a language, or whitespace")

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        round = find_model(project, options["round"])
        if options["output"] is None and not options["suggest"]:
            raise Refused("Nothing would be kept: give -o FILE, or --suggest, or both.")
        if options["input"]:
            self._predict_file(project, round, options)
        else:
            self._predict_project(project, round, options)

    def _predict_file(self, project: Project, round: Round, options: dict[str, Any]) -> None:
        if options["output"] is None or options["suggest"]:
            raise Refused("Answers to a file that is not in the project go to a file: -o FILE.")
        report = FileReport()
        with options["input"].open("rb") as stream:
            pieces = predict_file(
                round=round,
                stream=stream,
                file_name=options["input"].name,
                input_format=options["input_format"],
                format=options["format"],
                options=ReadOptions(tokeniser=options["tokeniser"] or project.language),
                mapping=read_mapping(options["map"]),
                report=report,
            )
            n_bytes = export_to_file(options["output"], pieces)
        self.stdout.write(
            f"Wrote {report.n_sentences:,} sentences ({n_bytes:,} bytes) to {options['output']}; "
            f"{report.n_problems:,} could not be read."
        )

    def _predict_project(self, project: Project, round: Round, options: dict[str, Any]) -> None:
        corpora = find_corpora(project, options["corpus"])
        output: Path | None = options["output"]
        near = output or Path(f"tandem-predictions-{project.pk}")
        folder = near.with_name(f".{near.name}.round-{round.pk}.pieces")
        pieces = predict_project(
            round=round, corpora=corpora, tasks=options["task"], folder=folder, told=self._told
        )
        n = len(pieces.sentences())
        if options["suggest"]:
            n_offered = suggest_predictions(
                pieces=pieces, round=round, told=self._told, now=timezone.now()
            )
            self.stdout.write(f"Offered {n_offered:,} suggestions.")
        if output is not None:
            written = write_predictions(
                pieces=pieces,
                project=project,
                format=options["format"],
                labels=options["labels"],
                corpora=corpora,
                tasks=options["task"],
                told=self._told,
                mapping=read_mapping(options["map"]),
                scheme=options["scheme"],
            )
            n_bytes = export_to_file(output, written)
            self.stdout.write(
                f"Predicted {n:,} sentences with the model of round {round.number}; wrote "
                f"{n_bytes:,} bytes to {output}."
            )
        shutil.rmtree(folder, ignore_errors=True)

    def _told(self, stage: str, n_done: int, n_total: int | None) -> None:
        if n_done:
            self.stderr.write(f"{stage}: {n_done:,} of {n_total or 0:,}")
