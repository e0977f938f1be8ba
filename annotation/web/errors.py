"""What was refused, told to people: at a field, as a page, or as the one error shape of REST."""

import errno
import logging
from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from annotation.errors import Conflict, Forbidden, InvalidInput, NotFound, Refused
from annotation.web.code_texts import said

logger = logging.getLogger("annotation.api")

NOT_FOUND = "This does not exist, or you are not a member of the project it belongs to."
NO_ROOM = "The server's disk is full. Nothing was changed; tell whoever runs the server."
_CODES = {
    400: "malformed",
    401: "not_signed_in",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    429: "throttled",
}

_STATUSES = ((NotFound, 404), (Forbidden, 403), (Conflict, 409))
_STATUS_BY_CODE = {"key_reused": 422, "no_predictor": 503}


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
    code = code or _CODES.get(status, "refused")
    error: dict[str, Any] = {"code": code, "message": said(message)}
    if fields:
        error["fields"] = {name: said(problems) for name, problems in fields.items()}
    if details is not None:
        error["details"] = details
    return Response({"error": error}, status=status, headers=headers)


def handle_exception(error: Exception, context: dict[str, Any]) -> Response:
    """Return the response for whatever a view raised; the unforeseen is logged."""
    set_rollback()
    if isinstance(error, Refused):
        return _refused(error)
    if isinstance(error, Http404):
        return error_response(404, _message(error, NOT_FOUND))
    if isinstance(error, PermissionDenied):
        return error_response(403, _message(error, "Your role does not allow this."))
    if isinstance(error, exceptions.APIException):
        return _from_framework(error)
    if isinstance(error, SuspiciousOperation):
        return error_response(400, _message(error, "The request is not acceptable."))
    if isinstance(error, OperationalError):
        logger.exception("The database did not answer")
        if has_no_room(error):
            return error_response(503, NO_ROOM, code="no_room", headers={"Retry-After": "60"})
        message = "The server is busy. Nothing was changed; try again in a moment."
        return error_response(503, message, code="busy", headers={"Retry-After": "1"})
    if has_no_room(error):
        logger.exception("There is no room on the disk")
        return error_response(503, NO_ROOM, code="no_room", headers={"Retry-After": "60"})
    logger.exception("Unforeseen error in %s", context.get("view"))
    message = "Something went wrong on the server. Nothing was changed; the log has the details."
    return error_response(500, message, code="internal")


def has_no_room(error: BaseException | None) -> bool:
    """Return whether an error means that the disk is full, or takes nothing for another reason."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    words = str(error).lower()
    return any(sign in words for sign in ("disk i/o error", "disk is full", "no space left"))


def _refused(error: Refused) -> Response:
    if isinstance(error, InvalidInput):
        fields: dict[str, list[str]] = {}
        for problem in error.problems:
            fields.setdefault(problem.path or "body", []).append(problem.message)
        n = len(fields)
        message = "One field is wrong." if n == 1 else f"{n} fields are wrong."
        return error_response(400, message, code="invalid", fields=fields)
    status = next((s for kind, s in _STATUSES if isinstance(error, kind)), 400)
    status = _STATUS_BY_CODE.get(getattr(error, "code", ""), status)
    return error_response(
        status,
        str(error),
        code=getattr(error, "code", "refused" if status == 400 else None),
        details=getattr(error, "details", None),
    )


def _from_framework(error: exceptions.APIException) -> Response:
    auth = getattr(error, "auth_header", None)
    headers = {"WWW-Authenticate": str(auth)} if auth else None
    return error_response(error.status_code, str(error.detail), headers=headers)


def _message(error: Exception, otherwise: str) -> str:
    return str(error.args[0]) if error.args and isinstance(error.args[0], str) else otherwise


class RefusalPages:
    """Middleware: what does not exist for a person is a 404, what their role forbids a 403."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> None:
        """Raise the domain's error again as the web's."""
        if isinstance(error, NotFound):
            raise Http404(str(error)) from error
        if isinstance(error, Forbidden):
            raise PermissionDenied(str(error)) from error


def show_refusal(form: forms.Form, refusal: Refused) -> None:
    """Add every problem of a refusal to the field it is about, or to the form as a whole."""
    if not isinstance(refusal, InvalidInput):
        form.add_error(None, str(refusal))
        return
    for problem in refusal.problems:
        field = problem.path if problem.path in form.fields else None
        form.add_error(field, problem.message)
