"""What the environment says, read and checked once."""

import ipaddress
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from config.home import first_file

MIN_SECRET_LENGTH = 40
ADMIN = "admin"  # a role on the whole server
GROUP_ROLE = re.compile(r"(?P<group>.+)=(?P<role>admin|owner|curator|annotator)(:(?P<project>.+))?")
MAIL_PORTS = {"smtps": 465, "smtp": 587, "smtp+plain": 25}
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


def networks(name: str, default: str) -> list[str]:
    """Return a variable's comma-separated addresses and networks."""
    found = listed(name, default)
    for one in found:
        try:
            ipaddress.ip_network(one, strict=False)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name}: {error}; write 10.0.0.1 or 10.0.0.0/8.") from error
    return found


@dataclass(frozen=True)
class GroupRole:
    """The role that members of a provider's group have in a project, in all ('*'), or as admins."""

    group: str
    role: str
    project: str


@dataclass(frozen=True)
class SingleSignOn:
    """A provider of OpenID Connect; none where there is no issuer."""

    issuer: str
    client_id: str
    client_secret: str
    title: str
    scopes: str
    groups_claim: str
    roles: tuple[GroupRole, ...]
    is_only_way: bool

    @property
    def is_on(self) -> bool:
        """Return whether people can sign in by it."""
        return bool(self.issuer)


def single_sign_on() -> SingleSignOn:
    """Return the provider of TANDEM_OIDC_ISSUER; what cannot work is refused now."""
    found = SingleSignOn(
        issuer=os.environ.get("TANDEM_OIDC_ISSUER", "").strip().rstrip("/"),
        client_id=os.environ.get("TANDEM_OIDC_CLIENT_ID", "").strip(),
        client_secret=os.environ.get("TANDEM_OIDC_CLIENT_SECRET", "").strip(),
        title=os.environ.get("TANDEM_OIDC_TITLE", "").strip() or "single sign-on",
        scopes=os.environ.get("TANDEM_OIDC_SCOPES", "").strip() or "openid profile email",
        groups_claim=os.environ.get("TANDEM_OIDC_GROUPS_CLAIM", "").strip() or "groups",
        roles=group_roles("TANDEM_OIDC_ROLES"),
        is_only_way=flag("TANDEM_OIDC_ONLY"),
    )
    if not found.is_on:
        return found
    address = urlsplit(found.issuer)
    is_here = address.hostname in ("localhost", "127.0.0.1", "::1")
    if not (address.scheme == "https" or (address.scheme == "http" and is_here)):
        raise ImproperlyConfigured(f"TANDEM_OIDC_ISSUER is '{found.issuer}'; write https://...")
    if not found.client_id:
        raise ImproperlyConfigured("TANDEM_OIDC_ISSUER needs TANDEM_OIDC_CLIENT_ID beside it.")
    return found


@dataclass(frozen=True)
class Mail:
    """The SMTP server that takes our mails, and whom they come from."""

    host: str = ""
    port: int = 0
    user: str = ""
    password: str = ""
    is_tls: bool = False
    is_starttls: bool = False
    sender: str = ""


def mail() -> Mail:
    """Return the server of TANDEM_SMTP; what cannot work is refused now."""
    url = os.environ.get("TANDEM_SMTP", "").strip()
    if not url:
        return Mail()
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in MAIL_PORTS or not parts.hostname:
        raise ImproperlyConfigured(
            "TANDEM_SMTP is not smtps://user:password@host:465 (TLS), smtp://... (STARTTLS, port "
            "587) or smtp+plain://host:25 (no encryption, for a server on this machine)."
        )
    sender = os.environ.get("TANDEM_MAIL_FROM", "").strip()
    if not sender or not os.environ.get("TANDEM_ADDRESS", "").strip():
        raise ImproperlyConfigured(
            "TANDEM_SMTP needs TANDEM_MAIL_FROM (Tandem <tandem@example.org>) and TANDEM_ADDRESS "
            "(https://tandem.example.org, where links in mails lead) beside it."
        )
    return Mail(
        host=parts.hostname,
        port=port or MAIL_PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        is_tls=parts.scheme == "smtps",
        is_starttls=parts.scheme == "smtp",
        sender=sender,
    )


def group_roles(name: str) -> tuple[GroupRole, ...]:
    """Return what a variable says of groups: 'GROUP=ROLE:PROJECT; GROUP=admin'."""
    found = []
    for part in filter(None, map(str.strip, os.environ.get(name, "").split(";"))):
        match = GROUP_ROLE.fullmatch(part)
        if not match or (match["role"] == ADMIN) != (match["project"] is None):
            raise ImproperlyConfigured(
                f"{name}: '{part}' is not GROUP=ROLE:PROJECT (ROLE is owner, curator or annotator; "
                "PROJECT a name, or * for all) or GROUP=admin; put ; between several."
            )
        project = (match["project"] or "").strip()
        found.append(GroupRole(match["group"].strip(), match["role"], project))
    return tuple(found)


def device(name: str) -> str:
    """Return where models are trained and asked; whether this machine has it is seen then."""
    value = os.environ.get(name, "").strip().lower() or "auto"
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", value):
        raise ImproperlyConfigured(f"{name} is '{value}'; use auto, cpu, cuda, cuda:1 or mps.")
    return value


def secret_key(path: Path) -> str:
    """Return the installation's own key: from the environment, or from a file made at first use."""
    key = os.environ.get("TANDEM_SECRET_KEY") or _key_from_file(path)
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


def keep_private(folder: Path) -> None:
    """Take a data directory from everybody but its owner; the database has password hashes."""
    if folder.stat().st_mode & 0o077:
        with suppress(OSError):  # another's: `doctor` says so
            folder.chmod(0o700)


def _key_from_file(path: Path) -> str:
    """Return the key of a file, which appears whole: other processes may start at this moment."""
    if not path.exists():
        with first_file(path) as file:
            file.write(secrets.token_urlsafe(64).encode())
    return path.read_text().strip()
