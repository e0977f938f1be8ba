"""Proposals: the project's own past, replayed at night with other ways of choosing.

A worker for research hides the answers again and asks for them as another setting would have: by
chance, by another strategy, for whole sentences, with a model per task, with other weights. Every
replay of a seed begins with the same sentences and spends the same minutes. A change is proposed
only where the interval of what it gains on all tasks together excludes zero, with allowance for how
many ways were tried; it becomes a default when an owner says so, or by itself where the owner has
allowed that.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.accounts.log import record
from annotation.errors import Conflict, Refused
from annotation.jobs.insights import (
    InsightKind,
    known_insight,
    register_insight,
    start_insight,
    stored_result,
)
from annotation.jobs.services import Progress
from annotation.models import Annotation, Gold, Job, Project, Role
from annotation.rounds.dashboard import trained_rounds
from annotation.rounds.services import set_default_settings
from annotation.rounds.settings import default_settings
from mtl_engine.settings import Settings, setting

NIGHT = range(1, 5)  # hours of the server's clock
NOT_BEFORE = timedelta(hours=20)  # since the last replay
LEAST_ROUNDS, LEAST_LABELLED = 3, 100
SHARE_AT_START, N_STEPS = 0.25, 3  # of the answers; trainings of a replay


@dataclass(frozen=True)
class ProposalSettings(Settings):
    """How much is replayed."""

    minutes: int = setting(
        60, title="Minutes", help="Of computing; what does not fit is left.", low=1, high=1440
    )
    n_seeds: int = setting(
        5, title="Seeds", help="Replays of each way; below 3 nothing is shown.", low=2, high=10
    )


@dataclass(frozen=True)
class Candidate:
    """Another way of choosing, as changes of the settings of rounds."""

    words: str
    changes: Mapping[str, Any]


def candidates(settings: Mapping[str, Any], tasks: Sequence[str]) -> Iterator[Candidate]:
    """Yield what could be tried in place of a project's settings."""
    others = {
        "strategy": (("RANDOM", "by chance"), ("MT-EEC", "expected errors covered"),
                     ("MT-RRF", "joined ranks")),
        "architecture": (("ST", "a model per task"), ("SMT", "one model of all tasks"),
                         ("CMT", "one model with a gate")),
        "whole_sentences": ((True, "whole sentences"), (False, "tasks where they pay")),
        "task_need": (("error", "tasks that err more count more"), ("equal", "tasks count alike")),
    }  # fmt: skip
    for key, values in others.items():
        for value, words in values:
            is_of_use = len(tasks) > 1 or key == "strategy"
            if settings[key] != value and is_of_use:
                changes = {key: value}
                if key == "strategy":
                    changes |= {"weights": {}, "task": ""}
                yield Candidate(words, changes)


def compute(project: Project, settings: ProposalSettings, progress: Progress) -> dict[str, Any]:
    """Return what each way of choosing would have gained, and the proposal if one is shown."""
    from analysis.data.project import read_project, read_times

    started = time.monotonic()
    corpus = read_project(project.pk, tasks=[])
    times = read_times(project.pk, [])
    own = default_settings(project).to_dict()
    ways = [
        Candidate("as the project's defaults say", {}),
        *candidates(own, [t.name for t in corpus.tasks]),
    ]
    n_total = len(ways) * settings.n_seeds
    scores: dict[int, list[float]] = {number: [] for number in range(len(ways))}
    longest, n_done = 0.0, 0
    for seed in range(settings.n_seeds):  # every way once, then again: what is cut off is a seed
        for number, way in enumerate(ways):
            progress("replaying", n_done, n_total)
            begun = time.monotonic()
            if begun - started + longest > 60 * settings.minutes:
                break
            scores[number].append(_replayed(corpus, times, {**own, **way.changes}, seed))
            longest, n_done = max(longest, time.monotonic() - begun), n_done + 1
    n_tried = sum(bool(scores[number]) for number in range(1, len(ways)))
    rows = [
        {
            "words": way.words,
            "changes": dict(way.changes),
            **compared(scores[0], scores[number], n_tried=n_tried),
        }
        for number, way in enumerate(ways)
        if number and scores[number]
    ]
    shown = [row for row in rows if row["is_shown"]]
    best = max(shown, key=lambda row: row["gain"], default=None)
    result: dict[str, Any] = {
        "rows": rows,
        "proposal": best,
        "n_left": n_total - n_done,
        "own": scores[0],
        "applied": False,
    }
    if best is not None and project.applies_proposals:
        _apply(project, best, None)
        result["applied"] = True
    return {**result, "words": proposal_words(result)}


def _replayed(corpus: Any, times: Any, values: Mapping[str, Any], seed: int) -> float:
    """Return the mean score of all tasks over the course of a replay."""
    from analysis.studies.active_learning.settings import SimulationSettings
    from analysis.studies.active_learning.simulation import simulate
    from config.home import home

    n = len(corpus.pool)
    known = {field.name for field in fields(SimulationSettings)}
    start = max(20, int(SHARE_AT_START * n))
    settings = SimulationSettings.from_dict(
        {
            **{key: value for key, value in values.items() if key in known},
            "initial": start,
            "n_rounds": N_STEPS,
            "unit": "minutes",
            "amount": _step_minutes(corpus, times, start),
            "each_wording_once": True,
            "decision": "BLP",
        }
    )
    rows = [
        row["mean"]
        for row in simulate(corpus, settings, seed=seed, cache_dir=home().features, times=times)
        if "final" not in row
    ]
    return float(np.mean(rows[1:] or rows))


def _step_minutes(corpus: Any, times: Any, start: int) -> float:
    """Return the minutes of a step, so that all steps together leave a third unasked."""
    known = [times.seconds[e.id] for e in corpus.pool if e.id in times.seconds]
    each = float(np.mean(known)) if known else 30.0
    left = max(1, len(corpus.pool) - start)
    return max(0.5, each * left * 2 / 3 / max(1, N_STEPS - 1) / 60)


def compared(own: Sequence[float], other: Sequence[float], *, n_tried: int = 1) -> dict[str, Any]:
    """Return what one way gains on another over the same seeds, with its interval (Student's t).

    All intervals of the ways that were tried hold together with 95 % (Bonferroni): the best of
    many is no proof otherwise.
    """
    from scipy import stats  # the worker loads it, pages do not

    gaps = [b - a for a, b in zip(own, other, strict=False)]
    n = len(gaps)
    gain = float(np.mean(gaps)) if gaps else 0.0
    if n < 3:
        return {"gain": gain, "interval": None, "n_seeds": n, "is_shown": False}
    quantile = float(stats.t.ppf(1 - 0.025 / n_tried, n - 1))
    half = quantile * float(np.std(gaps, ddof=1)) / math.sqrt(n)
    return {
        "gain": gain,
        "interval": [gain - half, gain + half],
        "n_seeds": n,
        "is_shown": gain - half > 0,
    }


def proposal_words(stored: Mapping[str, Any] | None) -> str:
    """Return what the last replay proposes, in one sentence."""
    if not stored:
        return ""
    if not stored["rows"]:
        return "Replays of the past: there was no time for another way of choosing."
    best = stored["proposal"]
    if best is None:
        n = len(stored["rows"])
        return f"Replays of the past with {n} other ways of choosing: none is shown to be better."
    low, high = (100 * end for end in best["interval"])
    words = (
        f"Replays of the past were better with '{best['words']}': {100 * best['gain']:+.1f} points "
        f"({low:+.1f} to {high:+.1f}) on all tasks, {best['n_seeds']} seeds."
    )
    return words + (" It is the default now." if stored["applied"] else "")


@transaction.atomic
def apply_proposal(*, project: Project, actor: Any) -> dict[str, Any]:
    """Make what the last replay proposes the default of new rounds."""
    stored = stored_result(project, "proposals")
    if not stored or stored["proposal"] is None or stored["applied"]:
        raise Conflict("Nothing is proposed: no replay has shown another way to be better.")
    _apply(project, stored["proposal"], actor)
    changed = {**stored, "applied": True}
    changed["words"] = proposal_words(changed)
    project.insights.filter(name="proposals").update(result=changed)
    changes: dict[str, Any] = stored["proposal"]["changes"]
    return changes


def _apply(project: Project, proposal: Mapping[str, Any], actor: Any) -> None:
    set_default_settings(
        project=project, values={**default_settings(project).to_dict(), **proposal["changes"]}
    )
    record("round.defaults", project=project, actor=actor, words=proposal["words"])


def keep_up(*, now: datetime) -> int:
    """Queue the replays that are due this night; return how many."""
    local = timezone.localtime(now)
    if local.hour not in NIGHT:
        return 0
    n_queued = 0
    for project in Project.objects.filter(
        state=Project.State.ACTIVE, replays_at_night=True, rounds__isnull=False
    ).distinct():
        known = known_insight(project, "proposals")
        is_recent = known.stored and now - known.stored.computed_at < NOT_BEFORE
        if known.running or known.failed or is_recent or known.is_current:
            continue
        try:
            start_insight(project=project, name="proposals", settings={}, created_by=None)
            n_queued += 1
        except Refused:
            continue
    return n_queued


def _check(project: Project) -> None:
    n_rounds = len(trained_rounds(project))
    gold = Gold.objects.filter(sentence__project=project).values("sentence")
    given = Annotation.objects.filter(sentence__project=project).values("sentence")
    n_labelled = gold.union(given).count()
    if n_rounds < LEAST_ROUNDS or n_labelled < LEAST_LABELLED:
        raise Refused(
            f"A replay needs {LEAST_ROUNDS} rounds with scores and {LEAST_LABELLED} sentences with "
            f"answers; there are {n_rounds} and {n_labelled}."
        )


def _inputs(project: Project) -> Any:
    newest = [
        model.objects.filter(sentence__project=project).order_by("-pk").values_list("pk").first()
        for model in (Annotation, Gold)
    ]
    return [newest, project.round_defaults]


PROPOSALS = register_insight(
    InsightKind(
        name="proposals",
        title="Replays of the past",
        compute="analysis.insights.proposals.compute",
        inputs=_inputs,
        settings=ProposalSettings,
        check=_check,
        role=Role.OWNER,
        job=Job.Kind.RESEARCH,
        page="overview",
    )
)
