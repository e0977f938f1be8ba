"""Plans within a budget: six sentences by hand, thousands of small pools by brute force."""

from itertools import product

import numpy as np
import pytest

from mtl_engine.costs import Costs, paper_costs
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection import DECISIONS, STRATEGIES, TaskUnits, Units, one_shot_budget, plan

NAN = np.nan
CONFIDENCE = np.array([(0.6, 0.9), (0.3, 0.55), (0.95, 0.2), (0.1, 0.7), (0.5, 0.45), (0.35, 0.8)])
COSTS = paper_costs([5, 8, 4, 12, 6, 7], [1, 2, 0, 4, 1, 3], source="gold")


def _cells(found):
    return tuple(set(np.flatnonzero(column).tolist()) for column in found.ask.T)


def test_the_joint_costs_of_the_six_sentences():
    assert COSTS.by_row(np.ones((6, 2), bool)).tolist() == [9, 13, 7, 19, 10, 13]


@pytest.mark.parametrize(
    ("strategy", "task", "rows", "value", "cost"),
    [
        ("MT-AVG", None, {0, 1, 2, 4}, 1.775, 39),
        ("MT-MAX", None, {1, 4, 5}, 1.15, 36),
        ("MT-MIN", None, {0, 1, 2, 4}, 2.45, 39),
        ("STCS", 0, {1, 4, 5}, 1.85, 36),
        ("STCS", 1, {0, 1, 2, 4}, 1.9, 39),
    ],
)
def test_joint_plans_of_the_six_sentences(strategy, task, rows, value, cost):
    found = plan(CONFIDENCE, COSTS, 40, strategy, task=task)
    assert _cells(found) == (rows, rows)
    assert set(found.rows.tolist()) == rows
    assert (found.value, found.cost) == (pytest.approx(value), pytest.approx(cost))
    assert found.is_optimal
    assert found.gap == 0


def test_udjs_buys_single_cells_and_reads_a_sentence_once():
    found = plan(CONFIDENCE, COSTS, 40, "UDJS")
    assert _cells(found) == ({1, 2, 4, 5}, {1, 2, 4})
    assert (found.value, found.cost) == (pytest.approx(3.7), pytest.approx(40))
    assert found.is_optimal


def test_eqb_djs_spends_an_equal_share_for_each_task():
    found = plan(CONFIDENCE, COSTS, 40, "EQB-DJS")
    assert _cells(found) == ({1, 5}, {2, 4})
    assert found.cost == pytest.approx(36)


def test_eqb_djs_shares_out_again_what_reading_once_saves():
    confidence = np.array(
        [(0.1, 0.15), (0.8, 0.75), (0.7, 0.6), (0.85, 0.9), (0.5, 0.95), (0.9, 0.4)]
    )
    found = plan(confidence, COSTS, 82, "EQB-DJS")
    assert _cells(found) == ({0, 1, 2, 4, 5, 3}, {0, 1, 2, 5, 3})
    assert found.cost == pytest.approx(49 + 19)


def test_what_eqb_djs_leaves_can_buy_single_cells():
    costs = Costs([3, 3, 3], [[1, 1], [1, 1], [1, 1]])
    confidence = np.array([[0.1, 0.9], [0.9, 0.2], [0.5, 0.5]])
    literal = plan(confidence, costs, 13, "EQB-DJS")
    assert _cells(literal) == ({0}, {1})
    spent = plan(confidence, costs, 13, "EQB-DJS", spend_rest=True)
    assert spent.cost == pytest.approx(13)
    assert spent.ask[2].all()


def test_greedy_stops_at_the_first_sentence_that_does_not_fit():
    found = plan(CONFIDENCE, COSTS, 40, "MT-AVG", decision="GREEDY")
    assert found.rows.tolist() == [3, 1]
    assert found.cost == pytest.approx(32)
    assert not found.is_optimal
    assert found.gap == 1


def test_greedy_can_skip_what_does_not_fit():
    found = plan(CONFIDENCE, COSTS, 40, "MT-AVG", decision="GREEDY", overflow="skip")
    assert found.rows.tolist() == [3, 1, 2]
    assert found.cost == pytest.approx(39)


def test_greedy_udjs_ranks_cells_and_pays_for_reading_once():
    # slots 3 (16), intent 2 (7), slots 1 (10): 33; slots 5 costs 10 and does not fit
    found = plan(CONFIDENCE, COSTS, 40, "UDJS", decision="GREEDY")
    assert _cells(found) == ({1, 3}, {2})
    assert found.cost == pytest.approx(33)
    # skipping on: intent 4 (9) does not fit, slots 4 (7) does; slots 2 cost nothing more
    skipped = plan(CONFIDENCE, COSTS, 40, "UDJS", decision="GREEDY", overflow="skip")
    assert _cells(skipped) == ({1, 2, 3, 4}, {2})
    assert skipped.cost == pytest.approx(40)


def test_greedy_rrf_buys_in_the_order_of_its_ranks():
    found = plan(CONFIDENCE, COSTS, 30, "MT-RRF", decision="GREEDY")
    # ranks slots 5 2 6 1 4 3, intent 6 3 1 4 2 5: sentence 3 is first (19), 1 next (13: too much)
    assert found.rows.tolist() == [3]


@pytest.mark.parametrize("strategy", ["MT-PAR", "MT-IND"])
def test_sets_are_bought_as_large_as_fits(strategy):
    found = plan(CONFIDENCE, COSTS, 40, strategy, decision="GREEDY")
    assert 0 < found.cost <= 40
    assert found.ask[found.rows].all()


def test_the_largest_pareto_set_within_the_budget():
    # MT-PAR takes 3, 1 and 2 (the frontier but for 4) for 39; its four sentences cost 49
    found = plan(CONFIDENCE, COSTS, 40, "MT-PAR", decision="GREEDY")
    assert set(found.rows.tolist()) == {3, 1, 2}


def test_random_buying_needs_and_obeys_a_seed():
    first = plan(CONFIDENCE, COSTS, 40, "RANDOM", decision="GREEDY", rng=5)
    assert first.rows.tolist() == (
        plan(CONFIDENCE, COSTS, 40, "RANDOM", decision="GREEDY", rng=5).rows.tolist()
    )
    with pytest.raises(EngineError, match="needs rng="):
        plan(CONFIDENCE, COSTS, 40, "RANDOM", decision="GREEDY")


def _seed_seven():
    rng = np.random.default_rng(7)
    costs = paper_costs(rng.integers(4, 20, 200), rng.integers(0, 5, 200), source="gold")
    return rng.random((200, 2)), costs


def test_two_hundred_sentences_solved_before_by_another_solver():
    confidence, costs = _seed_seven()
    cells = plan(confidence, costs, 500, "UDJS")
    assert (cells.value, cells.cost) == (pytest.approx(55.715537, abs=1e-6), 500)
    rows = plan(confidence, costs, 500, "MT-MIN")
    assert (rows.value, len(rows.rows)) == (pytest.approx(35.872542, abs=1e-6), 44)
    greedy = plan(confidence, costs, 500, "MT-MIN", decision="GREEDY")
    assert (greedy.value, len(greedy.rows)) == (pytest.approx(26.617871, abs=1e-6), 28)


def test_rows_open_only_for_tasks_of_weight_zero_are_worth_nothing():
    confidence = np.array([[NAN, 0.0], [0.5, 0.5]])
    costs = Costs([1, 1], [[1, 1], [1, 1]])
    for decision in DECISIONS:
        found = plan(confidence, costs, 10, "MT-AVG", weights=[1, 0], decision=decision)
        assert found.value == pytest.approx(0.5)


def test_rows_come_with_the_most_value_for_their_cost_first():
    confidence, costs = _seed_seven()
    found = plan(confidence, costs, 500, "UDJS")
    worth = ((1 - confidence) * found.ask).sum(axis=1) / np.maximum(costs.by_row(found.ask), 1e-9)
    assert (np.diff(worth[found.rows]) <= 1e-12).all()


# Brute force: every choice for every row, added up.


def _best_by_brute_force(options, budget):
    """Return the highest value within the budget; `options` are (cost, value) pairs per row."""
    cost, value = np.zeros(1), np.zeros(1)
    for row in options:
        row_cost, row_value = np.array([(0.0, 0.0), *row]).T
        cost = np.add.outer(cost, row_cost).ravel()
        value = np.add.outer(value, row_value).ravel()
    return value[cost <= budget + 1e-9].max()


def _joint_options(confidence, costs):
    for row, (read, label) in enumerate(zip(costs.read, costs.label, strict=True)):
        is_open = ~np.isnan(confidence[row])
        lowest = min(confidence[row][is_open], default=None)
        yield [] if lowest is None else [(read + label[is_open].sum(), 1 - lowest)]


def _cell_options(confidence, costs):
    for row, (read, label) in enumerate(zip(costs.read, costs.label, strict=True)):
        tasks = np.flatnonzero(~np.isnan(confidence[row]))
        picks = (tasks[list(map(bool, p))] for p in product((0, 1), repeat=len(tasks)) if any(p))
        yield [(read + label[k].sum(), (1 - confidence[row, k]).sum()) for k in picks]


def _small_problem(rng, most_rows, kind):
    n, t = int(rng.integers(1, most_rows + 1)), int(rng.integers(1, 4))
    confidence = np.round(rng.random((n, t)), int(rng.integers(1, 4)))
    confidence[rng.random((n, t)) < 0.15] = NAN
    if kind == "real":
        read, label = rng.random(n) * 9 + 0.01, rng.random((n, t)) * 5
        return confidence, Costs(read, label), float(rng.random() * 30)
    unit = float(rng.choice([1, 1, 0.5, 0.1]))
    read, label = rng.integers(1, 12, n) * unit, rng.integers(0, 6, (n, t)) * unit
    return confidence, Costs(read, label), float(rng.integers(0, 60)) * unit


@pytest.mark.parametrize("kind", ["whole", "real"])
def test_joint_plans_equal_brute_force_on_thousands_of_small_pools(kind):
    rng = np.random.default_rng(1)
    for _ in range(1000):
        confidence, costs, budget = _small_problem(rng, 11, kind)
        found = plan(confidence, costs, budget, "MT-MIN")
        best = _best_by_brute_force(_joint_options(confidence, costs), budget)
        assert found.value == pytest.approx(best, abs=1e-9)
        assert found.cost <= budget
        assert found.is_optimal
        assert (found.ask[found.rows] == ~np.isnan(confidence[found.rows])).all()


@pytest.mark.parametrize("kind", ["whole", "real"])
def test_udjs_plans_equal_brute_force_on_thousands_of_small_pools(kind):
    rng = np.random.default_rng(2)
    for _ in range(1000):
        confidence, costs, budget = _small_problem(rng, 5, kind)
        found = plan(confidence, costs, budget, "UDJS")
        best = _best_by_brute_force(_cell_options(confidence, costs), budget)
        assert found.value == pytest.approx(best, abs=1e-9)
        assert found.cost <= budget
        assert found.cost == pytest.approx(costs.of(found.ask))
        assert found.is_optimal
        assert not found.ask[np.isnan(confidence)].any()


def test_weights_make_a_tasks_cells_worth_more():
    costs = Costs([1, 1], [[1, 1], [1, 1]])
    confidence = np.array([[0.2, 0.9], [0.9, 0.3]])
    assert _cells(plan(confidence, costs, 2, "UDJS")) == ({0}, set())
    assert _cells(plan(confidence, costs, 2, "UDJS", weights=[0.4, 0.6])) == (set(), {1})
    greedy = plan(confidence, costs, 2, "UDJS", weights=[0.4, 0.6], decision="GREEDY")
    assert _cells(greedy) == (set(), {1})


# Edges.


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_every_strategy_keeps_to_the_budget_and_to_open_cells(strategy, decision):
    properties = STRATEGIES[strategy]
    if decision not in properties.decisions:
        with pytest.raises(EngineError, match="use decision='GREEDY'"):
            plan(CONFIDENCE, COSTS, 40, strategy, decision=decision, rng=1)
        return
    rng = np.random.default_rng(4)
    options = {"task": 1} if properties.needs_task else {"rng": 1} if properties.needs_rng else {}
    if properties.needs_units:
        units = TaskUnits(np.ones(40, int), np.arange(40), np.full(40, 0.5), np.zeros(40, int))
        options |= {"units": lambda: Units((units,) * 3)}
    for budget in (0, 3, 50, 500, 1e9, np.inf):
        confidence = rng.random((40, 3))
        confidence[rng.random((40, 3)) < 0.3] = NAN
        costs = Costs(rng.integers(2, 20, 40), rng.integers(0, 9, (40, 3)))
        found = plan(confidence, costs, budget, strategy, decision=decision, **options)
        assert found.cost <= budget
        assert found.cost == pytest.approx(costs.of(found.ask))
        assert not found.ask[np.isnan(confidence)].any()
        assert sorted(found.rows.tolist()) == np.flatnonzero(found.ask.any(axis=1)).tolist()
        if budget < 2:
            assert not found.ask.any()
        if budget == np.inf and not properties.needs_task:
            assert (found.ask == ~np.isnan(confidence)).all()


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("strategy", ["MT-AVG", "UDJS", "EQB-DJS"])
def test_a_budget_below_the_cheapest_sentence_buys_nothing(strategy, decision):
    found = plan(CONFIDENCE, COSTS, 3.9, strategy, decision=decision)
    assert not found.ask.any()
    assert (found.cost, found.value) == (0, 0)


@pytest.mark.parametrize("strategy", ["MT-AVG", "UDJS", "EQB-DJS"])
def test_an_empty_or_closed_pool_buys_nothing(strategy):
    for confidence in (np.empty((0, 2)), np.full((3, 2), NAN)):
        costs = Costs(np.ones(len(confidence)), np.ones((len(confidence), 2)))
        assert not plan(confidence, costs, 10, strategy).ask.any()


def test_equally_sure_sentences_are_bought_cheapest_first():
    costs = Costs([5, 1, 3, 2, 4], np.ones((5, 2)))
    found = plan(np.full((5, 2), 0.5), costs, 12, "MT-AVG")
    assert found.rows.tolist() == [1, 3, 2]


def test_certain_sentences_are_not_bought_by_blp():
    found = plan(np.array([[1.0], [0.5]]), Costs([1, 1], [[0], [0]]), 10, "MT-AVG")
    assert found.rows.tolist() == [1]


def test_a_cell_that_costs_nothing_more_is_bought_with_the_others():
    found = plan(np.array([[0.5, 0.99]]), Costs([4], [[1, 0]]), 5, "UDJS")
    assert found.ask.all()


def test_one_shot_blp_has_the_budgets_of_all_rounds_but_the_last():
    assert one_shot_budget(500, 5) == 2000
    with pytest.raises(EngineError, match="at least 1"):
        one_shot_budget(500, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget": -1}, "at least 0"),
        ({"budget": NAN}, "at least 0"),
        ({"costs": Costs([1], [[1, 1]])}, "same pool"),
        ({"costs": Costs(np.zeros(6), np.zeros((6, 2)))}, "Row 0, task 0 costs nothing"),
        ({"weights": [0.7, 0.3], "strategy": "EQB-DJS"}, "does not weigh"),
        ({"strategy": "STCS"}, "from 0 to 1"),
        ({"confidence": CONFIDENCE + 1}, "allowed is 0 to 1"),
    ],
)
def test_a_wrong_request_is_refused_with_what_to_do(change, message):
    request = {"confidence": CONFIDENCE, "costs": COSTS, "budget": 40, "strategy": "MT-AVG"}
    with pytest.raises(EngineError, match=message):
        plan(**request | change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strategy": "UDJ"}, "Did you mean 'UDJS'"),
        ({"decision": "ILP"}, "Did you mean 'BLP'"),
        ({"overflow": "stopp"}, "Did you mean 'stop'"),
        ({"solver": "highs"}, "No solver 'highs'"),
    ],
)
def test_unknown_names_list_the_known_ones(change, message):
    request = {"confidence": CONFIDENCE, "costs": COSTS, "budget": 40, "strategy": "MT-AVG"}
    with pytest.raises(UnknownName, match=message):
        plan(**request | change)
