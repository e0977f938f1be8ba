"""Training as a stream of events."""

from mtl_engine.training.events import (
    Best,
    End,
    Evaluation,
    Event,
    Step,
    TrainingState,
    trained_model,
)
from mtl_engine.training.loop import train

__all__ = [
    "Best",
    "End",
    "Evaluation",
    "Event",
    "Step",
    "TrainingState",
    "train",
    "trained_model",
]
