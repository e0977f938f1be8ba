"""Suggestions by any chat endpoint that speaks OpenAI's protocol, if the admin lists its address.

Nothing leaves this installation unless ``TANDEM_SUGGESTION_SOURCES`` names the address. A name is
looked up once and must lead to a public address, unless the entry states a network: then to one of
it (``http://gpu.lan:8000/v1=10.0.0.0/8``). The connection goes to the address that was checked,
redirects are refused, answers have a time and a size, and only JSON that fits the task counts.
"""

import http.client
import ipaddress
import json
import os
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from annotation.errors import Refused
from mtl_engine.kinds import KINDS, TaskSpec

MAX_ANSWER = 256 * 1024  # bytes
SECONDS = 60.0  # for one answer, from the first byte sent to the last one read
N_EXAMPLES = 4
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

    @classmethod
    def find(cls, url: str) -> "Endpoint":
        """Return the listed endpoint of an address; refuse any other."""
        wanted = url.rstrip("/")
        for entry in settings.SUGGESTION_SOURCES:
            listed, _, network = entry.partition("=")
            if listed.rstrip("/") == wanted and urlsplit(wanted).scheme in ("http", "https"):
                return cls(wanted, network)
        raise Refused(
            f"'{url}' is not among the addresses that this installation may ask. An admin lists "
            "them in TANDEM_SUGGESTION_SOURCES."
        )

    def address(self) -> str:
        """Return the address to connect to, after its name was looked up and allowed."""
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise Refused(f"The host of '{self.url}' is not found: {error}.") from error
        found = [ipaddress.ip_address(row[4][0]) for row in rows]
        for one in found:
            if self._allows(host, one):
                return str(one)
        raise Refused(
            f"'{host}' leads to {', '.join(sorted({str(one) for one in found}))}, which is not "
            "allowed: state its network behind the address, as in http://host:8000/v1=10.0.0.0/8."
        )

    def _allows(self, host: str, found: Address) -> bool:
        if self.network:
            return found in ipaddress.ip_network(self.network, strict=False)
        if host == "localhost" or _is_address(host):
            return (host == "localhost" and found.is_loopback) or str(found) == host.strip("[]")
        return found.is_global


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def ask_chat(
    endpoint: Endpoint,
    model: str,
    messages: Sequence[Mapping[str, str]],
    *,
    seconds: float = SECONDS,
) -> Any:
    """Return the JSON that a chat model answers with."""
    body = {
        "model": model,
        "messages": list(messages),
        "temperature": 0,
        "response_format": {"type": "json_object"},
    }
    raw = _post(endpoint, json.dumps(body).encode(), seconds)
    try:
        content = json.loads(raw)["choices"][0]["message"]["content"]
        if not isinstance(content, str):
            raise TypeError("content is no text")
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise BadAnswer("not the protocol", f"No chat completion: {error}") from error
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadAnswer("no JSON", f"Not JSON: {content[:80]!r}") from error
    if not isinstance(answer, dict):
        raise BadAnswer("no JSON", f"Not a JSON object: {content[:80]!r}")
    return answer


def _post(endpoint: Endpoint, body: bytes, seconds: float) -> bytes:
    parts = urlsplit(endpoint.url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    until = time.monotonic() + seconds
    try:
        plain = socket.create_connection((endpoint.address(), port), timeout=seconds)
        with plain:
            stream = (
                ssl.create_default_context().wrap_socket(plain, server_hostname=host)
                if parts.scheme == "https"
                else plain
            )
            connection = http.client.HTTPConnection(host, port)
            connection.sock = stream
            headers = {"Content-Type": "application/json", "Accept": "application/json"}
            key = os.environ.get("TANDEM_SUGGESTION_KEY", "")
            if key:
                headers["Authorization"] = f"Bearer {key}"
            connection.request("POST", f"{parts.path}/chat/completions", body, headers)
            response = connection.getresponse()
            if 300 <= response.status < 400:
                raise BadAnswer("redirect", "The address redirects, which is refused.")
            if response.status != 200:
                raise BadAnswer("error", f"The endpoint answered {response.status}.")
            return _read(response, stream, until)
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


def messages_for(
    tasks: Sequence[TaskSpec],
    descriptions: Mapping[str, Mapping[str, str]],
    guidelines: Mapping[str, str],
    examples: Sequence[tuple[Sequence[str], Mapping[str, Any]]],
    tokens: Sequence[str],
) -> list[dict[str, str]]:
    """Return the questions to a chat model: the tasks, examples that people decided, a sentence."""
    lines = [
        "You label one sentence for several tasks. Words are numbered from 0. Answer with one JSON "
        "object that has a key for each task and nothing else.",
    ]
    for task in tasks:
        kind = KINDS[task.kind]
        lines += ["", f"Task {task.name}: {kind.summary} Form of the answer: {kind.shape}."]
        if guidelines.get(task.name):
            lines.append(guidelines[task.name][:2_000])
        lines.append("Labels:")
        words = descriptions.get(task.name, {})
        lines += [
            f"- {name}: {words[name]}" if words.get(name) else f"- {name}" for name in task.labels
        ]
    messages = [{"role": "system", "content": "\n".join(lines)}]
    for its_tokens, answers in examples[:N_EXAMPLES]:
        messages.append({"role": "user", "content": _numbered(its_tokens)})
        messages.append({"role": "assistant", "content": json.dumps(answers, ensure_ascii=False)})
    return [*messages, {"role": "user", "content": _numbered(tokens)}]


def _numbered(tokens: Sequence[str]) -> str:
    return " ".join(f"{number}:{token}" for number, token in enumerate(tokens))
