import os
import secrets
from typing import Any

from annotation.errors import Refused
from annotation.management import RefusingCommand
from config.home import home, replaced_file


class Command(RefusingCommand):
    help = "Give this installation a new secret key; everybody has to sign in again."

    def handle(self, *args: Any, **options: Any) -> None:
        if os.environ.get("TANDEM_SECRET_KEY"):
            raise Refused("The key comes from TANDEM_SECRET_KEY. Change it there.")
        with replaced_file(home().secret_key) as file:
            file.write(secrets.token_urlsafe(64).encode())
        self.stdout.write("There is a new secret key. Restart web and worker to use it.")
