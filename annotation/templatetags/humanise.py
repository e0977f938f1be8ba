"""Small words for templates: numbers as people read them, fields by their names."""

import json

from django import forms, template

register = template.Library()


@register.filter
def grouped(number: int) -> str:
    """Return a whole number with its thousands apart: 5214 -> 5,214."""
    return f"{number:,}"


@register.filter
def counted(number: int, words: str) -> str:
    """Return a number with the right one of two words: 1, "person,people" -> 1 person."""
    one, many = words.split(",")
    return f"{number:,} {one if number == 1 else many}"


@register.filter
def percent_of(part: int, whole: int) -> str:
    """Return a share in whole percent, never rounded up to 100: 999 of 1000 -> 99 %."""
    return f"{100 * part // whole if whole else 0} %"


@register.filter
def as_json(value: object) -> str:
    """Return a value as JSON, with all its letters."""
    return json.dumps(value, ensure_ascii=False)


@register.filter
def last_of(first: int, rows: list[object]) -> str:
    """Return the number of the last row of a list that begins with a number: 51, 50 rows -> 100."""
    return grouped(first + len(rows) - 1)


@register.filter
def most_common(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Return things with their counts, the most frequent first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


@register.filter
def words(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


@register.filter
def field(form: forms.Form, name: str) -> forms.BoundField:
    """Return a form's field by its name."""
    return form[name]
