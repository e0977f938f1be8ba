"""The settings of a round: those of the loop, and what only a server with people decides."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings

from annotation.errors import InvalidInput
from annotation.models import Project, Round
from mtl_engine.active_learning.settings import (
    BUDGET,
    EVALUATION,
    MINUTES,
    MODEL_DETAILS,
    TINY,
    ActiveLearningSettings,
)
from mtl_engine.config import BUNDLED
from mtl_engine.errors import EngineError, Problem
from mtl_engine.languages import is_multilingual
from mtl_engine.settings import Choice, setting, setting_of

NEXT = "next"
LEARNED = "learned"
ENCODER_TITLES = {
    BUNDLED: "MiniLM, 6 layers, English: fast",
    TINY: "tiny, learns from scratch: for trials",
}


def known_encoders() -> list[Choice]:
    """Return the encoders that a round may use: the bundled one, and those the server lists."""
    listed = sorted(settings.ENCODERS, key=lambda name: not is_multilingual(name))
    names = (BUNDLED, TINY, *listed)  # those of many languages before those of one
    return [Choice(name, ENCODER_TITLES.get(name, name)) for name in names]


@dataclass(frozen=True)
class RoundSettings(ActiveLearningSettings):
    """Everything that an admin decides about a round."""

    encoder: str = setting_of(ActiveLearningSettings, "encoder", choices=known_encoders)
    policy: str = setting_of(
        ActiveLearningSettings, "policy", more=[Choice(LEARNED, "learned from earlier rounds")]
    )
    overlap: int = setting(
        0,
        title="Answers per sentence",
        help="0: as many as the project says. Two answers measure agreement and feed adjudication, "
        "at twice the time.",
        section=BUDGET,
        low=0,
        high=10,
    )
    buys_looks: bool = setting(
        False,
        title="One market for minutes",
        help="The minutes may also buy second opinions, adjudications, checks of outside "
        "suggestions and repairs of suspected errors, where these bring the tasks nearer to their "
        "targets than new labels do.",
        section=BUDGET,
    )
    has_control: bool = setting(
        True,
        title="Train a control",
        help="A second, smaller model on the random share, for an honest comparison.",
        section=EVALUATION,
    )
    shows_suggestions: bool = setting(
        True,
        title="Show suggestions",
        help="The model's answers stand on the sentence, to be accepted or changed.",
        section=EVALUATION,
    )
    blind_share: float = setting(
        0.12,
        title="Blind share",
        help="Shown without suggestions. They save time but pull answers their way; blind asks "
        "measure how much.",
        section=EVALUATION,
        low=0,
        high=1,
        is_share=True,
    )
    test_size: int = setting(
        200,
        title="Test slice",
        help="Random sentences that are never trained on; all scores come from them. The slice "
        "grows within the budget, by at most a quarter of it, until it has this size.",
        section=EVALUATION,
        low=1,
        suffix="sentences",
    )
    splits_documents: bool = setting(
        False,
        title="The test slice may cut documents",
        help="Off: documents are tested or trained on as a whole, so that a test sentence has no "
        "neighbour that the model has seen. They are drawn by the first round.",
        section=EVALUATION,
    )
    seed: int = setting(
        0,
        title="Seed",
        help="The same seed, labels and pool give the same asks.",
        section=MODEL_DETAILS,
        low=0,
        high=2**31 - 1,
    )
    next_at_percent: float = setting(
        0.0,
        title="Repeat when answered",
        help="Start the next round by itself, with these settings, when so many asks are answered; "
        "0 waits for you.",
        section=NEXT,
        low=0,
        high=100,
        suffix="%",
    )

    def conflicts(self) -> Iterator[Problem]:
        """Yield what cannot work together; the market knows prices in seconds only."""
        if self.buys_looks and self.unit != MINUTES:
            words = f"One market for minutes needs the unit minutes, not {self.unit}."
            yield Problem("buys_looks", words)
        yield from super().conflicts()

    @property
    def task_order(self) -> str:
        """Return the engine's policy; learned probabilities take its place in training."""
        return "uniform" if self.policy == LEARNED else self.policy


def default_settings(project: Project) -> RoundSettings:
    """Return what a new round of a project is set to: the project's defaults, else the product's.

    Stored defaults that are not allowed any more, as an encoder that the server does not list, are
    left out.
    """
    found = RoundSettings()
    for key, value in RoundSettings.current(project.round_defaults).items():
        try:
            found = RoundSettings.from_dict({**found.to_dict(), key: value})
        except EngineError:
            continue
    return found


def read_settings(project: Project, changes: Mapping[str, Any]) -> RoundSettings:
    """Return a project's default settings with changes; everything wrong is said by its key."""
    values = {**default_settings(project).to_dict(), **_current(changes)}
    try:
        found = RoundSettings.from_dict(values)
    except EngineError as error:
        raise InvalidInput(problems_of(error)) from error
    problems = found.task_problems(list(project.tasks.values_list("name", flat=True)))
    if problems:
        raise InvalidInput(problems)
    return found


def stored_settings(round: Round) -> RoundSettings:
    """Return the settings that a round runs with."""
    return RoundSettings.from_dict(round.config)


def shown_settings(round: Round) -> dict[str, Any]:
    """Return a round's settings as values to show, also where they are not allowed any more."""
    known = _product_defaults()
    kept = {key: value for key, value in _current(round.config).items() if key in known}
    return {**known, **kept}


@cache
def _product_defaults() -> dict[str, Any]:
    return RoundSettings().to_dict()


def problems_of(error: EngineError) -> list[Problem]:
    """Return what an error says, by setting."""
    return list(getattr(error, "problems", None) or [Problem("", str(error))])


def _current(values: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return RoundSettings.current(values)
    except EngineError as error:
        raise InvalidInput(problems_of(error)) from error
