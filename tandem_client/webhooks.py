"""Checking that a call of a webhook came from the server, whole and just now."""

import hashlib
import hmac
import json
import re
import time
from typing import Any

SIGNATURE = re.compile(r"t=(\d{1,12}),v1=([0-9a-f]{64})")


class BadSignature(Exception):
    """Raised for a call that is not the server's, was changed on the way, or is old."""


def verify(
    secret: str, header: str, body: bytes, *, seconds: float = 300, now: float | None = None
) -> dict[str, Any]:
    """Return what a call says; ``header`` is its Tandem-Signature, ``body`` its bytes as they came.

    Calls older than ``seconds`` are refused: nobody can send one again that they overheard.
    """
    match = SIGNATURE.fullmatch(header.strip())
    if match is None:
        raise BadSignature("The header Tandem-Signature is not t=...,v1=...")
    signed = f"{match[1]}.".encode() + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, match[2]):
        raise BadSignature("The signature is another one: wrong secret, or a changed body.")
    if abs((time.time() if now is None else now) - int(match[1])) > seconds:
        raise BadSignature(f"The call was signed more than {seconds:g} seconds ago.")
    told: dict[str, Any] = json.loads(body)
    return told
