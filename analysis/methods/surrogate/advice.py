"""Advice on a project's tasks: which to train together, from trainings on groups of them.

Nothing here loads torch before ``advise`` is called, so that pages can show advice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from mtl_engine.config import EngineConfig
    from mtl_engine.types import Example, TaskSpec

Method = Literal["trained", "gradients"]
Verdict = Literal["helps", "hurts", "cannot tell"]
Progress = Callable[[int, int], None]  # trainings done, of how many


@dataclass(frozen=True)
class Effect:
    """What training with a source task adds to a target's score; above 0 helps.

    Scores are in points of 100 (F1, accuracy, LAS). Where gradients estimated it, ``points`` is
    the fall of the target's loss in hundredths of a nat.
    """

    source: str
    target: str
    points: float
    low: float  # 95 % bootstrap interval
    high: float

    @property
    def verdict(self) -> Verdict:
        if self.low > 0:
            return "helps"
        return "hurts" if self.high < 0 else "cannot tell"


@dataclass(frozen=True)
class Target:
    """A task by itself and with all the others, on held-out sentences; mean over seeds."""

    task: str
    metric: str  # "F1", "accuracy", "LAS" or "loss"
    alone: float  # points; with the spans it links where the task is relations
    together: float
    n_labelled: int
    parent: str | None = None  # the spans task that it is always trained with


@dataclass(frozen=True)
class Advice:
    """Every effect that could be measured, and why the others could not."""

    effects: tuple[Effect, ...]
    targets: tuple[Target, ...]
    too_few: Mapping[str, int]  # tasks left out: name -> labelled sentences
    method: Method
    n_trainings: int
    n_seeds: int
    cpu_seconds: float

    def effect(self, source: str, target: str) -> Effect | None:
        """Return the effect of a source on a target, or nothing where none was measured."""
        found = (e for e in self.effects if (e.source, e.target) == (source, target))
        return next(found, None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON, that ``from_dict`` reads back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Advice":
        """Return the advice that ``to_dict`` wrote."""
        effects = tuple(Effect(**row) for row in values["effects"])
        targets = tuple(Target(**row) for row in values["targets"])
        return cls(**{**values, "effects": effects, "targets": targets})


def advise(
    examples: Sequence["Example"],
    tasks: Sequence["TaskSpec"],
    config: "EngineConfig",
    *,
    method: Method = "trained",
    n_subsets: int = 24,
    subset_size: int = 3,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    on_progress: Progress | None = None,
    cache_dir: "Path | str | None" = None,
) -> Advice:
    """Return which tasks help or hurt which, measured on labelled sentences.

    Up to ``n_subsets`` groups of ``subset_size`` tasks (all groups where there are no more) are
    trained once per seed, each seed with other held-out sentences. ``method="gradients"`` trains
    only once per seed, on all tasks, and solves the groups linearly around that model: many times
    cheaper, in units of loss. ``on_progress`` may raise to stop. Fewer than two tasks with enough
    labels give advice without effects; ``in_words`` then says so.
    """
    from analysis.methods.surrogate.estimation import measure_advice

    return measure_advice(
        examples,
        tasks,
        config,
        method=method,
        n_subsets=n_subsets,
        subset_size=subset_size,
        seeds=tuple(seeds),
        on_progress=on_progress or (lambda done, total: None),
        cache_dir=cache_dir,
    )


def in_words(advice: Advice) -> list[str]:
    """Return the advice as sentences: one for each task, then one for those left out."""
    said = [_target_in_words(advice, target) for target in advice.targets]
    for name, n in advice.too_few.items():
        said.append(f"Not enough labels to tell about {name}: {n} labelled sentences.")
    if advice.method == "gradients" and advice.effects:
        said.append("Estimated from gradients: good for an order of tasks, not for their effects.")
    return said or ["Not enough labels to tell."]


def _target_in_words(advice: Advice, target: Target) -> str:
    effects = [effect for effect in advice.effects if effect.target == target.task]
    if not effects and target.parent:
        return f"Train {target.task} with {target.parent}, whose spans it links."
    if not effects:
        return f"Not enough labels to tell what helps {target.task}."
    helping = sorted((e for e in effects if e.verdict == "helps"), key=lambda e: -e.points)
    hurting = sorted((e for e in effects if e.verdict == "hurts"), key=lambda e: e.points)
    open_ones = [e.source for e in effects if e.verdict == "cannot tell"]
    parts = []
    partners = [target.parent] if target.parent else []
    named = [*partners, *(f"{e.source} ({_amount(e, target)})" for e in helping)]
    if named:
        parts.append(f"Train {target.task} with {_listed(named)}")
    elif hurting and not open_ones:
        parts.append(f"Train {target.task} alone")
    if hurting:
        place = "out" if parts else f"out of {target.task}"
        left = _listed([f"{e.source} {place} ({_amount(e, target)})" for e in hurting])
        parts.append(f"{'leave' if parts else 'Leave'} {left}")
    if open_ones:
        parts.append(f"not enough labels to tell about {_listed(open_ones)}")
        if len(parts) == 1:
            verb = "helps" if len(open_ones) == 1 else "help"
            return f"Not enough labels to tell whether {_listed(open_ones)} {verb} {target.task}."
    return "; ".join(parts) + "."


def _amount(effect: Effect, target: Target) -> str:
    unit = "hundredths of loss" if target.metric == "loss" else target.metric
    return f"{effect.points:+.1f} {unit}, 95 % interval {effect.low:.1f} to {effect.high:.1f}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
