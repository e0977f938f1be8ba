"""The form of a study that is started in the browser: made from the settings of its kind."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import forms

from analysis.studies.replay.study import NOT_OF_REPLAY, STUDY
from annotation.rounds.settings import known_encoders
from annotation.web.settings_fields import form_field, from_form_value, to_form_value
from mtl_engine.settings import Choice, SettingField, settings_fields

NOT_ASKED = ("weights",)  # forms of settings that a line of text cannot hold
MOST_SEEDS = 20


class SettingsForm(forms.Form):
    """Every setting of a kind that does not vary, with the study's own values to begin with."""

    def __init__(
        self,
        data: Any = None,
        *,
        kind: Any,
        values: Mapping[str, Any],
        fixed: Collection[str],
        choices: Mapping[str, Sequence[Choice]] | None = None,
    ) -> None:
        self.about: dict[str, SettingField] = {
            about.name: replace(
                about, choices=tuple((choices or {}).get(about.name, about.choices))
            )
            for about in settings_fields(kind.settings)
            if about.name not in fixed and about.form not in NOT_ASKED
        }
        initial = {
            f"set_{name}": to_form_value(about, values[name]) for name, about in self.about.items()
        }
        super().__init__(data, initial=initial)
        self.values = values
        for name, about in self.about.items():
            self.fields[f"set_{name}"] = form_field(about)
            self.fields[f"set_{name}"].required = False

    def changed(self) -> dict[str, Any]:
        """Return the settings that somebody gave another value."""
        found = {}
        for name, about in self.about.items():
            given = self.cleaned_data[f"set_{name}"]
            if given is None or (given == "" and about.form != "texts"):
                continue
            value = from_form_value(about, given)
            if value != self.values[name] and value != _listed(self.values[name]):
                found[name] = value
        return found


class ShippedStudyForm(SettingsForm):
    """A shipped study at one of its scales."""

    scale = forms.ChoiceField(required=False)

    def __init__(self, data: Any = None, *, scales: Collection[str], **study: Any) -> None:
        super().__init__(data, **study)
        choices = [("", "as it is"), *((name, name) for name in scales)]
        self.fields["scale"].choices = choices  # type: ignore[attr-defined]


class ReplayForm(SettingsForm):
    """Which strategies to try on a project's own answers; encoders are those that rounds may use.

    Owners of projects start replays: they read no other directory and fetch nothing from a hub.
    """

    strategies = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        help_text="Each is replayed from the first sentence on, using the answers that exist.",
    )
    seeds = forms.IntegerField(min_value=1, max_value=MOST_SEEDS, initial=3, label="Repetitions")

    def __init__(self, data: Any = None, *, minutes: float) -> None:
        fixed = {*NOT_OF_REPLAY, "project", "strategy"}
        own = {"encoder": known_encoders()}
        values = {**STUDY.defaults, "amount": minutes}
        super().__init__(data, kind=STUDY, values=values, fixed=fixed, choices=own)
        about = next(a for a in settings_fields(STUDY.settings) if a.name == "strategy")
        choices = [(choice.value, choice.title or choice.value) for choice in about.choices]
        self.fields["strategies"].choices = choices  # type: ignore[attr-defined]
        self.fields["strategies"].initial = ["RANDOM", str(STUDY.defaults["strategy"])]


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
