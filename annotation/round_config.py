"""The choices of a round, with defaults that suit most projects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from django.conf import settings

from annotation.answers import Problem
from annotation.errors import InvalidInput
from mtl_engine.config import BUNDLED, EngineConfig, Settings
from mtl_engine.errors import EngineError
from mtl_engine.selection import gives_values

TINY = "tiny"  # learns from scratch in seconds: for trials and tests
Unit = Literal["minutes", "sentences", "cost"]
StrategyName = Literal[
    "RANDOM", "SINGLE", "MT-AVG", "MT-MAX", "MT-MIN", "MT-PAR", "MT-RRF", "MT-IND",
    "STCS", "UDJS", "EQB-DJS",
]  # fmt: skip
GREEDY_ONLY = ("RANDOM", "SINGLE", "MT-PAR", "MT-IND")
BUDGET_ONLY = ("STCS", "UDJS", "EQB-DJS")
WEIGHTED = ("MT-AVG", "MT-PAR", "MT-RRF", "MT-IND", "UDJS")


@dataclass(frozen=True)
class RoundConfig(Settings):
    """Everything that an admin decides about a round."""

    amount: float = 60.0
    unit: Unit = "minutes"
    overlap: int = 0  # answers a sentence; 0 = the project's
    strategy: StrategyName = "MT-RRF"
    task: str = ""  # of SINGLE and STCS
    weights: Mapping[str, float] = field(default_factory=dict)  # by task; empty = equal
    decision: Literal["BLP", "GREEDY"] = "BLP"
    scale: Literal["none", "quantile", "scaled"] = "none"  # how tasks are made comparable
    value: Literal["mean", "information"] = "mean"  # of a sentence: per word, or in all
    diversity: Literal["none", "facility", "badge"] = "none"  # a batch that differs in itself
    random_share: float = 0.2
    shows_suggestions: bool = True
    blind_share: float = 0.12
    test_size: int = 200  # sentences frozen by the first round
    encoder: str = BUNDLED
    architecture: Literal["ST", "SMT", "CMT"] = "SMT"
    loss: Literal["plain", "smoothing"] = "smoothing"
    confidence: Literal["entropy", "dropout"] = "entropy"
    has_temperature: bool = True
    policy: Literal["joint", "uniform", "size", "temperature", "learned"] = "joint"
    is_fast: bool = True  # frozen bottom layers, computed once and kept
    frozen_layers: int = 2  # of a fast training; 4 of the bundled encoder's 6 are twice as fast
    is_warm_start: bool = False
    has_control: bool = True  # a second model, on what chance alone has chosen
    epochs: int = 0  # 0 = as many as suit the number of sentences
    next_at_percent: float = 0.0  # start the next round when so many asks are answered; 0 = never
    seed: int = 0

    def __post_init__(self) -> None:
        self._require_choices()
        self._require("amount", self.amount > 0, "more than 0")
        self._require("overlap", 0 <= self.overlap <= 10, "0 to 10")
        for key in ("random_share", "blind_share"):
            self._require(key, 0 <= getattr(self, key) <= 1, "0 to 1")
        self._require("test_size", self.test_size >= 1, "1 or more")
        self._require("frozen_layers", 1 <= self.frozen_layers <= 100, "1 to 100")
        self._require("epochs", 0 <= self.epochs <= 200, "0 to 200")
        self._require("next_at_percent", 0 <= self.next_at_percent <= 100, "0 to 100")
        self._require("seed", self.seed >= 0, "0 or more")
        self._require("encoder", self.encoder in known_encoders(), ", ".join(known_encoders()))
        needs_task = self.strategy in ("SINGLE", "STCS")
        self._require("task", bool(self.task) == needs_task, "a task's name with SINGLE and STCS")
        may_differ = self.diversity == "none" or gives_values(self.strategy)
        self._require("diversity", may_differ, f"none with {self.strategy}")
        may_sum = self.value == "mean" or self.confidence == "entropy"
        self._require("value", may_sum, "mean with dropout votes")

    @property
    def is_by_count(self) -> bool:
        """Return whether the round asks for a number of sentences and no budget."""
        return self.unit == "sentences"

    def engine_config(self) -> EngineConfig:
        """Return the engine's settings that these choices mean."""
        kind = "tiny" if self.encoder == TINY else "transformer"
        return EngineConfig.from_dict(
            {
                "encoder": {
                    "kind": kind,
                    "name": BUNDLED if self.encoder == TINY else self.encoder,
                    "frozen_layers": (0 if kind == "tiny" else self.frozen_layers)
                    if self.is_fast
                    else -1,
                },
                "model": {"architecture": self.architecture},
                "training": {
                    "seed": self.seed,
                    "epochs": self.epochs,
                    "label_smoothing": 0.1 if self.loss == "smoothing" else 0.0,
                    "policy": "uniform" if self.policy == "learned" else self.policy,
                },
            }
        )


def known_encoders() -> tuple[str, ...]:
    """Return the encoders that a round may use: the bundled one, and those the server lists."""
    return (BUNDLED, TINY, *settings.ENCODERS)


def read_round_config(values: Mapping[str, Any], task_names: list[str]) -> RoundConfig:
    """Return the choices of a round; what is wrong with them is said field by field."""
    try:
        config = RoundConfig.from_dict(values)
    except EngineError as error:
        raise InvalidInput([Problem("config", str(error))]) from error
    problems = [
        Problem(key, f"No task '{name}'. Known: {', '.join(task_names)}.")
        for key, name in [("task", config.task), *(("weights", name) for name in config.weights)]
        if name and name not in task_names
    ]
    if config.weights and abs(sum(config.weights.values()) - 1) > 0.01:
        total = sum(config.weights.values())
        problems.append(Problem("weights", f"The weights sum to {total:.2f}; they must sum to 1."))
    if config.weights and config.strategy not in WEIGHTED:
        known = ", ".join(WEIGHTED)
        problems.append(
            Problem("weights", f"{config.strategy} takes no weights. These do: {known}.")
        )
    if config.is_by_count and config.strategy in BUDGET_ONLY:
        problems.append(
            Problem("strategy", f"{config.strategy} spends a budget: give minutes or cost units.")
        )
    if problems:
        raise InvalidInput(problems)
    return config
