"""One person's connection to a server: requests, safe retries, pages, files."""

import http.client
import json
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

PIECE = 1 << 16
AWAY = (429, 502, 503, 504)  # of a server that will be back
PAUSE = 0.05  # seconds between attempts, doubled up to MOST
MOST = 2.0
FORM_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class ApiError(Exception):
    """An answer of the server that says no: its status, code, message, fields and details."""

    def __init__(self, status: int, error: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(error.get("code", "unknown"))
        self.message = str(error.get("message", ""))
        self.fields: dict[str, list[str]] = dict(error.get("fields") or {})
        self.details: dict[str, Any] = dict(error.get("details") or {})
        super().__init__(f"{status} {self.code}: {self.message} {self.fields or ''}".rstrip())


class Transport:
    """Sends requests over one connection, which is opened when it is needed; not for threads."""

    def __init__(
        self, address: str, token: str = "", *, timeout: float = 30.0, patience: float = 30.0
    ) -> None:
        self._url = urlsplit(address)
        if self._url.scheme not in ("http", "https") or not self._url.netloc:
            raise ValueError(f"'{address}' is no address of a server, as http://localhost:8000.")
        self._token = token
        self._timeout = timeout
        self._patience = patience  # seconds of retrying while the server is away
        self._cookies: dict[str, str] = {}
        self._connection: http.client.HTTPConnection | None = None

    def sign_in(self, username: str, password: str) -> None:
        """Begin a session as a browser does, for what tokens may not do: making tokens."""
        page = self._read(*self._send("GET", "/sign-in/", None, {}))
        found = FORM_TOKEN.search(page.decode())
        if found is None:
            raise ApiError(502, {"message": f"{self._url.geturl()} shows no sign-in form."})
        form = {"username": username, "password": password, "csrfmiddlewaretoken": found[1]}
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        status, response = self._send("POST", "/sign-in/", urlencode(form).encode(), headers)
        response.read()
        if status != 302:
            raise ApiError(401, {"code": "not_signed_in", "message": "Wrong name or password."})

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def save(self, pieces: Iterator[bytes], path: Path) -> int:
        """Write a download to a file and return its bytes."""
        n_bytes = 0
        with path.open("wb") as file:
            for piece in pieces:
                n_bytes += file.write(piece)
        return n_bytes

    def _json(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        *,
        may_repeat: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Return what the server answers, nothing where that is empty."""
        data = None if body is None else json.dumps(body).encode()
        own = {"Content-Type": "application/json", **(headers or {})}
        text = self._call(method, _api(path, query), data, own, may_repeat=may_repeat)
        return json.loads(text) if text else None

    def _pages(self, path: str, query: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Yield the entries of a list, page after page."""
        cursor = ""
        while True:
            wanted = {**(query or {}), **({"cursor": cursor} if cursor else {})}
            page = self._json("GET", path, query=wanted, may_repeat=True)
            yield from page["results"]
            cursor = page.get("next")
            if not cursor:
                return

    def _download(self, path: str, query: Mapping[str, Any] | None = None) -> Iterator[bytes]:
        """Yield a file in pieces; no other request may come between them."""
        answer = self._open("GET", _api(path, query), None, {}, may_repeat=True)
        while piece := answer.read(PIECE):
            yield piece

    def _upload(
        self, path: str, files: Mapping[str, Path | bytes], fields: Mapping[str, Any]
    ) -> Any:
        """Send files and fields as a form, each file in pieces."""
        form = _Form(files, fields)
        text = self._call("POST", _api(path, None), form, form.headers, may_repeat=False)
        return json.loads(text) if text else None

    def _call(
        self, method: str, path: str, data: Any, headers: Mapping[str, str], *, may_repeat: bool
    ) -> bytes:
        """Return the whole of a good answer; one that was cut off is asked for again."""
        deadline = time.monotonic() + self._patience
        while True:
            response = self._open(method, path, data, headers, may_repeat=may_repeat)
            try:
                return response.read()
            except (OSError, http.client.HTTPException):
                self.close()
                if not may_repeat or time.monotonic() > deadline:
                    raise

    def _open(
        self, method: str, path: str, data: Any, headers: Mapping[str, str], *, may_repeat: bool
    ) -> http.client.HTTPResponse:
        """Return a good answer, however often that takes; raise one that says no."""
        deadline, pause = time.monotonic() + self._patience, PAUSE
        while True:
            is_late = time.monotonic() > deadline
            try:
                status, response = self._send(method, path, data, headers)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                was_seen = not isinstance(error, ConnectionRefusedError)
                if is_late or (was_seen and not may_repeat):
                    raise
            else:
                if status < 400:
                    return response
                text = response.read()
                if is_late or status not in AWAY or not (may_repeat or status == 429):
                    raise _refusal(status, text)
                pause = max(pause, float(response.getheader("Retry-After") or 0))
            time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
            pause = min(2 * pause, MOST)

    def _send(
        self, method: str, path: str, data: Any, headers: Mapping[str, str]
    ) -> tuple[int, http.client.HTTPResponse]:
        if self._connection is None:
            is_tls = self._url.scheme == "https"
            kind = http.client.HTTPSConnection if is_tls else http.client.HTTPConnection
            self._connection = kind(self._url.netloc, timeout=self._timeout)
        body = data.pieces() if isinstance(data, _Form) else data
        path = self._url.path.rstrip("/") + path
        self._connection.request(method, path, body, {**self._identity(), **headers})
        response = self._connection.getresponse()
        for header in response.headers.get_all("Set-Cookie") or []:
            self._cookies |= {name: morsel.value for name, morsel in SimpleCookie(header).items()}
        return response.status, response

    def _identity(self) -> dict[str, str]:
        if self._token:
            return {"Authorization": f"Token {self._token}"}
        if not self._cookies:
            return {}
        return {
            "Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items()),
            "X-CSRFToken": self._cookies.get("csrftoken", ""),
            "Referer": f"{self._url.scheme}://{self._url.netloc}/",
        }

    @staticmethod
    def _read(status: int, response: http.client.HTTPResponse) -> bytes:
        text = response.read()
        if status >= 400:
            raise _refusal(status, text)
        return text


class _Form:
    """A multipart form whose files are read while they are sent, again for each attempt."""

    def __init__(self, files: Mapping[str, Path | bytes], fields: Mapping[str, Any]) -> None:
        self._boundary = uuid.uuid4().hex
        self._parts: list[Path | bytes] = []
        for name, value in fields.items():
            self._parts += [self._head(name), _as_text(value).encode(), b"\r\n"]
        for name, file in files.items():
            file_name = file.name if isinstance(file, Path) else "file"
            self._parts += [self._head(name, file_name), file, b"\r\n"]
        self._parts.append(f"--{self._boundary}--\r\n".encode())
        self.headers = {
            "Content-Type": f"multipart/form-data; boundary={self._boundary}",
            "Content-Length": str(sum(map(_size, self._parts))),
        }

    def pieces(self) -> Iterator[bytes]:
        """Yield the form as it is sent."""
        for part in self._parts:
            if isinstance(part, Path):
                with part.open("rb") as file:
                    while piece := file.read(PIECE):
                        yield piece
            else:
                yield part

    def _head(self, name: str, file_name: str = "") -> bytes:
        words = f'--{self._boundary}\r\nContent-Disposition: form-data; name="{name}"'
        if file_name:
            words += f'; filename="{quote(file_name, safe=" ")}"'
            words += "\r\nContent-Type: application/octet-stream"
        return f"{words}\r\n\r\n".encode()


def _size(part: Path | bytes) -> int:
    return part.stat().st_size if isinstance(part, Path) else len(part)


def _api(path: str, query: Mapping[str, Any] | None) -> str:
    words = [
        (key, _as_text(one))
        for key, value in (query or {}).items()
        if value is not None
        for one in (value if isinstance(value, list) else [value])  # a list is said again for each
    ]
    return f"/api/{path}" + (f"?{urlencode(words)}" if words else "")


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, list | dict) else str(value)


def _refusal(status: int, text: bytes) -> ApiError:
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        error = {"message": text[:200].decode(errors="replace")}
    return ApiError(status, error)
