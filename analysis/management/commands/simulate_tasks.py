import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError

from analysis.data.corpora import read_records
from analysis.errors import AnalysisError
from analysis.methods.simulator import simulate_tasks, to_io
from analysis.methods.simulator.sentences import token_labels
from config.home import replaced_file


class Command(BaseCommand):
    help = "Make synthetic tasks of a known relatedness to a task of a corpus, as JSONL to import."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--format", required=True)
        parser.add_argument("--layer", required=True, help="the task to imitate, for example ner")
        parser.add_argument(
            "--alpha", type=float, action="append", required=True, help="once for each task"
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--keep-iob", action="store_true", help="IOB2 labels instead of IO")
        parser.add_argument("-o", "--output", type=Path, required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            records = read_records(options["file"], options["format"])
            sentences = [token_labels(record, options["layer"]) for record in records]
            if not options["keep_iob"]:
                sentences = [to_io(labels) for labels in sentences]
            flat = [label for labels in sentences for label in labels]
            tasks = simulate_tasks(flat, options["alpha"], seed=options["seed"])
        except AnalysisError as error:
            raise CommandError(str(error)) from error
        if not options["output"].parent.is_dir():
            raise CommandError(f"No directory {options['output'].parent} to write to.")
        names = np.unique(flat)
        starts = np.cumsum([0, *(len(labels) for labels in sentences)])
        with replaced_file(options["output"]) as file:
            for i, record in enumerate(records):
                labels = {options["layer"]: sentences[i]}
                for number, task in enumerate(tasks.labels, 1):
                    drawn = task[starts[i] : starts[i + 1]]
                    labels[f"synthetic {number}"] = names[drawn].tolist()
                row = {"text": record.text, "tokens": list(record.tokens), "labels": labels}
                file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        for number, alpha in enumerate(tasks.alphas):
            self.stdout.write(
                f"synthetic {number + 1}: alpha {alpha:g}, AMI {tasks.ami_max[number]:.3f} (max), "
                f"{tasks.ami_arithmetic[number]:.3f} (arithmetic)"
            )
        self.stdout.write(f"{len(records)} sentences, labels {', '.join(names)}.")
