"""Seconds learned from measured work, on simulated people whose speed is known."""

import json
import subprocess
import sys

import numpy as np
import pytest

from mtl_engine.costs import CostModel, WorkEvent, fit_costs, prior_model
from mtl_engine.errors import EngineError, UnknownName

KINDS = {"slots": "spans", "intent": "classes"}
TRUE = np.array([2.0, 0.45, 0.5, 4.0, 1.0, 1.2])  # opening, token, slots x 2, intent x 2


def _expected(n_tokens, items):
    seconds = TRUE[0] + TRUE[1] * n_tokens
    if "slots" in items:
        seconds += TRUE[2] + TRUE[3] * items["slots"]
    if "intent" in items:
        seconds += TRUE[4] + TRUE[5] * items["intent"]
    return seconds


def _work(seed, n, *, speed=None, noise=0.3, pauses=0.0, partial=0.5):
    rng = np.random.default_rng(seed)
    speed = speed or {"ann": 1.0}
    events = []
    for _ in range(n):
        tokens = int(rng.integers(4, 40))
        items = {"slots": float(rng.binomial(tokens, 0.15)), "intent": 1.0}
        if rng.random() < partial:
            del items[str(rng.choice(["slots", "intent"]))]
        who = str(rng.choice(sorted(speed)))
        seconds = speed[who] * _expected(tokens, items)
        seconds *= np.exp(rng.normal(0, noise) - noise**2 / 2)
        if rng.random() < pauses:
            seconds += rng.exponential(900)
        events.append(WorkEvent(who, float(seconds), tokens, items))
    return events


def _pool(seed=3, n=200):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(4, 40, n)
    items = np.column_stack([rng.binomial(tokens, 0.15), np.ones(n)]).astype(float)
    truth = sum(
        _expected(m, {"slots": k[0], "intent": k[1]}) for m, k in zip(tokens, items, strict=True)
    )
    return tokens, items, truth


def test_without_work_the_prior_is_the_model():
    model = fit_costs([], KINDS)
    assert model.seconds.tolist() == prior_model(KINDS).seconds.tolist()
    assert model.n_events == 0
    low, expected, high = model.interval([10, 20], [[2, 1], [3, 1]], np.ones((2, 2)))
    assert 0 <= low < expected < high


def test_a_thousand_events_recover_the_seconds():
    model = fit_costs(_work(0, 1000), KINDS)
    tokens, items, truth = _pool()
    costs = model.predict(tokens, items)
    assert costs.of(np.ones((200, 2), bool)) == pytest.approx(truth, rel=0.05)
    assert model.seconds[1] == pytest.approx(TRUE[1], rel=0.15)
    assert model.seconds[3] == pytest.approx(TRUE[3], rel=0.15)
    only_intent = np.tile([False, True], (200, 1))
    expected = sum(_expected(m, {"intent": 1}) for m in tokens)
    assert costs.of(only_intent) == pytest.approx(expected, rel=0.08)


def test_coffee_breaks_do_not_count_as_work():
    calm = fit_costs(_work(1, 400), KINDS)
    paused = fit_costs(_work(1, 400, pauses=0.05), KINDS)
    tokens, items, _ = _pool()
    everything = np.ones((200, 2), bool)
    assert paused.predict(tokens, items).of(everything) == pytest.approx(
        calm.predict(tokens, items).of(everything), rel=0.1
    )


def test_every_annotator_has_a_speed_of_their_own():
    model = fit_costs(_work(2, 600, speed={"fast": 0.7, "slow": 1.4}), KINDS)
    assert model.speed["slow"] / model.speed["fast"] == pytest.approx(2.0, rel=0.1)
    tokens, items, _ = _pool()
    slow = model.predict(tokens, items, annotator="slow").read
    anybody = model.predict(tokens, items).read
    assert slow == pytest.approx(model.speed["slow"] * anybody)
    assert model.predict(tokens, items, annotator="new").read == pytest.approx(anybody)


def test_few_events_move_the_prior_only_a_little():
    prior = prior_model(KINDS)
    slow = [WorkEvent("ann", 200.0, 10, {"slots": 2.0, "intent": 1.0}) for _ in range(2)]
    few = fit_costs(slow, KINDS)
    many = fit_costs(slow * 100, KINDS)
    ask, tokens, items = np.ones((1, 2), bool), [10], [[2, 1]]
    before, after, much_later = (m.predict(tokens, items).of(ask) for m in (prior, few, many))
    assert before < after < 0.4 * 200
    assert much_later == pytest.approx(200, rel=0.15)


def test_seconds_are_never_negative():
    rng = np.random.default_rng(4)
    events = [
        WorkEvent("ann", float(30 - 0.5 * m), int(m), {"slots": 0.0})
        for m in rng.integers(5, 40, 80)
    ]
    model = fit_costs(events, KINDS)
    assert (model.seconds >= 0).all()
    assert (model.predict([1, 80], [[0, 0], [0, 0]]).label > 0).all()


def test_intervals_hold_about_as_often_as_they_say():
    held = []
    for seed in range(40):
        model = fit_costs(_work(seed, 60, noise=0.4, pauses=0.02), KINDS)
        new = _work(1000 + seed, 50, noise=0.4, partial=0.0)
        items = [[event.n_items["slots"], 1.0] for event in new]
        low, _, high = model.interval([e.n_tokens for e in new], items, np.ones((50, 2)))
        held.append(low <= sum(event.seconds for event in new) <= high)
    assert 0.75 <= np.mean(held) <= 1.0


def test_intervals_narrow_with_more_work():
    tokens, items, _ = _pool()
    widths = []
    for n in (10, 100, 1000):
        low, expected, high = fit_costs(_work(5, n), KINDS).interval(
            tokens, items, np.ones((200, 2))
        )
        widths.append((high - low) / expected)
    assert widths[0] > widths[1] > widths[2]


def test_the_order_of_events_does_not_matter():
    events = _work(6, 50, speed={"a": 1.0, "b": 1.3})
    assert fit_costs(events, KINDS).to_dict() == fit_costs(events[::-1], KINDS).to_dict()


def test_a_model_survives_json():
    model = fit_costs(_work(7, 30), KINDS)
    again = CostModel.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again.to_dict() == model.to_dict()
    tokens, items, _ = _pool()
    assert again.predict(tokens, items).read.tolist() == model.predict(tokens, items).read.tolist()


def test_parameters_are_named_with_their_intervals():
    table = fit_costs(_work(8, 100), KINDS).parameters()
    assert [row["name"] for row in table] == [
        "opening a sentence",
        "reading a token",
        "beginning slots",
        "an item of slots",
        "beginning intent",
        "an item of intent",
    ]
    assert all(0 <= row["low"] <= row["seconds"] <= row["high"] for row in table)


def test_an_instant_answer_is_taken_as_a_slip_of_the_clock():
    events = [*_work(9, 50), WorkEvent("ann", 0.0, 10, {"intent": 1})]
    assert np.isfinite(fit_costs(events, KINDS).seconds).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seconds": -1.0}, "took -1.0 seconds"),
        ({"seconds": np.nan}, "took nan seconds"),
        ({"n_tokens": -1}, "at least 0"),
        ({"n_items": {}}, "at least one task"),
        ({"n_items": {"slots": -2}}, "at least 0"),
    ],
)
def test_impossible_work_is_refused(change, message):
    event = {"annotator": "ann", "seconds": 1.0, "n_tokens": 5, "n_items": {"slots": 1}}
    with pytest.raises(EngineError, match=message):
        WorkEvent(**event | change)


def test_unknown_tasks_kinds_and_shapes_are_refused():
    with pytest.raises(UnknownName, match="No task 'pos'"):
        fit_costs([WorkEvent("ann", 1.0, 5, {"pos": 1})], KINDS)
    with pytest.raises(UnknownName, match="task kind"):
        prior_model({"slots": "words"})
    with pytest.raises(EngineError, match=r"\(n, 2\) for the tasks slots, intent"):
        prior_model(KINDS).predict([1, 2], [[1], [2]])


def test_costs_need_no_torch_and_no_scipy():
    code = "import sys, mtl_engine.costs; sys.exit(bool({'torch', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
