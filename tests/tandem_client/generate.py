"""Writes tandem_client/operations.py from docs/openapi.yaml: `make api` runs it."""

import keyword
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
DESCRIPTION = ROOT / "docs" / "openapi.yaml"
TARGET = ROOT / "tandem_client" / "operations.py"
METHODS = ("get", "post", "put", "patch", "delete")

# Where the rule of `name_of` gives no good name.
NAMES = {
    ("get", "projects/{project_id}/adjudication/"): "disputes",
    ("get", "projects/{project_id}/adjudication/{sentence_id}/"): "dispute",
    ("post", "projects/{project_id}/adjudication/{sentence_id}/"): "decide",
    ("post", "projects/{project_id}/corpora/"): "import_corpus",
    ("post", "projects/{project_id}/invitations/"): "invite",
    ("post", "projects/{project_id}/next/"): "next",
    ("put", "leases/{lease_id}/draft/"): "save_draft",
    ("post", "leases/{lease_id}/findings/"): "findings",
    ("post", "leases/{lease_id}/heartbeat/"): "heartbeat",
    ("post", "leases/{lease_id}/release/"): "release",
    ("post", "leases/{lease_id}/skip/"): "skip",
    ("post", "leases/{lease_id}/submit/"): "submit",
    ("post", "sentences/{sentence_id}/flag/"): "flag",
    ("post", "projects/{project_id}/suspects/{number}/"): "decide_suspect",
    ("post", "projects/{project_id}/quote/wish/"): "quote_for",
    ("post", "projects/{project_id}/quote/plan/"): "plan_by_quote",
    ("post", "projects/{project_id}/quotes/"): "keep_quote",
    ("post", "projects/{project_id}/proposals/apply/"): "apply_proposal",
    ("post", "submissions/{submission_id}/reopen/"): "reopen",
}
# A second request does what the first one did, or nothing.
REPEATABLE = ("next", "submit", "heartbeat", "release", "skip")
SINGULAR = {"corpora": "corpus", "history": "history", "working-styles": "working_styles"}
SHORTER = (("Request", ""), ("Message", ""), ("Shape", ""), ("Body", ""))
HEAD = '''\
"""All operations of the REST API. Generated from docs/openapi.yaml by `make api`: do not edit."""
# mypy: disable-error-code="no-any-return"

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, Unpack
from uuid import uuid4

from tandem_client.transport import Transport
'''


def generate(description: dict[str, Any]) -> str:
    """Return the module of a description."""
    writer = _Writer(description)
    methods = "\n".join(writer.methods())
    module = "\n\n".join(
        [
            HEAD,
            *writer.types(),
            f'class Operations(Transport):\n    """Every operation once."""\n\n{methods}',
        ]
    )
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "-", "--stdin-filename", str(TARGET)],
        input=module, capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    return done.stdout


def operations(description: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return method, path below /api/ and description of every operation."""
    return [
        (method, path.removeprefix("/api/"), operation)
        for path, by_method in description["paths"].items()
        for method, operation in by_method.items()
        if method in METHODS
    ]


def name_of(method: str, path: str) -> str:
    """Return the name of an operation: `rounds`, `round`, `create_round`, `cancel_round`, ..."""
    if (method, path) in NAMES:
        return NAMES[method, path]
    parts = path.strip("/").split("/")
    words = [part for part in parts if not part.startswith("{")]
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    ends_in_item = parts[-1].startswith("{")
    is_below_item = len(words) > 2 and not ends_in_item  # rounds/{number}/asks
    if method == "get":
        if ends_in_item:
            return _snake(_singular(last))
        return f"{_snake(_singular(before))}_{_snake(last)}" if is_below_item else _snake(last)
    verb = {"post": "create", "put": "replace", "patch": "change", "delete": "delete"}[method]
    if method == "post" and is_below_item:
        return f"{_snake(last)}_{_snake(_singular(before))}"
    if method == "post" and _singular(last) == last:
        return f"compute_{_snake(last)}"
    return f"{verb}_{_snake(_singular(last))}"


class _Writer:
    """Turns schemas into types and operations into methods."""

    def __init__(self, description: dict[str, Any]) -> None:
        self._description = description
        self._schemas: dict[str, Any] = description["components"]["schemas"]
        self._names = self._short_names()
        self._queries: list[str] = []

    def types(self) -> list[str]:
        """Return the types of the schemas that methods take or return."""
        own = [self._type(name, schema) for name, schema in sorted(self._schemas.items())]
        return [*own, *self._queries]

    def methods(self) -> list[str]:
        """Return a method per operation."""
        found = [
            self._method(method, path, operation)
            for method, path, operation in operations(self._description)
        ]
        return [textwrap.indent(text, "    ") for text in found]

    def _short_names(self) -> dict[str, str]:
        """Return a type's name per schema: the shortest that no other schema has."""
        names: dict[str, str] = {}
        for schema in sorted(self._schemas, key=lambda name: (name.endswith("Request"), name)):
            short = schema
            for ending, instead in SHORTER:
                short = re.sub(f"{ending}$", instead, short)
            short = re.sub(r"^Patched", "", short)
            taken = set(names.values()) | {"Any", "Path", "Literal", "Iterator", "Transport"}
            names[schema] = short if short not in taken and short not in self._schemas else schema
        return names

    def _type(self, name: str, schema: dict[str, Any]) -> str:
        own = self._names[name]
        if "properties" not in schema:
            return f"{own} = {self._python(schema)}"
        required = set(schema.get("required", []))
        fields = {
            key: self._python(value) if key in required else f"NotRequired[{self._python(value)}]"
            for key, value in schema["properties"].items()
            if not _is_binary(value)
        }
        return _typed_dict(own, fields, schema.get("description", ""))

    def _python(self, schema: dict[str, Any]) -> str:
        """Return the Python type of a schema, quoted where it may come later."""
        if "$ref" in schema:
            return f'"{self._names[schema["$ref"].rsplit("/", 1)[-1]]}"'
        for key in ("oneOf", "anyOf", "allOf"):
            if key in schema:
                parts = list(dict.fromkeys(self._python(part) for part in schema[key]))
                return _union(parts)
        if "enum" in schema:
            values = [value for value in schema["enum"] if value is not None]
            literal = f"Literal[{', '.join(map(repr, values))}]" if values else "None"
            return _union([literal, "None"]) if None in schema["enum"] and values else literal
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        kinds = schema.get("type", "any")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if len(kinds) > 3:
            return "Any"
        return _union([self._simple(kind, schema) for kind in kinds])

    def _simple(self, kind: str, schema: dict[str, Any]) -> str:
        if kind == "array":
            return f"list[{self._python(schema.get('items', {}))}]"
        if kind == "object":
            values = schema.get("additionalProperties", {})
            return f"dict[str, {self._python(values if isinstance(values, dict) else {})}]"
        plain = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
        return {**plain, "null": "None"}.get(kind, "Any")

    def _method(self, method: str, path: str, operation: dict[str, Any]) -> str:
        name = name_of(method, path)
        takes = ["self"]
        for key in re.findall(r"{(\w+)}", path):
            takes.append(f"{key}: int")
        content = operation.get("requestBody", {}).get("content", {})
        query = [p for p in operation.get("parameters", []) if p["in"] == "query"]
        has_key = any(p["name"] == "Idempotency-Key" for p in operation.get("parameters", []))
        returns, way = self._answer(operation)
        call = [f'f"{path}"' if "{" in path else f'"{path}"']
        if way != "_json":
            query = [p for p in query if p["name"] != "cursor"]
        keywords = []
        if "multipart/form-data" in content:
            schema = self._resolved(content["multipart/form-data"]["schema"])
            files = [key for key, value in schema["properties"].items() if _is_binary(value)]
            takes += [f"{key}: Path | bytes" for key in files]
            body = self._python(content["multipart/form-data"]["schema"]).strip('"')
            takes.append(f"**form: Unpack[{body}]")
            call += ["{" + ", ".join(f'"{key}": {key}' for key in files) + "}", "form"]
            way = "_upload"
        elif content:
            schema = next(iter(content.values()))["schema"]
            body = self._python(schema).strip('"')
            has_fields = "properties" in self._resolved(schema)
            if has_key:
                takes += ["*", "key: str | None = None"]
            takes.append(f"**body: Unpack[{body}]" if has_fields else "**body: Any")
            call.append("body")
        elif query:
            of_query = "".join(word.title() for word in name.split("_")) + "Query"
            self._queries.append(self._query(of_query, query))
            takes.append(f"**query: Unpack[{of_query}]")
            call.append("query=query" if way == "_json" else "query")
        if way == "_json":
            call.insert(0, f'"{method.upper()}"')
            if method != "post" or name in REPEATABLE or name.startswith("cancel_"):
                keywords.append("may_repeat=True")
            if has_key:
                keywords.append('headers={"Idempotency-Key": key or uuid4().hex}')
        words = " ".join(operation.get("description", "").split()).replace('"', "'")
        return (
            f"def {name}({', '.join(takes)}) -> {returns}:\n"
            f'    """{words or name}"""\n'
            f"    return self.{way}({', '.join([*call, *keywords])})\n"
        )

    def _answer(self, operation: dict[str, Any]) -> tuple[str, str]:
        """Return the type of what comes back, and the way it is fetched."""
        good = {code: r for code, r in operation["responses"].items() if code < "3"}
        found = []
        for response in good.values():
            for schema in (part["schema"] for part in response.get("content", {}).values()):
                if _is_binary(schema):
                    return "Iterator[bytes]", "_download"
                whole = self._resolved(schema)
                if {"results", "next"} <= set(whole.get("properties", {})):
                    rows = self._python(whole["properties"]["results"]["items"])
                    return f"Iterator[{rows}]", "_pages"
                found.append(self._python(schema))
            if not response.get("content"):
                found.append("None")
        return _union(list(dict.fromkeys(found))), "_json"

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in schema:
            found: dict[str, Any] = self._schemas[schema["$ref"].rsplit("/", 1)[-1]]
            return found
        return schema

    def _query(self, name: str, parameters: list[dict[str, Any]]) -> str:
        fields = {
            p["name"]: self._python(p["schema"])
            if p.get("required")
            else f"NotRequired[{self._python(p['schema'])}]"
            for p in parameters
        }
        return _typed_dict(name, fields, "")


def _typed_dict(name: str, fields: dict[str, str], words: str) -> str:
    if any(not key.isidentifier() or keyword.iskeyword(key) for key in fields):
        inside = ", ".join(f"{key!r}: {kind!r}" for key, kind in fields.items())
        return f"{name} = TypedDict({name!r}, {{{inside}}})"
    lines = [f"    {key}: {kind}" for key, kind in fields.items()]
    text = " ".join(words.split()).replace('"', "'")
    lines = [*([f'    """{text}"""\n'] if text else []), *lines]
    return f"class {name}(TypedDict):\n" + "\n".join(lines or ["    pass"])


def _is_binary(schema: dict[str, Any]) -> bool:
    return schema.get("format") == "binary" or "contentMediaType" in schema


def _union(parts: list[str]) -> str:
    if "Any" in parts:
        return "Any"
    if len(parts) > 1 and any(part.startswith('"') for part in parts):
        return '"' + " | ".join(part.replace('"', "") for part in parts) + '"'
    return " | ".join(parts) if parts else "None"


def _singular(word: str) -> str:
    return SINGULAR.get(word, word.removesuffix("s"))


def _snake(word: str) -> str:
    return word.replace("-", "_")


if __name__ == "__main__":
    TARGET.write_text(generate(yaml.safe_load(DESCRIPTION.read_text())))
