"""Task advice: which tasks help or hurt which when one model learns them together."""

from dataclasses import dataclass
from typing import Any

from analysis.methods.surrogate.advice import Advice, in_words
from annotation.bridge import as_example, task_specs
from annotation.errors import InvalidInput, Problem
from annotation.jobs.insights import InsightKind, newest_answers, register_insight
from annotation.jobs.services import Progress
from annotation.models import Job, Project, Role
from annotation.rounds.data import labelled_sentences
from annotation.rounds.settings import default_settings
from config.home import home
from mtl_engine.settings import Choice, Settings, setting

VERDICTS = {
    "helps": "{source} helps {target}.",
    "hurts": "{source} hurts {target}.",
    "cannot tell": "Whether {source} helps {target} is not shown.",
}
TONES = {"helps": "good", "hurts": "bad", "cannot tell": "open"}


@dataclass(frozen=True)
class AdviceSettings(Settings):
    """How the effects of tasks on each other are measured."""

    method: str = setting(
        "trained",
        title="Method",
        choices=(
            Choice("trained", "Measured: train every group of tasks", "Slow, and to be trusted."),
            Choice(
                "gradients",
                "Estimated: train once and compute the groups from gradients",
                "Many times faster, less certain; tells the order of tasks, not points.",
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


@dataclass(frozen=True)
class Todo:
    """What the measured effects mean for the next round."""

    title: str
    words: str


def what_to_do(result: dict[str, Any]) -> Todo:
    """Return what to set for the next round, by the effects that leave no doubt."""
    verdicts = [effect.verdict for effect in Advice.from_dict(result).effects]
    helps, hurts = verdicts.count("helps"), verdicts.count("hurts")
    if not verdicts:
        return Todo("Nothing could be compared", "Two tasks with 40 labelled sentences are needed.")
    if hurts and helps:
        return Todo(
            "Let the tasks share, with a gate",
            "Some tasks help and some hurt each other. Choose the architecture 'shared + gate "
            "(CMT)' for the next round: each task then takes from the others what serves it.",
        )
    if hurts:
        return Todo(
            "Try a model for each task",
            "Tasks hurt each other and none is shown to help. Choose the architecture 'one per "
            "task (ST)' for the next round and compare its scores; it trains longer.",
        )
    if helps:
        return Todo(
            "Keep the shared model",
            "Tasks help each other and none is shown to hurt. One shared model is what rounds "
            "train unless told otherwise: nothing needs to change.",
        )
    return Todo(
        "Keep the shared model for now",
        "No difference is shown either way. Measure again when there are more labels.",
    )


def shown_tasks(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every measured task with what the others do to it, in words and as intervals.

    An interval is drawn on a rail from -widest to +widest; ``at``, ``from`` and ``size`` are its
    places on a rail of 100.
    """
    advice = Advice.from_dict(result)
    widest = max((abs(end) for e in advice.effects for end in (e.low, e.high)), default=0.0) or 1.0

    def place(points: float) -> float:
        return round(50 + 48 * points / widest, 2)

    return [
        {
            "target": target,
            "is_loss": target.metric == "loss",
            "alone": target.alone / 100,  # as a score
            "together": target.together / 100,
            "effects": [
                {
                    "effect": effect,
                    "words": VERDICTS[effect.verdict].format(
                        source=effect.source, target=effect.target
                    ),
                    "tone": TONES[effect.verdict],
                    "at": f"{place(effect.points)}",
                    "from": f"{place(effect.low)}",
                    "size": f"{place(effect.high) - place(effect.low):.2f}",
                }
                for effect in sorted(advice.effects, key=lambda one: -one.points)
                if effect.target == target.task
            ],
        }
        for target in advice.targets
    ]


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


def _check(project: Project) -> None:
    if project.tasks.count() < 2:
        raise InvalidInput([Problem("", "Advice compares tasks: this project has only one.")])


ADVICE = register_insight(
    InsightKind(
        name="advice",
        title="Task advice",
        compute="analysis.insights.advice.compute",
        inputs=newest_answers,
        settings=AdviceSettings,
        check=_check,
        role=Role.OWNER,
        job=Job.Kind.RESEARCH,
        page="advice",
        place="rounds",
    )
)
