"""What a round's settings mean to the engine."""

import pytest

from annotation.round_config import RoundConfig
from mtl_engine.errors import EngineError


def test_a_fast_round_freezes_as_many_layers_as_it_says_and_a_full_one_none():
    def frozen(**changes):
        return RoundConfig.from_dict(changes).engine_config().encoder.frozen_layers

    assert frozen() == 2
    assert frozen(frozen_layers=4) == 4
    assert frozen(frozen_layers=4, is_fast=False) == -1


def test_a_fast_round_that_freezes_nothing_is_refused():
    with pytest.raises(EngineError, match="frozen_layers"):
        RoundConfig.from_dict({"frozen_layers": 0})


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"diversity": "facility", "strategy": "MT-PAR"}, "diversity"),
        ({"diversity": "badge", "strategy": "UDJS"}, "diversity"),
        ({"value": "information", "confidence": "dropout"}, "value"),
        ({"scale": "loud"}, "scale"),
    ],
)
def test_ways_to_choose_that_do_not_go_together_are_refused(changes, key):
    with pytest.raises(EngineError, match=key):
        RoundConfig.from_dict(changes)
