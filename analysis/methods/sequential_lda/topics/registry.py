"""The topic families by name; a family's module is imported when it is first asked for."""

import dataclasses
import difflib
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.topics.protocol import Topics

FAMILIES = {
    "multinomial": ("multinomial", "MultinomialTopics"),
    "markov": ("markov", "MarkovTopics"),
    "hmm": ("hmm", "HMMTopics"),
    "gaussian": ("gaussian", "GaussianTopics"),
    "gaussian_hmm": ("gaussian_hmm", "GaussianHMMTopics"),
    "kalman": ("kalman", "KalmanTopics"),
    "rnn": ("rnn", "RNNTopics"),
}


def family(name: str) -> type[Topics]:
    """The class of topics behind a family's name."""
    if name not in FAMILIES:
        near = difflib.get_close_matches(name, FAMILIES, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise AnalysisError(f"No topic family {name!r}.{hint} Known: {', '.join(FAMILIES)}.")
    module, class_name = FAMILIES[name]
    found: type[Topics] = getattr(import_module(f".{module}", __package__), class_name)
    return found


def settings_of(name: str, options: Mapping[str, Any]) -> Any:
    """The family's settings with these options; an unknown option is an error."""
    settings_type = family(name).settings_type
    known = [field.name for field in dataclasses.fields(settings_type)]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise TypeError(
            f"The {name} family has no option {unknown[0]!r}. Known: {', '.join(known)}."
        )
    return settings_type(**options)


def option_types(name: str) -> dict[str, type[int] | type[float]]:
    """The options of a family, each with the type of its values."""
    return {
        field.name: int if "int" in str(field.type) else float
        for field in dataclasses.fields(family(name).settings_type)
    }
