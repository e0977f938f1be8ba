"""Sending what waits: mails by SMTP, signed calls of webhooks by HTTP.

Other servers are called only at listed addresses. A name is looked up once and must lead to a
public address, unless its entry states a network: then to one of it. The connection goes to the
address that was checked, redirects are refused, and answers have a time and a size.
"""

import hashlib
import hmac
import http.client
import ipaddress
import json
import logging
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db.models import F, Q
from django.utils import timezone

from annotation.errors import InvalidInput, Problem, Refused
from annotation.models import Delivery, Webhook

logger = logging.getLogger(__name__)
WAITS = tuple(timedelta(minutes=m) for m in (1, 5, 30, 120, 720))  # after each failed try
MOST_TRIES = len(WAITS) + 1
IN_HAND = timedelta(minutes=2)  # then another worker may take it: this one has died
KEPT = timedelta(days=30)  # what was delivered or given up
SECONDS = 15.0  # for one call
MAX_ANSWER = 256 * 1024  # bytes
GIVEN_OUT = ipaddress.ip_network("2000::/3")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class BadAnswer(Exception):
    """An answer that cannot be used; ``why`` is counted."""

    def __init__(self, why: str, words: str) -> None:
        super().__init__(words)
        self.why = why


@dataclass(frozen=True)
class Endpoint:
    """An address that the admin lists, and the network that its name may lead to."""

    url: str
    network: str = ""

    @property
    def host(self) -> str:
        """Return the name, or the address, of the server."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """Return the port of the address, or the usual one of its scheme."""
        return urlsplit(self.url).port or (443 if self.is_encrypted else 80)

    @property
    def is_encrypted(self) -> bool:
        """Return whether nobody on the way can read what is sent."""
        return urlsplit(self.url).scheme == "https"

    def address(self) -> str:
        """Return the address to connect to, after its name was looked up and allowed."""
        try:
            rows = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise Refused(f"The host of '{self.url}' is not found: {error}.") from error
        found = [ipaddress.ip_address(row[4][0]) for row in rows]
        for one in found:
            if self._allows(one):
                return str(one)
        raise Refused(
            f"'{self.host}' leads to {', '.join(sorted({str(one) for one in found}))}, which is "
            "not allowed: an admin states its network behind the entry, as in NAME=10.0.0.0/8."
        )

    def _allows(self, found: Address) -> bool:
        host = self.host
        if self.network:
            return found in ipaddress.ip_network(self.network, strict=False)
        if host == "localhost" or is_address(host):
            return (host == "localhost" and found.is_loopback) or str(found) == host.strip("[]")
        return _is_public(found)


def _is_public(found: Address) -> bool:
    """Return whether an address is one machine of the open net, whatever it is written as.

    Of IPv6 only what is given out counts: what wraps an IPv4 address may lead inside again.
    """
    if not found.is_global or found.is_multicast:
        return False
    if isinstance(found, ipaddress.IPv4Address):
        return True
    return found in GIVEN_OUT and found.sixtofour is None


def is_address(host: str) -> bool:
    """Return whether a host is a number, not a name."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def post(
    endpoint: Endpoint, body: bytes, *, headers: Mapping[str, str], seconds: float, path: str = ""
) -> tuple[int, bytes]:
    """Send a body and return the status and the answer; ``path`` goes behind the address."""
    parts = urlsplit(endpoint.url)
    target = f"{parts.path}{path}" or "/"
    if parts.query:
        target += f"?{parts.query}"
    until = time.monotonic() + seconds
    try:
        plain = socket.create_connection((endpoint.address(), endpoint.port), timeout=seconds)
        with plain, _encrypted(plain, endpoint) as stream, _shut_after(seconds, stream):
            if isinstance(stream, ssl.SSLSocket):
                stream.do_handshake()
            connection = http.client.HTTPConnection(endpoint.host, endpoint.port)
            connection.sock = stream
            connection.request("POST", target, body, dict(headers))
            response = connection.getresponse()
            if 300 <= response.status < 400:
                raise BadAnswer("redirect", "The address redirects, which is refused.")
            return response.status, _read(response, stream, until)
    except (OSError, http.client.HTTPException) as error:
        is_late = isinstance(error, TimeoutError) or time.monotonic() >= until
        why = "time-out" if is_late else "no connection"
        raise BadAnswer(why, f"The endpoint did not answer: {error}") from error


def _encrypted(plain: socket.socket, endpoint: Endpoint) -> socket.socket:
    if not endpoint.is_encrypted:
        return plain
    return ssl.create_default_context().wrap_socket(
        plain, server_hostname=endpoint.host, do_handshake_on_connect=False
    )


@contextmanager
def _shut_after(seconds: float, stream: socket.socket) -> Iterator[None]:
    """Cut a connection after a time, in whatever it is.

    Time-outs of sockets are for one read: headers that drip in would hold the worker for days.
    """

    def shut() -> None:
        with suppress(OSError):  # it was closed already
            socket.socket.shutdown(stream, socket.SHUT_RDWR)

    timer = threading.Timer(seconds, shut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _read(response: http.client.HTTPResponse, stream: socket.socket, until: float) -> bytes:
    """Return a body that is neither too long nor too late, however slowly it comes."""
    found = b""
    while True:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer took too long")
        stream.settimeout(left)
        piece = response.read1(16_384)
        if not piece:
            if time.monotonic() >= until:
                raise TimeoutError("the answer took too long")
            return found
        found += piece
        if len(found) > MAX_ANSWER:
            raise BadAnswer("too long", f"More than {MAX_ANSWER:,} bytes.")


def due(now: datetime) -> "Q":
    """Return the condition of what is to be sent now."""
    return Q(state=Delivery.State.WAITING, next_try_at__lte=now)


def deliver(*, delivery: Delivery, now: datetime) -> bool:
    """Try to send something once, unless somebody else does; return whether it arrived.

    What fails waits longer each time and is given up after the last try. Whoever dies between
    sending and writing so sends it twice: programs know a call again by its id.
    """
    mine = Delivery.objects.filter(due(now), pk=delivery.pk)
    if not mine.update(n_tries=F("n_tries") + 1, next_try_at=now + IN_HAND):
        return False
    delivery.refresh_from_db()
    try:
        status, problem = _send(delivery)
    except (OSError, smtplib.SMTPException, BadAnswer, Refused) as error:
        status, problem = None, str(error) or type(error).__name__
    _keep(delivery, status, problem, timezone.now())
    return not problem


def discard_old(*, now: datetime) -> None:
    """Forget what was delivered, or given up, a month ago."""
    Delivery.objects.exclude(state=Delivery.State.WAITING).filter(ended_at__lt=now - KEPT).delete()


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """Return what proves that a body is ours and when it was sent: HMAC-SHA256 of both."""
    signed = f"{timestamp}.".encode() + body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def find_host(url: str) -> Endpoint:
    """Return the endpoint of a webhook's address; refuse hosts that the admin has not listed.

    What is read on the way would tell what projects are about: only listed private networks and
    addresses may be called without TLS.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    is_plain = url.isascii() and url.isprintable() and " " not in url
    is_web = parts.scheme in ("http", "https") and host
    if not is_plain or not is_web or parts.username or parts.fragment:
        words = f"'{url[:200]}' is no address of a webhook; write https://host/path."
        raise InvalidInput([Problem("url", words)])
    for entry in settings.WEBHOOK_HOSTS:
        listed, _, network = entry.partition("=")
        name, _, wanted = listed.rpartition(":") if _has_port(listed) else (listed, "", "")
        if name.strip("[]").lower() != host.lower():
            continue
        if wanted and int(wanted) != (port or (443 if parts.scheme == "https" else 80)):
            continue
        if parts.scheme == "http" and not (network or is_address(host) or host == "localhost"):
            raise InvalidInput([Problem("url", f"'{host}' is called by https only.")])
        return Endpoint(url, network)
    host = host if port is None else f"{host}:{port}"
    words = f"'{host}' is not among the hosts that this installation may call. An admin lists them "
    raise InvalidInput([Problem("url", f"{words}in TANDEM_WEBHOOK_HOSTS.")])


def send_mail(*, address: str, subject: str, text: str) -> None:
    """Send a text by SMTP, now."""
    headers = {"Auto-Submitted": "auto-generated"}
    mail = EmailMessage(subject, text, settings.MAIL.sender, [address], headers=headers)
    mail.connection = get_connection()
    mail.send()


def _has_port(listed: str) -> bool:
    return listed.rpartition(":")[2].isdecimal() and (listed.count(":") == 1 or "]:" in listed)


def _send(delivery: Delivery) -> tuple[int | None, str]:
    """Return the status and what is wrong, if anything is."""
    if delivery.webhook is None:
        send_mail(address=delivery.address, **delivery.payload)
        return None, ""
    if not delivery.webhook.is_active:
        return None, "The webhook is switched off."
    status = _call(delivery, delivery.webhook)
    return status, "" if 200 <= status < 300 else f"It answered {status}."


def _call(delivery: Delivery, webhook: Webhook) -> int:
    now = timezone.now()
    about = {"id": delivery.pk, "at": delivery.created_at.isoformat()}
    body = json.dumps({**about, **delivery.payload}, ensure_ascii=False).encode()
    timestamp = int(now.timestamp())
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "Tandem",
        "Tandem-Event": delivery.event,
        "Tandem-Delivery": str(delivery.pk),
        "Tandem-Signature": f"t={timestamp},v1={signature(webhook.secret, timestamp, body)}",
    }
    status, _ = post(find_host(webhook.url), body, headers=headers, seconds=SECONDS)
    return status


def _keep(delivery: Delivery, status: int | None, problem: str, now: datetime) -> None:
    """Write how a try went."""
    delivery.status, delivery.message = status, problem[:300]
    if not problem:
        delivery.state, delivery.ended_at = Delivery.State.DELIVERED, now
    elif delivery.n_tries >= MOST_TRIES:
        delivery.state, delivery.ended_at = Delivery.State.FAILED, now
        logger.warning("delivery %d (%s) is given up: %s", delivery.pk, delivery.event, problem)
    else:
        delivery.next_try_at = now + WAITS[delivery.n_tries - 1]
    if delivery.ended_at and delivery.webhook is None:
        delivery.payload = {}  # the links in it are secrets
    delivery.save()
