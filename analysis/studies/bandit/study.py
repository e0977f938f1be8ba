"""The study kind ``bandit``: one policy played in one world of the MTL bandit."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.methods.policies.bandit import MTLBandit
from analysis.studies.bandit.games import POLICIES, play
from analysis.sweep.registry import Row, StudyKind
from mtl_engine.settings import Choice, Settings, setting


@dataclass(frozen=True)
class BanditSettings(Settings):
    """A world of the bandit and the policy that plays in it."""

    n_tasks: int = setting(10, title="Tasks", low=1)
    n_steps: int = setting(10_000, title="Steps of a game", low=1)
    world: int = setting(0, title="Seed of the world", low=0)
    policy: str = setting("RANDOM", title="Policy", choices=[Choice(name) for name in POLICIES])
    entropy_weight: float = setting(
        0.25, title="Entropy weight", help="Lambda of equation 14, of LEARNED.", low=0
    )
    n_improvements: int = setting(
        2, title="Improvements", help="Games that LEARNED plays and learns from.", low=1
    )


def _run(settings: BanditSettings, seed: int, data: Any) -> Iterator[Row]:
    bandit = MTLBandit(settings.n_tasks, settings.n_steps, seed=settings.world)
    game = play(
        bandit,
        settings.policy,
        seed=seed,
        entropy_weight=settings.entropy_weight,
        n_improvements=settings.n_improvements,
    )
    for step, score in game.curve:
        yield {"step": step, "score": score}
    yield {"final": {"score": game.final_score}}


STUDY = StudyKind(
    name="bandit",
    settings=BanditSettings,
    run=_run,
    replicates=("world",),
)
