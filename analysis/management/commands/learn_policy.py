import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.errors import AnalysisError
from analysis.policies import LearnedPolicy, PolicyLog, search_policy
from analysis.policies.logs import read_log
from annotation.errors import Refused
from annotation.rounds.policy import policy_file
from annotation.selectors.policy_logs import round_logs
from annotation.selectors.projects import find_project


class Command(BaseCommand):
    help = "Learn which task's sentences to train on next, from the logs of earlier trainings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", help="learn from the rounds of a project, by name or id")
        parser.add_argument("--log", type=Path, action="append", default=[], help="JSONL of steps")
        parser.add_argument("--tasks", help="names of the tasks of --log, separated by commas")
        parser.add_argument("--entropy-weight", type=float, default=0.25)
        parser.add_argument("--iterations", type=int, default=50)
        parser.add_argument("--population", type=int, default=64)
        parser.add_argument("--seed", type=int, default=0)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            names, logs = self._logs(options)
            learned = search_policy(
                logs,
                entropy_weight=options["entropy_weight"],
                iterations=options["iterations"],
                population=options["population"],
                seed=options["seed"],
                n_tasks=len(names),
            )
        except (AnalysisError, Refused) as error:
            raise CommandError(str(error)) from error
        self._show(names, learned, len(logs))
        if options["project"]:
            self._keep(options["project"], names, learned)

    def _logs(self, options: dict[str, Any]) -> tuple[list[str], list[PolicyLog]]:
        if options["project"]:
            return round_logs(find_project(options["project"]))
        if not options["log"] or not options["tasks"]:
            raise CommandError("Give --project, or --log with --tasks.")
        names = options["tasks"].split(",")
        logs = []
        for path in options["log"]:
            with path.open(encoding="utf-8") as file:
                log = read_log(file, names, where=str(path))
            if log is not None:
                logs.append(log)
        return names, logs

    def _show(self, names: list[str], learned: LearnedPolicy, n_logs: int) -> None:
        for name, probability in zip(names, learned.probabilities, strict=True):
            self.stdout.write(f"{probability:.3f}  {name}")
        estimate = learned.estimate
        self.stdout.write(
            f"Estimated reward {estimate.value:.4f}, at least {estimate.lower_bound:.4f} (95 %), "
            f"from {n_logs} trainings that count like {estimate.effective_size:.0f} steps."
        )
        if estimate.warning:
            self.stderr.write(estimate.warning)

    def _keep(self, project: str, names: list[str], learned: LearnedPolicy) -> None:
        path = policy_file(find_project(project))
        path.parent.mkdir(parents=True, exist_ok=True)
        pairs = zip(names, learned.probabilities.tolist(), strict=True)
        path.write_text(json.dumps({"probabilities": dict(pairs)}), encoding="utf-8")
        self.stdout.write("The next round uses it with the task order 'learned'.")
