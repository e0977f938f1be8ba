"""A small client of the REST API: standard library only, one connection, safe retries.

client = Client("http://localhost:8000", secret)
while lease := client.next(project_id):
    client.submit(lease, {"Entities": [[0, 1, "PER"]]}, seconds=4.2)
"""

import http.client
import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit


class ApiError(Exception):
    """An answer of the server that says no: its status, code, message, fields and details."""

    def __init__(self, status: int, error: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(error.get("code", "unknown"))
        self.message = str(error.get("message", ""))
        self.fields: dict[str, list[str]] = dict(error.get("fields", {}))
        self.details: dict[str, Any] = dict(error.get("details", {}))
        super().__init__(f"{status} {self.code}: {self.message} {self.fields or ''}".rstrip())


@dataclass(frozen=True)
class Lease:
    """An ask in our hands."""

    id: int
    token: str
    tasks: list[str]
    sentence: dict[str, Any]
    answers: dict[str, Any]
    counts: dict[str, Any]
    described: dict[str, Any] = field(repr=False)  # everything the server said


class Client:
    """One person's connection to a server, by token; not shared between threads."""

    def __init__(
        self, address: str, token: str, *, timeout: float = 30.0, patience: float = 30.0
    ) -> None:
        self._url = urlsplit(address)
        self._token = token
        self._timeout = timeout
        self._patience = patience  # seconds of retrying while the server is away
        self._connection: http.client.HTTPConnection | None = None

    def project(self, project_id: int) -> dict[str, Any]:
        """Return a project with its tasks and labels."""
        return self._dict("GET", f"projects/{project_id}/")

    def next(self, project_id: int) -> Lease | None:
        """Return the lease on the next ask, or nothing when nothing is left."""
        described = self.call("POST", f"projects/{project_id}/next/")
        return None if described is None else _lease(described)

    def peek(self, project_id: int) -> dict[str, Any] | None:
        """Return the ask that would come next, or nothing."""
        described: dict[str, Any] | None = self.call("GET", f"projects/{project_id}/peek/")
        return described

    def submit(
        self,
        lease: Lease,
        answers: Mapping[str, Any],
        *,
        seconds: float = 0.0,
        actions: Sequence[Mapping[str, Any]] = (),
        suggestions: Mapping[str, Mapping[str, int]] | None = None,
        key: str | None = None,
    ) -> dict[str, Any]:
        """Send answers, again and again until the server has said what became of them."""
        body = {
            "token": lease.token,
            "answers": answers,
            "seconds": seconds,
            "actions": list(actions),
            "suggestions": suggestions or {},
        }
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        return self._dict("POST", f"leases/{lease.id}/submit/", body, headers)

    def save_draft(self, lease: Lease, draft: Any, version: int) -> dict[str, Any]:
        """Save unfinished work under a version higher than the one before."""
        body = {"token": lease.token, "draft": draft, "version": version}
        return self._dict("PUT", f"leases/{lease.id}/draft/", body)

    def heartbeat(self, lease: Lease) -> dict[str, Any]:
        """Keep a lease alive."""
        return self._dict("POST", f"leases/{lease.id}/heartbeat/", {"token": lease.token})

    def skip(self, lease: Lease, reason: str) -> dict[str, Any]:
        """Give an ask back for good."""
        body = {"token": lease.token, "reason": reason}
        return self._dict("POST", f"leases/{lease.id}/skip/", body)

    def release(self, lease: Lease) -> dict[str, Any]:
        """Give an ask back to its rank."""
        return self._dict("POST", f"leases/{lease.id}/release/", {"token": lease.token})

    def reopen(self, submission_id: int) -> Lease:
        """Return one's own submitted answers as a lease."""
        return _lease(self._dict("POST", f"submissions/{submission_id}/reopen/"))

    def flag(self, sentence_id: int, comment: str) -> dict[str, Any]:
        """Tell the curators that something is wrong with a sentence."""
        return self._dict("POST", f"sentences/{sentence_id}/flag/", {"comment": comment})

    def history(self, project_id: int) -> Iterator[dict[str, Any]]:
        """Yield one's own submissions, newest first, however many there are."""
        return self.pages(f"projects/{project_id}/history/")

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the entries of a list, page after page."""
        cursor = ""
        while True:
            query = f"?cursor={quote(cursor)}" if cursor else ""
            page = self._dict("GET", path + query)
            yield from page["results"]
            if not page["next"]:
                return
            cursor = page["next"]

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the answer to a request; one that the server did not answer is sent again.

        Every request of this client may be repeated: taking the next ask hands back the lease
        that was taken, submitting carries a key, and the rest sets a state.
        """
        data = None if body is None else json.dumps(body).encode()
        deadline = time.monotonic() + self._patience
        while True:
            try:
                status, answer = self._send(method, path, data, headers or {})
            except (OSError, http.client.HTTPException):
                self.close()
                if time.monotonic() > deadline:
                    raise
            else:
                if status != 503 or time.monotonic() > deadline:
                    return _checked(status, answer)
            time.sleep(0.05)

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _dict(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        answer: dict[str, Any] = self.call(method, path, body, headers)
        return answer

    def _send(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        if self._connection is None:
            is_tls = self._url.scheme == "https"
            kind = http.client.HTTPSConnection if is_tls else http.client.HTTPConnection
            self._connection = kind(self._url.netloc, timeout=self._timeout)
        self._connection.request(
            method,
            f"{self._url.path.rstrip('/')}/api/{path}",
            body=data,
            headers={
                "Authorization": f"Token {self._token}",
                "Content-Type": "application/json",
                **headers,
            },
        )
        response = self._connection.getresponse()
        return response.status, response.read()


def _checked(status: int, answer: bytes) -> Any:
    if status < 400:
        return json.loads(answer) if answer else None
    try:
        error = json.loads(answer)["error"]
    except (ValueError, KeyError, TypeError):
        error = {"message": answer[:200].decode(errors="replace")}
    raise ApiError(status, error)


def _lease(described: dict[str, Any]) -> Lease:
    return Lease(
        id=described["id"],
        token=described["token"],
        tasks=described["ask"]["tasks"],
        sentence=described["sentence"],
        answers=described["answers"],
        counts=described["counts"],
        described=described,
    )
