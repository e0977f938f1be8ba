"""What can be decided about a simulated annotation: one way to spend a budget."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_type_hints

import numpy as np

from analysis.errors import AnalysisError
from mtl_engine.costs import Costs
from mtl_engine.errors import EngineError
from mtl_engine.selection import plan, select
from mtl_engine.selection.batches import Diversity, Value, require_values
from mtl_engine.selection.fairness import Comparable
from mtl_engine.selection.greedy import Overflow
from mtl_engine.selection.request import Decision

Spending = Literal["GREEDY", "BLP", "ONCE"]  # ONCE: the budget of all rounds by one BLP


@dataclass(frozen=True)
class Protocol:
    """One way to spend an annotation budget.

    The defaults are part of what a run is known by: a new field comes with the value that gives
    what was there before it.
    """

    strategy: str = "MT-AVG"
    task: str = ""  # of SINGLE and STCS
    weights: Mapping[str, float] = field(default_factory=dict)  # beta by task; empty = equal
    decision: Spending = "GREEDY"
    overflow: Overflow = "stop"  # GREEDY at the first sentence that does not fit
    spend_rest: bool = False  # EQB-DJS: buy single cells with what its shares leave
    confidence: Literal["entropy", "dropout"] = "entropy"
    n_passes: int = 10  # of dropout
    dropout_scope: Literal["full", "top"] = "full"
    has_temperature: bool = False
    scale: Comparable = "none"  # how confidences are made comparable within the pool
    value: Value = "mean"  # information: what the whole sentence tells, not its mean token
    coverage_weight: float = 0.0  # share of the value that goes to rarely seen labels
    diversity: Diversity = "none"  # second stage: a batch that differs in itself
    candidates: int = 0  # sentences that the second stage looks at; 0 = ten per pick
    initial: int = 50
    dev_size: int = 100
    n_rounds: int = 5  # trainings; one acquisition fewer
    budget: float = 500.0  # per acquisition, in cost units; 0 = by number
    n_per_round: int = 0  # sentences per acquisition where there is no budget
    pool_size: int = 0  # random part of the pool that is looked at; 0 = all of it
    cost_source: Literal["predicted", "gold"] = "predicted"  # of the number of spans
    is_warm_start: bool = False  # go on from the last round's weights, not from pre-trained ones

    def __post_init__(self) -> None:
        _check_names(self)
        _check_ranges(self)
        _check_strategy(self)
        if self.value == "information" and self.confidence == "dropout":
            raise AnalysisError(
                "value 'information' sums entropies; it needs confidence 'entropy'."
            )
        if self.budget <= 0 and self.n_per_round <= 0:
            raise AnalysisError("A round needs a budget, or n_per_round sentences.")


LEAST = {
    "initial": 1,
    "dev_size": 1,
    "n_rounds": 1,
    "n_passes": 2,
    "pool_size": 0,
    "candidates": 0,
    "n_per_round": 0,
    "budget": 0.0,
}
BY_ONE_TASK = ("SINGLE", "STCS")


def _check_names(protocol: Protocol) -> None:
    for name, wanted in get_type_hints(Protocol).items():
        value = getattr(protocol, name)
        known = get_args(wanted) if isinstance(value, str) else ()
        if known and value not in known:
            raise AnalysisError(f"{name} is '{value}'. Known: {', '.join(known)}.")


def _check_ranges(protocol: Protocol) -> None:
    for name, least in LEAST.items():
        if getattr(protocol, name) < least:
            raise AnalysisError(f"{name} is {getattr(protocol, name)}; at least {least} is needed.")
    if not 0 <= protocol.coverage_weight <= 1:
        raise AnalysisError(f"coverage_weight {protocol.coverage_weight} is not in [0, 1].")
    beta = protocol.weights
    if not all(isinstance(weight, int | float) and weight >= 0 for weight in beta.values()):
        raise AnalysisError(f"weights are numbers from 0 on, one a task, not {dict(beta)}.")


def _check_strategy(protocol: Protocol) -> None:
    """Refuse what the engine would refuse, before anything is trained for it."""
    if protocol.diversity != "none" and protocol.decision != "GREEDY":
        raise AnalysisError(
            f"diversity '{protocol.diversity}' chooses a batch itself; it goes with decision "
            f"'GREEDY', not '{protocol.decision}'."
        )
    if protocol.strategy in BY_ONE_TASK and not protocol.task:
        raise AnalysisError(f"{protocol.strategy} goes by one task: name it in 'task'.")
    try:
        if protocol.diversity != "none":
            require_values(protocol.strategy)
        _ask_engine(protocol)
    except EngineError as error:
        raise AnalysisError(str(error)) from error


def _ask_engine(protocol: Protocol) -> None:
    """Choose nothing from a pool of one sentence: the engine checks how, not what."""
    n_tasks = len(protocol.weights) or 2
    pool = np.full((1, n_tasks), 0.5)
    options: dict[str, Any] = {
        "weights": list(protocol.weights.values()) or None,
        "task": 0 if protocol.task else None,
        "rng": 0 if protocol.strategy == "RANDOM" else None,
    }
    if protocol.budget > 0:
        decision: Decision = "GREEDY" if protocol.decision == "GREEDY" else "BLP"
        costs = Costs(np.ones(1), np.ones((1, n_tasks)))
        plan(pool, costs, 0.0, protocol.strategy, decision=decision, **options)
    else:
        select(pool, 0, protocol.strategy, **options)
