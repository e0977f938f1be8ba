from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

from annotation.demo.services import create_demo_projects


class Command(BaseCommand):
    help = "Create the demo projects, if they are not there, owned by the first admin."

    def handle(self, *args: Any, **options: Any) -> None:
        owner = get_user_model().objects.filter(is_superuser=True).order_by("id").first()
        for project in create_demo_projects(owner=owner):
            self.stdout.write(f"Made the project '{project}'.")
