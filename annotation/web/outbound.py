"""Calls to other servers: only to listed addresses, at the network address that was checked.

A name is looked up once and must lead to a public address, unless its entry states a network: then
to one of it. The connection goes to the address that was checked, redirects are refused, and
answers have a time and a size.
"""

import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from annotation.errors import Refused

MAX_ANSWER = 256 * 1024  # bytes
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class BadAnswer(Exception):
    """An answer that cannot be used; ``why`` is counted."""

    def __init__(self, why: str, words: str) -> None:
        super().__init__(words)
        self.why = why


@dataclass(frozen=True)
class Endpoint:
    """An address that the admin lists, and the network that its name may lead to."""

    url: str
    network: str = ""

    @property
    def host(self) -> str:
        """Return the name, or the address, of the server."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """Return the port of the address, or the usual one of its scheme."""
        return urlsplit(self.url).port or (443 if self.is_encrypted else 80)

    @property
    def is_encrypted(self) -> bool:
        """Return whether nobody on the way can read what is sent."""
        return urlsplit(self.url).scheme == "https"

    def address(self) -> str:
        """Return the address to connect to, after its name was looked up and allowed."""
        try:
            rows = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise Refused(f"The host of '{self.url}' is not found: {error}.") from error
        found = [ipaddress.ip_address(row[4][0]) for row in rows]
        for one in found:
            if self._allows(one):
                return str(one)
        raise Refused(
            f"'{self.host}' leads to {', '.join(sorted({str(one) for one in found}))}, which is "
            "not allowed: an admin states its network behind the entry, as in NAME=10.0.0.0/8."
        )

    def _allows(self, found: Address) -> bool:
        host = self.host
        if self.network:
            return found in ipaddress.ip_network(self.network, strict=False)
        if host == "localhost" or is_address(host):
            return (host == "localhost" and found.is_loopback) or str(found) == host.strip("[]")
        return found.is_global


def is_address(host: str) -> bool:
    """Return whether a host is a number, not a name."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def post(
    endpoint: Endpoint, body: bytes, *, headers: Mapping[str, str], seconds: float, path: str = ""
) -> tuple[int, bytes]:
    """Send a body and return the status and the answer; ``path`` goes behind the address."""
    parts = urlsplit(endpoint.url)
    target = f"{parts.path}{path}" or "/"
    if parts.query:
        target += f"?{parts.query}"
    until = time.monotonic() + seconds
    try:
        plain = socket.create_connection((endpoint.address(), endpoint.port), timeout=seconds)
        with plain:
            stream = (
                ssl.create_default_context().wrap_socket(plain, server_hostname=endpoint.host)
                if endpoint.is_encrypted
                else plain
            )
            connection = http.client.HTTPConnection(endpoint.host, endpoint.port)
            connection.sock = stream
            connection.request("POST", target, body, dict(headers))
            response = connection.getresponse()
            if 300 <= response.status < 400:
                raise BadAnswer("redirect", "The address redirects, which is refused.")
            return response.status, _read(response, stream, until)
    except (OSError, http.client.HTTPException) as error:
        why = "time-out" if isinstance(error, TimeoutError) else "no connection"
        raise BadAnswer(why, f"The endpoint did not answer: {error}") from error


def _read(response: http.client.HTTPResponse, stream: socket.socket, until: float) -> bytes:
    """Return a body that is neither too long nor too late, however slowly it comes."""
    found = b""
    while True:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer took too long")
        stream.settimeout(left)
        piece = response.read1(16_384)
        if not piece:
            return found
        found += piece
        if len(found) > MAX_ANSWER:
            raise BadAnswer("too long", f"More than {MAX_ANSWER:,} bytes.")
