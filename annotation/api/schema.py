"""How each endpoint is documented: its body, its answers, its errors."""

from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from annotation.api import shapes

Method = TypeVar("Method", bound=Callable[..., Any])

PAGE = [
    OpenApiParameter("cursor", str, description="Where the page before this one said to go on."),
    OpenApiParameter("limit", int, description="Rows a page, from 1 to 200; 50 unless given."),
]
ERRORS = {
    400: "The request is not understood, or fields of it are wrong.",
    401: "Nobody is signed in.",
    403: "The role, the token's scope or the CSRF token does not allow this.",
    404: "There is nothing here for this person.",
    409: "What is stored has moved on.",
    422: "The Idempotency-Key belongs to another request.",
}


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
        status: shape or OpenApiResponse(description="Nothing to return.")
        for status, shape in answers.items()
    }
    for status in errors:
        responses[status] = OpenApiResponse(shapes.Error, description=ERRORS[status])
    decorator: Callable[[Method], Method] = extend_schema(
        tags=[tag], request=body, responses=responses, parameters=parameters, operation_id=name
    )
    return decorator


_READS = (400, 401, 403, 404)
_CHANGES = (400, 401, 403, 404, 409)
_KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    required=True,
    description="1 to 64 characters, new for each answer, the same for each retry of it.",
)

PROJECT = documented(tag="projects", answers={200: shapes.ProjectShape})
NEXT = documented(tag="queue", answers={200: shapes.LeaseShape, 204: None})
PEEK = documented(tag="queue", answers={200: shapes.Peek, 204: None})
HISTORY = documented(tag="queue", answers={200: shapes.HistoryPage}, errors=_READS, parameters=PAGE)
DRAFT = documented(
    tag="leases", body=shapes.DraftBody, answers={200: shapes.DraftSaved}, errors=_CHANGES
)
HEARTBEAT = documented(
    tag="leases", body=shapes.TokenBody, answers={200: shapes.Renewed}, errors=_CHANGES
)
SUBMIT = documented(
    tag="leases",
    body=shapes.SubmitBody,
    answers={200: shapes.Submitted},
    errors=(*_CHANGES, 422),
    parameters=[_KEY],
)
SKIP = documented(
    tag="leases", body=shapes.SkipBody, answers={200: shapes.OnlyCounts}, errors=_CHANGES
)
RELEASE = documented(
    tag="leases", body=shapes.TokenBody, answers={200: shapes.OnlyCounts}, errors=_CHANGES
)
REOPEN = documented(tag="queue", answers={200: shapes.LeaseShape}, errors=(401, 403, 404, 409))
FLAG = documented(tag="queue", body=shapes.FlagBody, answers={201: shapes.Flagged}, errors=_READS)
LIST_TOKENS = documented(
    tag="tokens", answers={200: shapes.TokenPage}, errors=(400, 401, 403), parameters=PAGE
)
NEW_TOKEN = documented(
    tag="tokens",
    body=shapes.NewTokenBody,
    answers={201: shapes.NewTokenShown},
    errors=(400, 401, 403),
)
WITHDRAW_TOKEN = documented(tag="tokens", answers={204: None})


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Documents ``Authorization: Token <secret>``."""

    target_class = "annotation.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the header that carries a token."""
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "Token <secret>",
        }


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Documents the cookie of the pages."""

    target_class = "annotation.api.authentication.Session"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the cookie that carries a session."""
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
