"""What every registered kind of task promises, whichever it is."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.kinds import KINDS, Kind, Recut, TaskSpec
from tests.contract.kind_samples import LABELS, SAMPLES
from tests.mtl_engine.states import head_for, states_of

NAMES = sorted(SAMPLES)


lengths = st.integers(1, 6)
promised = settings(deadline=None, max_examples=60)


def kind_of(name):
    """Return the kind of a sample, also of one that another test adds for a while."""
    return KINDS[SAMPLES[name].task.kind]


@st.composite
def cases(draw, name, n=1):
    """Return a sentence's size, n answers and the spans that they may link."""
    m = draw(lengths)
    answers = [draw(SAMPLES[name].answers(m)) for _ in range(n)]
    return m, answers, SAMPLES[name].parent_spans(m)


def tokens(m):
    return [f"w{i}" for i in range(m)]


def test_every_kind_has_a_sample():
    assert {kind_of(name).name for name in SAMPLES} == set(KINDS)


def test_the_kinds_are_known_without_torch():
    code = "import sys, mtl_engine.kinds, mtl_engine.types, mtl_engine.costs; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "torch" not in done.stdout.split()


def test_an_unknown_kind_is_refused_with_the_nearest_known_one():
    with pytest.raises(UnknownName, match="No task kind 'span'. Did you mean 'spans'"):
        KINDS["span"]
    with pytest.raises(UnknownName, match="Did you mean 'relations'"):
        TaskSpec("t", "relation", ("a",))
    with pytest.raises(EngineError, match="'spans' already"):
        KINDS.register(KINDS["spans"])


@pytest.mark.parametrize("name", NAMES)
def test_a_kind_states_what_forms_and_pages_need(name):
    kind = kind_of(name)
    assert KINDS[kind.name] is kind
    assert kind.title
    assert kind.shape
    assert kind.summary.endswith(".")
    assert kind.unit in ("sentence", "token", "item")
    assert kind.labels_on in ("sentence", "words", "arcs", "links", "marks")
    assert kind.parent_kind is None or kind.parent_kind in KINDS
    assert all(seconds > 0 for seconds in kind.prior_seconds)
    assert set(kind.keys_for("Label")) == set(kind.key_alphabet)
    if kind.is_annotated:
        assert kind.layer in KINDS
        assert kind.main_metric in kind.agreement_measures


@pytest.mark.parametrize("name", NAMES)
def test_a_right_answer_has_no_problem_and_a_wrong_one_is_told(name):
    @promised
    @given(cases(name))
    def check(case):
        m, (answer,), spans = case
        task = SAMPLES[name].task
        assert task.check(answer, tokens(m), spans) == []
        options = {"low": task.low, "high": task.high}
        found = kind_of(name).check(answer, tokens(m), task.labels, parent_spans=spans, **options)
        assert found == []

    check()
    for wrong in SAMPLES[name].wrong:
        problems = SAMPLES[name].task.check(wrong, tokens(2), [])
        assert problems, wrong
        assert all(problem.message.endswith(".") for problem in problems)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_label_is_a_problem_unless_the_task_is_open(name):
    @promised
    @given(cases(name))
    def check(case):
        m, (answer,), spans = case
        used = set(kind_of(name).labels_of(answer))
        problems = kind_of(name).check(answer, tokens(m), parent_spans=spans, **_bounds(name))
        assert bool(problems) == bool(used)
        assert not kind_of(name).check(
            answer, tokens(m), is_open=True, parent_spans=spans, **_bounds(name)
        )

    check()


@pytest.mark.parametrize("name", NAMES)
def test_the_canonical_form_is_one_json_value_whatever_the_order(name):
    @promised
    @given(cases(name), st.randoms(use_true_random=False))
    def check(case, random):
        m, (answer,), spans = case
        kind = kind_of(name)
        canonical = kind.canonical(answer)
        assert kind.canonical(canonical) == canonical
        assert json.loads(json.dumps(canonical)) == canonical
        assert SAMPLES[name].task.check(canonical, tokens(m), spans) == []
        if kind.unit == "item":
            shuffled = list(answer)
            random.shuffle(shuffled)
            assert kind.canonical(shuffled) == canonical

    check()


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_comes_apart_into_items_and_together_again(name):
    @promised
    @given(cases(name))
    def check(case):
        m, (answer,), _ = case
        kind = kind_of(name)
        items = kind.items(answer)
        assert len(items) == len(kind.entries(answer)) == len(set(items))
        assert kind.answer_of(items, m) == kind.canonical(answer)
        if kind.has_rows:
            assert [entry[-1] for entry in kind.entries(answer)] == kind.labels_of(answer)
        if kind.marks_spans:
            assert all(0 <= start < end <= m for start, end, _ in answer)
        if kind.labels_of(answer):
            parts = [part for item in items for part in kind.parts(item[-1])]
            assert kind.labels_of(answer) == parts
        if kind.unit != "item":
            assert len(items) == (m if kind.unit == "token" else 1)

    check()


@pytest.mark.parametrize("name", NAMES)
def test_a_blank_answer_has_no_label(name):
    for m in (1, 4):
        blank = kind_of(name).blank(m)
        assert kind_of(name).answer_of([], m) == blank
        assert blank is None or not [entry for entry in blank if entry is not None]


@pytest.mark.parametrize("name", NAMES)
def test_labels_renamed_there_and_back_are_what_they_were(name):
    @promised
    @given(cases(name))
    def check(case):
        m, (answer,), spans = case
        kind, (a, b, *_) = kind_of(name), SAMPLES[name].task.labels or LABELS
        there = kind.replace_labels(answer, {a: "z"})
        assert a not in kind.labels_of(there)
        assert kind.replace_labels(there, {"z": a}) == kind.canonical(answer)
        swapped = kind.replace_labels(answer, {a: b, b: a})
        assert kind.replace_labels(swapped, {a: b, b: a}) == kind.canonical(answer)
        assert kind.replace_labels(answer, {}) == kind.canonical(answer)
        merged = kind.replace_labels(answer, {a: b})
        assert SAMPLES[name].task.check(merged, tokens(m), spans) == []
        assert set(kind.labels_of(merged)) <= set(kind.labels_of(answer)) - {a} | {b}

    check()


@pytest.mark.parametrize("name", NAMES)
def test_a_vote_never_invents_an_item_and_is_a_right_answer(name):
    weights = st.lists(st.floats(0.1, 5), min_size=3, max_size=3)

    @promised
    @given(cases(name, n=3), weights)
    def check(case, weights):
        m, answers, spans = case
        kind = kind_of(name)
        merged = kind.merge(answers, weights)
        assert SAMPLES[name].task.check(merged, tokens(m), spans) == []
        assert kind.canonical(merged) == merged
        given = [set(kind.items(answer)) for answer in answers]
        assert set(kind.items(merged)) <= set.union(*given)
        assert set(kind.items(merged)) >= set.intersection(*given)

    check()


@pytest.mark.parametrize("name", NAMES)
def test_a_vote_follows_the_weight_and_ties_go_to_the_older_answer(name):
    @promised
    @given(cases(name, n=2))
    def check(case):
        _, (one, other), _ = case
        kind = kind_of(name)
        assert kind.merge([one]) == kind.merge([one, one]) == kind.canonical(one)
        assert kind.merge([one, other], [1, 3]) == kind.canonical(other)
        assert kind.merge([one, other, other]) == kind.canonical(other)
        if kind.unit != "item" and not kind.is_ordinal:
            assert kind.merge([one, other]) == kind.canonical(one)

    check()


@pytest.mark.parametrize("name", NAMES)
def test_votes_without_answers_or_with_odd_weights_are_refused(name):
    with pytest.raises(EngineError, match="no answer to merge"):
        kind_of(name).merge([])

    @promised
    @given(cases(name, n=2))
    def check(case):
        _, answers, _ = case
        with pytest.raises(EngineError, match="2 answers and 1 weights"):
            kind_of(name).merge(answers, [1.0])
        for weight in (0, -1, float("nan"), float("inf")):
            with pytest.raises(EngineError, match="above 0 and finite"):
                kind_of(name).merge(answers, [1.0, weight])

    check()


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_agrees_with_itself_wholly_by_every_measure(name):
    @promised
    @given(cases(name))
    def check(case):
        m, (answer,), _ = case
        kind = kind_of(name)
        for measure in kind.agreement_measures:
            if measure not in ("kappa", "fleiss", "alpha"):
                common, total = kind.common_and_total(measure, answer, answer)
                assert common == total
        with pytest.raises(UnknownName, match="agreement measure"):
            kind.common_and_total("beauty", answer, answer)
        units = kind.token_labels(answer, m)
        assert all(isinstance(label, str) for label in units)
        assert len(units) in (0, 1, m)
        judged = kind.judge(SAMPLES[name].task, [answer], [answer], [m])
        assert judged.accuracy.tolist() == [1.0]
        table = kind.label_table([answer], [answer])
        assert all(row.right == row.gold == row.predicted for row in table.values())

    check()


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_follows_words_and_borders_or_is_given_anew(name):
    task = SAMPLES[name].task
    if name == "tree":
        task = replace(task, labels=(*task.labels, "dep"))

    @promised
    @given(cases(name), st.data())
    def check(case, data):
        m, (answer,), spans = case
        kind, words = kind_of(name), tokens(m)
        start = data.draw(st.integers(0, m))
        end = data.draw(st.integers(start, m))
        n_new = data.draw(st.integers(0 if end - start < m else 1, 3))
        new = [*words[:start], *("n" * (i + 1) for i in range(n_new)), *words[end:]]
        change = Recut(start, end, n_new, words, new)
        moved = kind.recut(task, answer, change)
        parents = spans and [[*place, x] for a, b, x in spans if (place := change.span(a, b))]
        assert moved is None or not _flat_problems(task, moved, new, parents)
        if start == end and not n_new:
            assert kind.canonical(moved) == kind.canonical(answer)
        at = data.draw(st.integers(0, m))
        if 0 < at < m:
            before, behind = kind.cut(task, answer, at)
            whole = SAMPLES[name].parent_spans
            assert before is None or not task.check(before, words[:at], whole(at))
            assert behind is None or not task.check(behind, words[at:], whole(m - at))
        joined = kind.join(task, answer, answer, m)
        doubled = SAMPLES[name].parent_spans(2 * m)
        assert joined is None or not task.check(joined, [*words, *words], doubled)

    check()


def _flat_problems(task, answer, words, parents):
    """Return the problems but that spans met where words became one: these are given anew."""
    found = task.check(answer, words, parents)
    return [p for p in found if "overlap" not in p.message and "twice" not in p.message]


@pytest.mark.parametrize("name", NAMES)
def test_every_sentence_has_something_to_mark(name):
    items = kind_of(name).items_to_mark(np.array([5.0, 1.0, 0.0]), np.array([0.0, 2.4, 0.2]))
    assert items.shape == (3,)
    assert (items >= 1).all()
    assert (kind_of(name).cost_in_tokens(items) >= 1).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_task_is_the_same_after_a_trip_through_json(name):
    task = SAMPLES[name].task
    assert TaskSpec.from_dict(json.loads(json.dumps(task.to_dict()))) == task


@pytest.mark.parametrize("name", NAMES)
def test_the_head_reads_answers_that_the_kind_takes_for_right(name):
    task, others = SAMPLES[name].task, [SAMPLES["spans"].task]
    head = head_for(task, *others)
    states = states_of(3, 5)
    with torch.no_grad():
        parent = head_for(others[0], task)(states) if task.parent else None
        reading = head.read(head(states, parent))
    for answer, m in zip(reading.answers(), (3, 5), strict=True):
        spans = SAMPLES[name].parent_spans(m)
        assert task.check(answer, tokens(m), spans) == []
        head.encode(m, answer)
    confidence = reading.confidence()
    assert confidence.shape == (2,)
    assert ((confidence >= 0) & (confidence <= 1)).all()
    assert (reading.expected_items() >= 0).all()
    for answer, sure in zip(reading.answers(), reading.item_confidence(), strict=True):
        assert len(sure) == len(kind_of(name).entries(answer))


def test_a_base_class_asks_for_all_that_a_kind_must_say():
    with pytest.raises(TypeError, match="abstract"):
        Kind()


def _bounds(name):
    task = SAMPLES[name].task
    return {"low": task.low, "high": task.high}


def _rows(n, is_right):
    """Return very many rows of each kind that lists them; wrong ones have a label too many."""
    label = "label {}" if is_right else "none"
    spans = [[0, 9, label.format(i)] for i in range(n)]
    return {
        "spans": spans,
        "attributes": spans,
        "graph": [["1", "0", label.format(i)] for i in range(n)],
        "multiclasses": [label.format(i) for i in range(n)],
        "relations": [[0, 9, 1, 9, label.format(i)] for i in range(n)],
    }


@pytest.mark.timeout(20)
@pytest.mark.parametrize("is_right", [True, False])
@pytest.mark.parametrize("name", _rows(0, True))
def test_an_answer_as_long_as_a_request_may_be_is_checked_at_once(name, is_right):
    names = tuple(f"name {i}" for i in range(2_000))
    parent = "p" if KINDS[name].parent_kind else None
    task = TaskSpec("t", name, names, parent=parent, is_open=is_right, is_nested=True)
    answer = _rows(40_000, is_right)[name]
    problems = task.check(answer, ["w"] * 9, [[0, 9, "x"], [1, 9, "x"]])
    assert (problems == []) is is_right
    assert sum(len(problem.message) for problem in problems) < 200_000
