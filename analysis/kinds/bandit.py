"""The study kind ``bandit``: one policy played in one world of the MTL bandit."""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.bandit import MTLBandit
from analysis.bandit_study import POLICIES, play
from analysis.errors import AnalysisError
from analysis.sweep.kinds import Row, StudyKind, register


def _run(settings: Mapping[str, Any], seed: int, data: Any) -> Iterator[Row]:
    bandit = MTLBandit(settings["n_tasks"], settings["n_steps"], seed=settings["world"])
    game = play(
        bandit,
        settings["policy"],
        seed=seed,
        entropy_weight=settings["entropy_weight"],
        n_improvements=settings["n_improvements"],
    )
    for step, score in game.curve:
        yield {"step": step, "score": score}
    yield {"final": {"score": game.final_score}}


def _check(settings: Mapping[str, Any]) -> None:
    MTLBandit(settings["n_tasks"], settings["n_steps"], seed=0)
    if settings["policy"] not in POLICIES:
        raise AnalysisError(f"No policy '{settings['policy']}'. Known: {', '.join(POLICIES)}.")


BANDIT = register(
    StudyKind(
        name="bandit",
        defaults={
            "n_tasks": 10,
            "n_steps": 10_000,
            "world": 0,
            "policy": "RANDOM",
            "entropy_weight": 0.25,
            "n_improvements": 2,
        },
        run=_run,
        check=_check,
        replicates=("world",),
    )
)
