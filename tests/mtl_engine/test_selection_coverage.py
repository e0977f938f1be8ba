"""Expected-error coverage: by hand, and against literal definitions on many tiny pools."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mtl_engine.costs import Costs
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection import CoverageBatch, TaskUnits, Units, duplicate_groups, explain_batch
from mtl_engine.selection import plan as plan_cells
from mtl_engine.selection.coverage import (
    REPEATED,
    RESIDUE,
    cover,
    fragments,
    length_classes,
    length_names,
    near_duplicates,
)
from mtl_engine.selection.coverage.batch import _random_batches
from mtl_engine.selection.coverage.lazy_greedy import LazyGreedy
from mtl_engine.selection.coverage.objective import Objective
from mtl_engine.selection.coverage.units import teaching


def _units(rng, n, n_tasks, *, n_clusters=4, **options):
    tasks = []
    for k in range(n_tasks):
        counts = rng.integers(0 if k else 1, 4, n)
        size = int(counts.sum())
        length = rng.integers(0, 5, n) if k == 1 else None
        shape = n_clusters if length is None else (n_clusters, 5)
        tasks.append(
            TaskUnits(
                counts,
                rng.integers(0, n_clusters, size),
                np.round(rng.random(size), 2),
                rng.integers(0, 4, shape),
                kappa=float(rng.integers(1, 9)),
                length=length,
                mode=["doubt", "coverage"][int(rng.integers(2))],
            )
        )
    return Units(tuple(tasks), **options)


def _pool(seed, n=7, n_tasks=2, closed=0.2, **options):
    rng = np.random.default_rng(seed)
    units = _units(rng, n, n_tasks, **options)
    is_open = rng.random((n, n_tasks)) >= closed
    costs = Costs(rng.integers(1, 9, n), rng.integers(1, 5, (n, n_tasks)))
    return units, is_open, costs


def _gain_by_hand(units, is_open, cells):
    """Return the gain per task of a set of cells, straight from the definition."""
    gains = []
    for k, task in enumerate(units.tasks):
        ends = np.cumsum(task.counts)
        sentences = [slice(end - count, end) for end, count in zip(ends, task.counts, strict=True)]
        lengths = [0] * len(ends) if task.length is None else task.length.tolist()
        teach = np.ones((1, 1)) if task.length is None else teaching()
        mass, known, bought = {}, {}, {}
        for row, where in enumerate(sentences):
            for cluster, error in zip(task.cluster[where], task.error[where], strict=True):
                if is_open[row, k]:
                    key = cluster, lengths[row]
                    mass[key] = mass.get(key, 0.0) + (error if task.mode == "doubt" else 1.0)
        labelled = task.labelled.reshape(task.n_clusters, -1)
        for cluster, b in product(range(task.n_clusters), range(teach.shape[1])):
            known[cluster, b] = sum(labelled[cluster, a] * teach[a, b] for a in range(len(teach)))
            bought[cluster, b] = sum(
                (task.cluster[sentences[row]] == cluster)[_asked(task, sentences[row])].sum()
                * teach[lengths[row], b]
                for row, column in cells
                if column == k
            )
        total = sum(mass.values())
        gains.append(
            sum(
                share / total * bought[key] / (task.kappa + known[key] + bought[key])
                for key, share in mass.items()
            )
            if total
            else 0.0
        )
    return np.array(gains)


def _asked(task, where):
    return np.ones(len(task.cluster), bool)[where] if task.asked is None else task.asked[where]


@pytest.mark.parametrize("seed", range(20))
def test_only_named_words_add_to_the_gain_and_it_stays_monotone_and_submodular(seed):
    units, is_open, costs = _pool(seed, n=6)
    rng = np.random.default_rng(seed)
    tasks = [replace(t, asked=rng.random(len(t.cluster)) < 0.6) for t in units.tasks]
    units = replace(units, tasks=tuple(tasks))
    units.check(is_open.shape)
    cells = _cells(is_open)
    objective = Objective(units, is_open)
    every = objective.gain_of(objective.entries(np.arange(6)))
    assert every == pytest.approx(_gain_by_hand(units, is_open, cells))
    small, large = cells[: len(cells) // 3], cells[: 2 * len(cells) // 3]
    for cell in cells[2 * len(cells) // 3 :]:
        added = [
            _gain_by_hand(units, is_open, [*some, cell]) - _gain_by_hand(units, is_open, some)
            for some in (small, large)
        ]
        assert (added[1] >= -1e-12).all()
        assert (added[0] >= added[1] - 1e-12).all()
    batch = cover(units, is_open, costs, 20.0, rng=np.random.default_rng(0))
    assert batch.gain == pytest.approx(_gain_by_hand(units, is_open, _cells(batch.ask)))
    assert (batch.ask <= is_open).all()
    assert Units.from_arrays(units.arrays()).tasks[0].asked.tolist() == tasks[0].asked.tolist()


def _cells(mask):
    return [tuple(cell) for cell in np.argwhere(mask).tolist()]


@pytest.mark.parametrize("seed", range(30))
def test_the_gain_is_the_share_of_expected_errors_that_labels_remove(seed):
    units, is_open, _ = _pool(seed)
    objective = Objective(units, is_open)
    rows = np.array([0, 2, 5])
    mask = np.zeros_like(is_open)
    mask[rows] = is_open[rows]
    assert objective.gain_of(objective.entries(rows)) == pytest.approx(
        _gain_by_hand(units, is_open, _cells(mask)), abs=1e-6
    )


@pytest.mark.parametrize("seed", range(10))
def test_parts_of_the_rule_can_be_left_out_to_see_what_they_are_for(seed):
    units, is_open, costs = _pool(seed, n=30, n_tasks=3)
    whole = Objective(units, is_open)
    no_pool = Objective(replace(units, without="pool"), is_open)
    no_labels = Objective(replace(units, without="labelled"), is_open)
    n_open = whole.cluster_counts(0)[0]
    mean = np.divide(whole.mass[:4], n_open, out=np.zeros(4), where=n_open > 0)
    assert no_pool.mass[:4] == pytest.approx(mean / mean.sum())
    assert (no_labels.seen == np.array([task.kappa for task in units.tasks])[whole.task]).all()
    assert (no_labels.mass == whole.mass).all()
    rng = np.random.default_rng
    plain = cover(replace(units, without="weights"), is_open, costs, 40.0, rng=rng(seed))
    searched = cover(units, is_open, costs, 40.0, rng=rng(seed))
    assert plain.weights == pytest.approx([1 / 3] * 3)
    assert searched.level >= min(1, plain.level) - 1e-9


def test_two_sentences_by_hand():
    # cluster 0: errors .5 and .1 (mass .6 / .8), cluster 1: .2 (mass .2 / .8); two seen of 0
    task = TaskUnits(
        np.array([2, 1]), np.array([0, 1, 0]), np.array([0.5, 0.2, 0.1]), np.array([2, 0]), kappa=3
    )
    units, is_open = Units((task,)), np.ones((2, 1), bool)
    objective = Objective(units, is_open)
    gain = objective.gain_of(objective.entries(np.array([0])))
    assert gain == pytest.approx([0.75 * 1 / (3 + 2 + 1) + 0.25 * 1 / (3 + 0 + 1)])


def test_long_sentences_teach_short_ones_and_hardly_the_other_way_round():
    assert length_classes(np.array([1, 4, 5, 8, 9, 13, 14, 19, 20, 90])).tolist() == [
        *(0, 0, 1, 1, 2, 2, 3, 3, 4, 4)
    ]
    assert teaching()[4].tolist() == [1, 1, 1, 1, 1]
    assert teaching()[0].tolist() == [1, 0.5, 0.25, 0.125, 0.0625]


sets = st.lists(st.booleans(), min_size=14, max_size=14).map(
    lambda flat: np.array(flat).reshape(7, 2)
)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), sets, sets, st.integers(0, 6), st.integers(0, 1))
def test_the_gain_is_monotone_and_submodular(seed, first, second, row, task):
    units, is_open, costs = _pool(seed)
    greedy = LazyGreedy(Objective(units, is_open), np.arange(7), costs, np.arange(7))

    def gain(mask):
        selection = greedy.start(np.inf)
        greedy.take(selection, [(row, tasks) for row, tasks in enumerate(mask)])
        return selection.gains

    small, large = first & second, first | second
    cell = np.zeros_like(is_open)
    cell[row, task] = True
    assert (gain(large) >= gain(small) - 1e-12).all()
    added_to_small = gain(small | cell) - gain(small)
    added_to_large = gain(large | cell) - gain(large)
    if not large[row, task]:
        assert (added_to_small >= added_to_large - 1e-9).all()


def _greedy_by_hand(units, is_open, costs, budget, weights):
    """Return the cells bought by gain per cost, every set of tasks of every row tried each time."""
    asked = np.zeros_like(is_open)
    left = budget
    while True:
        best, best_ratio = None, 0.0
        base = _gain_by_hand(units, is_open, _cells(asked))
        for row in range(len(is_open)):
            is_opened = asked[row].any()
            free = np.flatnonzero(is_open[row] & ~asked[row])
            read = 0.0 if is_opened else costs.read[row] + units.opening
            for bits in range(1, 2 ** len(free)):
                chosen = [k for place, k in enumerate(free) if bits >> place & 1]
                cost = read + costs.label[row, chosen].sum()
                if cost > left + 1e-9:
                    continue
                following = asked.copy()
                following[row, chosen] = True
                added = _gain_by_hand(units, is_open, _cells(following)) - base
                ratio = (added * weights).sum() / cost
                if ratio > best_ratio * (1 + 1e-9) + 1e-15:
                    best, best_ratio = (row, chosen, cost), ratio
        if best is None:
            return asked
        row, chosen, cost = best
        asked[row, chosen] = True
        left -= cost


@pytest.mark.parametrize("seed", range(40))
def test_lazy_greedy_buys_what_plain_greedy_buys(seed):
    units, is_open, costs = _pool(seed, n_tasks=3, opening=float(seed % 3))
    weights = np.random.default_rng(seed).random(3) + 0.1
    greedy = LazyGreedy(Objective(units, is_open), np.arange(7), costs, np.arange(7))
    selection = greedy.start(25.0)
    greedy.run(selection, weights)
    wanted = _greedy_by_hand(units, is_open, costs, 25.0, weights)
    assert (weights * selection.gains).sum() == pytest.approx(
        (weights * _gain_by_hand(units, is_open, _cells(wanted))).sum(), rel=1e-6
    )
    assert selection.gains == pytest.approx(
        _gain_by_hand(units, is_open, _cells(selection.ask)), abs=1e-6
    )


@pytest.mark.parametrize("seed", range(25))
def test_with_equal_costs_greedy_reaches_its_guarantee_against_brute_force(seed):
    units, is_open, _ = _pool(seed, n_tasks=1, closed=0.0)
    costs = Costs(np.ones(7), np.ones((7, 1)))
    best = max(
        _gain_by_hand(units, is_open, [(row, 0) for row in range(7) if bits >> row & 1])[0]
        for bits in range(2**7)
        if bits.bit_count() <= 3
    )
    batch = cover(units, is_open, costs, 6.0, rng=np.random.default_rng(0))
    assert batch.gain[0] >= (1 - 1 / np.e) * best - 1e-9
    assert batch.gain[0] <= best + 1e-6


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.3]),
    st.booleans(),
    st.floats(0, 60),
)
@example(440540, 3, 0.0, False, 20.0)  # one of two parents was left behind
def test_a_batch_keeps_to_budget_open_cells_and_single_duplicates(
    seed, n_tasks, closed, by_row, budget
):
    rng = np.random.default_rng(seed)
    groups = rng.integers(RESIDUE, 4, 9)
    parents = ((1, 0),) if rng.random() < 0.5 else tuple((0, k) for k in range(1, n_tasks))
    parents = parents if n_tasks > 1 else ()
    units, is_open, costs = _pool(
        seed, 9, n_tasks, closed, groups=groups, by_row=by_row, parents=parents
    )
    units = replace(units, opening=float(rng.integers(0, 3)))
    batch = cover(units, is_open, costs, budget, rng=rng)
    assert not (batch.ask & ~is_open).any()
    opened = batch.ask.any(axis=1)
    assert sorted(batch.rows.tolist()) == np.flatnonzero(opened).tolist()
    assert batch.cost == pytest.approx(costs.of(batch.ask) + units.opening * opened.sum())
    assert batch.cost <= budget + 1e-6
    asked_groups = groups[opened].tolist()
    assert len(set(asked_groups)) == len(asked_groups)
    assert not {REPEATED, RESIDUE} & set(asked_groups)
    for task, parent in parents:  # relations never without their spans
        alone = batch.ask[:, task] & is_open[:, parent] & ~batch.ask[:, parent]
        assert not alone.any()
    if by_row:
        assert (batch.ask[opened] == is_open[opened]).all()
    assert batch.gain == pytest.approx(_gain_by_hand(units, is_open, _cells(batch.ask)), abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_with_one_task_a_batch_is_never_worth_less_than_chance(seed, by_row):
    units, is_open, costs = _pool(seed, 12, 1, by_row=by_row)
    batch = cover(units, is_open, costs, 20.0, rng=np.random.default_rng(seed))
    assert batch.level >= 1 - 1e-9


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_with_several_tasks_a_batch_is_worth_chance_or_as_much_as_the_fairest_draw(seed):
    units, is_open, costs = _pool(seed, 12, 3)
    batch = cover(units, is_open, costs, 30.0, rng=np.random.default_rng(seed))
    is_counted = batch.chance > 0
    fairest = 0.0
    for rows in _random_rows(is_open, costs, 30.0, np.random.default_rng(seed)):
        mask = np.zeros_like(is_open)
        mask[rows] = is_open[rows]
        gain = _gain_by_hand(units, is_open, _cells(mask))
        fairest = max(fairest, (gain[is_counted] / batch.chance[is_counted]).min(initial=1.0))
    assert batch.level >= min(fairest, 1.0) - 1e-6


def _random_rows(is_open, costs, budget, rng):
    return _random_batches(is_open, costs.by_row(is_open), np.arange(len(is_open)), budget, rng)


def _realistic(seed, n=600, **options):
    """Two tasks that want different sentences: one rare and short, one everywhere."""
    rng = np.random.default_rng(seed)
    words = rng.integers(3, 25, n)
    size = int(words.sum())
    rare = rng.random(size) < 0.05
    cluster = np.where(rare, rng.integers(40, 60, size), rng.integers(0, 40, size))
    error = np.where(rare, 0.6, 0.02)
    tags = TaskUnits(words, cluster, error, np.zeros(60, int))
    tree = TaskUnits(
        words,
        rng.integers(0, 30, size),
        np.clip(rng.normal(0.4, 0.1, size), 0, 1),
        np.full((30, 5), 3),
        kappa=20,
        length=length_classes(words),
    )
    costs = Costs(3 + 0.3 * words, np.column_stack([np.full(n, 4.0), 3.0 * words]))
    return Units((tags, tree), **options), np.ones((n, 2), bool), costs


def test_a_batch_is_worth_more_than_chance_for_every_task_and_cells_differ():
    units, is_open, costs = _realistic(0)
    batch = cover(units, is_open, costs, 1500.0, rng=np.random.default_rng(1))
    assert (batch.ratio > 1.02).all()
    assert batch.chance_share < 0.1
    assert (batch.ask[:, 0] != batch.ask[:, 1]).any()
    rows = cover(replace(units, by_row=True), is_open, costs, 1500.0, rng=np.random.default_rng(1))
    assert batch.level > rows.level


def test_the_same_seed_gives_the_same_batch():
    units, is_open, costs = _realistic(2)
    batches = [cover(units, is_open, costs, 900.0, rng=np.random.default_rng(5)) for _ in "ab"]
    assert (batches[0].ask == batches[1].ask).all()
    assert batches[0].rows.tolist() == batches[1].rows.tolist()
    assert batches[0].ratio.tolist() == batches[1].ratio.tolist()


def test_a_large_pool_is_looked_at_through_candidates():
    units, is_open, costs = _realistic(3, n=4000)
    whole = cover(units, is_open, costs, 900.0, rng=np.random.default_rng(5))
    few = cover(units, is_open, costs, 900.0, rng=np.random.default_rng(5), n_candidates=900)
    assert few.level > 0.9 * whole.level
    assert few.level > 1


def test_a_solved_task_is_not_asked_and_keeps_no_promise():
    units, is_open, costs = _realistic(4)
    tags, tree = units.tasks
    solved = replace(units, tasks=(tags, replace(tree, need=0.0)))
    batch = cover(solved, is_open, costs, 900.0, rng=np.random.default_rng(5))
    assert batch.ask[:, 1].sum() <= 2  # what is left at the end
    assert batch.level == pytest.approx(batch.ratio[0])
    both = cover(units, is_open, costs, 900.0, rng=np.random.default_rng(5))
    assert batch.ratio[0] > both.ratio[0]


def test_less_need_means_less_of_the_budget():
    units, is_open, costs = _realistic(4)
    tags, tree = units.tasks
    half = replace(units, tasks=(tags, replace(tree, need=0.4)))
    equal = cover(units, is_open, costs, 900.0, rng=np.random.default_rng(5))
    less = cover(half, is_open, costs, 900.0, rng=np.random.default_rng(5))
    assert less.ask[:, 1].sum() < equal.ask[:, 1].sum()
    assert less.ratio[0] > equal.ratio[0]


def test_a_task_of_mode_chance_is_asked_on_random_sentences_and_others_join_in():
    units, is_open, costs = _realistic(6)
    tags, tree = units.tasks
    drawn = replace(units, tasks=(tags, replace(tree, mode="chance")))
    batch = cover(drawn, is_open, costs, 1500.0, rng=np.random.default_rng(5))
    draws = _random_rows(is_open, costs, 1500.0, np.random.default_rng(5))
    gains = [_gain_by_hand(drawn, is_open, {(row, 1) for row in rows})[1] for rows in draws]
    random_rows = draws[int(np.argmax(gains))]  # the most typical of the random batches
    assert np.flatnonzero(batch.ask[:, 1]).tolist() == sorted(random_rows.tolist())
    assert batch.by_chance[:, 1].sum() == len(random_rows)
    assert batch.ask[random_rows, 0].any()
    assert batch.ratio[0] > 1


@pytest.mark.parametrize("seed", range(4))
def test_a_task_of_mode_chance_never_pays_for_a_promise_to_another(seed):
    units, is_open, costs = _realistic(seed)
    tags, tree = units.tasks
    flat = replace(tags, cluster=np.zeros(len(tags.cluster), int), labelled=np.zeros(1, int))
    drawn = replace(units, tasks=(flat, replace(tree, mode="chance")))
    dear = Costs(costs.read, np.column_stack([costs.label[:, 1], costs.label[:, 1]]))
    batch = cover(drawn, is_open, dear, 3000.0, rng=np.random.default_rng(5))
    draws = _random_rows(is_open, dear, 3000.0, np.random.default_rng(5))
    assert batch.ask[:, 1].sum() >= min(len(rows) for rows in draws)
    assert batch.ratio[1] > 0.9


def test_opening_costs_make_short_sentences_dearer():
    units, is_open, costs = _realistic(7)
    words = units.tasks[0].counts
    free = cover(units, is_open, costs, 900.0, rng=np.random.default_rng(5))
    dear = cover(replace(units, opening=10.0), is_open, costs, 900.0, rng=np.random.default_rng(5))
    assert words[dear.rows].mean() > words[free.rows].mean()


def test_what_nobody_can_gain_from_is_left_to_chance():
    task = TaskUnits(np.ones(20, int), np.zeros(20, int), np.zeros(20), np.zeros(1, int))
    is_open, costs = np.ones((20, 1), bool), Costs(np.ones(20), np.ones((20, 1)))
    batch = cover(Units((task,)), is_open, costs, 10.0, rng=np.random.default_rng(0))
    assert len(batch.rows) == 5
    assert batch.chance_share == 1
    assert (batch.ratio, batch.level) == (1, 1)


def test_duplicates_are_sentences_without_case_digits_and_punctuation():
    sentences = [
        ["Call", "me", "at", "555", "!"],
        ["call", "me", "at", "12"],
        ["..."],
        ["???"],
        ["Bye"],
        ["BYE", "."],
    ]
    assert duplicate_groups(sentences).tolist() == [0, 0, 1, 2, 3, 3]
    assert duplicate_groups(sentences, [["bye"]]).tolist() == [0, 0, 1, 2, REPEATED, REPEATED]


def test_near_duplicates_differ_in_one_word_of_many():
    said = "show me the flights from boston".split()
    longer = [["please", *said], [*said, "today"], ["Show", "me", *said[2:], "."]]
    assert duplicate_groups([said, *longer]).tolist() == [0, 0, 0, 0]
    to_denver, back = [*said, "to", "denver"], "show me the flights from denver to boston".split()
    assert duplicate_groups([said, [*said[:5], "denver"]]).tolist() == [0, 1]  # one of six
    assert duplicate_groups([to_denver, back]).tolist() == [0, 1]
    news = "the committee met on monday to discuss the new budget of the city".split()
    tuesday, moved = [*news[:4], "tuesday", *news[5:]], [*news[1:], news[0]]
    assert duplicate_groups([news, tuesday, moved, news[:-2]]).tolist() == [0, 0, 0, 1]
    found = duplicate_groups([tuesday, moved, news[:-1], news[:-2]], [news])
    assert found.tolist() == [REPEATED] * 3 + [2]


def _are_near(a, b):
    """Return whether two sentences are near duplicates, straight from the definition."""
    a, b = sorted((a, b), key=len)
    if a == b:
        return True
    without = [b[:j] + b[j + 1 :] for j in range(len(b))]
    if len(b) == len(a) + 1:
        return len(a) / len(b) >= 0.85 and a in without
    is_long = (len(a) - 1) / (len(a) + 1) >= 0.85
    return (
        len(a) == len(b) and is_long and any(a[:i] + a[i + 1 :] in without for i in range(len(a)))
    )


@pytest.mark.parametrize("seed", range(40))
def test_all_near_duplicates_are_found_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(5):
        texts.append(rng.choice(list("abcd"), rng.choice([5, 6, 7, 8, 12, 13, 14])).tolist())
        for _ in range(3):
            changed = list(texts[rng.integers(len(texts))])
            for _ in range(rng.integers(1, 3)):
                place, word = int(rng.integers(len(changed))), str(rng.choice(list("abcd")))
                changed[place : place + int(rng.integers(2))] = [word] * int(rng.integers(2))
            texts.append(changed or ["a"])
    first = list(range(len(texts)))
    for _ in texts:  # until nothing changes any more
        for i, j in combinations(range(len(texts)), 2):
            if _are_near(texts[i], texts[j]):
                first[i] = first[j] = min(first[i], first[j])
    groups = duplicate_groups(texts)
    for i, j in combinations(range(len(texts)), 2):
        assert (groups[i] == groups[j]) == (first[i] == first[j]), (texts[i], texts[j])
    _, is_repeated = near_duplicates(texts[5:], texts[:5])
    assert is_repeated.tolist() == [any(_are_near(a, b) for b in texts[:5]) for a in texts[5:]]


def test_fragments_have_hardly_a_word_unless_the_text_is_made_of_them():
    residue = [("Yo", ","), ("RE:???",), ("...",), ("lens", "?"), ("a@b.org", "http://c.de", "x")]
    whole = [("Enron", "North", "America"), ("I", "'m", "in"), ("她", "喜欢", "茶")]
    assert fragments([*residue, *whole, *whole]).tolist() == [True] * 5 + [False] * 6
    assert not fragments([*residue, *whole]).any()
    assert fragments([("yes",), ("!",), ("no",)], least_words=1).tolist() == [False, True, False]


def test_a_task_that_pays_brings_the_task_that_it_is_asked_with():
    spans = TaskUnits(np.array([1, 1]), np.array([0, 0]), np.zeros(2), np.zeros(1, int), kappa=1)
    links = replace(spans, cluster=np.array([0, 1]), error=np.ones(2), labelled=np.zeros(2, int))
    units = Units((spans, links), parents=((1, 0),))
    costs = Costs(np.ones(2), np.ones((2, 2)))
    batch = cover(units, np.ones((2, 2), bool), costs, 6.0, rng=np.random.default_rng(0))
    assert batch.ask.all()
    short = cover(units, np.ones((2, 2), bool), costs, 2.5, rng=np.random.default_rng(0))
    assert not short.ask[:, 1].any()  # two answers and a reading do not fit


def test_length_classes_have_names():
    names = length_names()
    assert [names[i] for i in length_classes(np.array([1, 4, 5, 20, 90]))] == [
        "1-4",
        "1-4",
        "5-8",
        "20+",
        "20+",
    ]


def test_reasons_say_what_a_cell_covers_and_add_up():
    units, is_open, costs = _realistic(8)
    batch = cover(units, is_open, costs, 900.0, rng=np.random.default_rng(5))
    reasons = explain_batch(batch, units, is_open, n_features=99)
    assert len(reasons) == batch.ask.sum()
    for k in range(2):
        own = [reason for reason in reasons if reason.task == k]
        assert sum(reason.share for reason in own) == pytest.approx(1)
        assert {reason.row for reason in own} == set(np.flatnonzero(batch.ask[:, k]).tolist())
    first = reasons[0]
    assert sum(feature.share for feature in first.features) == pytest.approx(1, abs=0.01)
    task = units.tasks[first.task]
    best = first.features[0]
    start = int(task.counts[: first.row].sum())
    own = task.cluster[start : start + task.counts[first.row]]
    assert [int(own[place]) for place in best.places] == [best.cluster] * len(best.places)
    assert best.pool == (task.cluster == best.cluster).sum()
    assert best.labelled == task.labelled[best.cluster].sum()
    assert best.expected_wrong == pytest.approx(
        task.error[task.cluster == best.cluster].mean(), abs=1e-4
    )
    told = [feature.share * feature.expected_wrong for feature in first.features]
    assert told == sorted(told, reverse=True)


def test_a_plan_carries_what_it_is_worth():
    units, is_open, costs = _realistic(9)
    confidence = np.where(is_open, 0.5, np.nan)
    asked = []

    def give():
        asked.append(1)
        return units

    found = plan_cells(confidence, costs, 900.0, "MT-EEC", decision="GREEDY", rng=3, units=give)
    assert isinstance(found.coverage, CoverageBatch)
    assert found.value == found.coverage.level
    assert not found.is_optimal
    plan_cells(confidence, costs, 900.0, "MT-AVG", units=give)
    assert asked == [1]
    with pytest.raises(EngineError, match="MT-EEC needs units="):
        plan_cells(confidence, costs, 900.0, "MT-EEC", decision="GREEDY", rng=3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": np.ones(2, int)}, r"counts has shape \(2,\); expected \(3,\)"),
        ({"cluster": np.zeros(2, int)}, "counts sum to 3"),
        ({"cluster": np.array([0, 1, 2])}, "allowed is 0 to 1"),
        ({"error": np.array([0.1, 1.5, 0.2])}, "calibrate them"),
        ({"labelled": np.array([1, -1])}, "counts of at least 0"),
        ({"length": np.zeros(3, int)}, r"expected \(2, 5\)"),
        ({"kappa": 0.0}, "kappa is 0.0"),
        ({"need": 2.0}, "need 2.0"),
    ],
)
def test_units_that_do_not_fit_are_refused(change, message):
    task = TaskUnits(np.ones(3, int), np.zeros(3, int), np.zeros(3), np.zeros(2, int))
    with pytest.raises(EngineError, match=message):
        Units((replace(task, **change),)).check((3, 1))


def test_an_unknown_part_of_the_rule_is_refused():
    units, is_open, costs = _pool(0)
    with pytest.raises(UnknownName, match="luck"):
        cover(replace(units, without="luck"), is_open, costs, 9.0, rng=np.random.default_rng(0))


def test_units_of_another_pool_are_refused():
    task = TaskUnits(np.ones(3, int), np.zeros(3, int), np.zeros(3), np.zeros(2, int))
    with pytest.raises(EngineError, match="units of 1 tasks, but the confidence matrix has 2"):
        Units((task,)).check((3, 2))
    with pytest.raises(EngineError, match="groups has shape"):
        Units((task,), groups=np.zeros(2, int)).check((3, 1))
    with pytest.raises(EngineError, match="opening is -1"):
        Units((task,), opening=-1).check((3, 1))
    with pytest.raises(UnknownName, match="Did you mean 'doubt'"):
        Units((replace(task, mode="doubts"),)).check((3, 1))
