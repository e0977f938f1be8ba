"""Every response of a test client is held against the committed description of the API."""

import functools
import re
from pathlib import Path

import jsonschema_rs
import yaml
from django.test import Client

FILE = Path(__file__).resolve().parents[1] / "docs" / "openapi.yaml"


class Mismatch(AssertionError):
    """A response that the description does not describe."""


@functools.cache
def description():
    """Return the committed description."""
    return yaml.load(FILE.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


@functools.cache
def _operations():
    found = []
    for template, methods in description()["paths"].items():
        pattern = re.compile(re.sub(r"\\{\w+\\}", r"\\d+", re.escape(template)))
        found += [(pattern, method.upper(), operation) for method, operation in methods.items()]
    return found


@functools.cache
def _validator(operation_id, status):
    for _, _, operation in _operations():
        if operation["operationId"] == operation_id:
            content = operation["responses"].get(status, {}).get("content", {})
            schema = content.get("application/json", {}).get("schema")
            if schema is None:
                return None
            whole = {**schema, "components": description()["components"]}
            return jsonschema_rs.validator_for(whole)
    return None


def check_response(method, path, response):
    """Raise ``Mismatch`` unless the response is one that its operation describes."""
    for pattern, verb, operation in _operations():
        if verb != method or not pattern.fullmatch(path):
            continue
        status = str(response.status_code)
        if status.startswith("5") or status in ("405", "413", "415"):
            return  # said of no operation: the server's own
        if status not in operation["responses"]:
            raise Mismatch(f"{method} {path} answered {status}, which is not described.")
        validator = _validator(operation["operationId"], status)
        if validator is None or response.streaming:
            return
        for error in validator.iter_errors(response.json()):
            where = "/".join(map(str, error.instance_path))
            raise Mismatch(f"{method} {path} {status}, at '{where}': {error.message}")
        return


def watch_clients(monkeypatch):
    """Let every request of Django's test client be checked."""
    plain = Client.request

    def request(self, **environ):
        response = plain(self, **environ)
        path = environ.get("PATH_INFO", "")
        if path.startswith("/api/"):
            check_response(environ.get("REQUEST_METHOD", "GET"), path, response)
        return response

    monkeypatch.setattr(Client, "request", request)
