import os
import sys
from argparse import ArgumentParser, BooleanOptionalAction
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.urls import reverse
from django.utils import timezone

from annotation.accounts.services import create_admin, create_sign_in_link
from annotation.management.server import migrate, serve


class Command(BaseCommand):
    help = "Set up the database and run web server, worker and predictor together until Ctrl+C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--demo", action="store_true", help="make the demo projects first")
        parser.add_argument(
            "--predictor",
            action=BooleanOptionalAction,
            default=True,
            help="answer questions to models, in a process of its own",
        )
        parser.add_argument("--bind", default=os.environ.get("TANDEM_BIND", "127.0.0.1:8000"))

    def handle(self, *args: Any, **options: Any) -> None:
        migrate()
        if not settings.WHITENOISE_USE_FINDERS:
            call_command("collectstatic", verbosity=0, interactive=False)
        address = f"http://{options['bind']}"
        link = self._first_admin_link()
        if options["demo"]:
            call_command("create_demo", stdout=self.stdout)
        self.stdout.write(f"\nTandem is at {address} (Ctrl+C stops it)")
        if link:
            self.stdout.write(f"First sign-in, good once and for 24 hours: {address}{link}\n")
        self.stdout.flush()
        sys.exit(serve(bind=options["bind"], has_predictor=options["predictor"]))

    def _first_admin_link(self) -> str | None:
        """Return the path of a new sign-in link while no admin has a password yet."""
        admins = get_user_model().objects.filter(is_superuser=True, is_active=True)
        if any(admin.has_usable_password() for admin in admins):
            return None
        admin = admins.first()
        if admin is None:
            _, token = create_admin(username="admin", now=timezone.now())
        else:
            token = create_sign_in_link(user=admin, now=timezone.now())
        return reverse("sign-in-link", args=[token])
