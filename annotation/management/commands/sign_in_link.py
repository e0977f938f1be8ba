from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from annotation.links import sign_in_url
from annotation.management.refusing import RefusingCommand
from annotation.selectors.projects import find_user
from annotation.services.signing_in import LINK_HOURS, create_admin, create_sign_in_link


class Command(RefusingCommand):
    help = "Print a link that signs a person in, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--create-admin", action="store_true", help="make this admin first")
        parser.add_argument("--hours", type=int, default=LINK_HOURS, help="how long it is good for")

    def handle(self, *args: Any, **options: Any) -> None:
        now, hours = timezone.now(), options["hours"]
        if options["create_admin"]:
            user, _ = create_admin(username=options["username"], now=now)
        else:
            user = find_user(options["username"])
        self.stdout.write(sign_in_url(create_sign_in_link(user=user, now=now, hours=hours)))
