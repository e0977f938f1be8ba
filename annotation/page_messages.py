"""Messages that a page shows once; programs that talk to the REST interface see none."""

from django.contrib.messages.middleware import MessageMiddleware
from django.http import HttpRequest


class PageMessages(MessageMiddleware):
    """Middleware: opens the message store for pages only."""

    def process_request(self, request: HttpRequest) -> None:
        """Make messages available to a page."""
        if not request.path_info.startswith("/api/"):
            super().process_request(request)
