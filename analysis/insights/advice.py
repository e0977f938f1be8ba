"""Task advice: which tasks help or hurt which when one model learns them together."""

from dataclasses import dataclass
from typing import Any

from analysis.methods.surrogate.advice import Advice, in_words
from annotation.bridge import as_example, task_specs
from annotation.errors import InvalidInput, Problem
from annotation.jobs.insights import InsightKind, register_insight
from annotation.jobs.services import Progress
from annotation.models import Annotation, Gold, Job, Project, Role
from annotation.rounds.data import labelled_sentences
from annotation.rounds.settings import default_settings
from config.home import home
from mtl_engine.settings import Choice, Settings, setting


@dataclass(frozen=True)
class AdviceSettings(Settings):
    """How the effects of tasks on each other are measured."""

    method: str = setting(
        "trained",
        title="Method",
        choices=(
            Choice("trained", "Train every group of tasks", "The truth, slow."),
            Choice(
                "gradients",
                "Train once and estimate the groups from gradients",
                "Many times faster, in units of loss, less certain.",
            ),
        ),
    )


def compute(project: Project, settings: AdviceSettings, progress: Progress) -> dict[str, Any]:
    """Return which tasks help which, measured on what is labelled, the test slice left out."""
    from analysis.methods.surrogate import advice as method  # loads torch when it is called

    tasks = task_specs(project)
    examples = [
        as_example(sentence.id, sentence.tokens, sentence.labels, tasks)
        for sentence in labelled_sentences(project)
        if not sentence.is_test
    ]
    chosen = default_settings(project)
    found = method.advise(
        examples,
        tasks,
        chosen.engine_config(seed=chosen.seed),
        method=settings.method,  # type: ignore[arg-type]
        on_progress=lambda done, total: progress("training", done, total),
        cache_dir=home().features,
    )
    return found.to_dict()


def advice_words(result: dict[str, Any] | None) -> list[str]:
    """Return stored advice as sentences."""
    return in_words(Advice.from_dict(result)) if result else []


def effect_rows(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one row per target with one cell per source, ready to be drawn as a heat map."""
    names = [target["task"] for target in result["targets"]]
    effects = {(e["source"], e["target"]): e for e in result["effects"]}
    strongest = max((abs(e["points"]) for e in result["effects"]), default=0.0)
    return [
        {
            "target": target,
            "cells": [
                _cell(effects.get((name, target["task"])), strongest, name == target["task"])
                for name in names
            ],
        }
        for target in result["targets"]
    ]


def _cell(effect: dict[str, Any] | None, strongest: float, is_itself: bool) -> dict[str, Any]:
    if effect is None:
        return {"is_itself": is_itself}
    strength = round(4 * abs(effect["points"]) / strongest) if strongest else 0
    tone = "good" if effect["low"] > 0 else "bad" if effect["high"] < 0 else "open"
    return {**effect, "tone": tone, "strength": strength}


def _inputs(project: Project) -> Any:
    """Return the tasks and the newest answer and gold of each."""
    return [
        [task.name, task.kind, _newest(Annotation, task.pk), _newest(Gold, task.pk)]
        for task in project.tasks.all()
    ]


def _newest(model: type[Annotation] | type[Gold], task_id: int) -> int | None:
    row = model.objects.filter(task_id=task_id).order_by("-pk").values_list("pk").first()
    return row[0] if row else None


def _check(project: Project) -> None:
    if project.tasks.count() < 2:
        raise InvalidInput([Problem("", "Advice compares tasks: this project has only one.")])


ADVICE = register_insight(
    InsightKind(
        name="advice",
        title="Task advice",
        compute="analysis.insights.advice.compute",
        inputs=_inputs,
        settings=AdviceSettings,
        check=_check,
        role=Role.OWNER,
        job=Job.Kind.RESEARCH,
        page="advice",
        place="rounds",
    )
)
