"""What every REST address shares: JSON in and out, keys in addresses."""

from typing import Any

import orjson
from django.urls import register_converter
from django.urls.converters import IntConverter
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from annotation.errors import InvalidInput
from annotation.web.security import read_json


class JsonParser(BaseParser):
    """Reads a body of at most the size that the settings allow."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Return the body's value."""
        raw = parser_context["request"]._request.body
        try:
            return read_json(raw)
        except InvalidInput as refusal:
            raise ParseError(f"The body is refused. {refusal.problems[0].message}") from refusal


class JsonRenderer(BaseRenderer):
    """Writes UTF-8; times as ISO 8601 with their offset."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, media_type: Any = None, renderer_context: Any = None) -> bytes:
        """Return the value as bytes, nothing for nothing."""
        return b"" if data is None else orjson.dumps(data)


class AlwaysFirst(BaseContentNegotiation):
    """Takes the first renderer of a view."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """Return the parser for the body's type, JSON when it has none."""
        content_type = request.content_type or "application/json"
        wanted = content_type.partition(";")[0].strip().lower()
        return next((p for p in parsers if p.media_type == wanted), None)

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """Return the first renderer."""
        return renderers[0], renderers[0].media_type


class Key(IntConverter):
    """A primary key: a number that every database can hold."""

    regex = "[0-9]{1,18}"


def register_converters() -> None:
    """Make ``<key:...>`` known to address patterns."""
    register_converter(Key, "key")
