"""Every response of the API, to whoever asks in a test, is held against its committed description.

That is every response of a handler in this process: of test clients, and of live servers that a
browser or the Python client talks to. A description is read strictly: an object has the fields that
it names, and no others.
"""

import functools
import json
import re
from pathlib import Path

import jsonschema_rs
import yaml
from django.core.handlers.base import BaseHandler

FILE = Path(__file__).resolve().parents[1] / "docs" / "openapi.yaml"
NOT_DESCRIBED = ("/api/schema/", "/api/docs/")  # the description itself
SAID_OF_NO_OPERATION = (405, 413, 415)  # the server's own answers, as are all from 500 on


@functools.cache
def description():
    """Return the committed description."""
    return yaml.load(FILE.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


class Checker:
    """Finds responses that a description does not describe."""

    def __init__(self, described):
        self._components = _strict(described.get("components", {}))
        self._operations = {}
        for template, methods in described["paths"].items():
            place = re.sub(r"\{\w+\}", "0", template)
            for method, operation in methods.items():
                self._operations[method.upper(), place] = operation["responses"]
        self._validators = {}

    def mismatch(self, method, path, response):
        """Return what is wrong with a response, or an empty text."""
        status = response.status_code
        if not path.startswith("/api/") or path.startswith(NOT_DESCRIBED):
            return ""
        if status >= 500 or status in SAID_OF_NO_OPERATION:
            return ""
        place = re.sub(r"(?<=/)\d+(?=/)", "0", path)
        answers = self._operations.get((method, place))
        if answers is None:
            return f"{method} {path} is not described." * (status < 400)
        if str(status) not in answers:
            return f"{method} {path} answered {status}, which is not described."
        if response.streaming or not response.content:
            return ""
        validator = self._validator(method, place, str(status), answers[str(status)])
        for error in validator.iter_errors(json.loads(response.content)) if validator else ():
            where = "/".join(map(str, error.instance_path))
            return f"{method} {path} {status}, at '{where}': {error.message}"
        return ""

    def _validator(self, method, place, status, answer):
        key = (method, place, status)
        if key not in self._validators:
            schema = answer.get("content", {}).get("application/json", {}).get("schema")
            whole = {**_strict(schema), "components": self._components} if schema else None
            self._validators[key] = jsonschema_rs.validator_for(whole) if whole else None
        return self._validators[key]


def _strict(schema):
    """Return a schema whose objects have no other fields than those that they name."""
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _strict(part) for name, part in schema.items()}
    if found.get("type") == "object" and isinstance(found.get("properties"), dict):
        found.setdefault("additionalProperties", False)
    return found


@functools.cache
def committed():
    """Return the checker of the committed description."""
    return Checker(description())


class Watch:
    """What the handlers of this process answered that their description does not describe."""

    def __init__(self):
        self.found = []
        self.checker = committed

    def install(self):
        """Let every request of every handler be looked at."""
        plain = BaseHandler.get_response

        def get_response(handler, request):
            response = plain(handler, request)
            wrong = self.checker().mismatch(request.method, request.path, response)
            if wrong:
                self.found.append(wrong)
            return response

        BaseHandler.get_response = get_response


WATCH = Watch()
