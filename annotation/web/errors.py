"""One shape for everything that goes wrong: {"error": {"code", "message", "fields", "details"}}."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from annotation.errors import Conflict, InvalidInput, Refused
from annotation.services.refusals import KeyReused

logger = logging.getLogger("annotation.api")

_CODES = {
    400: "malformed",
    401: "not_signed_in",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    413: "too_large",
    415: "unsupported_media_type",
    429: "throttled",
}


def error_response(
    status: int,
    message: str,
    *,
    code: str | None = None,
    fields: dict[str, list[str]] | None = None,
    details: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """Return an error in the one shape; the code follows from the status unless it is given."""
    error: dict[str, Any] = {"code": code or _CODES.get(status, "refused"), "message": message}
    if fields:
        error["fields"] = fields
    if details is not None:
        error["details"] = details
    return Response({"error": error}, status=status, headers=headers)


def handle_exception(error: Exception, context: dict[str, Any]) -> Response:
    """Return the response for whatever a view raised; the unforeseen is logged."""
    set_rollback()
    if isinstance(error, Refused):
        return _refused(error)
    if isinstance(error, Http404):
        return error_response(404, _message(error, "There is nothing here for you."))
    if isinstance(error, PermissionDenied):
        return error_response(403, _message(error, "Your role does not allow this."))
    if isinstance(error, exceptions.APIException):
        return _from_framework(error)
    if isinstance(error, SuspiciousOperation):
        return error_response(400, _message(error, "The request is not acceptable."))
    if isinstance(error, OperationalError):
        logger.exception("The database did not answer")
        message = "The server is busy. Nothing was changed; try again in a moment."
        return error_response(503, message, code="busy", headers={"Retry-After": "1"})
    logger.exception("Unforeseen error in %s", context.get("view"))
    message = "Something went wrong on the server. Nothing was changed; the log has the details."
    return error_response(500, message, code="internal")


def _refused(error: Refused) -> Response:
    if isinstance(error, InvalidInput):
        fields: dict[str, list[str]] = {}
        for problem in error.problems:
            fields.setdefault(problem.path or "body", []).append(problem.message)
        n = sum(map(len, fields.values()))
        message = "One field is wrong." if n == 1 else f"{n} fields are wrong."
        return error_response(400, message, code="invalid", fields=fields)
    status = 422 if isinstance(error, KeyReused) else 409 if isinstance(error, Conflict) else 400
    return error_response(
        status,
        str(error),
        code=getattr(error, "code", "conflict" if status == 409 else "refused"),
        details=getattr(error, "details", None),
    )


def _from_framework(error: exceptions.APIException) -> Response:
    auth = getattr(error, "auth_header", None)
    headers = {"WWW-Authenticate": str(auth)} if auth else None
    return error_response(error.status_code, str(error.detail), headers=headers)


def _message(error: Exception, otherwise: str) -> str:
    return str(error.args[0]) if error.args and isinstance(error.args[0], str) else otherwise
