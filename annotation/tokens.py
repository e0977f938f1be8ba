"""Secrets that travel in links: made once, shown once, stored only as a hash."""

import hashlib
import secrets


def new_token() -> str:
    """Return a fresh secret of 256 bits that is safe in a URL."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Return what is stored of a secret; 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
