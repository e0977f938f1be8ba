"""Small words for templates: numbers as people read them, fields by their names."""

import json
from datetime import datetime

from django import forms, template
from django.utils import timezone
from django.utils.translation import gettext

register = template.Library()


@register.filter
def grouped(number: int) -> str:
    """Return a whole number with its thousands apart: 5214 -> 5,214."""
    return f"{number:,}"


@register.filter
def counted(number: int, words: str) -> str:
    """Return a number with the right one of two words: 1, "person,people" -> 1 person."""
    one, many = words.split(",")
    return f"{number:,} {gettext(one if number == 1 else many)}"


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


@register.filter
def as_share(value: float) -> str:
    """Return a number from 0 to 1 as people write it: 0.544 -> .54, 1 -> 1.00."""
    return f"{value:.2f}".removeprefix("0") if 0 <= value < 1 else f"{value:.2f}"


@register.filter
def percent(value: float) -> str:
    """Return a share in per cent: .04 -> 4 %."""
    return f"{100 * value:.0f} %"


@register.filter
def signed_share(value: float) -> str:
    """Return a difference with its sign: 0.013 -> +.013."""
    sign = "+" if value >= 0 else "−"
    return sign + f"{abs(value):.3f}".removeprefix("0")


@register.filter
def signed_points(value: float) -> str:
    """Return a difference in points with its sign: -1.34 -> −1.3."""
    return f"{'+' if value >= 0 else '−'}{abs(value):.1f}"


@register.filter
def half_width(interval: list[float]) -> str:
    """Return half of what an interval spans: [.70, .80] -> .05."""
    return as_share((interval[1] - interval[0]) / 2)


@register.filter
def since(moment: datetime | None) -> str:
    """Return how long ago something was, as people say it: just now, 5 min ago, yesterday."""
    if moment is None:
        return ""
    seconds = (timezone.now() - moment).total_seconds()
    days = (timezone.localdate() - timezone.localdate(moment)).days
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    if days == 0:
        return f"{seconds // 3600:.0f} h ago"
    if days == 1:
        return "yesterday"
    return f"{days} days ago" if days < 30 else f"{timezone.localdate(moment):%-d %b %Y}"


@register.filter
def state_tone(state: str) -> str:
    """Return the tone of a round's state."""
    tones = {"done": "good", "labelling": "good", "failed": "bad", "cancelled": "warn"}
    return tones.get(state, "busy")
