"""What every registered strategy promises, whichever it is."""

import numpy as np
import pytest

from mtl_engine.costs import Costs
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection import (
    DECISIONS,
    STRATEGIES,
    BatchRules,
    Combination,
    Options,
    TaskUnits,
    Units,
    check_combination,
    choose_batch,
    find_conflicts,
    get_strategy,
    plan,
    resolve_strategy,
    select,
)
from mtl_engine.selection.coverage.objective import Objective
from mtl_engine.selection.registry import scoring

NAN = np.nan
EVERY = sorted(STRATEGIES)
NAMES = [name for name in EVERY if STRATEGIES[name].works_by_count]
UNDRAWN = [name for name in NAMES if not STRATEGIES[name].needs_rng]
WEIGHTED = [name for name in NAMES if STRATEGIES[name].takes_weights]
PLANNED = [(name, decision) for name in EVERY for decision in STRATEGIES[name].decisions]


def _units(pool):
    """One unit per cell, unlike all others, wrong with probability 1 - confidence."""
    errors = np.nan_to_num(1 - pool)
    rows, nothing = np.arange(len(pool)), np.zeros(len(pool), int)
    tasks = (TaskUnits(np.ones(len(pool), int), rows, column, nothing) for column in errors.T)
    return Units(tuple(tasks))


def _options(name, pool=None):
    options = {}
    if STRATEGIES[name].needs_units:
        options["units"] = lambda: _units(pool)
    if STRATEGIES[name].needs_task:
        options["task"] = 0
    if STRATEGIES[name].needs_rng:
        options["rng"] = 1
    return options


def _pools():
    rng = np.random.default_rng(0)
    yield rng.random((50, 3))
    yield np.round(rng.random((60, 2)), 1)
    yield rng.random((30, 1))
    yield rng.random((25, 5))
    yield np.where(rng.random((60, 3)) < 0.4, NAN, rng.random((60, 3)))


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_distinct_open_and_as_many_as_asked(name):
    for pool in _pools():
        is_open = ~np.isnan(pool[:, [0]] if STRATEGIES[name].needs_task else pool).all(axis=1)
        for n in (0, 1, 7, len(pool), len(pool) + 10):
            rows = select(pool, n, name, **_options(name, pool))
            assert len(rows) == min(n, is_open.sum())
            assert len(set(rows.tolist())) == len(rows)
            assert is_open[rows].all()


@pytest.mark.parametrize("name", UNDRAWN)
def test_the_choice_does_not_depend_on_the_order_of_the_pool(name):
    rng = np.random.default_rng(2)
    pool = rng.random((80, 3))  # no ties
    order = rng.permutation(80)
    chosen = select(pool, 20, name, **_options(name))
    shuffled = select(pool[order], 20, name, **_options(name))
    assert order[shuffled].tolist() == chosen.tolist()


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"RANDOM"}))
def test_the_same_pool_gives_the_same_rows_and_is_not_changed(name):
    pool = np.random.default_rng(3).random((40, 2))
    before = pool.copy()
    assert select(pool, 9, name, **_options(name, pool)).tolist() == (
        select(pool, 9, name, **_options(name, pool)).tolist()
    )
    assert (pool == before).all()


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"RANDOM", "MT-PAR"}))
def test_equally_sure_sentences_come_in_the_order_of_the_pool(name):
    pool = np.full((9, 2), 0.5)
    assert select(pool, 4, name, **_options(name, pool)).tolist() == [0, 1, 2, 3]


def test_equally_sure_sentences_are_one_frontier_which_is_thinned():
    assert select(np.full((8, 2), 0.5), 4, "MT-PAR").tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"RANDOM"}))
def test_with_one_task_every_strategy_asks_for_the_least_sure(name):
    pool = np.random.default_rng(4).random((30, 1))
    assert select(pool, 8, name, **_options(name, pool)).tolist() == (
        np.argsort(pool[:, 0])[:8].tolist()
    )


@pytest.mark.parametrize("name", WEIGHTED)
def test_all_weight_on_one_task_is_that_tasks_own_list(name):
    pool = np.random.default_rng(5).random((40, 3))
    assert select(pool, 10, name, weights=[0, 1, 0], **_options(name, pool)).tolist() == (
        select(pool, 10, "SINGLE", task=1).tolist()
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_pool_without_open_sentences_gives_none(name):
    for pool in (np.full((4, 2), NAN), np.empty((0, 2))):
        assert len(select(pool, 3, name, **_options(name, pool))) == 0


@pytest.mark.parametrize("name", NAMES)
def test_rows_come_back_as_whole_numbers(name):
    pool = np.random.default_rng(6).random((9, 2))
    rows = select(pool, 3, name, **_options(name, pool))
    assert rows.dtype == np.int64
    assert rows.ndim == 1


@pytest.mark.parametrize("name", EVERY)
def test_a_strategy_says_what_a_page_shows_of_it(name):
    strategy = get_strategy(name)
    assert strategy.name == name
    assert strategy.title
    assert strategy.summary.endswith(".")
    assert strategy.works_by_count or strategy.plan != "none"
    assert len(strategy.paper_names) == len(set(strategy.paper_names))
    titles = [other.title for other in STRATEGIES.values()]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("name", EVERY)
def test_the_papers_names_lead_to_the_strategy(name):
    for pattern in STRATEGIES[name].paper_names:
        assert resolve_strategy(pattern, ["other", "task"]).strategy == name


@pytest.mark.parametrize(("name", "decision"), PLANNED)
def test_a_plan_keeps_to_the_budget_to_open_cells_and_to_what_it_buys(name, decision):
    rng = np.random.default_rng(7)
    for pool in _pools():
        costs = Costs(rng.integers(2, 9, len(pool)), rng.integers(1, 5, pool.shape))
        found = plan(pool, costs, 60.0, name, decision=decision, **_options(name, pool))
        is_open = ~np.isnan(pool)
        assert 0 < found.cost <= 60
        assert found.cost == pytest.approx(costs.of(found.ask))
        assert not (found.ask & ~is_open).any()
        assert sorted(found.rows.tolist()) == np.flatnonzero(found.ask.any(axis=1)).tolist()
        if STRATEGIES[name].buys == "sentences":
            assert (found.ask[found.rows] == is_open[found.rows]).all()
        if STRATEGIES[name].buys == "task":
            assert not found.ask[:, 1:].any()


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("by", ["count", "budget"])
@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("diversity", ["none", "facility"])
def test_a_combination_works_or_is_refused_before_anything_is_computed(
    name, by, decision, diversity
):
    pool = np.random.default_rng(8).random((30, 2))
    costs = Costs(np.full(30, 2.0), np.ones((30, 2)))
    task = 0 if STRATEGIES[name].needs_task else None
    rules = BatchRules(name, task=task, decision=decision, diversity=diversity)
    limit = {"n": 4} if by == "count" else {"budget": 20.0}
    conflicts = find_conflicts(rules.combination(by))

    def choose(confidence):
        return choose_batch(
            confidence,
            costs,
            rules,
            vectors=lambda rows: np.eye(30)[rows],
            units=lambda: _units(pool),
            rng=np.random.default_rng(1),
            **limit,
        )

    if conflicts:
        with pytest.raises(EngineError) as refused:
            choose(None)
        for conflict in conflicts:
            assert conflict.message in str(refused.value)
    else:
        assert len(choose(pool).rows)


def test_single_spends_a_budget_on_the_cells_of_its_task():
    pool = np.array([[0.1, 0.2], [0.9, 0.1], [0.4, 0.3], [NAN, 0.0]])
    costs = Costs([2, 2, 2, 2], np.ones((4, 2)))
    solved = plan(pool, costs, 6, "SINGLE", task=0)
    assert solved.ask[:, 0].tolist() == [True, False, True, False]
    assert not solved.ask[:, 1].any()
    assert (solved.cost, solved.value) == (6, pytest.approx(1.5))
    greedy = plan(pool, costs, 3, "SINGLE", task=1, decision="GREEDY")
    assert np.argwhere(greedy.ask).tolist() == [[3, 1]]


@pytest.mark.parametrize(
    ("combination", "setting", "remedy"),
    [
        (Combination("UDJS", by="count"), "strategy", "give one, or use MT-AVG"),
        (Combination("MT-PAR", by="budget", decision="BLP"), "decision", "decision='GREEDY'"),
        (Combination("MT-MAX", by="count", has_weights=True), "weights", "use MT-AVG"),
        (Combination("SINGLE", by="budget"), "task", "name it in 'task'"),
        (Combination("MT-AVG", by="count", has_task=True), "task", "leave out 'task'"),
        (Combination("MT-IND", by="count", diversity="badge"), "diversity", "These do: MT-AVG"),
        (
            Combination("MT-AVG", by="count", value="information", confidence="dropout"),
            "value",
            "use value 'mean'",
        ),
    ],
)
def test_a_conflict_names_the_setting_and_the_remedy(combination, setting, remedy):
    (conflict,) = find_conflicts(combination)
    assert conflict.setting == setting
    assert remedy in conflict.message
    with pytest.raises(EngineError, match="use|name"):
        check_combination(combination)


def test_an_unknown_strategy_is_answered_with_the_nearest_name():
    with pytest.raises(UnknownName, match="Did you mean 'MT-PAR'"):
        get_strategy("MT-PARR")


@pytest.fixture
def throwaway():
    """Register a strategy in one place, as a newcomer would, and take it out again."""

    @scoring("MT-LAST", title="Last task", summary="The last task is least sure.")
    def last(confidence, options: Options):
        return np.where(np.isnan(confidence[:, -1]), 1.0, confidence[:, -1])

    yield "MT-LAST"
    del STRATEGIES["MT-LAST"]


def test_a_strategy_registered_in_one_place_works_everywhere(throwaway):
    pool = np.array([[0.1, 0.9], [0.2, 0.1], [0.3, 0.5]])
    costs = Costs(np.ones(3), np.ones((3, 2)))
    assert select(pool, 2, throwaway).tolist() == [1, 2]
    assert plan(pool, costs, 6, throwaway).rows.tolist() == [1, 2]
    assert plan(pool, costs, 6, throwaway, decision="GREEDY").rows.tolist() == [1, 2]
    batch = choose_batch(
        pool,
        costs,
        BatchRules(throwaway, diversity="facility"),
        n=1,
        vectors=lambda rows: np.eye(3)[rows],
        rng=np.random.default_rng(0),
    )
    assert batch.rows.tolist() == [1]
    assert find_conflicts(Combination(throwaway, by="budget", decision="BLP")) == []
    (conflict,) = find_conflicts(Combination(throwaway, by="count", has_weights=True))
    assert conflict.setting == "weights"
    assert resolve_strategy(throwaway).strategy == throwaway
    with pytest.raises(EngineError, match="registered already"):
        scoring(throwaway, title="Again", summary="Twice.")(lambda confidence, options: confidence)


COVERING = [name for name in EVERY if STRATEGIES[name].needs_units]


def _like_units(pool, seed=0, n_clusters=6, **options):
    """Units of a few clusters, so that sentences are worth less beside others like them."""
    rng = np.random.default_rng(seed)
    n, n_tasks = pool.shape
    tasks = []
    for _ in range(n_tasks):
        counts = rng.integers(1, 6, n)
        size = int(counts.sum())
        cluster, labelled = rng.integers(0, n_clusters, size), rng.integers(0, 4, n_clusters)
        tasks.append(TaskUnits(counts, cluster, rng.random(size), labelled))
    return Units(tuple(tasks), **options)


def _covering_pools():
    for seed, pool in enumerate(_pools()):
        rng = np.random.default_rng(seed)
        costs = Costs(rng.integers(2, 9, len(pool)), rng.integers(1, 5, pool.shape))
        yield pool, costs, rng.integers(-2, len(pool) // 3, len(pool))


@pytest.mark.parametrize("name", COVERING)
@pytest.mark.parametrize("by_row", [False, True])
def test_a_covering_strategy_asks_no_wording_twice_and_nothing_that_is_closed(name, by_row):
    for pool, costs, groups in _covering_pools():
        units = _like_units(pool, groups=groups, by_row=by_row)
        found = plan(pool, costs, 60.0, name, decision="GREEDY", rng=3, units=lambda u=units: u)
        assert len(found.rows)
        assert not (found.ask & np.isnan(pool)).any()
        asked = groups[found.rows].tolist()
        assert min(asked) >= 0
        assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("name", COVERING)
def test_a_covering_strategy_is_never_worth_less_than_chance_by_its_own_measure(name):
    """With one task at least the mean of random batches; with several, the promise is told."""
    for pool, costs, _ in _covering_pools():
        alone, one_cost = pool[:, :1], Costs(costs.read, costs.label[:, :1])
        units = _like_units(alone)
        found = plan(alone, one_cost, 60.0, name, decision="GREEDY", rng=3, units=lambda u=units: u)
        assert found.coverage.ratio[0] >= 1 - 1e-9
        several = _like_units(pool)
        found = plan(pool, costs, 60.0, name, decision="GREEDY", rng=3, units=lambda u=several: u)
        assert found.coverage.level == pytest.approx(found.coverage.ratio.min())
        assert found.coverage.level >= 1 - 0.05  # the fairest of eight random batches, or better


@pytest.mark.parametrize("name", COVERING)
def test_what_a_covering_strategy_maximises_is_monotone_and_submodular(name):
    """Each pick adds something, and no pick adds more than it would have added alone."""
    for pool, costs, _ in _covering_pools():
        units = _like_units(pool)
        found = plan(pool, costs, 60.0, name, decision="GREEDY", rng=3, units=lambda u=units: u)
        alone = Objective(units, ~np.isnan(pool))
        for pick in found.coverage.picks:
            most = alone.gain_of(alone.entries(np.array([pick.row])))
            assert (pick.gains >= 0).all()
            assert pick.gains.sum() > 0
            assert (pick.gains <= most + 1e-9).all()
        total = sum(pick.gains for pick in found.coverage.picks)
        assert found.coverage.gain == pytest.approx(total)
