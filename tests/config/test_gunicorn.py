"""The web server as the product runs it."""

import socket
import urllib.request

import pytest

from benchmarks.web_server import WebServer, serving
from config.patient_worker import MOST_GATHERED, is_whole

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


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n", False),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", True),
        (b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", False),
        (b"POST / HTTP/1.1\r\ncontent-length:3\r\nHost: a\r\n\r\nabc", True),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\nab", True),
        (b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\nab", True),
        (b"x" * MOST_GATHERED, True),
    ],
)
def test_a_request_is_whole_when_its_body_is_there(data, expected):
    assert is_whole(data) == expected
