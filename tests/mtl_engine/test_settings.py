"""Settings that describe themselves: read, refused, assigned and documented from their fields."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from mtl_engine.errors import EngineError, Problem, UnknownName
from mtl_engine.settings import (
    Choice,
    InvalidSettings,
    Settings,
    read_assignments,
    setting,
    settings_fields,
    settings_table,
)


@dataclass(frozen=True)
class Tea(Settings):
    """How tea is made."""

    minutes: float = setting(3.0, title="Minutes", help="Of drawing.", above=0, high=20)
    cups: int = setting(2, title="Cups", low=1)
    kind: str = setting(
        "black", title="Kind", choices=(Choice("black", "strong"), Choice("green", "mild"))
    )
    has_milk: bool = setting(False, title="Milk")
    note: str = setting("", title="Note")
    weights: Mapping[str, float] = setting(default_factory=dict, title="Weights")
    guests: tuple[str, ...] = setting((), title="Guests")

    def conflicts(self):
        if self.has_milk and self.kind == "green":
            yield Problem("has_milk", "Green tea takes no milk.")


def test_a_field_knows_its_form_bounds_and_choices():
    about = {one.name: one for one in settings_fields(Tea)}
    assert [one.form for one in about.values()] == [
        "float", "int", "text", "bool", "text", "weights", "texts",
    ]  # fmt: skip
    assert about["minutes"].allowed == "more than 0, at most 20"
    assert about["cups"].allowed == "1 or more"
    assert [choice.title for choice in about["kind"].choices] == ["strong", "mild"]


def test_everything_that_is_wrong_is_told_by_key():
    with pytest.raises(InvalidSettings) as refusal:
        Tea.from_dict({"minutes": "long", "sugar": 1})
    assert [problem.path for problem in refusal.value.problems] == ["minutes", "sugar"]
    with pytest.raises(InvalidSettings) as refusal:
        Tea(minutes=0.0, cups=0, kind="gren")
    assert [problem.path for problem in refusal.value.problems] == ["minutes", "cups", "kind"]
    assert "Did you mean 'green'" in str(refusal.value)


def test_one_problem_is_told_by_its_own_error_which_knows_its_key():
    with pytest.raises(UnknownName, match="Did you mean 'minutes'") as refusal:
        Tea.from_dict({"minuts": 3})
    assert refusal.value.problems[0].path == "minuts"
    with pytest.raises(EngineError, match="takes no milk") as refusal:
        Tea(kind="green", has_milk=True)
    assert refusal.value.problems == (Problem("has_milk", "Green tea takes no milk."),)


def test_settings_survive_a_way_through_plain_values():
    tea = Tea(guests=("ann", "ben"), weights={"ann": 1.0})
    assert Tea.from_dict({**tea.to_dict(), "guests": ["ann", "ben"]}) == tea


def test_assignments_are_read_as_their_setting_wants():
    values = read_assignments(
        Tea, ["cups=3", "note=4", "has_milk=true", "weights.ann=0.5", 'guests=["x"]', "kind=green"]
    )
    assert values == {
        "cups": 3,
        "note": "4",
        "has_milk": True,
        "weights": {"ann": 0.5},
        "guests": ["x"],
        "kind": "green",
    }
    with pytest.raises(UnknownName, match="Did you mean 'cups'"):
        read_assignments(Tea, ["cup=3"])
    with pytest.raises(EngineError, match="KEY=VALUE"):
        read_assignments(Tea, ["cups"])


def test_the_table_has_a_row_per_setting():
    rows = settings_table(Tea)
    assert rows[0] == "| `minutes` | 3 | more than 0, at most 20 | Minutes. Of drawing. |"
    assert rows[2] == "| `kind` | `black` | `black`, `green` | Kind. |"
    assert len(rows) == 7
