import csv
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.errors import AnalysisError
from analysis.methods.formulas import Discovery, Formula, discover_repeatedly


def whole_numbers(text: str) -> list[int]:
    """Return the numbers of a list like 0,1,2; anything else is refused by the parser."""
    return [int(number) for number in text.split(",")]


class Command(BaseCommand):
    help = "Find formulas for one column of a CSV file in others."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--target", required=True, help="the column to explain, for example f1")
        parser.add_argument("--inputs", required=True, help="columns, separated by commas")
        parser.add_argument("--engine", default="gplearn", choices=["gplearn", "operon"])
        parser.add_argument("--seeds", type=whole_numbers, default="0,1,2")
        parser.add_argument(
            "--scale", type=float, default=100.0, help="the target is multiplied by it to search"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        names = options["inputs"].split(",")
        try:
            inputs, outputs = _read(options["file"], names, options["target"])
            found = discover_repeatedly(
                inputs,
                outputs,
                names,
                engine=options["engine"],
                seeds=options["seeds"],
                scale=options["scale"],
            )
        except (AnalysisError, OSError, UnicodeDecodeError) as error:
            raise CommandError(str(error)) from error
        self._show(found, options["target"])

    def _show(self, found: Discovery, target: str) -> None:
        self.stdout.write("size   error (MSE)  held out     formula")
        for formula in found.front:
            self.stdout.write(_line(formula, target))
        self.stdout.write("\nto be beaten:")
        self.stdout.write(_line(found.constant, target))
        self.stdout.write(_line(found.power_law, target))
        ranges = ", ".join(f"{n} {low:g} to {high:g}" for n, (low, high) in found.ranges.items())
        self.stdout.write(
            "\nHeld out: mean over seeds, on rows that a seed did not fit; for a formula, what "
            "each seed found of at most its size."
        )
        self.stdout.write(f"Measured for {ranges}; outside of it a formula is a guess.")
        for form, n in list(found.frequency.items())[:5]:
            self.stdout.write(f"found by {n} seeds: {form}")


def _line(formula: Formula, target: str) -> str:
    numbers = f"{formula.complexity:4d}   {formula.mse:.3e}   {formula.holdout_mse:.3e}"
    return f"{numbers}   {target} = {formula.expression}"


def _read(path: Path, names: list[str], target: str) -> tuple[list[list[float]], list[float]]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise AnalysisError(f"{path} has no rows.")
    for name in (*names, target):
        if name not in rows[0]:
            raise AnalysisError(f"{path}: no column '{name}'. Known: {', '.join(rows[0])}.")
    try:
        inputs = [[float(row[name]) for name in names] for row in rows]
        return inputs, [float(row[target]) for row in rows]
    except ValueError as error:
        raise AnalysisError(f"{path}: not a number: {error}.") from None
