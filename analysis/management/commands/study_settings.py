from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from analysis.data.glue import SourceSettings
from analysis.sweep.registry import get_kind, study_kinds
from mtl_engine.settings import Settings, settings_table

HEAD = ["| setting | default | allowed | meaning |", "|---|---|---|---|"]


class Command(BaseCommand):
    help = "Write down the settings of every study kind, as docs/study_settings.md has them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("-o", "--output", type=Path, help="a Markdown file")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["output"]:
            options["output"].write_text(as_markdown(), encoding="utf-8")
        else:
            self.stdout.write(as_markdown())


def as_markdown() -> str:
    """Return a table of settings for each study kind."""
    parts = [
        "# Settings of study kinds",
        "Made by `manage.py study_settings -o docs/study_settings.md`. A study file sets them in "
        "`[settings]` or lets them vary; `run_sweep --set NAME=VALUE` sets those that do not vary.",
    ]
    for name in study_kinds():
        parts += [f"## `{name}`", _table(get_kind(name).settings)]
    parts += ["## A table of `sources`", _table(SourceSettings)]
    return "\n\n".join(parts) + "\n"


def _table(settings: type[Settings]) -> str:
    return "\n".join([*HEAD, *settings_table(settings)])
