from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.errors import AnalysisError
from analysis.insights.policy import POLICY, PolicySettings, described, round_logs, search
from analysis.methods.policies import LearnedPolicy, PolicyLog
from analysis.methods.policies.logs import read_log
from annotation.errors import Refused
from annotation.jobs.insights import inputs_hash, keep_insight
from annotation.models import Project
from annotation.projects.selectors import find_project
from mtl_engine.errors import EngineError
from mtl_engine.settings import settings_fields

SETTINGS = settings_fields(PolicySettings)
TYPES = {"int": int, "float": float}


class Command(BaseCommand):
    help = "Learn which task's sentences to train on next, from the logs of earlier trainings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", help="learn from the rounds of a project, by name or id")
        parser.add_argument("--log", type=Path, action="append", default=[], help="JSONL of steps")
        parser.add_argument("--tasks", help="names of the tasks of --log, separated by commas")
        for about in SETTINGS:
            option = f"--{about.name.replace('_', '-')}"
            words = f"{about.title} ({about.default:g})"
            parser.add_argument(option, type=TYPES[about.form], default=about.default, help=words)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            settings = PolicySettings.from_dict({a.name: options[a.name] for a in SETTINGS})
            project = find_project(options["project"]) if options["project"] else None
            inputs = inputs_hash(POLICY, project, settings.to_dict()) if project else ""
            names, logs = round_logs(project) if project else self._logs(options)
            learned = search(names, logs, settings)
        except (AnalysisError, EngineError, Refused) as error:
            raise CommandError(str(error)) from error
        self._show(names, learned, len(logs))
        if project:
            self._keep(project, settings, inputs, described(names, learned, len(logs)))

    def _logs(self, options: dict[str, Any]) -> tuple[list[str], list[PolicyLog]]:
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

    def _keep(
        self, project: Project, settings: PolicySettings, inputs: str, result: dict[str, Any]
    ) -> None:
        keep_insight(
            project=project,
            kind=POLICY,
            settings=settings.to_dict(),
            inputs=inputs,
            result=result,
        )
        self.stdout.write("The next round uses it with the task order 'learned'.")
