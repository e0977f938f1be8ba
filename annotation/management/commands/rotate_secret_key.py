import os
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.errors import Refused
from annotation.management.refusing import RefusingCommand
from annotation.services.exporting import replaced_file


class Command(RefusingCommand):
    help = "Give this installation a new secret key; everybody has to sign in again."

    def handle(self, *args: Any, **options: Any) -> None:
        if os.environ.get("TANDEM_SECRET_KEY"):
            raise Refused("The key comes from TANDEM_SECRET_KEY. Change it there.")
        with replaced_file(Path(settings.TANDEM_HOME) / "secret_key") as file:
            file.write(secrets.token_urlsafe(64).encode())
        self.stdout.write("There is a new secret key. Restart web and worker to use it.")
