"""manage.py fit_sequential_lda: sequences in, a saved model and a report out."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.text import slugify

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda import FAMILIES, SequentialLDA, choose_n_topics, save_model
from analysis.methods.sequential_lda.report import write_report
from analysis.methods.sequential_lda.sources import (
    Layout,
    NamedTasks,
    group_by_task,
    read_sequences,
)
from analysis.methods.sequential_lda.topics.registry import family, option_types
from config.home import home


class Command(BaseCommand):
    help = "Learn the sequence generators that tasks share; writes the model and a report."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("data", nargs="?", type=Path, help=".tsv or .jsonl of task, sequence")
        parser.add_argument("--project", help="name or id, instead of a file")
        parser.add_argument("--source", choices=["labels", "actions"], default="labels")
        parser.add_argument(
            "--topics", default="8", help="their number (8), or several to choose from: 2,4,8"
        )
        parser.add_argument("--family", choices=sorted(FAMILIES), default="markov")
        parser.add_argument(
            "-o", "--output", type=Path, help="directory; else sequential_lda/NAME in TANDEM_HOME"
        )
        parser.add_argument("--task-column", action="append", metavar="NAME", help="default: task")
        parser.add_argument("--sequence-column", default="sequence", metavar="NAME")
        parser.add_argument("--characters", action="store_true", help="a step is one character")
        parser.add_argument(
            "--no-halting", action="store_true", help="the length of a sequence says nothing"
        )
        parser.add_argument("--restarts", type=int, default=4)
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--jobs", type=int, default=1, help="processes for the restarts")
        parser.add_argument(
            "--set", action="append", default=[], metavar="OPTION=VALUE", help="of the family"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._fit(options)
        except (AnalysisError, OSError) as error:
            raise CommandError(str(error)) from error

    def _fit(self, options: dict[str, Any]) -> None:
        data = _tasks(options)
        chosen = {
            "topic": options["family"],
            "n_restarts": options["restarts"],
            "seed": options["seed"],
            "n_jobs": options["jobs"],
            "halting": not options["no_halting"],
            **_family_options(options["family"], options["set"]),
        }
        candidates = _numbers(options["topics"])
        n_topics = candidates[0]
        if len(candidates) > 1:
            choice = choose_n_topics(data.tasks, candidates, **chosen)
            for number, scores in zip(choice.candidates, choice.scores, strict=True):
                self.stdout.write(f"{number} topics: {scores.mean():.4f} held out per sequence")
            n_topics = choice.best
        model = SequentialLDA(n_topics, **chosen).fit(data.tasks)
        output = options["output"] or _default_output(options)
        save_model(model, output, task_names=data.names)
        files = write_report(model, data.tasks, output, task_names=data.names)
        self.stdout.write(
            f"{len(data.tasks)} tasks, {data.n_sequences} sequences, {n_topics} topics: "
            f"{model.score(data.tasks):.4f} per sequence after {len(model.objective_)} iterations."
        )
        for path in (output / "model.npz", *files):
            self.stdout.write(str(path))


def _tasks(options: dict[str, Any]) -> NamedTasks:
    if (options["data"] is None) == (options["project"] is None):
        raise CommandError("Give either a data file or --project.")
    if options["project"] is not None:
        return _project_tasks(options["project"], options["source"])
    layout = Layout(
        task=tuple(options["task_column"] or ["task"]),
        sequence=options["sequence_column"],
        characters=options["characters"],
        numbers=family(options["family"]).continuous,
    )
    return read_sequences(options["data"], layout)


def _project_tasks(name_or_id: str, source: str) -> NamedTasks:
    """A project's label sequences by task, or action sequences by annotator."""
    from analysis.data.sequences import action_sequences, label_sequences
    from annotation.errors import Refused
    from annotation.projects.selectors import find_project

    read = {"labels": label_sequences, "actions": action_sequences}[source]
    try:
        data = group_by_task(read(find_project(name_or_id)))
    except Refused as error:
        raise CommandError(str(error)) from error
    if not data.tasks:
        raise CommandError(f"Project '{name_or_id}' has no {source} yet.")
    return data


def _default_output(options: dict[str, Any]) -> Path:
    name = options["data"].stem if options["data"] else f"{options['project']}-{options['source']}"
    return home().sequential_lda(slugify(name))


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise CommandError(f"--topics is {text!r}; give a number, or several: 2,4,8.") from error


def _family_options(name: str, given: list[str]) -> dict[str, Any]:
    """Options of the family from OPTION=VALUE words."""
    known = option_types(name)
    found = {}
    for word in given:
        option, _, value = word.partition("=")
        if option not in known:
            raise CommandError(
                f"The {name} family has no option '{option}'. Known: {', '.join(known)}."
            )
        try:
            found[option] = known[option](value)
        except ValueError as error:
            kind = known[option].__name__
            raise CommandError(f"--set {word}: {value!r} is not of type {kind}.") from error
    return found
