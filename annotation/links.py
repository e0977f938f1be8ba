"""Whole addresses, for people who read them outside a browser."""

import os

from django.conf import settings
from django.urls import reverse


def server_address() -> str:
    """Return where people reach this server, as far as its settings say."""
    if settings.IS_HTTPS:
        return f"https://{settings.ALLOWED_HOSTS[0]}"
    port = os.environ.get("TANDEM_BIND", "127.0.0.1:8000").rsplit(":", 1)[-1]
    return f"http://{settings.ALLOWED_HOSTS[0]}:{port}"


def sign_in_url(token: str) -> str:
    """Return the link that signs a person in."""
    return server_address() + reverse("sign-in-link", args=[token])
