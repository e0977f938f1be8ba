"""What the environment says, read and checked once."""

import os
import secrets
import tempfile
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

MIN_SECRET_LENGTH = 40
WEAK_SECRETS = ("django-insecure", "changeme", "secret", "password", "example")


def flag(name: str, default: bool = False) -> bool:
    """Return a yes-or-no variable."""
    value = os.environ.get(name, "").strip().lower()
    if value in ("", "1", "true", "yes", "on", "0", "false", "no", "off"):
        return value in ("1", "true", "yes", "on") if value else default
    raise ImproperlyConfigured(f"{name} is '{value}'; use 1 or 0.")


def listed(name: str, default: str) -> list[str]:
    """Return a variable's comma-separated parts."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def home_directory(base: Path) -> Path:
    """Return the data directory, made if it is missing and readable by its owner alone."""
    home = Path(os.environ.get("TANDEM_HOME") or base / ".tandem").resolve()
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    return home


def secret_key(home: Path) -> str:
    """Return the installation's own key: from the environment, or from a file made at first use."""
    key = os.environ.get("TANDEM_SECRET_KEY") or _key_from_file(home / "secret_key")
    problem = weakness(key)
    if problem:
        raise ImproperlyConfigured(
            f"The secret key {problem}. Remove TANDEM_SECRET_KEY or the file 'secret_key' in "
            "TANDEM_HOME to have a new one made, or set one of at least "
            f"{MIN_SECRET_LENGTH} random characters."
        )
    return key


def weakness(key: str) -> str | None:
    """Return why a secret key must not be used, or nothing."""
    if len(key) < MIN_SECRET_LENGTH:
        return f"has {len(key)} characters"
    if len(set(key)) < 10:
        return "repeats a few characters"
    if any(word in key.lower() for word in WEAK_SECRETS):
        return "contains a word that others know"
    return None


def _key_from_file(path: Path) -> str:
    """Return the key of a file, which appears whole: other processes may start at this moment."""
    if not path.exists():
        descriptor, own = tempfile.mkstemp(prefix=".secret_key.", dir=path.parent)  # mode 600
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(64))
        try:
            os.link(own, path)
        except FileExistsError:
            pass  # another process was first: its key counts
        except OSError:  # a file system without hard links
            os.replace(own, path)
        Path(own).unlink(missing_ok=True)
    return path.read_text().strip()
