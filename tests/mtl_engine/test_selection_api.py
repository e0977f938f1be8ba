import numpy as np
import pytest

from mtl_engine.costs import Costs
from mtl_engine.errors import EngineError
from mtl_engine.selection import (
    BatchRules,
    choose_batch,
    comparable_confidence,
    diversify,
    get_strategy,
    plan,
    select,
)

N = 200


@pytest.fixture
def pool():
    """Confidences with closed cells and a closed row, costs, and sentence vectors."""
    rng = np.random.default_rng(2)
    confidence = rng.uniform(size=(N, 2))
    confidence[:5, 0] = np.nan
    confidence[7] = np.nan
    costs = Costs(rng.integers(3, 20, N).astype(float), rng.uniform(1, 5, size=(N, 2)))
    return confidence, costs, rng.normal(size=(N, 6))


def _rng():
    return np.random.default_rng(9)


def test_without_a_second_stage_a_batch_is_what_plan_and_select_give(pool):
    confidence, costs, _ = pool
    bought = choose_batch(confidence, costs, BatchRules(), budget=90.0, rng=_rng())
    wanted = plan(confidence, costs, 90.0, "MT-AVG")
    assert (bought.ask == wanted.ask).all()
    assert bought.is_optimal
    counted = choose_batch(confidence, costs, BatchRules("MT-PAR"), n=9, rng=_rng())
    assert counted.rows.tolist() == select(confidence, 9, "MT-PAR").tolist()
    assert not counted.ask[7].any()


@pytest.mark.parametrize("limit", [{"n": 8}, {"budget": 120.0}])
def test_only_the_candidates_are_asked_for_vectors_and_the_batch_stays_the_same(pool, limit):
    confidence, costs, vectors = pool
    asked = []

    def look(rows):
        asked.extend(rows.tolist())
        return vectors[rows]

    rules = BatchRules("MT-MIN", diversity="facility", candidates=40)
    batch = choose_batch(confidence, costs, rules, vectors=look, rng=_rng(), **limit)
    assert len(asked) == 40
    assert asked == sorted(asked)
    is_open = ~np.isnan(confidence)
    value = 1.0 - np.nanmin(np.where(is_open, confidence, np.inf), axis=1)
    value[7] = np.nan
    prices = {"cost": costs.by_row(is_open) + 1e-12} if "budget" in limit else {}
    whole = diversify(value, vectors, candidates=40, **limit, **prices)
    assert batch.rows.tolist() == whole.tolist()


def test_information_counts_all_words_and_closed_cells_stay_closed():
    confidence = np.array([[0.2, 0.5], [0.8, np.nan]])
    information = np.array([[1.0, 2.0], [4.0, 9.0]])
    found = comparable_confidence(confidence, information, BatchRules(value="information"))
    assert found[0].tolist() == [0.75, 0.5]
    assert found[1, 0] == 0.0
    assert np.isnan(found[1, 1])


def test_what_cannot_be_decided_is_refused(pool):
    confidence, costs, vectors = pool
    with pytest.raises(EngineError, match="either n or a budget"):
        choose_batch(confidence, costs, BatchRules(), rng=_rng())
    diverse = BatchRules(diversity="facility")
    with pytest.raises(EngineError, match="vectors"):
        choose_batch(confidence, costs, diverse, n=3, rng=_rng())
    rules = BatchRules("MT-PAR", diversity="facility")
    with pytest.raises(EngineError, match="MT-PAR gives sentences no value"):
        choose_batch(confidence, costs, rules, n=3, vectors=lambda rows: vectors[rows], rng=_rng())
    assert [get_strategy(name).gives_values for name in ("MT-AVG", "STCS", "UDJS", "MT-IND")] == [
        True,
        True,
        False,
        False,
    ]
