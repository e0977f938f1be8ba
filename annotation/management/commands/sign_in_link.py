import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from annotation.accounts.authentication import turn_off
from annotation.accounts.services import LINK_HOURS, create_admin, create_sign_in_link
from annotation.management import RefusingCommand
from annotation.projects.selectors import find_user


class Command(RefusingCommand):
    help = "Print a link that signs a person in, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--create-admin", action="store_true", help="make this admin first")
        parser.add_argument(
            "--no-code", action="store_true", help="ask for no code of their lost app any more"
        )
        parser.add_argument("--hours", type=int, default=LINK_HOURS, help="how long it is good for")

    def handle(self, *args: Any, **options: Any) -> None:
        now, hours = timezone.now(), options["hours"]
        if options["create_admin"]:
            user, _ = create_admin(username=options["username"], now=now)
        else:
            user = find_user(options["username"])
        if options["no_code"]:
            turn_off(user=user, actor=None)
        token = create_sign_in_link(user=user, now=now, hours=hours)
        self.stdout.write(_server_address() + reverse("sign-in-link", args=[token]))


def _server_address() -> str:
    """Return where people reach this server, as far as its settings say."""
    if settings.IS_HTTPS:
        return f"https://{settings.ALLOWED_HOSTS[0]}"
    port = os.environ.get("TANDEM_BIND", "127.0.0.1:8000").rsplit(":", 1)[-1]
    return f"http://{settings.ALLOWED_HOSTS[0]}:{port}"
