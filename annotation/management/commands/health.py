import os
import urllib.error
import urllib.request
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Exit with status 0 if the web server on this machine answers."

    def handle(self, *args: Any, **options: Any) -> None:
        port = os.environ.get("TANDEM_BIND", "127.0.0.1:8000").rsplit(":", 1)[-1]
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/health/", headers={"Host": settings.ALLOWED_HOSTS[0]}
        )
        try:
            with urllib.request.urlopen(request, timeout=4) as response:
                self.stdout.write(response.read().decode())
        except (urllib.error.URLError, TimeoutError) as error:
            raise CommandError(
                f"The web server does not answer on port {port}: {error}."
            ) from error
