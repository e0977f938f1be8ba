"""Every name of the paper's tables resolves to a strategy, a confidence and a task."""

import pytest

from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection import STRATEGIES, resolve_strategy

TASKS = ["DP", "NER"]


@pytest.mark.parametrize(
    ("name", "strategy", "confidence", "task", "is_multi_task"),
    [
        ("ST-R", "RANDOM", None, None, False),
        ("ST-EC-NER", "SINGLE", "entropy", 1, False),
        ("ST-DA-DP", "SINGLE", "dropout", 0, False),
        ("MT-R", "RANDOM", None, None, True),
        ("MT-EC-dp", "SINGLE", "entropy", 0, True),
        ("MT-DA-NER", "SINGLE", "dropout", 1, True),
        ("MT-AVG", "MT-AVG", "entropy", None, True),
        ("MT-AVGDA", "MT-AVG", "dropout", None, True),
        ("MT-MAX", "MT-MAX", "entropy", None, True),
        ("MT-MIN", "MT-MIN", "entropy", None, True),
        ("MT-PAR", "MT-PAR", "entropy", None, True),
        ("MT-RRF", "MT-RRF", "entropy", None, True),
        ("MT-IND", "MT-IND", "entropy", None, True),
        ("MT-RRFDA", "MT-RRF", "dropout", None, True),
        ("STCS-NER", "STCS", "entropy", 1, True),
        ("STCSDA-DP", "STCS", "dropout", 0, True),
        ("UDJS", "UDJS", "entropy", None, True),
        ("EQB-DJSDA", "EQB-DJS", "dropout", None, True),
    ],
)
def test_a_name_is_taken_apart(name, strategy, confidence, task, is_multi_task):
    found = resolve_strategy(name, TASKS)
    assert (found.strategy, found.confidence, found.task, found.is_multi_task) == (
        strategy,
        confidence,
        task,
        is_multi_task,
    )
    assert found.strategy in STRATEGIES


def test_with_one_task_its_name_may_be_left_out():
    assert resolve_strategy("ST-EC", ["intent"]).task == 0


def test_a_task_with_dashes_in_its_name_is_found():
    assert resolve_strategy("MT-EC-slots-en", ["intent", "slots-en"]).task == 1


def test_unknown_names_and_tasks_say_what_there_is():
    with pytest.raises(UnknownName, match="Did you mean 'MT-AVGDA'"):
        resolve_strategy("MT-AVGAD", TASKS)
    with pytest.raises(EngineError, match=r"the tasks are DP, NER. Write for example 'MT-EC-DP'"):
        resolve_strategy("MT-EC-POS", TASKS)
    with pytest.raises(EngineError, match="names no task"):
        resolve_strategy("STCS", TASKS)
