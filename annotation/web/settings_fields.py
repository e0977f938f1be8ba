"""Form fields and REST messages made from settings classes: a new setting needs neither."""

from collections.abc import Callable
from typing import Any

from django import forms
from rest_framework import serializers

from annotation.web.serializers import (
    FlagField,
    ListField,
    Message,
    NameField,
    NumberField,
    TableField,
    TextField,
    WholeNumberField,
)
from mtl_engine.settings import SettingField, Settings, settings_fields

FEW_CHOICES = 5  # that fit side by side
SHORT = 16  # characters of a code


def settings_message(cls: type[Settings], name: str) -> type[Message]:
    """Return the REST message of settings: all may be left out of a request."""
    fields = {about.name: message_field(about) for about in settings_fields(cls)}
    return type(name, (Message,), {**fields, "__doc__": cls.__doc__})


def message_field(about: SettingField) -> Any:
    """Return the field of a setting in a REST message."""
    options: dict[str, Any] = {
        "required": False,
        "default": about.default if about.form != "texts" else list(about.default),
        "help_text": f"{about.title}. {about.help}".strip(),
    }
    number = int if about.form == "int" else float
    limits = (("min_value", about.low), ("max_value", about.high))
    bounds: dict[str, Any] = {key: number(value) for key, value in limits if value is not None}
    if about.choices:
        return NameField(choices=[choice.value for choice in about.choices], **options)
    if about.form == "bool":
        return FlagField(**options)
    if about.form == "int":
        return WholeNumberField(**bounds, **options)
    if about.form == "float":
        return NumberField(**bounds, **options)
    if about.form == "weights":
        return TableField(child=NumberField(min_value=0), **options)
    if about.form == "texts":
        return ListField(child=TextField(max_length=200), **options)
    options["validators"] = [_checked_by(about.problem, serializers.ValidationError)]
    return TextField(max_length=about.longest, allow_blank=not about.is_filled, **options)


def _checked_by(
    problem: Callable[[str], str] | None, error: type[Exception]
) -> Callable[[str], None]:
    """Return a validator that refuses what a setting finds wrong with a text."""

    def check(text: str) -> None:
        if problem is not None and (words := problem(text)):
            raise error(words)

    return check


def shown_field(about: SettingField) -> Any:
    """Return the field of a setting in a response, where it is always there."""
    if about.form == "bool":
        return serializers.BooleanField()
    if about.form == "int":
        return serializers.IntegerField()
    if about.form == "float":
        return serializers.FloatField()
    return serializers.CharField(allow_blank=True)


def form_field(about: SettingField) -> forms.Field:
    """Return the form field of a setting; shares are shown in per cent."""
    words: dict[str, Any] = {"label": about.title, "help_text": about.help}
    if about.choices:
        choices = [(choice.value, choice.title or choice.value) for choice in about.choices]
        has_room = len(choices) <= FEW_CHOICES and not about.is_registry
        widget = forms.RadioSelect if has_room else forms.Select
        return forms.ChoiceField(choices=choices, widget=widget, **words)
    if about.form == "bool":
        return forms.BooleanField(required=False, **words)
    factor = 100 if about.is_share else 1
    bounds: dict[str, Any] = {
        "min_value": None if about.low is None else about.low * factor,
        "max_value": None if about.high is None else about.high * factor,
    }
    if about.form == "int":
        return forms.IntegerField(**bounds, **words)
    if about.form == "float":
        return forms.FloatField(**bounds, **words)
    return forms.CharField(
        required=about.is_filled,
        max_length=about.longest,
        widget=_text_box(about),
        validators=[_checked_by(about.problem, forms.ValidationError)],
        **words,
    )


def _text_box(about: SettingField) -> forms.Widget:
    if about.n_lines > 1:
        return forms.Textarea({"rows": about.n_lines})
    return forms.TextInput(
        {"class": "short", "autocapitalize": "none"} if about.longest <= SHORT else None
    )


def look_of(about: SettingField, field: forms.Field) -> str:
    """Return how a page shows a setting: cards, segmented, select, switch, number or text."""
    if about.choices:
        if any(choice.help for choice in about.choices):
            return "cards"
        return "segmented" if isinstance(field.widget, forms.RadioSelect) else "select"
    return {"bool": "switch", "int": "number", "float": "number"}.get(about.form, "text")


def to_form_value(about: SettingField, value: Any) -> Any:
    """Return a setting's value as its form field shows it."""
    if about.form in ("int", "float"):
        return f"{value * (100 if about.is_share else 1):.10g}"
    return ", ".join(value) if about.form == "texts" else value


def from_form_value(about: SettingField, value: Any) -> Any:
    """Return what a form field holds as the setting's value."""
    if about.form == "texts":
        return [text.strip() for text in value.split(",") if text.strip()]
    return value / 100 if about.is_share else value
