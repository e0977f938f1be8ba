"""What can be decided about a turn of active learning; the defaults are those of the product."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mtl_engine.config import BUNDLED, BY_TASKS, EngineConfig, TrainingConfig
from mtl_engine.errors import EngineError, Problem
from mtl_engine.selection import STRATEGIES, BatchRules, Combination, find_conflicts
from mtl_engine.selection.coverage import MODES
from mtl_engine.settings import Choice, Settings, setting

TINY = "tiny"  # an encoder that learns from scratch in seconds: for trials and tests
MINUTES, SENTENCES, COST = "minutes", "sentences", "cost"
BUDGET, SELECTION, EVALUATION, MODEL = "budget", "selection", "evaluation", "model"
SELECTION_DETAILS, MODEL_DETAILS = "selection details", "model details"
RETIRED_LOSSES = {"plain": 0.0, "smoothing": 0.1}  # values of a setting before label_smoothing


def strategy_choices() -> list[Choice]:
    """Return every registered strategy with the properties that a page reacts to."""
    return [
        Choice(
            strategy.name,
            strategy.title,
            strategy.summary,
            {
                "takes_weights": strategy.takes_weights,
                "needs_task": strategy.needs_task,
                "gives_values": strategy.gives_values,
                "works_by_count": strategy.works_by_count,
                "needs_units": strategy.needs_units,
                "is_ranked": not strategy.needs_units and not strategy.needs_rng,
                "is_solved": "BLP" in strategy.decisions,
                "is_allocated": strategy.allocate is not None and not strategy.needs_units,
                "decisions": list(strategy.decisions),
            },
        )
        for strategy in STRATEGIES.values()
    ]


@dataclass(frozen=True)
class ModelSettings(Settings):
    """The model and how it learns."""

    RETIRED: ClassVar[tuple[str, ...]] = ("loss", "is_fast")

    encoder: str = setting(
        BUNDLED, title="Encoder", help="Reads the sentence for all tasks.", section=MODEL
    )
    architecture: str = setting(
        "SMT",
        title="Architecture",
        help="Shared learns the tasks together. Add the gate when tasks seem to hurt each other.",
        section=MODEL,
        choices=(
            Choice("ST", "one per task (ST)"),
            Choice("SMT", "shared (SMT)"),
            Choice("CMT", "shared + gate (CMT)"),
        ),
    )
    policy: str = setting(
        "joint",
        title="Task order",
        help="Which task's sentences the trainer takes next.",
        section=MODEL,
        choices=(
            Choice("joint", "all together"),
            Choice("uniform", "uniform"),
            Choice("size", "by size"),
            Choice("temperature", "by size, evened out"),
            Choice("exp3s", "by what each step brings (Exp3.S)"),
        ),
    )
    label_smoothing: float = setting(
        TrainingConfig.label_smoothing,
        title="Label smoothing",
        help="Keeps the model from being too sure; 0: plain cross-entropy.",
        section=MODEL_DETAILS,
        low=0,
        below=1,
    )
    frozen_layers: int = setting(
        BY_TASKS,
        title="Frozen layers",
        help="The embeddings and so many of the lowest layers stay as they are and are computed "
        "once. -2: as suits the tasks, a third of the layers, but none where trees are learned; on "
        "ATIS that is faster and better, of trees it costs 7 points. -1: everything learns.",
        section=MODEL_DETAILS,
        low=BY_TASKS,
        high=100,
    )
    lora_rank: int = setting(
        0,
        title="LoRA rank",
        help="Layers that are not frozen learn a change of this rank only; 0: all their weights.",
        section=MODEL_DETAILS,
        low=0,
        high=512,
    )
    epochs: int = setting(
        0,
        title="Epochs",
        help="Passes over the sentences; 0: as many as suit the number of words.",
        section=MODEL_DETAILS,
        low=0,
        high=200,
    )
    learning_rate: float = setting(
        TrainingConfig.learning_rate,
        title="Learning rate",
        help="Of the encoder.",
        section=MODEL_DETAILS,
        above=0,
    )
    head_factor: float = setting(
        TrainingConfig.head_factor,
        title="Head factor",
        help="Learning rate of the heads, as a multiple of the encoder's.",
        section=MODEL_DETAILS,
        above=0,
    )
    batch_size: int = setting(
        TrainingConfig.batch_size,
        title="Batch size",
        help="Sentences per step, as papers count; 0: steps of equally many words.",
        section=MODEL_DETAILS,
        low=0,
    )
    patience: int = setting(
        TrainingConfig.patience,
        title="Patience",
        help="Evaluations without a new best before training stops early; 0: it ends as planned.",
        section=MODEL_DETAILS,
        low=0,
    )

    @classmethod
    def current(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return values of earlier versions under today's names: ``loss``, ``is_fast``."""
        found = {key: value for key, value in values.items() if key not in cls.RETIRED}
        if values.get("loss") in RETIRED_LOSSES:
            found.setdefault("label_smoothing", RETIRED_LOSSES[values["loss"]])
        elif "loss" in values:
            raise EngineError(
                f"{cls.__name__} key 'loss' is {values['loss']!r}; allowed: plain, smoothing. "
                "Better: label_smoothing, a number."
            )
        if values.get("is_fast") is False:
            found["frozen_layers"] = -1
        return found

    @property
    def task_order(self) -> str:
        """Return the engine's policy of whose sentences come next."""
        return self.policy

    def conflicts(self) -> Iterator[Problem]:
        """Yield what the engine refuses."""
        try:
            self.engine_config(seed=0)
        except EngineError as error:
            yield Problem("encoder", str(error))

    def engine_config(self, *, seed: int) -> EngineConfig:
        """Return the engine's settings that these choices mean."""
        is_tiny = self.encoder == TINY
        n_frozen = 0 if self.frozen_layers == BY_TASKS else self.frozen_layers
        return EngineConfig.from_dict(
            {
                "encoder": {
                    "kind": "tiny" if is_tiny else "transformer",
                    "name": BUNDLED if is_tiny else self.encoder,
                    "frozen_layers": min(n_frozen, 0) if is_tiny else self.frozen_layers,
                    "lora_rank": self.lora_rank,
                },
                "model": {"architecture": self.architecture},
                "training": {
                    "seed": seed,
                    "epochs": self.epochs,
                    "learning_rate": self.learning_rate,
                    "head_factor": self.head_factor,
                    "batch_size": self.batch_size,
                    "patience": self.patience,
                    "label_smoothing": self.label_smoothing,
                    "policy": self.task_order,
                },
            }
        )


@dataclass(frozen=True)
class ActiveLearningSettings(ModelSettings):
    """How much to ask for, how to select it, and how the model learns."""

    amount: float = setting(
        60.0,
        title="Budget",
        help="Working time of all annotators together, or a number of sentences, or cost units.",
        section=BUDGET,
        above=0,
    )
    unit: str = setting(
        MINUTES,
        title="Unit",
        help="Minutes come from measured times. Cost units are those of the paper: "
        "tokens read, items marked, 3 per class.",
        section=BUDGET,
        choices=(
            Choice(MINUTES, "minutes"),
            Choice(SENTENCES, "sentences"),
            Choice(COST, "cost units"),
        ),
    )
    strategy: str = setting("MT-EEC", title="Strategy", section=SELECTION, choices=strategy_choices)
    task: str = setting(
        "",
        title="Task",
        help="For strategies that go by one task.",
        section=SELECTION,
        needs="needs_task",
    )
    weights: Mapping[str, float] = setting(
        default_factory=dict,
        title="Weights",
        help="How much each task counts, as shares. None: all count equally.",
        section=SELECTION,
        needs="takes_weights",
    )
    decision: str = setting(
        "BLP",
        title="Fit to budget",
        help="Best value prefers two short sentences to one long one when they teach more "
        "together. Strategies that choose a set always go first in rank.",
        section=SELECTION,
        choices=(Choice("BLP", "best value (BLP)"), Choice("GREEDY", "first in rank (greedy)")),
        needs="is_solved",
    )
    value: str = setting(
        "mean",
        title="Uncertainty counts",
        help="Per word, short sentences look as good as long ones; in all, a budget is not spent "
        "on the shortest.",
        section=SELECTION,
        choices=(Choice("mean", "per word"), Choice("information", "in all")),
        needs="is_ranked",
    )
    scale: str = setting(
        "none",
        title="Tasks compared",
        help="As they are, a task that is always less sure than the others decides alone.",
        section=SELECTION,
        choices=(
            Choice("none", "as they are"),
            Choice("scaled", "stretched"),
            Choice("quantile", "by rank"),
        ),
        needs="is_ranked",
    )
    diversity: str = setting(
        "none",
        title="Batch",
        help="Leaves out near-duplicates: the batch covers what the model is unsure of. Goes with "
        "strategies that give each sentence a value, and decides the fit to the budget itself.",
        section=SELECTION,
        choices=(
            Choice("none", "may repeat itself"),
            Choice("facility", "cover"),
            Choice("badge", "spread out"),
        ),
        needs="gives_values",
    )
    candidates: int = setting(
        0,
        title="Candidates",
        help="Sentences that a diverse batch is chosen from; 0: ten per pick.",
        section=SELECTION_DETAILS,
        low=0,
        needs="gives_values",
    )
    pool_sample: int = setting(
        20_000,
        title="Sentences looked at",
        help="Size of the random sample of the pool that is scored and selected from, drawn anew "
        "each time; 0: the whole pool.",
        section=SELECTION_DETAILS,
        low=0,
    )
    coverage_weight: float = setting(
        0.0,
        title="Rare labels",
        help="Share of a sentence's value that goes to rarely seen labels it is predicted to have.",
        section=SELECTION_DETAILS,
        low=0,
        high=1,
        is_share=True,
        needs="is_ranked",
    )
    overflow: str = setting(
        "stop",
        title="When a sentence does not fit",
        help="First in rank: stop there, or skip it and go on with cheaper ones.",
        section=SELECTION_DETAILS,
        choices=(Choice("stop", "stop"), Choice("skip", "skip it")),
        needs="is_ranked",
    )
    spend_rest: bool = setting(
        False,
        title="Spend the rest",
        help="EQB-DJS: buy single answers with what the tasks' shares leave.",
        section=SELECTION_DETAILS,
        needs="is_allocated",
    )
    each_wording_once: bool = setting(
        True,
        title="Each wording once",
        help="Of sentences that differ only in case, digits, punctuation or one word of many, only "
        "one is asked, and none that repeats a labelled one or is a mere fragment. Off: only "
        "MT-EEC and random selection keep to it.",
        section=SELECTION_DETAILS,
    )
    whole_sentences: bool = setting(
        False,
        title="Whole sentences",
        help="MT-EEC asks for the tasks of a sentence that pay off; with this, for all of them.",
        section=SELECTION_DETAILS,
        needs="needs_units",
    )
    opening_cost: float = setting(
        0.0,
        title="Cost of opening a sentence",
        help="MT-EEC: beyond reading it, in seconds or cost units. Makes short sentences dearer.",
        section=SELECTION_DETAILS,
        low=0,
        needs="needs_units",
    )
    modes: tuple[str, ...] = setting(
        (),
        title="How tasks are covered",
        help="MT-EEC: task:doubt (expected errors), task:coverage (everything alike) or "
        "task:chance; without it trees go by chance, the others by doubt.",
        section=SELECTION_DETAILS,
        needs="needs_units",
    )
    word_asks: str = setting(
        "off",
        title="Single words",
        help="For trees and tags: ask for single words of a sentence, those the model is least "
        "sure of and a few random ones, or random words alone. Models learn from the words that "
        "were answered.",
        section=SELECTION_DETAILS,
        choices=(
            Choice("off", "whole sentences"),
            Choice("unsure", "the least sure"),
            Choice("random", "at random"),
        ),
    )
    word_share: float = setting(
        0.3,
        title="Share of the words",
        help="Of each sentence, where single words are asked. Sentences of four words or fewer, "
        "and those held out for early stopping, are asked whole.",
        section=SELECTION_DETAILS,
        above=0,
        high=1,
        is_share=True,
    )
    task_need: str = setting(
        "equal",
        title="Tasks that need more",
        help="MT-EEC: a task that has reached its target is asked at random only; the others count "
        "alike, or in proportion to their errors.",
        section=SELECTION_DETAILS,
        choices=(Choice("equal", "count alike"), Choice("error", "by errors")),
        needs="needs_units",
    )
    random_share: float = setting(
        0.2,
        title="Random share",
        help="Drawn at random, as the control in the learning curves. Below 10 % the control "
        "becomes too noisy to read.",
        section=EVALUATION,
        low=0,
        high=1,
        is_share=True,
    )
    confidence: str = setting(
        "entropy",
        title="Confidence",
        help="Entropy is fast. Votes ask the model several times with dropout: that many times "
        "slower.",
        section=MODEL,
        choices=(Choice("entropy", "entropy"), Choice("dropout", "dropout votes")),
    )
    has_temperature: bool = setting(
        True,
        title="Temperature",
        help="Corrects confidence on held-out sentences, so that tasks can be compared.",
        section=MODEL,
    )
    is_warm_start: bool = setting(
        False,
        title="Warm start",
        help="Continue from the last model: faster, but early mistakes may stick. Off: every "
        "training starts fresh and is easier to compare.",
        section=MODEL,
    )
    n_passes: int = setting(
        10,
        title="Dropout passes",
        help="Votes per sentence.",
        section=MODEL_DETAILS,
        low=2,
        high=100,
    )
    dropout_scope: str = setting(
        "full",
        title="Dropout in",
        help="Everywhere, as in the paper, or only above the frozen layers: much faster.",
        section=MODEL_DETAILS,
        choices=(Choice("full", "all layers"), Choice("top", "unfrozen layers")),
    )

    @property
    def is_by_count(self) -> bool:
        """Return whether a number of sentences is asked for, and no budget spent."""
        return self.unit == SENTENCES

    def conflicts(self) -> Iterator[Problem]:
        """Yield what cannot work together, before anything is trained for it."""
        combination = Combination(
            self.strategy,
            by="count" if self.is_by_count else "budget",
            has_weights=bool(self.weights),
            has_task=bool(self.task),
            diversity=self.diversity,
            value=self.value,
            confidence=self.confidence,
        )
        for conflict in find_conflicts(combination):
            yield Problem(conflict.setting, conflict.message)
        if any(weight < 0 for weight in self.weights.values()):
            yield Problem("weights", f"A weight is below 0 in {dict(self.weights)}.")
        elif self.weights and abs(sum(self.weights.values()) - 1) > 0.01:
            total = sum(self.weights.values())
            yield Problem("weights", f"The weights sum to {total:.2f}; they must sum to 1.")
        for text in self.modes:
            if text.rpartition(":")[2] not in MODES or ":" not in text:
                yield Problem(
                    "modes", f"modes has {text!r}; allowed: a task, ':' and {', '.join(MODES)}."
                )
        yield from super().conflicts()

    def task_problems(self, tasks: Sequence[str]) -> list[Problem]:
        """Return which settings name a task that there is not."""
        named = [
            ("task", self.task),
            *(("weights", name) for name in self.weights),
            *(("modes", name) for name in self.task_modes()),
        ]
        return [
            Problem(key, f"No task '{name}'. Known: {', '.join(tasks)}.")
            for key, name in named
            if name and name not in tasks
        ]

    def task_modes(self) -> dict[str, Any]:
        """Return the modes of tasks that the settings name."""
        return {text.rpartition(":")[0]: text.rpartition(":")[2] for text in self.modes}

    def batch_rules(self, tasks: Sequence[str]) -> BatchRules:
        """Return what is about selection, for tasks in this order."""
        values: dict[str, Any] = {
            name: getattr(self, name)
            for name in (
                "strategy",
                "overflow",
                "spend_rest",
                "scale",
                "value",
                "diversity",
                "candidates",
            )
        }
        decisions = STRATEGIES[self.strategy].decisions
        return BatchRules(
            task=tasks.index(self.task) if self.task else None,
            weights=self._weights(tasks),
            decision="GREEDY" if self.decision == "GREEDY" or "BLP" not in decisions else "BLP",
            **values,
        )

    def _weights(self, tasks: Sequence[str]) -> tuple[float, ...] | None:
        if not self.weights:
            return None
        values = [self.weights.get(name, 0.0) for name in tasks]
        return tuple(value / sum(values) for value in values)
