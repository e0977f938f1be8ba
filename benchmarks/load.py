"""A cheap load client: raw sockets, requests built once, no JSON parsed.

    python -m benchmarks.load PORT PROJECT SECONDS [--rate N | --think S] < tokens

Each annotator is a thread with its own connection. Without a rate they work as fast as they can;
with one, cycles (next + submit) start at fixed times whether or not the server is behind, and the
latency counts from the time a cycle should have started. With a think time each of them looks at
the sentence for as long as a person does, drawn anew for each sentence, before it is submitted;
they arrive during the first think time, and what is measured begins when all are there. Prints one
JSON object.
"""

import argparse
import json
import math
import random
import resource
import socket
import sys
import threading
import time
import uuid

from benchmarks.queue_project import ANSWERS

BODY = json.dumps(
    {
        "token": "T" * 24,
        "answers": ANSWERS,
        "seconds": 7.5,
        "actions": [{"at": 100 * i, "kind": "span", "task": "Entities"} for i in range(8)],
        "suggestions": {},
    }
).encode()


class Annotator(threading.Thread):
    """One person at work."""

    def __init__(self, port: int, project: int, token: str, pace: "Pace") -> None:
        super().__init__(daemon=True)
        self.port, self.pace = port, pace
        head = f"Host: localhost\r\nAuthorization: Token {token}\r\n"
        self.next_request = (
            f"POST /api/projects/{project}/next/ HTTP/1.1\r\n{head}Content-Length: 0\r\n\r\n"
        ).encode()
        self.submit_head = (
            f"{head}Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n"
        )
        self.next_times: list[float] = []
        self.submit_times: list[float] = []
        self.errors: list[str] = []
        self.n_done = 0  # cycles, those before the measurement included

    def run(self) -> None:
        """Take and submit until the time is over or nothing is left."""
        self.pace.arrive()
        self.socket = socket.create_connection(("127.0.0.1", self.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for due in self.pace:
            status, answer = self._request(self.next_request)
            if due >= self.pace.measured_from:
                self.next_times.append(time.perf_counter() - due)
            if status == 204:
                return
            if status != 200:
                self.errors.append(f"next {status} {answer[:200]!r}")
                continue
            if not self.pace.think():
                return
            self._submit(answer)

    def _submit(self, lease: bytes) -> None:
        number = lease[6 : lease.index(b",")].decode()  # {"id":17,"token":"..."
        at = lease.index(b'"token":"') + 9
        request = (
            f"POST /api/leases/{number}/submit/ HTTP/1.1\r\nIdempotency-Key: {uuid.uuid4().hex}\r\n"
            f"{self.submit_head}\r\n"
        ).encode() + BODY.replace(b"T" * 24, lease[at : at + 24])
        start = time.perf_counter()
        status, answer = self._request(request)
        self.n_done += 1
        if start >= self.pace.measured_from:
            self.submit_times.append(time.perf_counter() - start)
        if status != 200:
            self.errors.append(f"submit {status} {answer[:200]!r}")

    def _request(self, request: bytes) -> tuple[int, bytes]:
        self.socket.sendall(request)
        data = self._receive()
        while b"\r\n\r\n" not in data:
            data += self._receive()
        head, _, body = data.partition(b"\r\n\r\n")
        lower = head.lower()
        at = lower.find(b"content-length:")
        length = int(lower[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        while len(body) < length:
            body += self._receive()
        return int(head[9:12]), body

    def _receive(self) -> bytes:
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("The server closed a connection in the middle of a request.")
        return data


class Pace:
    """When cycles start: at once, or at fixed times shared by all annotators."""

    def __init__(self, seconds: float, rate: float | None, think_seconds: float = 0.0) -> None:
        self.start = time.perf_counter() + 0.2
        self.measured_from = self.start + think_seconds
        self.end = self.measured_from + seconds
        self.rate = rate
        self.think_seconds = think_seconds
        self.rng = random.Random(1)
        self.lock = threading.Lock()
        self.n = 0

    def arrive(self) -> None:
        """Come to work at some moment within the first think time."""
        time.sleep(self.think_seconds * self.rng.random())

    def think(self) -> bool:
        """Wait as long as a person reads and labels, log-normal around the mean; False: it ends."""
        if not self.think_seconds:
            return True
        spread = 0.6
        mean = math.log(self.think_seconds) - spread**2 / 2
        seconds = self.rng.lognormvariate(mean, spread)
        left = self.end - time.perf_counter()
        time.sleep(max(0.0, min(seconds, left)))
        return seconds < left

    def __iter__(self) -> "Pace":
        return self

    def __next__(self) -> float:
        now = time.perf_counter()
        if self.rate is None:
            if now >= self.end:
                raise StopIteration
            return now
        with self.lock:
            due = self.start + self.n / self.rate
            self.n += 1
        if due >= self.end:
            raise StopIteration
        if due > now:
            time.sleep(due - now)
        return due


def percentile(values: list[float], share: float) -> float:
    """Return a percentile in milliseconds."""
    ordered = sorted(values)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def main() -> None:
    """Run the load and print what happened."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("project", type=int)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--think", type=float, default=0.0, help="seconds per sentence, on average")
    options = parser.parse_args()
    pace = Pace(options.seconds, options.rate, options.think)
    people = [
        Annotator(options.port, options.project, token, pace) for token in sys.stdin.read().split()
    ]
    start = time.perf_counter()
    for person in people:
        person.start()
    for person in people:
        person.join()
    wall = time.perf_counter() - max(start, pace.measured_from)
    next_times = [t for person in people for t in person.next_times]
    submit_times = [t for person in people for t in person.submit_times]
    errors = [e for person in people for e in person.errors]
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "cycles": len(submit_times),
                "cycles_in_all": sum(person.n_done for person in people),
                "seconds": wall,
                "next_p50": percentile(next_times, 0.5),
                "next_p95": percentile(next_times, 0.95),
                "next_p99": percentile(next_times, 0.99),
                "submit_p50": percentile(submit_times, 0.5),
                "submit_p95": percentile(submit_times, 0.95),
                "submit_p99": percentile(submit_times, 0.99),
                "n_errors": len(errors),
                "errors": errors[:5],
                "client_cpu": usage.ru_utime + usage.ru_stime,
            }
        )
    )


if __name__ == "__main__":
    main()
