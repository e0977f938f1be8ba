"""Sending what waits: mails by SMTP, calls of webhooks by HTTP, signed."""

import hashlib
import hmac
import json
import logging
import smtplib
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db.models import F, Q
from django.utils import timezone

from annotation.errors import InvalidInput, Problem, Refused
from annotation.models import Delivery, Webhook
from annotation.web.outbound import BadAnswer, Endpoint, is_address, post

logger = logging.getLogger(__name__)
WAITS = tuple(timedelta(minutes=m) for m in (1, 5, 30, 120, 720))  # after each failed try
MOST_TRIES = len(WAITS) + 1
IN_HAND = timedelta(minutes=2)  # then another worker may take it: this one has died
KEPT = timedelta(days=30)  # what was delivered or given up
SECONDS = 15.0  # for one call


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
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.fragment:
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
