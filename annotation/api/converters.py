"""Parts of addresses."""

from django.urls import register_converter
from django.urls.converters import IntConverter


class Key(IntConverter):
    """A primary key: a number that every database can hold."""

    regex = "[0-9]{1,18}"


def register_converters() -> None:
    """Make ``<key:...>`` known to address patterns."""
    register_converter(Key, "key")
