"""What the model suggests for an ask."""

import numpy as np

from annotation.rounds.suggesting import _suggestion
from mtl_engine.prediction.predict import Prediction
from mtl_engine.types import TaskSpec


def _others(*probabilities):
    task = TaskSpec("Topic", "classes", ("news", "sport", "culture", "other"))
    prediction = Prediction(
        answers={"Topic": "news"},
        items={"Topic": [probabilities[0]]},
        confidence={"Topic": 0.5},
        probabilities={"Topic": np.array([probabilities])},
    )
    return _suggestion(1, task, prediction)["details"]["items"][0]["others"]


def test_the_next_two_classes_come_with_a_class():
    assert _others(0.4, 0.2, 0.3, 0.1) == [
        {"value": "culture", "confidence": 0.3},
        {"value": "sport", "confidence": 0.2},
    ]


def test_classes_that_the_model_rules_out_are_not_offered():
    assert _others(0.9, 0.06, 0.03, 0.01) == [{"value": "sport", "confidence": 0.06}]
    assert _others(0.99, 0.01, 0.0, 0.0) == []
