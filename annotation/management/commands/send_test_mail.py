"""Sends a mail to see whether TANDEM_SMTP works."""

import smtplib
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.notifications.outbox import is_mail_on
from annotation.notifications.transport import send_mail


class Command(BaseCommand):
    help = "Send a mail to an address, now, to see whether TANDEM_SMTP works."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the address."""
        parser.add_argument("address")

    def handle(self, *args: Any, **options: Any) -> None:
        """Send it, or say what the server of mails says."""
        if not is_mail_on():
            raise CommandError("TANDEM_SMTP is not set: this installation sends no mail.")
        words = f"Mails of {settings.ADDRESS} arrive.\n"
        try:
            send_mail(address=options["address"], subject="A test by Tandem", text=words)
        except (OSError, smtplib.SMTPException) as error:
            server = f"{settings.MAIL.host}:{settings.MAIL.port}"
            raise CommandError(f"{server} does not take it: {error}") from error
        self.stdout.write(f"Sent to {options['address']}.")
