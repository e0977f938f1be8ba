"""The predictor: a warm process of its own that keeps models loaded and answers the web process.

It listens on this machine alone unless told otherwise; where, and that it is ours, stands in a file
of the data directory. Every request carries a key that only this installation has.
"""

import hmac
import json
import logging
import os
import signal
import threading
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import close_old_connections

from annotation.errors import Refused
from annotation.formats.records import ReadOptions
from annotation.formats.tokenisation import tokeniser_for
from annotation.models import Project
from annotation.predictions.client import MAX_BODY, key_of_installation
from annotation.rounds.selectors import find_model
from config.home import home, replaced_file
from mtl_engine.errors import EngineError

if TYPE_CHECKING:  # loads torch, which waits for the first question
    from annotation.predictions.predictor import Predictor

logger = logging.getLogger(__name__)
N_MODELS = 3  # that are kept loaded, the ones used last
NICE = 5  # annotators' work goes first


class Models:
    """The models that were asked last, loaded; one question at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.loaded: OrderedDict[tuple[int, str], Predictor] = OrderedDict()

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return tokens, answers and confidences for the sentences of a question."""
        project = Project.objects.get(pk=question["project"])
        round = find_model(project, question.get("round"))
        with self.lock:
            predictor = self._find(round)
            sentences = question.get("sentences")
            texts = question.get("texts")
            cut = [_cut(text, project.language) for text in texts] if texts is not None else None
            tokens = [found[0] for found in cut] if cut is not None else sentences or []
            answers = predictor.answer(tokens)
        results = []
        for number, (words, found) in enumerate(zip(tokens, answers, strict=True)):
            row: dict[str, Any] = {"tokens": words, "answers": found}
            if cut is not None:
                row["offsets"] = cut[number][1]
            results.append(row)
        return {"round": round.number, "results": results}

    def _find(self, round: Any) -> "Predictor":
        from annotation.predictions.predictor import Predictor

        key = (round.pk, round.folder)
        if key not in self.loaded:
            self.loaded[key] = Predictor(round)
            while len(self.loaded) > N_MODELS:
                self.loaded.popitem(last=False)
        self.loaded.move_to_end(key)
        return self.loaded[key]


def run_predictor(*, bind: str) -> None:
    """Answer questions until told to stop."""
    host, _, port = bind.rpartition(":")
    server = ThreadingHTTPServer((host or "127.0.0.1", int(port)), _handler(Models()))
    server.daemon_threads = True
    address = f"{host or '127.0.0.1'}:{server.server_address[1]}"
    with replaced_file(home().predictor) as file:
        file.write(json.dumps({"address": address, "pid": os.getpid()}).encode())
    os.nice(NICE)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(
            number, lambda *_: threading.Thread(target=server.shutdown, daemon=True).start()
        )
    logger.info("the predictor listens on %s", address)
    try:
        server.serve_forever(poll_interval=0.2)
    finally:
        home().predictor.unlink(missing_ok=True)
        server.server_close()


def _cut(text: str, language: str) -> tuple[list[str], list[list[int]]]:
    pieces = tokeniser_for(ReadOptions(tokeniser=language))(text)
    words: list[str] = []
    offsets: list[list[int]] = []
    for _, tokens, places in pieces:  # the whole text is one
        words += tokens
        offsets += places
    return words, offsets


def _handler(models: Models) -> type[BaseHTTPRequestHandler]:
    key = key_of_installation(settings.SECRET_KEY)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            if not hmac.compare_digest(self.headers.get("Authorization", ""), key):
                return self._send(403, {"message": "This is not a request of this installation."})
            n_bytes = int(self.headers.get("Content-Length", "0"))
            if n_bytes > MAX_BODY:
                return self._send(413, {"message": f"{n_bytes:,} bytes are too many."})
            question = json.loads(self.rfile.read(n_bytes))
            close_old_connections()
            try:
                return self._send(200, models.answer(question))
            except (Refused, EngineError) as refusal:
                return self._send(409, {"message": str(refusal)})
            except Exception:
                logger.exception("a question was not answered")
                return self._send(500, {"message": "The predictor failed; its log tells where."})
            finally:
                close_old_connections()

        def _send(self, status: int, content: dict[str, Any]) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing of each request."""

    return Handler
