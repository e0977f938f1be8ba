"""What keeps an installation safe: headers, limits, what can be stored, checks when it starts.

No database column holds NUL characters or halves of surrogate pairs, and no reader of files holds
labels with line breaks.
"""

import ipaddress
import logging
import re
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import orjson
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from annotation.errors import InvalidInput, Problem

Respond = Callable[[HttpRequest], HttpResponse]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


ANONYMOUS_BYTES = 60 * 1024  # of a body, before anybody has signed in
IMPORT_DOORS = re.compile(r"(/api)?/projects/[0-9]+/(import|corpora)/")
FORM_BYTES = 64 * 1024  # around the file of an import
MOST_BUCKETS = 20_000
PEOPLE_PER_ADDRESS = 10  # who may ask as often as they can at the same time
LINKS = re.compile(r"/(invitations|sign-in|account/mail)/[\w:-]{16,}")


class ContentSecurityPolicy:
    """Middleware: nothing inline, nothing from elsewhere."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
        return response


class BodyLimits:
    """Middleware: refuses a body that is too large before a byte of it is read.

    Stands behind whoever finds the session. Files are for the doors of imports; without a session
    or a token that lets somebody in there is room for a form. Tokens count where REST reads them:
    on a page nobody would look at one before the body is read.
    """

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if len(length) > 4 and not _may_send(request, length):
            response = refusal(413, "too_large", "This is too large to be sent here.")
            response["Connection"] = "close"
            return response
        return self.get_response(request)


class RateLimits:
    """Middleware: so many requests per second for each session, token or address, and no more.

    An address has some times as much, whatever tokens and sessions its requests name: nobody gets
    more by making them up. Counts live in the process: no row is read or written for them.
    """

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response
        self.buckets: dict[str, tuple[float, float]] = {}
        self.lock = threading.Lock()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.RATE_LIMIT and not self._may_ask(request, time.monotonic()):
            words = "Too many requests at once. Wait a second and try again."
            response = refusal(429, "throttled", words)
            response["Retry-After"] = "1"
            return response
        return self.get_response(request)

    def _may_ask(self, request: HttpRequest, now: float) -> bool:
        caller, address = _caller(request), client_address(request)
        per_second = float(settings.RATE_LIMIT)
        with self.lock:
            if len(self.buckets) > MOST_BUCKETS:
                self.buckets.clear()
            of_address = self._take(f"from {address}", per_second * PEOPLE_PER_ADDRESS, now)
            return of_address and self._take(caller, per_second, now)

    def _take(self, key: str, per_second: float, now: float) -> bool:
        """Take one from a bucket that fills with time; return whether there was one."""
        most = 5 * per_second
        left, since = self.buckets.get(key, (most, now))
        left = min(most, left + (now - since) * per_second)
        self.buckets[key] = (max(left - 1, 0), now)
        return left >= 1


class HideSecrets(logging.Filter):
    """Keeps the secrets of invitations, sign-in links and mails out of the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through, its links cut."""
        words = record.getMessage()
        shown = LINKS.sub(r"/\1/…", words)
        if shown != words:
            record.msg, record.args = shown, ()
        return True


def client_address(request: HttpRequest) -> str:
    """Return whom a request comes from: behind trusted proxies, whom they say it does."""
    address = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", ""))[-2000:].split(",")
    while forwarded and _is_trusted(address):
        named = forwarded.pop().strip()
        if not named:
            break
        address = named
    return address[:64]


def refusal(status: int, code: str, message: str) -> HttpResponse:
    """Return an error of a middleware, in the shape of REST, which people can read too."""
    return JsonResponse({"error": {"code": code, "message": message}}, status=status)


def _may_send(request: HttpRequest, length: str) -> bool:
    if not length.isdigit() or len(length) > 15:
        return False
    n_bytes = int(length)
    if n_bytes <= ANONYMOUS_BYTES:
        return True
    if not request.user.is_authenticated and not _has_token(request):
        return False
    if not IMPORT_DOORS.fullmatch(request.path):
        return bool(n_bytes <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    return n_bytes <= settings.MAX_UPLOAD_MB * 1024 * 1024 + FORM_BYTES


def _has_token(request: HttpRequest) -> bool:
    """Return whether a large body comes with a token of somebody; made-up ones hold no thread."""
    from annotation.models import ApiToken  # which needs the apps

    kind, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    is_read = request.path.startswith("/api/") and kind.lower() == "token"
    return is_read and ApiToken.objects.has_good(secret.strip(), timezone.now())


def _caller(request: HttpRequest) -> str:
    """Return whose requests are counted together: a token's, a session's or an address's.

    Each sort has names of its own, so that nobody can use up what is another's by naming it.
    """
    token: str = request.META.get("HTTP_AUTHORIZATION", "")[:80]
    session = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")[:80]
    if token:
        return "token:" + token
    return "session:" + session if session else "address:" + client_address(request)


@lru_cache(maxsize=1024)
def _is_trusted(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return not address  # nobody but a proxy of this machine comes by a socket file
    return any(found in ipaddress.ip_network(one, strict=False) for one in settings.TRUSTED_PROXIES)


@register(Tags.security)
def hosts_are_named(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Refuse an installation that answers to any host name."""
    if "*" not in settings.ALLOWED_HOSTS:
        return []
    return [
        Error(
            "TANDEM_HOSTS contains '*'.",
            hint="Name the hosts people use, separated by commas.",
            id="tandem.E001",
        )
    ]


MAX_LABEL = 120
MAX_JSON = 8 * 1024 * 1024  # characters of a form's field


def unstorable(value: Any) -> str:
    """Return why a text, or a list or mapping of texts, cannot be stored; "" if it can."""
    if isinstance(value, str):
        return "" if value.isascii() and "\0" not in value else _fault(value)
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple):
        return next(filter(None, map(unstorable, value)), "")
    return ""


def unusable_label(name: str) -> str:
    """Return why a text cannot be the name of a label; "" if it can."""
    if not name.strip():
        return "A label must have a name."
    if len(name) > MAX_LABEL:
        return f"The label '{name[:20]}…' has {len(name)} characters; at most {MAX_LABEL}."
    if not name.isprintable() or name != name.strip():
        return (
            f"The label {name[:40]!r} cannot be used: line breaks, tabs, control characters and "
            "spaces around it would break files."
        )
    return ""


def read_json(text: str | bytes, *, path: str = "") -> Any:
    """Return the value of JSON that somebody sent; refuse what is none or cannot be stored.

    The parser itself refuses halves of characters and nesting that no answer has.
    """
    if len(text) > MAX_JSON:
        raise InvalidInput([Problem(path, f"{len(text):,} characters are too many.")])
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InvalidInput([Problem(path, f"This is not JSON: {error}.")]) from error
    nul = b"\\u0000" if isinstance(text, bytes) else "\\u0000"
    fault = unstorable(value) if nul in text else ""  # type: ignore[operator]
    if fault:
        raise InvalidInput([Problem(path, f"This cannot be stored: {fault}.")])
    return value


def _fault(text: str) -> str:
    if "\0" in text:
        return f"a NUL character in {text[:40]!r}; remove it"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"half a character {text[error.start]!r} in {text[:40]!r}; correct the escape"
    return ""
