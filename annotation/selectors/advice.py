"""Reading the advice on a project's tasks."""

from dataclasses import dataclass
from typing import Any

from annotation.models import Job, Project
from annotation.services.jobs import OPEN


@dataclass(frozen=True)
class KnownAdvice:
    """The newest advice, and the job that measures a newer one."""

    done: Job | None
    running: Job | None
    failed: Job | None  # the newest job, where it came to nothing

    @property
    def words(self) -> list[str]:
        """Return the advice as sentences."""
        from analysis.surrogate.advice import Advice, in_words

        return in_words(Advice.from_dict(self.done.result)) if self.done else []


def known_advice(project: Project) -> KnownAdvice:
    """Return what is known about a project's tasks."""
    jobs = list(project.jobs.filter(kind=Job.Kind.ADVICE).order_by("-pk")[:20])
    newest = jobs[0] if jobs else None
    return KnownAdvice(
        next((job for job in jobs if job.state == Job.State.DONE), None),
        newest if newest and newest.state in OPEN else None,
        newest if newest and newest.state == Job.State.FAILED else None,
    )


def effect_rows(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one row a target with its cells, one a source, ready to be drawn as a heat map."""
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
