"""Web server, worker and predictor under one command, on a database that is up to date."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from annotation.accounts.services import create_admin, create_sign_in_link
from annotation.jobs.services import LANES
from config.home import BASE_DIR, home


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


RESTART_SECONDS = 3
WORKERS = [[sys.executable, "-m", "config", "worker", "--lane", lane] for lane in LANES]
PREDICTOR = [sys.executable, "-m", "config", "predictor"]


def serve(*, bind: str, has_predictor: bool = True) -> int:
    """Run all processes until Ctrl+C or until the web server ends; return its exit status.

    One worker trains, another imports and exports: files never wait behind a training. The
    predictor answers questions to models.
    """
    stop = _StopFlag()
    web = _start(web_command(bind))
    commands = [*WORKERS, *([PREDICTOR] if has_predictor else [])]
    others = [_start(command) for command in commands]
    try:
        while not stop.is_set and web.poll() is None:
            time.sleep(0.3)
            for place, process in enumerate(others):
                if process.poll() is not None and not stop.is_set:
                    name = commands[place][3]
                    print(f"A {name} ended with status {process.returncode}: starting another one.")
                    time.sleep(RESTART_SECONDS)
                    others[place] = _start(commands[place])
    finally:
        for process in [*others, web]:
            process.terminate()  # all at once; then each is waited for
        for process in [*others, web]:
            _stop(process)
    return 0 if stop.is_set else int(web.returncode or 0)


def web_command(bind: str) -> list[str]:
    """Return how the web server is started in the directory of our packages."""
    config = BASE_DIR / "config" / "gunicorn.py"
    return [
        sys.executable, "-m", "gunicorn", "config.wsgi",
        "--config", str(config), "--bind", bind,
    ]  # fmt: skip


def environment() -> dict[str, str]:
    """Return our environment with paths that mean the same in any directory."""
    absolute = {"TANDEM_HOME": str(home().root)}
    if connection.vendor == "sqlite" and os.environ.get("DATABASE_URL"):
        name = Path(connection.settings_dict["NAME"]).resolve()
        absolute["DATABASE_URL"] = f"sqlite:///{name}"
    return {**os.environ, **absolute}


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, so that Ctrl+C reaches it only through us."""
    return subprocess.Popen(command, cwd=BASE_DIR, env=environment(), start_new_session=True)


def _stop(process: subprocess.Popen[bytes], patience: float = 20.0) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class _StopFlag:
    """Set by SIGINT or SIGTERM."""

    def __init__(self) -> None:
        self.is_set = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._set)

    def _set(self, number: int, frame: FrameType | None) -> None:
        self.is_set = True


TURN = 0x54414E44454D  # the name of our lock in PostgreSQL


def migrate() -> None:
    """Apply missing migrations; processes that start at the same moment wait for each other."""
    with _turn():
        call_command("migrate", verbosity=0, interactive=False)


@contextmanager
def _turn() -> Iterator[None]:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [TURN])
            try:
                yield
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [TURN])
    elif connection.is_in_memory_db():  # type: ignore[attr-defined]
        yield
    else:
        with open(f"{connection.settings_dict['NAME']}.migrating", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
