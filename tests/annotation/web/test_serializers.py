"""Messages are read strictly, and everything wrong with one is said at once."""

import pytest

from annotation.errors import InvalidInput
from annotation.web.serializers import (
    FlagField,
    Message,
    NameField,
    NumberField,
    TextField,
    WholeNumberField,
    page_message,
)


class Task(Message):
    name = TextField(max_length=20)
    kind = NameField(["spans", "tags"])


class Body(Message):
    title = TextField(max_length=30)
    note = TextField(default="")
    days = WholeNumberField(min_value=1, max_value=90, default=14)
    share = NumberField(min_value=0, max_value=1, required=False)
    is_open = FlagField(default=False)
    tasks = Task(many=True, required=False)


def problems(data, **options):
    with pytest.raises(InvalidInput) as caught:
        Body.read(data, **options)
    return {problem.path: problem.message for problem in caught.value.problems}


def test_a_good_body_comes_back_with_its_defaults():
    assert Body.read({"title": " Notices "}) == {
        "title": "Notices",
        "note": "",
        "days": 14,
        "is_open": False,
    }


def test_types_are_not_converted():
    found = problems({"title": 3, "days": "7", "share": True, "is_open": 1})
    assert found == {
        "title": "3 is not a text.",
        "days": "'7' is not a whole number from 1 to 90.",
        "share": "True is not a number from 0 to 1.",
        "is_open": "1 is not true or false.",
    }


def test_unknown_keys_are_refused_beside_everything_else():
    found = problems({"titel": "x", "days": 0})
    assert found["titel"].startswith("No key 'titel'. Did you mean 'title'?")
    assert found["title"] == "'title' is missing; it is required."
    assert found["days"] == "0 is not a whole number from 1 to 90."


def test_problems_in_lists_carry_their_place():
    found = problems({"title": "x", "tasks": [{"name": "a", "kind": "tags"}, {"kind": "span"}]})
    assert found["tasks.1.name"] == "'name' is missing; it is required."
    assert found["tasks.1.kind"].startswith("No kind 'span'. Did you mean 'spans'?")


@pytest.mark.parametrize("data", [[], "x", None, 3])
def test_a_body_that_is_no_table_is_refused(data):
    with pytest.raises(InvalidInput):
        Body.read(data)


def test_control_characters_are_refused_and_line_breaks_only_in_lines():
    assert "cannot be shown" in problems({"title": "a\nb"})["title"]
    assert Body.read({"title": "a", "note": "a\nb"})["note"] == "a\nb"
    assert "cannot be shown" in problems({"title": "a", "note": "a\x07b"})["note"]


def test_a_change_names_only_what_changes():
    assert Body.read({"days": 3}, is_partial=True) == {"days": 3}


def test_infinite_numbers_are_refused():
    assert "is not a number" in problems({"title": "x", "share": float("nan")})["share"]


def test_a_page_renders_its_rows_and_its_cursor():
    row = {"name": "a", "kind": "tags"}
    assert page_message(Task).render({"results": [row], "next": None}) == {
        "results": [row],
        "next": None,
    }
