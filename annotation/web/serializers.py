"""REST messages: one serializer parses, renders and documents each.

A view declares its messages beside itself and binds them with ``documented``::

    class NewTokenBody(Message):
        name = TextField(max_length=120)
        days = WholeNumberField(min_value=1, max_value=366, default=90)

    @documented(tag="tokens", body=NewTokenBody, answers={201: NewToken}, errors=READS)
    def post(self, request):
        body = NewTokenBody.read(request.data)
        return Response(NewToken.render(create_token(**body)), status=201)

Reading is strict: types are not converted, unknown keys are refused, and everything wrong is
said at once, each problem with its path.
"""

import math
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from itertools import islice
from typing import Any, TypeVar

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
)
from rest_framework import serializers
from rest_framework.fields import SkipField, empty

from annotation.errors import MOST_TOLD, InvalidInput, Problem, unknown_name

Method = TypeVar("Method", bound=Callable[..., Any])
MOST_VALUES = 10_000  # of a list in a body that does not say how long it may be
SPACES_AND_DIRECTIONS = "\u200c\u200d\u200e\u200f\u00a0\u3000"  # shown, though "not printable"


class Message(serializers.Serializer[Any]):
    """The content of a request or a response."""

    default_error_messages = {"invalid": "{input!r} is not a table of keys and values."}

    @classmethod
    def read(cls, data: Any, *, is_partial: bool = False) -> dict[str, Any]:
        """Return the checked content of a body; raise every problem of it at once."""
        try:
            content: dict[str, Any] = _message(cls, is_partial).run_validation(data)
        except serializers.ValidationError as error:
            raise InvalidInput(list(_problems(error.detail))) from error
        return content

    @classmethod
    def render(cls, content: Any) -> Any:
        """Return the content (a table or an object) as it is sent."""
        return _message(cls).to_representation(content)

    @classmethod
    def render_all(cls, contents: Any) -> list[Any]:
        """Return a list of contents as it is sent."""
        return [cls.render(content) for content in contents]

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return what the fields read, after refusing keys that no field has."""
        if not isinstance(data, dict):
            raise serializers.ValidationError(
                {"": [f"{data!r} is not a table of keys and values."]}
            )
        known = self._inputs
        unknown = islice((key for key in data if key not in known), MOST_TOLD)
        problems: dict[str, Any] = {str(key): [unknown_name("key", key, known)] for key in unknown}
        content = {}
        for name, (field, validate) in known.items():
            try:
                value = field.run_validation(data.get(name, empty))
                content[name] = validate(value) if validate else value
            except serializers.ValidationError as error:
                problems[name] = error.detail
            except SkipField:
                pass
        if problems:
            raise serializers.ValidationError(problems)
        return content

    def run_validators(self, value: Any) -> None:
        """Run the validators of a message that has some; most have fields alone."""
        if self.validators:
            super().run_validators(value)

    @cached_property
    def _inputs(self) -> dict[str, tuple[Any, Callable[[Any], Any] | None]]:
        """Return the fields that a body may have, each with the message's own check of it."""
        return {
            name: (field, getattr(self, f"validate_{name}", None))
            for name, field in self.fields.items()
            if not field.read_only
        }


@cache
def _message(kind: type[Message], is_partial: bool = False) -> Message:
    """Return the one serializer of a message: reading and rendering leave no trace in it."""
    return kind(partial=is_partial)


def page_message(row: type[Message]) -> type[Message]:
    """Return the message of a page of rows: ``results`` and the cursor ``next``."""
    fields = {
        "results": row(many=True),
        "next": serializers.CharField(allow_null=True, help_text="The next page's cursor."),
    }
    return type(f"{row.__name__}Page", (Message,), fields)


class Strict:
    """A field whose messages give the value, what is allowed, and what to do."""

    def run_validation(self, data: Any = empty) -> Any:
        """Name the field in the message for a missing value."""
        if data is empty and self.required and not getattr(self.root, "partial", False):  # type: ignore[attr-defined]
            raise serializers.ValidationError(f"'{self.field_name}' is missing; {self._remedy()}.")  # type: ignore[attr-defined]
        if data is None and not self.allow_null:  # type: ignore[attr-defined]
            raise serializers.ValidationError("null is not allowed here; leave the key out.")
        return super().run_validation(data)  # type: ignore[misc]

    def _remedy(self) -> str:
        return "it is required"


class TextField(Strict, serializers.CharField):
    """A text without control characters; one line where it is short."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("allow_blank", not options.get("required", True) or "default" in options)
        options.setdefault("max_length", 100_000)
        super().__init__(**options)

    def to_internal_value(self, data: Any) -> str:
        """Return the text without white space around it."""
        if not isinstance(data, str):
            raise serializers.ValidationError(f"{data!r} is not a text.")
        text = data.strip()
        is_line = (self.max_length or 0) <= 200
        for character in text:
            if character.isprintable() or (character in "\n\r\t" and not is_line):
                continue
            if character not in SPACES_AND_DIRECTIONS:
                raise serializers.ValidationError(
                    f"{text!r} contains {character!r}, which cannot be shown."
                )
        return text

    def run_validation(self, data: Any = empty) -> Any:
        """Refuse empty and over-long texts in words of their own."""
        if isinstance(data, str):
            length = len(data.strip())
            if not length and not self.allow_blank:
                raise serializers.ValidationError(
                    f"'{self.field_name}' is missing; it is required."
                )
            if self.max_length is not None and length > self.max_length:
                raise serializers.ValidationError(
                    f"{length} characters are too many; at most {self.max_length}."
                )
        return super().run_validation(data)


class FlagField(Strict, serializers.BooleanField):
    """True or false, and nothing that resembles them."""

    def to_internal_value(self, data: Any) -> bool:
        """Return the truth value."""
        if not isinstance(data, bool):
            raise serializers.ValidationError(f"{data!r} is not true or false.")
        return data


class WholeNumberField(Strict, serializers.IntegerField):
    """A whole number within its limits."""

    def to_internal_value(self, data: Any) -> int:
        """Return the number."""
        if isinstance(data, bool) or not isinstance(data, int) or not self._is_within(data):
            raise serializers.ValidationError(f"{data!r} is not a whole number{_limits(self)}.")
        return data

    def _is_within(self, value: int) -> bool:
        return (self.min_value is None or value >= self.min_value) and (
            self.max_value is None or value <= self.max_value
        )


class NumberField(Strict, serializers.FloatField):
    """A finite number within its limits."""

    def to_internal_value(self, data: Any) -> float:
        """Return the number."""
        is_number = isinstance(data, int | float) and not isinstance(data, bool)
        if not is_number or not math.isfinite(data) or not self._is_within(data):
            raise serializers.ValidationError(f"{data!r} is not a number{_limits(self)}.")
        return float(data)

    def _is_within(self, value: float) -> bool:
        return (self.min_value is None or value >= self.min_value) and (
            self.max_value is None or value <= self.max_value
        )


class NameField(Strict, serializers.ChoiceField):
    """One of some known names."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the name."""
        if not isinstance(data, str) or data not in self.choices:
            what = self.field_name or "name"
            raise serializers.ValidationError(unknown_name(what, data, map(str, self.choices)))
        return data

    def _remedy(self) -> str:
        return f"use one of {', '.join(map(str, self.choices))}"


class TableField(Strict, serializers.DictField):
    """A table of names and values of one form, of bounded size."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the table with every value read."""
        if not isinstance(data, dict):
            raise serializers.ValidationError(f"{data!r} is not a table of keys and values.")
        if len(data) > MOST_VALUES:
            raise serializers.ValidationError(
                f"{len(data)} values are too many; at most {MOST_VALUES}."
            )
        value: dict[str, Any] = super().to_internal_value(data)
        return value


class ListField(Strict, serializers.ListField):
    """A list of values of one form, of bounded length."""

    def __init__(self, *, max_length: int = MOST_VALUES, **options: Any) -> None:
        super().__init__(max_length=max_length, **options)

    def to_internal_value(self, data: Any) -> list[Any]:
        """Return the list with every value read."""
        if not isinstance(data, list):
            raise serializers.ValidationError(f"{data!r} is not a list.")
        if self.max_length is not None and len(data) > self.max_length:
            raise serializers.ValidationError(
                f"{len(data)} values are too many; at most {self.max_length}."
            )
        value: list[Any] = super().to_internal_value(data)
        return value

    def run_child_validation(self, data: list[Any]) -> list[Any]:
        """Return what the values read; tell the first that are wrong."""
        found: list[Any] = []
        wrong: dict[str, Any] = {}
        for index, value in enumerate(data):
            try:
                found.append(self.child.run_validation(value))
            except serializers.ValidationError as error:
                wrong[str(index)] = error.detail
                if len(wrong) == MOST_TOLD:
                    break
        if wrong:
            raise serializers.ValidationError(wrong)
        return found


ANSWER_SCHEMA: dict[str, Any] = {
    "description": "In the form of the task's kind: a label or number, or a list of items, each a "
    "label or a list of places and labels.",
    "type": ["string", "integer", "number", "array"],
    "items": {
        "type": ["string", "integer", "array", "null"],
        "items": {"type": ["string", "integer", "array", "null"], "items": {"type": "integer"}},
    },
}


@extend_schema_field(ANSWER_SCHEMA)
class AnswerField(serializers.JSONField):
    """An answer as its task kind writes it; the kind checks it."""


@extend_schema_field(
    {
        "type": ["object", "array", "string", "number", "boolean"],
        "description": "Kept and returned as it is; at most 256 kB.",
    }
)
class OpaqueField(serializers.JSONField):
    """A value that belongs to whoever sent it; null means there is none."""


@extend_schema_field({"type": "array", "items": {"type": ["string", "number", "null"]}})
class RowField(serializers.JSONField):
    """A row of names and numbers, as its help tells them."""


class ErrorDetails(Message):
    """What a code tells besides: of `lease_lost` the answers, of `stale_draft` the newer draft."""

    yours = serializers.DictField(child=AnswerField(), required=False)
    current = serializers.DictField(child=AnswerField(), required=False)
    draft = OpaqueField(required=False, allow_null=True)
    version = serializers.IntegerField(required=False)
    saved_at = serializers.DateTimeField(required=False, allow_null=True)


class ErrorBody(Message):
    """What went wrong."""

    code = serializers.CharField(help_text="What a program reads.")
    message = serializers.CharField(help_text="What a person reads.")
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()), required=False
    )
    details = ErrorDetails(required=False)


class Error(Message):
    """The one shape of every error."""

    error = ErrorBody()


PAGE = [
    OpenApiParameter("cursor", str, description="Where the page before this one said to go on."),
    OpenApiParameter("limit", int, description="Rows per page, from 1 to 200; 50 unless given."),
]
READS = (400, 401, 403, 404)
CHANGES = (400, 401, 403, 404, 409)
ERRORS = {
    400: "The request is not understood, or fields of it are wrong.",
    401: "Nobody is signed in.",
    403: "The role, the token's scope or the CSRF token does not allow this.",
    404: "It does not exist, or it is not open to this person.",
    409: "What is stored has moved on.",
    413: "The body is too large.",
    422: "The Idempotency-Key belongs to another request.",
    503: "Nobody answers at the moment; Retry-After says when to try again.",
    429: "Too many requests; Retry-After says when to try again.",
}


class ApiSchema(AutoSchema):
    """Describes bodies of DELETE as well: what is deleted for good is named in one."""

    def _get_request_body(self, direction: str = "request") -> Any:
        if self.method != "DELETE":
            return super()._get_request_body(direction)  # type: ignore[no-untyped-call]
        self.method = "POST"
        try:
            return super()._get_request_body(direction)  # type: ignore[no-untyped-call]
        finally:
            self.method = "DELETE"


def documented(
    *,
    tag: str,
    body: Any = None,
    answers: dict[int, Any],
    errors: tuple[int, ...] = (401, 403, 404),
    parameters: list[OpenApiParameter] | None = None,
    name: str | None = None,
) -> Callable[[Method], Method]:
    """Return a decorator that documents one method of a view in the one error shape.

    ``name`` is what generated clients call it, where the path and method do not tell it apart.
    """
    responses: dict[int, Any] = {
        status: message or OpenApiResponse(description="Nothing to return.")
        for status, message in answers.items()
    }
    for status in errors:
        responses[status] = OpenApiResponse(Error, description=ERRORS[status])
    decorator: Callable[[Method], Method] = extend_schema(
        tags=[tag], request=body, responses=responses, parameters=parameters, operation_id=name
    )
    return decorator


def _limits(field: Any) -> str:
    low, high = field.min_value, field.max_value
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    if low is not None:
        return f" of {low:g} or more"
    return f" of at most {high:g}" if high is not None else ""


def _problems(errors: Any, path: str = "") -> Iterator[Problem]:
    """Yield the problems in a serializer's errors, each with its dotted path."""
    if isinstance(errors, dict):
        for key, part in errors.items():
            here = "" if key in ("", "non_field_errors") else str(key)
            yield from _problems(part, ".".join(name for name in (path, here) if name))
    elif isinstance(errors, list) and any(isinstance(part, dict | list) for part in errors):
        for index, part in enumerate(errors):
            if part:
                yield from _problems(part, f"{path}.{index}" if path else str(index))
    else:
        for message in errors:
            yield Problem(path, str(message))
