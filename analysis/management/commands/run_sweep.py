import os
import shlex
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.errors import AnalysisError
from analysis.models import Study as StudyRow
from analysis.services import record_found, record_run, record_study, run_store
from analysis.sweep.driver import Finished, Plan, SweepResult, plan_sweep, sweep
from analysis.sweep.executors import SerialExecutor, make_executor
from analysis.sweep.progress import Progress, as_duration
from analysis.sweep.records import RunStore
from analysis.sweep.study_file import Study, read_study
from annotation.migrating import migrate


class Command(BaseCommand):
    help = "Run a study file: every run that is not finished yet, then say what came out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "study", type=Path, help="a study file, for example studies/bandit.toml"
        )
        parser.add_argument(
            "--scale", default="", help="one of the file's scales, for example small"
        )
        parser.add_argument("--dry-run", action="store_true", help="list the runs and estimate")
        parser.add_argument("--limit", type=int, help="at most so many runs")
        parser.add_argument(
            "--only",
            action="append",
            default=[],
            metavar="SETTING=VALUE",
            help="only these runs; again for another value or setting",
        )
        parser.add_argument(
            "--resume",
            action="store_true",
            default=True,
            help="go on where an earlier sweep stopped: always so, a finished run is never redone",
        )
        parser.add_argument(
            "--executor", default="processes", choices=["serial", "processes", "ray"]
        )
        parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
        parser.add_argument("--threads", type=int, default=1, help="computing threads a run")
        parser.add_argument("--address", help="address of a Ray cluster, for example auto")

    def handle(self, *args: Any, **options: Any) -> None:
        migrate()
        try:
            study = read_study(options["study"], scale=options["scale"])
            store = run_store()
            executor = make_executor(
                options["executor"],
                n_workers=options["workers"],
                threads=options["threads"],
                address=options["address"],
            )
            plan = plan_sweep(study, store, only=_pairs(options["only"]), limit=options["limit"])
            row = record_study(study)
            record_found(row, plan, store)
            if study.note:
                self.stdout.write(f"Scaled down: {study.note}.")
            if options["dry_run"]:
                self._estimate(study, plan, store, row, options)
                return
            result = self._sweep(study, plan, store, row, executor)
        except AnalysisError as error:
            raise CommandError(str(error)) from error
        self._summarise(study, result)

    def _sweep(
        self, study: Study, plan: Plan, store: RunStore, row: StudyRow, executor: Any
    ) -> SweepResult:
        progress = Progress(len(plan.missing), sys.stderr)
        progress.start()

        def keep(finished: Finished) -> None:
            record_run(row, finished)
            progress.advance(finished.config.label(dict.fromkeys(study.varying)))

        return sweep(plan, store, executor, on_finished=keep, on_waiting=progress.wait_for)

    def _estimate(
        self,
        study: Study,
        plan: Plan,
        store: RunStore,
        row: StudyRow,
        options: dict[str, Any],
    ) -> None:
        for key, config in plan.wanted:
            mark = "done" if store.is_finished(key) else "    "
            self.stdout.write(f"{mark} {key} {config.label(dict.fromkeys(study.varying))}")
        if not plan.missing:
            self.stdout.write(f"All {len(plan.wanted)} runs are finished.")
            return
        if len(plan.missing) == len(plan.wanted):
            first = Plan(plan.wanted, plan.missing[:1])
            for _, error in self._sweep(study, first, store, row, SerialExecutor()).failures:
                raise CommandError(f"The first run failed, nothing can be estimated.\n{error}")
        done = [store.read(key)[1].seconds for key, _ in plan.wanted if store.is_finished(key)]
        seconds = sum(done) / len(done)
        n_left = len(plan.wanted) - len(done)
        self.stdout.write(
            f"{len(plan.wanted)} runs, {n_left} left. One took {as_duration(seconds)}: about "
            f"{_time_left(n_left, seconds, options)}."
        )

    def _summarise(self, study: Study, result: SweepResult) -> None:
        others = f"{result.n_by_others} by another sweep, " if result.n_by_others else ""
        self.stdout.write(
            f"{result.n_wanted} runs: {result.n_found} found, {result.n_finished} computed, "
            f"{others}{len(result.failures)} failed."
        )
        for config, error in result.failures:
            self.stderr.write(f"\nfailed: {config.label(dict.fromkeys(study.varying))}\n{error}")
        if result.failures:
            raise CommandError(f"{len(result.failures)} runs failed; their tracebacks are above.")
        scale = f" --scale {study.scale}" if study.scale else ""
        self.stdout.write(f"Report: manage.py report {shlex.quote(study.name)}{scale}")


def _time_left(n_left: int, seconds: float, options: dict[str, Any]) -> str:
    """Return how long the rest takes where it will be computed."""
    if options["executor"] == "ray":
        return f"{as_duration(n_left * seconds)} divided by the runs that the cluster does at once"
    n_workers = options["workers"] if options["executor"] == "processes" else 1
    together = -(-n_left // n_workers) * seconds
    return f"{as_duration(together)} with {n_workers} worker{'s' if n_workers > 1 else ''}"


def _pairs(only: list[str]) -> dict[str, list[str]]:
    """Return the wanted values of each setting that --only names."""
    pairs: dict[str, list[str]] = {}
    for text in only:
        name, equals, value = text.partition("=")
        if not equals:
            raise AnalysisError(f"--only takes SETTING=VALUE, not '{text}'.")
        pairs.setdefault(name, []).append(value)
    return pairs
