"""Why a sentence was asked for."""

import json

import numpy as np
import pytest

from mtl_engine.costs import Costs
from mtl_engine.errors import EngineError
from mtl_engine.selection import explain, explanation, in_words, plan, select

CONFIDENCE = np.array([[0.5, 0.9], [0.2, 0.8], [0.7, np.nan], [0.9, 0.1]])
TASKS = ["slots", "intent"]


def test_ranks_frontier_and_place_are_told():
    rows = select(CONFIDENCE, 3, "MT-MIN")
    first, second, third = explain(CONFIDENCE, rows, strategy="MT-MIN", tasks=TASKS)
    assert rows.tolist() == [3, 1, 0]
    assert first["place"] == 1
    assert first["source"] == "strategy"
    assert first["tasks"]["intent"] == {
        "confidence": 0.1,
        "rank": 1,
        "of": 3,
        "is_asked": True,
    }
    assert first["tasks"]["slots"]["rank"] == 4
    assert (first["frontier"], second["frontier"], third["frontier"]) == (1, 1, 2)
    assert first["value_per_cost"] is None


def test_closed_tasks_are_not_mentioned():
    (only,) = explain(CONFIDENCE, np.array([2]), strategy="MT-AVG", tasks=TASKS)
    assert list(only["tasks"]) == ["slots"]


def test_a_plan_tells_cost_value_and_what_is_not_asked():
    costs = Costs([4, 4, 4, 4], np.full((4, 2), 2.0))
    found = plan(CONFIDENCE, costs, 6, "UDJS")
    value = np.nansum((1 - CONFIDENCE) * found.ask, axis=1)
    (only,) = explain(
        CONFIDENCE,
        found.rows,
        strategy="UDJS",
        tasks=TASKS,
        ask=found.ask,
        value=value,
        costs=costs,
    )
    assert (only["value"], only["cost"]) == (pytest.approx(0.9), 6)
    assert only["value_per_cost"] == pytest.approx(0.15)
    assert not only["tasks"]["slots"]["is_asked"]
    words = in_words(only)
    assert words.startswith(
        "The model is unsure of intent (least sure of 3). It is surer of slots."
    )
    assert "Worth 0.90 at a cost of 6." in words
    assert "Not asked: slots" in words


def test_only_tasks_among_the_least_sure_quarter_are_called_unsure():
    confidence = np.column_stack([np.arange(8), np.arange(8)[::-1], np.roll(np.arange(8), 1)]) / 10
    (first,) = explain(confidence, np.array([1]), strategy="MT-MIN", tasks=["a", "b", "c"])
    assert in_words(first).startswith(
        "The model is unsure of c (least sure of 8) and a (2nd least sure of 8). It is surer of b."
    )


def test_a_sentence_that_is_sure_on_every_task_names_the_least_sure_one():
    confidence = np.column_stack([np.arange(8), np.arange(8)]) / 10
    confidence[7, 1] = 0.35
    (only,) = explain(confidence, np.array([7]), strategy="MT-AVG", tasks=["a", "b"])
    assert in_words(only) == ("The model is unsure of b (5th least sure of 8). It is surer of a.")


def test_explanations_go_into_json_as_they_are():
    rows = select(CONFIDENCE, 4, "MT-AVG")
    told = explain(CONFIDENCE, rows, strategy="MT-AVG", tasks=TASKS, value=np.ones(4))
    assert json.loads(json.dumps(told)) == told


def test_random_sentences_say_so():
    (only,) = explain(CONFIDENCE, np.array([0]), strategy="MT-AVG", tasks=TASKS, sources=["random"])
    assert in_words(only).startswith("Drawn at random")


def test_the_frontier_is_told_in_words_when_it_is_the_first():
    told = explain(CONFIDENCE, np.array([1, 0]), strategy="MT-PAR", tasks=TASKS)
    assert "No other sentence is less sure on every task." in in_words(told[0])
    assert "No other" not in in_words(told[1])


def test_very_large_pools_leave_the_frontier_out(monkeypatch):
    monkeypatch.setattr(explanation, "LAYERED", 3)
    (only,) = explain(CONFIDENCE, np.array([0]), strategy="MT-AVG", tasks=TASKS)
    assert only["frontier"] is None
    assert in_words(only)


@pytest.mark.parametrize(
    ("rank", "words"),
    [(1, ""), (2, "2nd "), (3, "3rd "), (11, "11th "), (21, "21st "), (112, "112th ")],
)
def test_ordinals(rank, words):
    assert explanation._ordinal(rank) == words


def test_every_column_needs_a_name():
    with pytest.raises(EngineError, match="1 task names for 2 columns"):
        explain(CONFIDENCE, np.array([0]), strategy="MT-AVG", tasks=["slots"])
