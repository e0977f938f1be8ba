import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from annotation.management.commands.serve import environment, migrate, web_command
from config.home import BASE_DIR


class Command(BaseCommand):
    help = "Run one process of a container: web or worker."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("role", choices=["web", "worker"])

    def handle(self, *args: Any, **options: Any) -> None:
        migrate()
        if options["role"] == "worker":
            call_command("worker")
            return
        call_command("collectstatic", verbosity=0, interactive=False)
        bind = os.environ.get("TANDEM_BIND", "0.0.0.0:8000")
        own = environment()
        os.chdir(BASE_DIR)
        os.execve(sys.executable, web_command(bind), own)
