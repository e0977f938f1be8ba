from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.errors import InvalidInput, describe
from annotation.management import RefusingCommand
from annotation.projects.selectors import find_user
from annotation.projects.services import create_project
from annotation.projects.spec import (
    ProjectSpec,
    line_of,
    read_spec,
    read_template,
    read_toml,
    template_names,
)


class Command(RefusingCommand):
    help = "Create a project from a TOML file or from a template."

    def add_arguments(self, parser: ArgumentParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("file", nargs="?", metavar="FILE.toml")
        source.add_argument("--template", metavar="NAME", help=", ".join(template_names()))
        parser.add_argument("--name", help="overrides the name in the file or template")
        parser.add_argument("--owner", metavar="USER", help="who owns the project")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = find_user(options["owner"]) if options["owner"] else None
        if options["file"]:
            spec = _read_file(options["file"])
            if options["name"]:
                spec.values["name"] = options["name"]
        else:
            raw = read_template(options["template"])
            spec = read_spec({**raw, "name": options["name"] or raw["name"]})
        project = create_project(spec=spec, owner=owner)
        self.stdout.write(f"Created project {project.pk} '{project.name}'.")


def _read_file(name: str) -> ProjectSpec:
    """Return the project of a file; problems are listed as file:line."""
    try:
        text = Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(f"{name}:1: not UTF-8 ({error.reason}); save it as UTF-8.") from error
    try:
        return read_toml(text)
    except InvalidInput as error:
        lines = [
            f"{name}:{line_of(text, problem.path, problem.message)}: {describe(problem)}"
            for problem in error.problems
        ]
        raise CommandError("\n".join(["No project was created:", *lines])) from error
