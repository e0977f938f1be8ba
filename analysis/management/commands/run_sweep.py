import os
import shlex
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from analysis.errors import AnalysisError
from analysis.sweep.executors import SerialExecutor, make_executor
from analysis.sweep.plan import Finished, Plan, SweepResult, plan_sweep, study_record, sweep
from analysis.sweep.progress import Progress, as_duration
from analysis.sweep.store import RunStore, StudyRecord
from analysis.sweep.study_file import Study, read_study
from analysis.web.services import index_study, run_store
from config.home import command


class Command(BaseCommand):
    help = "Run a study file: every run that is not finished yet, then say what came out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "study", type=Path, help="a study file, or the name of a shipped one, as bandit"
        )
        parser.add_argument(
            "--scale", default="", help="one of the file's scales, for example small"
        )
        parser.add_argument("--dry-run", action="store_true", help="list the runs and estimate")
        parser.add_argument("--limit", type=int, help="at most so many runs")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="SETTING=VALUE",
            help="another value for a setting of the file that does not vary; again for more",
        )
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
            "--executor",
            default="ray" if settings.RAY_ADDRESS else "processes",
            choices=["serial", "processes", "ray"],
            help="where runs are computed; ray is the default where TANDEM_RAY_ADDRESS is set",
        )
        parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
        parser.add_argument("--threads", type=int, default=1, help="computing threads per run")
        parser.add_argument(
            "--address",
            default=settings.RAY_ADDRESS or None,
            help="address of a Ray cluster, for example auto",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = read_study(options["study"], scale=options["scale"], assignments=options["set"])
            store = run_store()
            executor = make_executor(
                options["executor"],
                n_workers=options["workers"],
                threads=options["threads"],
                address=options["address"],
            )
            plan = plan_sweep(study, store, only=_pairs(options["only"]), limit=options["limit"])
            record = study_record(study, plan)
            store.keep_study(record)
        except AnalysisError as error:
            raise CommandError(str(error)) from error
        try:
            if study.note:
                self.stdout.write(f"Scaled down: {study.note}.")
            if options["dry_run"]:
                self._estimate(study, plan, store, options)
            else:
                self._summarise(study, self._sweep(study, plan, store, executor))
        except AnalysisError as error:
            raise CommandError(str(error)) from error
        finally:
            self._index(record, store)

    def _index(self, record: StudyRecord, store: RunStore) -> None:
        """Tell the pages of studies, where the server has a database yet."""
        try:
            index_study(store, record)
        except DatabaseError as error:
            self.stderr.write(
                f"The pages of studies were not told ({error}): index_studies tells them later."
            )

    def _sweep(self, study: Study, plan: Plan, store: RunStore, executor: Any) -> SweepResult:
        progress = Progress(len(plan.missing), sys.stderr)
        progress.start()

        def keep(finished: Finished) -> None:
            progress.advance(finished.config.label(dict.fromkeys(study.varying)))

        return sweep(plan, store, executor, on_finished=keep, on_waiting=progress.wait_for)

    def _estimate(
        self,
        study: Study,
        plan: Plan,
        store: RunStore,
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
            for _, error in self._sweep(study, first, store, SerialExecutor()).failures:
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
        self.stdout.write(f"Report: {command('report', shlex.quote(study.name))}{scale}")


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
