"""What can be decided about a simulated annotation: what a round decides, and a few things more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mtl_engine.active_learning.settings import COST, SENTENCES, ActiveLearningSettings
from mtl_engine.selection.coverage import PARTS
from mtl_engine.settings import Choice, setting

ONCE = "ONCE"  # the budget of all rounds, spent after the first training by one BLP
GOLD = "gold"
BY_CHANCE, TYPICAL = "chance", "typical"
POOL = "pool"


@dataclass(frozen=True)
class SimulationSettings(ActiveLearningSettings):
    """One way to spend an annotation budget on sentences whose labels are known and hidden.

    Everything that a round decides has the product's defaults: what is not set is simulated as
    the server does it, but that strategies may ask the same twice, as in the papers.
    """

    RETIRED: ClassVar[tuple[str, ...]] = (
        *ActiveLearningSettings.RETIRED,
        "budget",
        "n_per_round",
    )

    decision: str = setting(
        "BLP",
        title="Fit to budget",
        help="ONCE spends the budget of all rounds after the first training.",
        section="simulation",
        choices=(
            Choice("BLP", "best value"),
            Choice("GREEDY", "first in rank"),
            Choice(ONCE, "all rounds at once"),
        ),
    )
    each_wording_once: bool = setting(
        False,
        title="Each wording once",
        help="As rounds ask. Off: the strategies of papers ask what they rank, as it comes.",
        section="simulation",
    )
    without: str = setting(
        "",
        title="MT-EEC without",
        help="To learn what each part is for: the pool's mass (a rare cluster counts as a common "
        "one), what is labelled (everything counts as new), or the search for task weights (equal "
        "ones, whatever they promise).",
        section="simulation",
        choices=(Choice("", "nothing"), *(Choice(part) for part in PARTS)),
    )
    initial: int = setting(
        50,
        title="Sentences labelled at the start",
        help="Drawn by chance; typical ones cost as much in all.",
        section="simulation",
        low=1,
    )
    start: str = setting(
        BY_CHANCE,
        title="First sentences",
        help="Drawn by chance, as rounds do, or those that stand for most others (TypiClust), as "
        "many as cost the same.",
        section="simulation",
        choices=(Choice(BY_CHANCE, "by chance"), Choice(TYPICAL, "typical")),
    )
    dev_size: int = setting(
        0,
        title="Dev sentences",
        help="Drawn by chance, besides and free of cost; 0: a share of what is labelled, as rounds "
        "hold it out.",
        section="simulation",
        low=0,
    )
    n_rounds: int = setting(
        5, title="Trainings", help="One acquisition fewer.", section="simulation", low=1
    )
    pool_size: int = setting(
        0,
        title="Sentences that take part",
        help="Drawn by chance; 0: all.",
        section="simulation",
        low=0,
    )
    cost_source: str = setting(
        "predicted",
        title="Costs before buying",
        help="From what the model expects, or from the true answers, to compare with papers.",
        section="simulation",
        choices=(Choice("predicted"), Choice(GOLD)),
    )
    calibration_on: str = setting(
        "test",
        title="Sentences that calibration is measured on",
        help="The test sentences, or those of the pool that nobody was asked for, as in the paper.",
        section="simulation",
        choices=(Choice("test"), Choice(POOL)),
    )

    @classmethod
    def current(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return values of earlier versions under today's names: ``budget``, ``n_per_round``."""
        found = dict(super().current(values))
        if values.get("budget"):
            found |= {"amount": values["budget"], "unit": COST}
        elif values.get("n_per_round"):
            found |= {"amount": values["n_per_round"], "unit": SENTENCES}
        return found
