"""Asking the predictor, from a process that never loads a model."""

import hashlib
import http.client
import json
import threading
from typing import Any

from django.conf import settings

from annotation.errors import Conflict, Refused
from config.home import command, home

MAX_BODY = 4 * 1024 * 1024
MAX_SENTENCES = 512
MAX_WORDS = 30_000
SECONDS = 45.0  # the first question to a model loads it
N_AT_ONCE = 2  # questions of one web process: the other threads are the annotators'
_asking = threading.BoundedSemaphore(N_AT_ONCE)


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
