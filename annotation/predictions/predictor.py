"""The predictor: a warm process of its own that keeps models loaded and answers the web process.

It listens on this machine alone unless told otherwise; where, and that it is ours, stands in a file
of the data directory. Every request carries a key that only this installation has. The web process
asks and never loads a model: torch comes with the first `Predictor`.
"""

import hashlib
import hmac
import http.client
import json
import logging
import os
import signal
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from django.conf import settings
from django.db import close_old_connections

from annotation.bridge import tasks_by_name
from annotation.errors import Conflict, Refused
from annotation.formats.offsets import tokeniser_for
from annotation.formats.records import ReadOptions
from annotation.models import Project, Round
from annotation.projects.tasks import renames_since
from annotation.rounds.selectors import find_model
from annotation.rounds.workspace import Workspace, feature_cache
from config.home import command, home, replaced_file
from mtl_engine.errors import EngineError
from mtl_engine.kinds import KINDS, TaskSpec

logger = logging.getLogger(__name__)
N_MODELS = 3  # that are kept loaded, the ones used last
NICE = 5  # annotators' work goes first
MAX_BODY = 4 * 1024 * 1024
MAX_SENTENCES = 512
MAX_WORDS = 30_000
SECONDS = 45.0  # the first question to a model loads it
N_AT_ONCE = 2  # questions of one web process: the other threads are the annotators'
_asking = threading.BoundedSemaphore(N_AT_ONCE)

Answers = dict[str, dict[str, Any]]  # task -> {"value", "confidence", "items"}, plain JSON values


class Predictor:
    """Answers sentences with the model of a round, as the project's tasks are now.

    What was renamed or merged since it was trained has its present name. Tasks that are gone, and
    labels that are gone from answers that can do without them, are left out; an answer that needs
    such a label is left out as a whole.
    """

    def __init__(self, round: Round, *, has_cache: bool = False) -> None:
        from mtl_engine.ensemble import load_ensemble
        from mtl_engine.executors import find_executor

        self.number = round.number
        self.project_id = round.project_id
        self.trained_at = round.created_at  # labels cannot change while it trains
        self.ensemble = load_ensemble(
            Workspace.of(round).model,
            cache_dir=feature_cache() if has_cache else None,
            device=settings.DEVICE,
            executor=find_executor(settings.RAY_ADDRESS),
        )

    def answer(
        self, sentences: Sequence[Sequence[str]], tasks: Mapping[str, TaskSpec] | None = None
    ) -> list[Answers]:
        """Return what the model says of each sentence."""
        from mtl_engine.active_learning.suggest import suggest

        now = tasks_by_name(self.project_id) if tasks is None else tasks
        renames = renames_since(Project(pk=self.project_id), self.trained_at)
        found: list[Answers] = [{} for _ in sentences]
        readable = [row for row, tokens in enumerate(sentences) if tokens]
        for one in suggest(self.ensemble, [sentences[row] for row in readable]):
            task = now.get(renames.task(one.task))
            if task is None or task.is_hidden:
                continue
            value, items = one.value, list(one.items)
            if mapping := renames.labels.get(task.name):
                value, items = KINDS[task.kind].rename_suggestion(value, items, mapping)
            fitting = _fitting(task, value, items)
            if fitting is not None:
                value, items = fitting
                answer = {"value": value, "confidence": one.confidence, "items": items}
                found[readable[one.row]][task.name] = answer
        return found


def _fitting(
    task: TaskSpec, value: Any, items: Sequence[dict[str, Any]]
) -> tuple[Any, list[dict[str, Any]]] | None:
    """Return an answer without labels that the task no longer has, None where it needs them."""
    kind = KINDS[task.kind]
    if task.is_open or task.label_set.issuperset(kind.labels_of(value)):
        return value, list(items)
    if kind.unit != "item":
        return None
    rows = [
        (item, about)
        for item, about in zip(kind.items(value), items, strict=True)
        if item[-1] in task.label_set
    ]
    return [about["value"] for _, about in rows], [about for _, about in rows]


def in_chunks(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield rows in lists of a size, the last one shorter."""
    chunk = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


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

    def _find(self, round: Any) -> Predictor:
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


class PredictorAway(Refused):
    """Nobody answers questions to models at the moment."""

    code = "no_predictor"


def ask_predictor(question: dict[str, Any]) -> dict[str, Any]:
    """Return the predictor's answer to a question."""
    if not _asking.acquire(timeout=SECONDS / 3):
        raise PredictorAway("The predictor is busy with other questions. Try again in a moment.")
    try:
        status, content = _post(question)
    finally:
        _asking.release()
    if status == 409:
        raise Conflict(content["message"])
    if status != 200:
        raise PredictorAway(content.get("message") or f"The predictor answered {status}.")
    return content


def key_of_installation(secret: str) -> str:
    """Return the key that requests to the predictor carry."""
    return hashlib.sha256(f"predictor {secret}".encode()).hexdigest()


def _post(question: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    host, _, port = _address().rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=SECONDS)
    headers = {
        "Authorization": key_of_installation(settings.SECRET_KEY),
        "Content-Type": "application/json",
    }
    try:
        connection.request("POST", "/", json.dumps(question).encode(), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise PredictorAway(_advice(f"The predictor does not answer ({error})")) from error
    finally:
        connection.close()


def _address() -> str:
    if settings.PREDICTOR:
        return str(settings.PREDICTOR)
    try:
        return str(json.loads(home().predictor.read_text())["address"])
    except (OSError, ValueError, KeyError) as error:
        raise PredictorAway(_advice("No predictor is running")) from error


def _advice(what: str) -> str:
    return f"{what}. It starts with `{command('serve')}`, or alone with `{command('predictor')}`."
