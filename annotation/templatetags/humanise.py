"""Numbers as people read them."""

from django import template

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
