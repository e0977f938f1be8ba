from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError

from analysis.errors import AnalysisError
from analysis.management.commands.discover_formula import whole_numbers
from analysis.report.runs import ReportRun
from analysis.report.statistics import Mean, holm, paired_t_test
from analysis.report.study import finished_runs
from analysis.studies.mtl_simulation.cells import SimulatedRun, cell_table, directions, read_run
from analysis.studies.mtl_simulation.findings import BALANCED, UNBALANCED, findings
from analysis.studies.mtl_simulation.findings_report import as_markdown, draw_figure_3
from analysis.sweep.store import RunStore, StudyRecord
from analysis.web.services import run_store

KIND = "mtl_simulation"


class Command(BaseCommand):
    help = "Find formulas for F1 in studies of simulated tasks, beside those of the paper."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", nargs="+", help="names of studies, for example balanced")
        parser.add_argument("--scale", default="")
        parser.add_argument("--engine", default="operon", choices=["gplearn", "operon"])
        parser.add_argument("--seeds", type=whole_numbers, default="0,1,2,3,4")
        parser.add_argument(
            "--population", type=int, help="formulas a generation, if not the engine's"
        )
        parser.add_argument("-o", "--output", type=Path, required=True, help="a directory")

    def handle(self, *args: Any, **options: Any) -> None:
        search = {
            "engine": options["engine"],
            "seeds": options["seeds"],
            "population": options["population"],
        }
        output: Path = options["output"]
        output.mkdir(parents=True, exist_ok=True)
        seeds = ",".join(map(str, options["seeds"]))
        scale = f" --scale {options['scale']}" if options["scale"] else ""
        parts = [
            "# Formulas found in simulated tasks",
            f"`manage.py study_formulas {' '.join(options['study'])}{scale} --engine "
            f"{options['engine']} --seeds {seeds}`. The AMI has the arithmetic "
            "normalisation, whose values the paper prints. A fifth of the cells is held out.",
        ]
        try:
            for name in options["study"]:
                parts += self._study(name, options["scale"], search, output)
        except AnalysisError as error:
            raise CommandError(str(error)) from error
        path = output / "formulas.md"
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        self.stdout.write(str(path))

    def _study(self, name: str, scale: str, search: dict[str, Any], output: Path) -> list[str]:
        store = run_store()
        study = _find(store, name, scale)
        finished = finished_runs(store, study)
        runs = [read_run(run.settings, run.seed, run.outcome.final) for run in finished]
        questions = UNBALANCED if any(run.n_synthetic for run in runs) else BALANCED
        parts = [f"## {study}", study.description, _what_ran(study, finished, runs)]
        for finding in findings(cell_table(runs), questions, **search):
            parts.append(as_markdown(finding))
        pictures = draw_figure_3(runs, output, prefix=f"formulas_{name}")
        return [*parts, *(f"![{path.stem}]({path.name})" for path in pictures)]


def _find(store: RunStore, name: str, scale: str) -> StudyRecord:
    record = store.find_study(name, scale)
    if record is None or record.kind != KIND:
        known = ", ".join(str(each) for each in store.studies() if each.kind == KIND) or "none"
        raise AnalysisError(f"No study '{name}' of kind {KIND} was swept. Known: {known}.")
    return record


def _what_ran(study: StudyRecord, finished: list[ReportRun], runs: list[SimulatedRun]) -> str:
    if not runs:
        raise AnalysisError("The study has no finished run yet: run_sweep computes them.")
    n_seeds = len({run.seed for run in runs})
    seconds = sum(run.outcome.cpu_seconds for run in finished)
    vectors = sorted({str(run.settings["vectors"]) for run in finished})
    gain = sum(run.f1_multi - run.f1_single for run in runs) / len(runs)
    wins = sum(run.f1_multi > run.f1_single for run in runs)
    return (
        f"{len(runs)} runs, {n_seeds} seeds, {seconds:.0f} CPU seconds, word vectors: "
        f"{', '.join(vectors)}. Scaled down: {study.note or 'nothing'}. With others the real task "
        f"has {gain:+.3f} F1 on average, and more than alone in {wins} of {len(runs)} runs."
        f"\n\n{_directions(runs)}"
    )


def _directions(runs: list[SimulatedRun]) -> str:
    """Return the gain and the slopes as means over seeds, tested against 0."""
    found = directions(runs)
    tested = dict(
        zip(found.slopes, holm([_p(mean) for mean in found.slopes.values()]), strict=True)
    )
    slopes = ", ".join(
        f"sqrt({name}) {mean.value:+.4f} ({_interval(mean)}; p = {tested[name]:.3f})"
        for name, mean in found.slopes.items()
    )
    return (
        f"Over seeds: gain {found.gain.value:+.3f} ({_interval(found.gain)}; p = "
        f"{_p(found.gain):.3f}); slopes of F1 on {slopes}, p after Holm over the three."
    )


def _interval(mean: Mean) -> str:
    if mean.low is None or mean.high is None:
        return "one seed"
    return f"{mean.low:+.4f} to {mean.high:+.4f}"


def _p(mean: Mean) -> float:
    found = paired_t_test(np.array(mean.points)) if len(mean.points) > 1 else None
    return 1.0 if found is None else found
