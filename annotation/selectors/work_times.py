"""What people's measured times say about the cost of reading and labelling."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Project
from mtl_engine.costs import Costs


@dataclass(frozen=True)
class Guess:
    """Seconds a token read and a thing marked, before anybody has been measured."""

    per_token: float = 0.4
    per_item: float = 2.0

    def predict(self, n_tokens: Any, n_items: Any) -> Costs:
        return Costs(self.per_token * np.asarray(n_tokens), self.per_item * np.asarray(n_items))


def cost_model(project: Project) -> Guess:
    """Return how many seconds a person needs on this project's sentences."""
    return Guess()
