from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from annotation.archive.tables import snapshot_read
from annotation.corpora.export_records import ALL, SENTENCES
from annotation.corpora.exports import (
    WAYS,
    export_corpus,
    export_to_file,
    which_of,
)
from annotation.corpora.staging import LISTED
from annotation.formats.conllu import findings
from annotation.formats.format import get_format
from annotation.formats.records import Problem
from annotation.management import RefusingCommand, read_mapping
from annotation.projects.selectors import find_corpora, find_project


class Command(RefusingCommand):
    help = "Export the sentences of a project with their final answers, or others, to a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument("--format", required=True)
        parser.add_argument("--labels", default="final", metavar="|".join(WAYS))
        parser.add_argument("--corpus", action="append", default=[], help="all, if not stated")
        parser.add_argument("--task", action="append", default=[], help="all, if not stated")
        parser.add_argument(
            "--sentences",
            default=ALL,
            choices=list(SENTENCES),
            help="; ".join(f"{name}: {words}" for name, words in SENTENCES.items()),
        )
        parser.add_argument("--round", type=int, help="only what this round asked for")
        parser.add_argument("--map", action="append", default=[], metavar="TASK=LAYER")
        parser.add_argument("--scheme", default="", help="IOB1, IOB2, IO or BIOES")
        parser.add_argument(
            "--validate",
            action="store_true",
            help="say what breaks the rules of Universal Dependencies in the CoNLL-U file",
        )
        parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        with snapshot_read():
            pieces = export_corpus(
                project=project,
                format=options["format"],
                labels=options["labels"],
                corpora=find_corpora(project, options["corpus"]),
                tasks=options["task"],
                mapping=read_mapping(options["map"]),
                scheme=options["scheme"],
                which=which_of(project, options["sentences"], options["round"]),
            )
            n_bytes = export_to_file(options["output"], pieces)
        self.stdout.write(f"Wrote {n_bytes:,} bytes to {options['output']}.")
        if options["validate"]:
            self._validate(options["format"], options["output"])

    def _validate(self, format: str, path: Path) -> None:
        """Print how often which rule is broken in a file, and the first places."""
        counts: Counter[str] = Counter()
        with path.open("rb") as stream:
            for record in get_format(format).read(stream, file_name=path.name):
                if isinstance(record, Problem):
                    continue
                values = {name: layer.value for name, layer in record.layers.items()}
                for one in findings(record.tokens, values):
                    if counts.total() < LISTED:
                        lines = record.token_lines
                        line = record.line if one.word is None or not lines else lines[one.word]
                        self.stdout.write(f"{path.name}:{line}: {one.level}: {one.message}")
                    counts[one.rule] += 1
        told = ", ".join(f"{rule} {n:,}" for rule, n in counts.most_common())
        self.stdout.write(f"Rules of Universal Dependencies: {told or 'none is broken'}.")
