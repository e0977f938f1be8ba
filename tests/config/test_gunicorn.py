"""The web server as the product runs it."""

import socket
import time
import urllib.request

import pytest

from annotation.web.security import ANONYMOUS_BYTES
from benchmarks.web_server import WebServer, serving
from config.patient_worker import MOST_BODY, MOST_HEAD, is_whole, refusal_of

BROWSERS_WAIT = 3.0  # seconds, well below the five for which gunicorn's threads wait


@pytest.fixture
def server(tmp_path):
    return WebServer(tmp_path, None, {"TANDEM_WEB_PROCESSES": "1", "TANDEM_WEB_THREADS": "1"})


def test_connections_that_say_nothing_hold_nobody_up(server):
    server.run("manage", "migrate", "--verbosity=0")
    with serving(server):
        silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
        url = f"http://127.0.0.1:{server.port}/health/"
        with urllib.request.urlopen(url, timeout=BROWSERS_WAIT) as response:
            assert response.status == 200
        for connection in silent:
            connection.close()


def test_200_slow_clients_hold_nobody_up(server):
    server.run("manage", "migrate", "--verbosity=0")
    with serving(server):
        half_a_head = b"GET /health/ HTTP/1.1\r\nHost: localhost\r\n"
        half_a_body = b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\nx"
        slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
        for i, connection in enumerate(slow):
            connection.sendall(half_a_body if i % 2 else half_a_head)
        url = f"http://127.0.0.1:{server.port}/health/"
        for _ in range(5):
            with urllib.request.urlopen(url, timeout=BROWSERS_WAIT) as response:
                assert response.status == 200
        slow[0].sendall(b"\r\n")  # whoever goes on is served
        slow[0].settimeout(BROWSERS_WAIT)
        assert slow[0].recv(15).startswith(b"HTTP/1.1 200")
        for connection in slow:
            connection.close()


LONG_HEAD = b"".join(b"X-%d: %s\r\n" % (i, b"x" * 7000) for i in range(10))
SLOW = {
    "a long head": b"GET /health/ HTTP/1.1\r\nHost: localhost\r\n" + LONG_HEAD,
    "a form behind a long head": b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\n"
    b"Cookie: csrftoken=" + b"x" * 32 + b"\r\nX-1: " + b"x" * 7000 + b"\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 61000\r\n\r\nx",
    "half a request behind a whole one": b"GET /health/ HTTP/1.1\r\nHost: localhost\r\n\r\n"
    b"GET /health/ HTTP/1.1\r\nHost: local",
    "chunks": b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
    "a large file with a token that nobody has": b"POST /api/projects/1/corpora/ HTTP/1.1\r\n"
    b"Host: localhost\r\nAuthorization: Token made-up\r\nContent-Length: 99999999\r\n\r\nx",
    "an answer that nobody fetches": b"GET /health/ HTTP/1.1\r\nHost: localhost\r\n"
    b"Connection: close\r\n\r\n",
}


@pytest.mark.timeout(300)
def test_no_way_of_being_slow_holds_anybody_up(server):
    server.run("manage", "migrate", "--verbosity=0")
    with serving(server):
        for name, sent in SLOW.items():
            slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(12)]
            for connection in slow:
                connection.sendall(sent)
            time.sleep(0.5)
            for _ in range(3):
                assert _is_answered(server), name
            for connection in slow:
                connection.close()
        assert _answered_together(server) == 3


def _is_answered(server):
    url = f"http://127.0.0.1:{server.port}/health/"
    try:
        with urllib.request.urlopen(url, timeout=BROWSERS_WAIT) as response:
            return response.status == 200
    except TimeoutError:
        return False


def _answered_together(server):
    """Return how many of three requests are answered that come in two pieces."""
    ask = b"GET /health/ HTTP/1.1\r\nHost: localhost\r\n"
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.settimeout(BROWSERS_WAIT)
        client.sendall(ask + b"\r\n" + ask + b"\r\n" + ask)
        time.sleep(0.5)
        client.sendall(b"Connection: close\r\n\r\n")
        found = b""
        while piece := client.recv(65536):
            found += piece
        return found.count(b"HTTP/1.1 200")


def test_every_form_that_anybody_may_send_is_gathered_whole():
    assert ANONYMOUS_BYTES <= MOST_BODY


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n", ""),
        (b"x" * MOST_HEAD, "431 Request Header Fields Too Large"),
        (
            b"GET / HTTP/1.1\r\nX: " + b"x" * MOST_HEAD + b"\r\n\r\n",
            "431 Request Header Fields Too Large",
        ),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "411 Length Required"),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n\r\ntransfer-encoding:", ""),
    ],
)
def test_what_could_hold_a_thread_is_refused(data, expected):
    assert refusal_of(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n", False),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", True),
        (b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", False),
        (b"POST / HTTP/1.1\r\ncontent-length:3\r\nHost: a\r\n\r\nabc", True),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\nab", True),
        (b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\nab", True),
        (
            b"POST / HTTP/1.1\r\nX: %s\r\nContent-Length: %d\r\n\r\nab" % (b"x" * 9000, MOST_BODY),
            False,
        ),
    ],
)
def test_a_request_is_whole_when_its_body_is_there(data, expected):
    assert is_whole(data) == expected
