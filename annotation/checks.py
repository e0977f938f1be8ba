"""Start-up checks: an installation that is unsafe or half set up says so."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register


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
