"""Servers on this machine that take what is sent."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message

from annotation.models import Membership, Role
from config.environment import Mail


class Kept(Message):
    """Keeps the mails that come in."""

    def __init__(self):
        super().__init__()
        self.mails = []

    def handle_message(self, message):
        self.mails.append(message)


@pytest.fixture
def post_office(settings):
    """A real SMTP server, and this installation's mail goes there."""
    kept = Kept()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(kept, hostname="127.0.0.1", port=port)
    controller.start()
    mail_goes_to(settings, "127.0.0.1", port)
    yield kept
    controller.stop()


def mail_goes_to(settings, host, port):
    settings.MAIL = Mail(host=host, port=port, sender="Tandem <tandem@example.org>")
    settings.ADDRESS = "https://tandem.example.org"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = host, port
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False


@pytest.fixture
def mail_on(settings):
    """Mail is configured; what is sent stays in this process."""
    mail_goes_to(settings, "mail.example.org", 587)
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


class Listener:
    """A program that is called: keeps calls and answers with the statuses it is given."""

    def __init__(self):
        self.calls, self.statuses, self.headers = [], [], {}
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                listener.calls.append((dict(self.headers), body))
                self.send_response(listener.statuses.pop(0) if listener.statuses else 204)
                for name, value in listener.headers.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()


@pytest.fixture
def listener(settings):
    """A program on this machine whose address is listed."""
    made = Listener()
    settings.WEBHOOK_HOSTS = [f"127.0.0.1:{made.server.server_port}"]
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def team(project, bob):
    """Bob annotates in ada's project."""
    Membership.objects.create(project=project, user=bob, role=Role.ANNOTATOR)
    return project
