"""Costs of a pool, and the ledger."""

import numpy as np
import pytest

from mtl_engine.costs import Costs, Ledger, paper_costs
from mtl_engine.errors import EngineError, UnknownName


def test_reading_is_paid_once_however_many_tasks_are_asked():
    costs = Costs([5, 8], [[1, 3], [2, 3]])
    ask = np.array([[True, True], [False, True]])
    assert costs.by_row(ask).tolist() == [9, 11]
    assert costs.of(ask) == 20
    assert costs.at(np.array([1])).of(ask[1:]) == 11


def test_the_papers_costs_are_tokens_spans_and_a_fixed_price_for_the_class():
    costs = paper_costs([5, 4], [2, 0], source="gold", per_span=2, per_class=4)
    assert costs.read.tolist() == [5, 4]
    assert costs.label.tolist() == [[4, 4], [0, 4]]


def test_a_predicted_number_of_spans_is_rounded_up_and_never_makes_the_task_free():
    costs = paper_costs([5, 4, 6], [0, 1.2, 3.0])
    assert costs.label[:, 0].tolist() == [1, 2, 3]


def test_the_ledger_is_charged_with_what_was_really_spent():
    ledger = Ledger(100)
    ledger.charge(planned=40, spent=46)
    ledger.charge(planned=30, spent=25)
    assert ledger.left == 29
    assert (sum(ledger.planned), sum(ledger.spent)) == (70, 71)
    with pytest.raises(EngineError, match="at least 0"):
        ledger.charge(planned=1, spent=-1)


@pytest.mark.parametrize(
    ("read", "label", "message"),
    [
        ([1, -2], [[1], [1]], "A read cost is -2.0"),
        ([1, 2], [[1], [np.nan]], "A label cost is nan"),
        ([1, 2], [[1], [np.inf]], "A label cost is inf"),
        ([1, 2], [[1]], "expected"),
        ([[1]], [[1]], "expected"),
        ([1], [1], "expected"),
    ],
)
def test_wrong_costs_are_refused(read, label, message):
    with pytest.raises(EngineError, match=message):
        Costs(read, label)


def test_unequal_counts_and_unknown_sources_are_refused():
    with pytest.raises(EngineError, match="one of each per sentence"):
        paper_costs([1, 2], [1])
    with pytest.raises(UnknownName, match="gold, predicted"):
        paper_costs([1], [1], source="guessed")
