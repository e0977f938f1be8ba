"""The form in which a round, or a project's defaults, are set: made from the settings' fields."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from annotation.models import Project
from annotation.rounds.selectors import task_names
from annotation.rounds.settings import NEXT, RoundSettings
from annotation.web.settings_fields import form_field, from_form_value, look_of, to_form_value
from config.home import command
from mtl_engine.active_learning.settings import (
    BUDGET,
    EVALUATION,
    MODEL,
    MODEL_DETAILS,
    SELECTION,
    SELECTION_DETAILS,
)
from mtl_engine.settings import SettingField, settings_fields

SECTIONS = {
    BUDGET: "How much to ask for",
    SELECTION: "How sentences are chosen",
    EVALUATION: "Keeping it honest",
    MODEL: "Model and confidence",
    SELECTION_DETAILS: "More about choosing",
    MODEL_DETAILS: "More about the model",
    NEXT: "The round after it",
}
FOLDED = (SELECTION_DETAILS, MODEL_DETAILS)
TASK, WEIGHTS, AMOUNT = "task", "weights", "amount"


@dataclass(frozen=True)
class ShownSetting:
    """A setting as the page shows it."""

    about: SettingField
    look: str
    field: forms.BoundField
    weights: tuple[forms.BoundField, ...] = ()  # one slider per task

    @property
    def is_changed(self) -> bool:
        """Return whether it differs from the product's default."""
        if self.weights:
            return bool(self.field.value())
        return str(self.field.value()) != str(to_form_value(self.about, self.about.default))


@dataclass(frozen=True)
class Section:
    """Settings under one heading."""

    name: str
    title: str
    settings: tuple[ShownSetting, ...]

    @property
    def is_folded(self) -> bool:
        return self.name in FOLDED

    @property
    def is_of_model(self) -> bool:
        """Return whether it says nothing before there is a model."""
        return self.name in (SELECTION, SELECTION_DETAILS, MODEL, MODEL_DETAILS)

    @property
    def is_open(self) -> bool:
        """Return whether a folded section has something to show: changes or errors."""
        return any(one.is_changed or one.field.errors for one in self.settings)


class RoundForm(forms.Form):
    """All settings of a round."""

    def __init__(self, *args: Any, project: Project, **options: Any) -> None:
        super().__init__(*args, **options)
        self.tasks = task_names(project)
        self.abouts = {about.name: about for about in settings_fields(RoundSettings)}
        for name, about in self.abouts.items():
            self.fields[name] = form_field(about)
        if self.is_bound:
            self.data = self._with_defaults()
        self.fields[TASK] = forms.ChoiceField(
            required=False,
            choices=[("", "none"), *((name, name) for name in self.tasks)],
            label=self.abouts[TASK].title,
            help_text=self.abouts[TASK].help,
        )
        self.fields[WEIGHTS] = forms.CharField(
            required=False,
            widget=forms.HiddenInput,
            label=self.abouts[WEIGHTS].title,
            help_text=self.abouts[WEIGHTS].help,
        )
        for i, name in enumerate(self.tasks):
            slider = forms.NumberInput({"type": "range", "min": 0, "max": 100})
            self.fields[f"weight_{i}"] = forms.IntegerField(
                min_value=0, max_value=100, required=False, label=name, widget=slider
            )

    def _with_defaults(self) -> Any:
        """Return what was sent, with the defaults of settings that the strategy does not need.

        The page disables those, and browsers do not send what is disabled.
        """
        data: Any = self.data.copy()  # type: ignore[attr-defined]
        for name, about in self.abouts.items():
            if about.needs and about.form != "bool" and name not in data:
                data[name] = to_form_value(about, about.default)
        return data

    def sections(self) -> list[Section]:
        """Return the settings under their headings, in the order of the page."""
        return [Section(name, title, tuple(self._shown(name))) for name, title in SECTIONS.items()]

    def changed(self) -> list[str]:
        """Return the titles of the settings that differ from the product's defaults."""
        shown = [one for section in self.sections() for one in section.settings]
        return [one.about.title for one in shown if one.is_changed and one.about.name != AMOUNT]

    def values(self) -> dict[str, Any]:
        """Return the settings that were chosen."""
        data = self.cleaned_data
        values = {
            name: from_form_value(about, data[name])
            for name, about in self.abouts.items()
            if name != WEIGHTS
        }
        return {**values, WEIGHTS: self._weights()}

    def _shown(self, section: str) -> Iterator[ShownSetting]:
        for name, about in self.abouts.items():
            if about.section != section:
                continue
            look = look_of(about, self.fields[name])
            sliders: tuple[forms.BoundField, ...] = ()
            if name == WEIGHTS:
                look, sliders = (
                    "weights",
                    tuple(self[f"weight_{i}"] for i in range(len(self.tasks))),
                )
            yield ShownSetting(about, "select" if name == TASK else look, self[name], sliders)

    def _weights(self) -> dict[str, float]:
        """Return the tasks' shares, none where all count equally; unmoved sliders keep theirs."""
        data = self.cleaned_data
        given = {name: data[f"weight_{i}"] for i, name in enumerate(self.tasks)}
        if None in given.values() or len(set(given.values())) <= 1:
            return {}
        before = _stored_weights(data[WEIGHTS])
        if given == {name: _slider(before, name) for name in self.tasks}:
            return before
        total = sum(given.values())
        return {name: value / total for name, value in given.items()}


def initial_of(values: Mapping[str, Any], project: Project) -> dict[str, Any]:
    """Return settings as the form shows them."""
    initial = {
        about.name: to_form_value(about, values[about.name])
        for about in settings_fields(RoundSettings)
    }
    weights = values[WEIGHTS]
    initial[WEIGHTS] = json.dumps(dict(weights)) if weights else ""
    for i, name in enumerate(task_names(project)):
        initial[f"weight_{i}"] = _slider(weights, name)
    return initial


def as_command(values: Mapping[str, Any], project: Project) -> str:
    """Return the command that starts a round with these settings."""
    product = RoundSettings().to_dict()
    changed = {key: value for key, value in values.items() if value != product[key]}
    parts = [f"--set {key}={_argument(value)}" for key, value in changed.items()]
    return " ".join([command("start_round"), json.dumps(project.name), *parts])


def _argument(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(name)} = {share:g}" for name, share in value.items())
        return f"'{{{inner}}}'"
    return f"{value:g}" if isinstance(value, float) else f"{value}"


def _slider(weights: Mapping[str, float], name: str) -> int:
    return round(100 * weights.get(name, 0.0)) if weights else 50


def _stored_weights(text: str) -> dict[str, float]:
    try:
        found = json.loads(text) if text else {}
        return {str(name): float(value) for name, value in found.items()}
    except (ValueError, AttributeError, TypeError):
        return {}
