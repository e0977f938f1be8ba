"""A gunicorn worker whose threads never wait for a slow client.

The thread that polls gathers what has come of each request; only a whole one (or one that is
larger than anonymous people may send) gets a thread. Whoever sends half a header, or a body byte
by byte, keeps a socket and some kilobytes, and loses them after a while.
"""

import selectors
import socket
import struct
import time
from collections import deque
from functools import partial
from typing import Any

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

MOST_GATHERED = 64 * 1024  # bytes: head and body of what is sent without signing in
PATIENCE = 15.0  # seconds for a head and a small body
STALLED = 30  # seconds without a byte of a large body, or of an answer that is not fetched


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Hands requests to its threads when they are whole."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.gathering: deque[Any] = deque()  # connections, the oldest first

    def enqueue_req(self, conn: Any) -> None:
        """Give a connection to a thread, after its request has come."""
        has_more = conn.parser is not None and conn.parser.unreader.buf.getvalue()
        if self.cfg.is_ssl or conn.is_http2 or has_more:
            super().enqueue_req(conn)
            return
        conn.gathered, conn.is_waiting = bytearray(), False
        self.gather(conn, conn.sock)

    def gather(self, conn: Any, sock: Any) -> None:
        """Take what has come; runs in the polling thread and never blocks."""
        sock.setblocking(False)
        try:
            piece = sock.recv(MOST_GATHERED)
        except (BlockingIOError, InterruptedError):
            piece = None
        except OSError:
            piece = b""
        if piece == b"":
            self._forget(conn)
            self.nr_conns -= 1
            conn.close()
            return
        conn.gathered += piece or b""
        if is_whole(conn.gathered):
            self._forget(conn)
            self._hand_over(conn)
        elif not conn.is_waiting:
            conn.is_waiting, conn.patient_until = True, time.monotonic() + PATIENCE
            self.gathering.append(conn)
            self.poller.register(sock, selectors.EVENT_READ, partial(self.gather, conn))

    def murder_pending(self) -> None:
        """Close connections that have taken too long, whatever they waited for."""
        super().murder_pending()
        while self.gathering and self.gathering[0].patient_until < time.monotonic():
            conn = self.gathering[0]
            self._forget(conn)
            self.nr_conns -= 1
            conn.close()

    def _hand_over(self, conn: Any) -> None:
        seconds = struct.pack("ll", STALLED, 0)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            conn.sock.setsockopt(socket.SOL_SOCKET, option, seconds)
        conn.init()
        conn.parser.unreader.unread(bytes(conn.gathered))
        conn.gathered = bytearray()
        super().enqueue_req(conn)

    def _forget(self, conn: Any) -> None:
        if conn.is_waiting:
            conn.is_waiting = False
            self.gathering.remove(conn)
            self.poller.unregister(conn.sock)


def is_whole(data: bytes | bytearray) -> bool:
    """Return whether a request has come as far as it is waited for."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return len(data) >= MOST_GATHERED  # the parser says what is wrong with such a head
    head = bytes(data[: end + 2]).lower()
    at = head.find(b"\r\ncontent-length:")
    if at < 0:
        return True
    length = head[at + 17 : head.index(b"\r\n", at + 2)].strip()
    if not length.isdigit() or len(length) > 9 or int(length) > MOST_GATHERED - end:
        return True
    return len(data) >= end + 4 + int(length)
