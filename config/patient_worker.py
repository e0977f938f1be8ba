"""A gunicorn worker whose threads never wait for a slow client.

The thread that polls gathers what has come of each request; only a whole one (or one that is
larger than anonymous people may send) gets a thread. Whoever sends half a head, or a body byte
by byte, keeps a socket and some kilobytes, and loses them after a while. So does whoever does not
hang up after the last answer.
"""

import selectors
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

MOST_HEAD = MOST_BODY = 64 * 1024  # bytes of what is gathered: more than is sent without signing in
PATIENCE = 15.0  # seconds for a head and a small body
STALLED = 30  # seconds without a byte of a large body, or of an answer that is not fetched
LINGERING = 2.0  # seconds for a client to take the last answer and hang up
UNREAD = 0.05  # seconds for the rest of a body that was refused: what has come is dropped
PIECE = 64 * 1024
TOO_LONG = "431 Request Header Fields Too Large"
NO_LENGTH = "411 Length Required"


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Hands requests to its threads when they are whole."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.gathering: deque[Any] = deque()  # connections, the oldest first
        self.leaving: deque[Any] = deque()

    def enqueue_req(self, conn: Any) -> None:
        """Give a connection to a thread, after its request has come."""
        if self.cfg.is_ssl or conn.is_http2:
            super().enqueue_req(conn)
            return
        came_along = conn.parser.unreader.take_buffered() if conn.parser is not None else b""
        conn.close = partial(self._close, conn)
        conn.gathered, conn.is_waiting = bytearray(came_along), False
        self.gather(conn, conn.sock)

    def gather(self, conn: Any, sock: Any) -> None:
        """Take what has come; runs in the polling thread and never blocks."""
        piece = _take(sock)
        if piece == b"":
            self._end(conn)
            return
        conn.gathered += piece or b""
        refusal = refusal_of(conn.gathered)
        if refusal:
            with suppress(OSError):
                sock.send(f"HTTP/1.1 {refusal}\r\nConnection: close\r\n\r\n".encode())
            self._end(conn, graceful=True)
        elif is_whole(conn.gathered):
            self._forget(conn)
            self._hand_over(conn)
        elif not conn.is_waiting:
            conn.is_waiting, conn.patient_until = True, time.monotonic() + PATIENCE
            self.gathering.append(conn)
            self.poller.register(sock, selectors.EVENT_READ, partial(self.gather, conn))

    def murder_pending(self) -> None:
        """Close connections that have taken too long, whatever they waited for."""
        super().murder_pending()
        now = time.monotonic()
        while self.gathering and self.gathering[0].patient_until < now:
            self._end(self.gathering[0])
        while self.leaving and self.leaving[0].patient_until < now:
            self._leave(self.leaving[0])

    def _keepalive_after(self, conn: Any, keepalive: bool) -> bool:
        """Return whether a connection can be used again: not if a body was refused unread.

        gunicorn would wait for the rest of it for seconds, in a thread.
        """
        until = time.monotonic() + UNREAD
        return keepalive and bool(conn.parser.finish_body(deadline=until))

    def _hand_over(self, conn: Any) -> None:
        seconds = struct.pack("ll", STALLED, 0)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            conn.sock.setsockopt(socket.SOL_SOCKET, option, seconds)
        conn.init()
        conn.parser.unreader.unread(bytes(conn.gathered))
        conn.gathered = bytearray()
        super().enqueue_req(conn)

    def _end(self, conn: Any, *, graceful: bool = False) -> None:
        self._forget(conn)
        self.nr_conns -= 1
        conn.close(graceful=graceful)

    def _forget(self, conn: Any) -> None:
        if conn.is_waiting:
            conn.is_waiting = False
            self.gathering.remove(conn)
            self.poller.unregister(conn.sock)

    def _close(self, conn: Any, graceful: bool = False) -> None:
        """Close a connection; one whose answer is under way when the client has hung up.

        gunicorn waits for that in the thread that polls, where everybody else waits too.
        """
        sock = conn.sock
        if graceful:
            with suppress(OSError):
                sock.setblocking(False)
                sock.shutdown(socket.SHUT_WR)
                conn.patient_until = time.monotonic() + LINGERING
                self.nr_conns += 1
                self.leaving.append(conn)
                self.poller.register(sock, selectors.EVENT_READ, partial(self._drain, conn))
                return
        with suppress(OSError):
            sock.close()

    def _drain(self, conn: Any, sock: Any) -> None:
        if _take(sock) == b"":
            self._leave(conn)

    def _leave(self, conn: Any) -> None:
        self.leaving.remove(conn)
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()


def _take(sock: Any) -> bytes | None:
    """Return what has come, None if nothing has, nothing but b"" once the client has hung up."""
    sock.setblocking(False)
    recv: Callable[[int], bytes] = sock.recv
    try:
        return recv(PIECE)
    except (BlockingIOError, InterruptedError):
        return None
    except OSError:
        return b""


def is_whole(data: bytes | bytearray) -> bool:
    """Return whether a request has come as far as it is waited for."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return False
    head = bytes(data[: end + 2]).lower()
    at = head.find(b"\r\ncontent-length:")
    if at < 0:
        return True
    length = head[at + 17 : head.index(b"\r\n", at + 2)].strip()
    if not length.isdigit() or len(length) > 9 or int(length) > MOST_BODY:
        return True
    return len(data) >= end + 4 + int(length)


def refusal_of(data: bytes | bytearray) -> str:
    """Return why a request gets no thread: it could make one wait, however it goes on."""
    end = data.find(b"\r\n\r\n")
    if end > MOST_HEAD or (end < 0 and len(data) >= MOST_HEAD):
        return TOO_LONG
    # Bodies that come in chunks end when their sender likes; nothing here reads them.
    is_open_end = end >= 0 and b"\r\ntransfer-encoding:" in bytes(data[: end + 2]).lower()
    return NO_LENGTH if is_open_end else ""
