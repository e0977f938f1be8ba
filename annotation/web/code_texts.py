"""Texts that code makes, as messages of gettext: none needs a mark where it is written.

What pages show of services, forms, settings, kinds and reasons is written in English where it
arises, also in the engine, which knows nothing of languages. The message of a text with values is
its form: ``f"{n} fields are wrong."`` is ``{n} fields are wrong.``. Pages translate at the edge:
``said`` finds the message of a finished text, by itself or by the form it has.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from django import template
from django.forms.models import ModelChoiceIteratorValue
from django.forms.renderers import DjangoTemplates
from django.utils import translation
from django.utils.formats import get_format
from django.utils.functional import Promise
from django.utils.safestring import SafeString

register = template.Library()

HOUSE = Path(__file__).parents[2]
ROOMS = (
    *(f"annotation/{room}" for room in "accounts adjudication corpora erasure jobs".split()),
    *(
        f"annotation/{room}"
        for room in "models notifications predictions projects queue rounds".split()
    ),
    *("annotation/web", "annotation/errors.py", "annotation/apps.py", "annotation/formats"),
    *("annotation/templatetags", "analysis/insights", "analysis/web"),
    "analysis/methods/forecast/extrapolation.py",
    *("mtl_engine/kinds", "mtl_engine/active_learning", "mtl_engine/selection"),
)
# Files whose texts no page shows, and why.
UNSEEN = {
    "health.py": "for monitoring programs, and the command doctor",
    "store.py": "statements of SQL",
    "predictor.py": "between the server and its predictor",
    "model_files.py": "the card of a model, a file for everybody, is English",
    "datasets_folder.py": "the card of a corpus, a file for everybody, is English",
    "stages.py": "the log of a round and the command that replays it",
    "api_docs.py": "documentation of REST",
    "urls.py": "addresses",
    "serializers.py": "what is wrong in a request of a program",
    "rest.py": "what is wrong in a request of a program",
    "spec.py": "what is wrong in a project file, for REST and commands",
    "static_storage.py": "names of files",
    "languages.py": "this machinery",
    "code_texts.py": "this machinery",
}
REST = "api.py"  # programs are told in English; what services refuse is translated for scripts
# What looks like prose and is none.
NO_PROSE = frozenset(
    {
        *("Value", "Mn", "Mc", "Me", "Lax", "Authorization", "Row", "True", "False", "Annotation"),
        *("blue orange green rose olive violet brick moss sky umber slate teal", "Tandem", "Token"),
        *(
            "models.Field[Any, Any]",
            "accept reject mark correct back other",
            "Accept",
            "Connection",
        ),
        *(" newdoc id", "# newdoc id = {name}", "# source of {task} = {source}", "no token"),
        *("sudachipy sudachidict_core", "application/json; charset=utf-8", "[start, end, label]"),
        *(
            "Bearer {key}",
            "predictor {secret}",
            "from {address}",
            "relations of ",
            "attributes of ",
        ),
        *("{project} round {number}", "read me"),
        *("token {token}", "session {session}", "nobody at {request}"),
    }
)
# Of a library only what is meant for pages: what it registers, and what it finds wrong in input.
LIBRARIES = ("mtl_engine",)
FOR_PAGES = frozenset(
    {"setting", "Choice", "scoring", "choosing", "allocating", "Problem", "Conflict", "Format"}
)
TOLD_WHOLE = ("kinds", "explain.py", "explanation.py")
SILENT = frozenset(
    {
        *("ValueError", "TypeError", "AssertionError", "EngineError", "AnalysisError"),
        "ImproperlyConfigured",
        *("DoesNotExist", "HttpResponse", "startswith", "any", "frozenset", "crc32", "sha256"),
        *("print", "compile", "getLogger", "execute", "extend_schema", "extend_schema_field"),
        *("OpenApiParameter", "OpenApiExample", "UnknownName", "parse_study", "update", "split"),
        *("set_cookie", "write_text", "add_to_log", "leave_out", "join", "index", "Q", "F"),
        *("Index", "CheckConstraint", "UniqueConstraint", "record", "log", "refusal", "cast"),
    }
)
SHOWN = frozenset({"title", "help", "summary", "label", "words", "empty_label", "help_text"})
HEADERS = (
    "attachment;",
    "text/",
    "Token <",
    "--set",
    "<script",
    "<link",
    "default-src",
    "You label",
)
PROSE = re.compile(r"[A-Za-z]{2}[,:;.]? ['\"{(]?[A-Za-z{]|^[A-Z][a-z]+[.:?]?$")
PLACE = re.compile(r"\{(\w+)\}")
NAME = re.compile(r"[A-Za-z]\w*")
STATES = ("state", "role", "POST")  # places whose single words are no names
WHOLE = re.compile(r"\d{1,3}(,\d{3})*|\d+")
NUMBER = re.compile(
    r"[+\u2212-]?(\d{1,3}(,\d{3})+(\.\d+)?|\d*\.\d+)"
)  # that languages write otherwise
ENOUGH = 6  # letters outside places, without which a form would fit everything
FEWEST = 3  # with so many it fits numbers
DIGITS = re.compile(r"[\d.,]+")
BETWEEN = re.compile(r"(?<=[.!?])(\s+)(?=\S)|(\n)")
LONGEST = 4_000  # characters of a text with values; what quotes a longer one stays as it is
ENDS = {"zh-hans": ("；", "。"), "ar": ("؛ ", ".")}  # semicolons and full stops
DEEPEST = 3  # forms within each other


class Choices(DjangoTemplates):
    """Renderer of form fields: the words of choices and empty fields are translated."""

    def render(self, template_name: str, context: Any, request: Any = None) -> Any:
        """Return a field's HTML."""
        if translation.get_language() != "en" and (widget := context.get("widget")):
            hint = widget.get("attrs", {}).get("placeholder")
            if hint:
                widget["attrs"] = {**widget["attrs"], "placeholder": said(hint)}
            for _, options, _ in widget.get("optgroups", ()):
                for option in options:
                    if not isinstance(option["value"], ModelChoiceIteratorValue):
                        option["label"] = said(option["label"])
        return super().render(template_name, context, request)


@register.filter
def said(value: Any) -> Any:
    """Return a text that code made in the active language; what is no such text stays."""
    if isinstance(value, (list, tuple)):
        return [said(one) for one in value]
    if isinstance(value, (SafeString, Promise)) or translation.get_language() == "en":
        return value
    if not isinstance(value, str):
        is_told = isinstance(value, Exception) or type(value).__name__ == "Message"
        return said(str(value)) if is_told else value
    return _said(translation.get_language() or "en", value)


@lru_cache(maxsize=4096)
def _said(language: str, text: str) -> str:
    if not text.strip():
        return text
    if (found := translation.gettext(text)) != text or len(text) > LONGEST:
        return found
    pieces = [piece for piece in BETWEEN.split(text) if piece]
    parts = [piece if piece.isspace() else _listed(language, piece) for piece in pieces]
    if None not in parts:  # a form would take several sentences for one with a long value
        return "".join(part for part in parts if part is not None)
    if (whole := _whole(language, text)) is not None:
        return whole
    return "".join(
        piece if part is None else part for piece, part in zip(pieces, parts, strict=True)
    )


def _listed(language: str, text: str) -> str | None:
    """Return the translation of a message, or of several with semicolons between them."""
    if (found := _whole(language, text)) is not None:
        return found
    said_of = text.removesuffix(".").split("; ")
    parts = [_whole(language, part) for part in said_of]
    if all(part is None for part in parts):
        return None
    semicolon, stop = ENDS.get(language, ("; ", "."))
    shown = [part or own for part, own in zip(parts, said_of, strict=True)]
    return semicolon.join(shown) + (stop if text.endswith(".") else "")


def _whole(language: str, text: str, depth: int = 1) -> str | None:
    """Return the translation of one message, or None where it has none."""
    found = translation.gettext(text)
    if found != text:
        return found
    for form in _forms(language) if depth <= DEEPEST else ():
        if (values := form.values(text)) is not None:
            return _filled(language, form.message, values, depth)
    return None


def _filled(language: str, message: str, values: dict[str, str], depth: int) -> str:
    shown = {name: _inner(language, name, value, depth) for name, value in values.items()}
    numbers = (value for value in values.values() if WHOLE.fullmatch(value))
    n = int(next(numbers, "0").replace(",", ""))
    return PLACE.sub(lambda place: shown[place[1]], _in_number(message, n))


def _in_number(message: str, n: int) -> str:
    """Return the translation of a message with a number, in its right form if it has several."""
    found = translation.ngettext(message, message, n)
    return found if found != message else translation.gettext(message)


def _inner(language: str, name: str, value: str, depth: int) -> str:
    """Return a value of a form: a number or a text is as the language has it, a word is a name."""
    if NUMBER.fullmatch(value):
        return written_number(value)
    if name.startswith(STATES):  # a choice of a model: its word is none of a sentence
        found = translation.gettext(value.capitalize())
        return found if found == value.capitalize() else f"{found[:1].lower()}{found[1:]}"
    if " " not in value.strip():
        return value
    return _whole(language, value, depth + 1) or value


def written_number(text: str) -> str:
    """Return a number as the active language writes it: 5,214.5 -> 5.214,5 in German."""
    thousands, point = (get_format(f"{name}_SEPARATOR") for name in ("THOUSAND", "DECIMAL"))
    return text.translate({ord(","): thousands, ord("."): point})


@dataclass(frozen=True)
class _Form:
    """A message with places, and what stands between them.

    A text has this form where it begins with the first piece, ends with the last one and has the
    others in between, in their order: each is taken where it comes first, so that a text takes
    time in proportion to its length. A pattern would try all ways to divide what people have typed.
    """

    message: str
    pieces: tuple[str, ...]
    names: tuple[str, ...]
    is_of_numbers: bool

    def values(self, text: str) -> dict[str, str] | None:
        """Return what a text has in the places, None where it has another form."""
        first, *inner, last = self.pieces
        at, end = len(first), len(text) - len(last)
        if end < at or not (text.startswith(first) and text.endswith(last)):
            return None
        found = []
        for piece in inner:
            place = text.find(piece, at, end)
            if place < 0:
                return None
            found.append(text[at:place])
            at = place + len(piece)
        found.append(text[at:end])
        if self.is_of_numbers and not all(map(DIGITS.fullmatch, found)):
            return None
        return dict(zip(self.names, found, strict=True))


@cache
def _forms(language: str) -> tuple[_Form, ...]:
    """Return the messages with places, those that say most first."""
    from annotation.web.languages import catalogue  # which reads texts of scripts and pages, too

    found = []
    for message in catalogue(language):
        pieces = PLACE.split(message)
        literals, names = tuple(pieces[::2]), tuple(pieces[1::2])
        letters = sum(map(str.isalpha, "".join(literals)))
        if not names or letters < FEWEST or len(set(names)) < len(names):
            continue
        found.append(_Form(message, literals, names, letters < ENOUGH))
    return tuple(sorted(found, key=lambda form: -len("".join(form.pieces))))


@cache
def code_texts() -> tuple[str, ...]:
    """Return every message of code that a page can show, in the order of the files."""
    found: dict[str, None] = {}
    for room in ROOMS:
        place = HOUSE / room
        for path in [place] if place.suffix else sorted(place.rglob("*.py")):
            if path.name not in UNSEEN and not path.name.endswith(REST):
                is_library = room.startswith(LIBRARIES) and not set(TOLD_WHOLE) & set(path.parts)
                found.update(dict.fromkeys(texts_of_code(path.read_text(), path, is_library)))
    return tuple(found)


def texts_of_code(source: str, path: Path, is_library: bool = False) -> Iterator[str]:
    """Yield the messages of a module: its prose, whatever it is called with, and shown names."""
    is_rest = path.name.endswith(REST)
    for message, call, keyword in _walk(ast.parse(source), "", ""):
        if call in SILENT or message.startswith(HEADERS) or message in NO_PROSE:
            continue
        if is_library and call not in FOR_PAGES:
            continue
        if is_rest and keyword in ("help_text", "description", "summary"):
            continue
        has_letters = sum(map(str.isalpha, PLACE.sub("", message))) > 1
        if has_letters and (keyword in SHOWN or PROSE.search(message)):
            yield message


def _walk(node: ast.AST, call: str, keyword: str) -> Iterator[tuple[str, str, str]]:
    """Yield the texts below a node, each with the call and the keyword that it stands in."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, (ast.Constant, ast.JoinedStr)):
        if message := _message(node):
            yield message, call, keyword
    elif isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        owner = getattr(getattr(node.func, "value", None), "id", "")
        if owner == "logger":
            return
        name = name or getattr(node.func, "id", "")
        yield from _walk(node.func, call, keyword)
        for argument in node.args:
            yield from _walk(argument, name, "")
        for option in node.keywords:
            yield from _walk(option.value, name, option.arg or "")
    elif not _is_silent(node):
        for name, child in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list") and not isinstance(child, list):
                continue
            for one in child if isinstance(child, list) else [child]:
                if isinstance(one, ast.AST):
                    yield from _walk(one, call, keyword)


def _is_silent(node: ast.AST) -> bool:
    """Return whether a statement holds names or types and no text."""
    if isinstance(node, ast.Assign):
        return any(getattr(target, "id", "") == "__all__" for target in node.targets)
    return isinstance(node, (ast.AnnAssign, ast.arg)) and getattr(node, "value", None) is None


def _message(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    text, names = "", list[str]()
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += str(part.value)
        elif isinstance(part, ast.FormattedValue):
            name = _name_of(part.value)
            n = sum(other.rstrip("0123456789") == name for other in names)
            names.append(name if not n else f"{name}{n + 1}")
            text += f"{{{names[-1]}}}"
    return text


def _name_of(node: ast.expr) -> str:
    """Return a name for a value: the last one in it that says something."""
    code = re.sub(r"'[^']*'|\"[^\"]*\"", "", ast.unparse(node))
    dull = {"join", "str", "len", "if", "else", "None", "for", "in", "sorted", "or", "and"}
    names = [name.rstrip("0123456789") for name in NAME.findall(code) if name not in dull]
    return names[-1] if names else "value"
