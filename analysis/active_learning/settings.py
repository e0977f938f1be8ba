"""What can be decided about a simulated annotation: one way to spend a budget."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args, get_type_hints

from analysis.errors import AnalysisError
from mtl_engine.selection.fairness import Comparable
from mtl_engine.selection.greedy import Overflow

Spending = Literal["GREEDY", "BLP", "ONCE"]  # ONCE: the budget of all rounds by one BLP
Value = Literal["mean", "information"]
Diversity = Literal["none", "facility", "badge"]


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
        for name, wanted in get_type_hints(type(self)).items():
            known = get_args(wanted) if isinstance(getattr(self, name), str) else ()
            if known and getattr(self, name) not in known:
                raise AnalysisError(
                    f"{name} is '{getattr(self, name)}'. Known: {', '.join(known)}."
                )
        if self.diversity != "none" and self.decision != "GREEDY":
            raise AnalysisError(
                f"diversity '{self.diversity}' chooses a batch itself; it goes with decision "
                f"'GREEDY', not '{self.decision}'."
            )
        if self.value == "information" and self.confidence == "dropout":
            raise AnalysisError(
                "value 'information' sums entropies; it needs confidence 'entropy'."
            )
        if self.budget <= 0 and self.n_per_round <= 0:
            raise AnalysisError("A round needs a budget, or n_per_round sentences.")
