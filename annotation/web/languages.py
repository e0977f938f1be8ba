"""The languages of the pages: which one a person has chosen, and the words of the scripts in it.

Catalogues are gettext's: ``annotation/locale/<language>/LC_MESSAGES/django.po``, compiled beside
them by ``python -m annotation.web.languages``, which also says what they lack. The English text is
the key of its translation; without one it stays English. Scripts mark their texts with ``t``,
code with ``gettext``; the texts of templates need no mark, all that is shown is a message.

A text with a number may have as many forms as the language asks for, by gettext's rules: scripts
(``tn``) and templates (``counted``) give the English singular and plural; for a phrase with a
number in it both are the same, and the first number in it decides.

A phrase of a template is what stands between two tags, HTML's or the template's, with the variables
in it: ``<b>{{ n|grouped }} of {{ total }}</b>`` is the message ``%(n)s of %(total)s``. The loader
turns every phrase, and every one in an attribute that people see or hear, into a ``blocktranslate``
when the template is compiled. So no text of a page can escape the catalogues. Numbers in all other
attributes are for programs: they have a point in every language.
"""

import ast
import os
import re
import struct
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import django
from django.apps import apps
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.http import HttpRequest, HttpResponse
from django.template import Origin
from django.template.base import tag_re
from django.template.loaders import app_directories
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import parse_accept_lang_header

from annotation.web.code_texts import code_texts
from mtl_engine.kinds import KINDS

COOKIE = "language"  # also the key in the session of somebody who is signed in
BOTH = "\0"  # between singular and plural, and between the forms of a translation, as in gettext
OTHERWISE_CALLED = {"zh": "zh-hans"}  # by browsers
RIGHT_TO_LEFT = ("ar", "he", "fa", "ur")
ROOT = Path(__file__).parents[1]
LOCALE = ROOT / "locale"
SCRIPTS = ROOT / "static" / "annotation"
TEXT = r'"((?:[^"\\]|\\.)*)"'
SAYS, COUNTS = re.compile(rf"\bt\(\s*{TEXT}"), re.compile(rf"\btn\(\s*{TEXT},\s*{TEXT}")
LINES = r'((?:".*"\n?)+)'
ENTRY = re.compile(
    rf"^msgid {LINES}(?:msgid_plural {LINES})?((?:msgstr(?:\[\d\])? {LINES})+)", re.MULTILINE
)
FORM = re.compile(rf"^msgstr(?:\[\d\])? {LINES}", re.MULTILINE)
PLURALS = re.compile(r"nplurals=(\d)")
OWN_APPS = ("annotation", "analysis")
SHOWN = frozenset({"aria-label", "title", "placeholder", "alt", "data-confirm"})
SILENT = frozenset({"script", "style", "pre", "code", "kbd"})  # elements that hold no words
MARKED = ("blocktranslate", "blocktrans")
LETTERS = re.compile(r"[^\W\d_]{2}|\b[^\W\d_]\b")
NO_WORD = re.compile(r"&#?\w+;|\bTandem\b")
NAME = re.compile(r"[A-Za-z]\w*")
# Values that code has put into words: pages translate them where they show them (code_texts.py).
TOLD = frozenset(
    {
        *("message", "error", "refusal", "words", "title", "why", "reason", "reasons", "heading"),
        *("headline", "help_text", "summary", "verdict", "warning", "problem", "absence", "state"),
        *("stage", "needs", "suffix", "choice_label", "chance_words", "delete_problem", "note"),
        *("exception", "outcome", "left_out", "decision", "role", "scope", "metric", "columns"),
        *("get_outcome_display", "forecast", "source", "fate", "baseline", "command_words"),
        *("pull_words", "advice", "page_words", "encoder_hint"),
    }
)
FORM_LABEL = re.compile(r"\b(form|row|field|slider|single|box)(\.\w+)?\.label$")
OTHERWISE = re.compile(r"(\|default(?:_if_none)?:)(\"[^\"]*[A-Za-z]{2}[^\"]*\")")
SAID = re.compile(r"(?:\{% trans(?:late)? |_\()\"([^\"]*)\"")
COUNTED = re.compile(r"\|counted:\"([^\"]*)\"")
WRITTEN = re.compile(r"\|date:\"([^\"]*)\"")  # how days are written is a text, too
HTML = re.compile(
    r"(?P<comment><!--.*?-->|<!doctype[^>]*>)|(?P<open></?[A-Za-z][\w-]*)|(?P<end>/?>)"
    r"|(?P<attribute>(?<![\w:-])[\w:-]++)=\"|(?P<quote>\")",
    re.DOTALL | re.IGNORECASE,
)
ENDS = {"text": ("open", "comment"), "tag": ("attribute", "end"), "value": ("quote",)}


class Languages:
    """Middleware: shows pages in the language of the person.

    REST speaks English to programs; to the scripts of a page, which bring the person's cookies, it
    tells what is wrong in the page's language.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer in the language of the person; it does not reach the next request."""
        is_program = request.path_info.startswith("/api/") and "Authorization" in request.headers
        chosen = "en" if is_program else chosen_language(request)
        request.text_language = chosen  # type: ignore[attr-defined]
        is_rtl = chosen in RIGHT_TO_LEFT
        request.text_direction = "rtl" if is_rtl else "ltr"  # type: ignore[attr-defined]
        with translation.override(chosen):
            response = self.get_response(request)
        if not is_program:
            patch_vary_headers(response, ["Accept-Language", "Cookie"])
        return response


def chosen_language(request: HttpRequest) -> str:
    """Return the language of whoever asks.

    What somebody who is signed in has chosen comes first, on whatever machine that was; then what
    was chosen in this browser, then what the browser asks for, then English.
    """
    known = dict(settings.LANGUAGES)
    session = getattr(request, "session", None)
    for found in (session.get(COOKIE) if session else None, request.COOKIES.get(COOKIE)):
        if found in known:
            return str(found)
    for wanted, _ in parse_accept_lang_header(request.headers.get("Accept-Language", "").lower()):
        for code in (wanted, wanted.split("-")[0], OTHERWISE_CALLED.get(wanted.split("-")[0], "")):
            if code in known:
                return code
    return "en"


def keep_language(request: HttpRequest, chosen: str) -> None:
    """Keep the language of somebody who is signed in: for pages anywhere, and for mails."""
    _choices().update_or_create(user=request.user, defaults={"language": chosen})
    request.session[COOKIE] = chosen


def remember_language(*, request: HttpRequest, user: Any, **_: object) -> None:
    """Speak to somebody who signs in as they have chosen, here or elsewhere."""
    if chosen := _choices().filter(user=user).values_list("language", flat=True).first():
        request.session[COOKIE] = chosen


def _choices() -> Any:
    return apps.get_model("annotation", "MailChoice").objects


user_logged_in.connect(remember_language, dispatch_uid="language of a person")


@cache
def catalogue(language: str) -> dict[str, str]:
    """Return the texts of a language with their translations, none where it has no catalogue.

    Texts with several forms are there as such, and as singular and plural.
    """
    path = LOCALE / translation.to_locale(language) / "LC_MESSAGES" / "django.po"
    return with_parts(read_po(path)) if path.exists() else {}


def with_parts(entries: dict[str, str]) -> dict[str, str]:
    """Return a catalogue in which singular and plural are texts of their own, too."""
    found = dict(entries)
    for text, translated in entries.items():
        if BOTH in text:
            one, many = text.split(BOTH)
            forms = translated.split(BOTH)
            found.setdefault(one, forms[min(len(forms) // 3, len(forms) - 1)])
            found[many] = forms[-1]
    return found


@cache
def counted_phrases() -> frozenset[str]:
    """Return the phrases with a number that have several forms in some language."""
    found: set[str] = set()
    for path in LOCALE.glob("*/LC_MESSAGES/django.po"):
        pairs = (text.split(BOTH) for text in read_po(path) if BOTH in text)
        found.update(one for one, many in pairs if one == many)
    return frozenset(found)


def script_words() -> dict[str, str | list[str]]:
    """Return the translations of the scripts' texts into the active language.

    Those with a number stand under singular and plural, ``{n} word|{n} words``, in all forms.
    """
    language = translation.get_language() or "en"
    if language == "en":
        return {}
    words: dict[str, str | list[str]] = {}
    for text in script_texts():
        if (found := translation.gettext(text)) != text:
            words[text] = found
    for one, many in script_pairs():
        forms = catalogue(language).get(f"{one}{BOTH}{many}")
        words[f"{one}|{many}"] = (
            forms.split(BOTH) if forms else [translation.gettext(text) for text in (one, many)]
        )
    return words


@cache
def script_texts() -> tuple[str, ...]:
    """Return every text without a number that scripts show, in the order of the files."""
    return tuple(dict.fromkeys(text for (text,) in _calls(SAYS)))


@cache
def script_pairs() -> tuple[tuple[str, str], ...]:
    """Return singular and plural of every text with a number that scripts show."""
    return tuple(dict.fromkeys((one, many) for one, many in _calls(COUNTS)))


def _calls(call: re.Pattern[str]) -> Iterator[tuple[str, ...]]:
    for path in sorted(SCRIPTS.rglob("*.js")):
        for match in call.finditer(path.read_text(encoding="utf-8")):
            yield tuple(ast.literal_eval(f'"{text}"') for text in match.groups())


@cache
def template_pairs() -> tuple[tuple[str, str], ...]:
    """Return singular and plural of all words that templates count."""
    found: dict[tuple[str, str], None] = {}
    for path in _templates():
        for words in COUNTED.findall(path.read_text(encoding="utf-8")):
            one, many = words.split(",")
            found[one, many] = None
    return tuple(found)


def read_po(path: Path) -> dict[str, str]:
    """Return the translated texts of a catalogue, its header under the empty text.

    Singular and plural are one key, and all forms one value, with ``BOTH`` between them.
    """
    source = path.read_text(encoding="utf-8")
    entries = {}
    for one, many, rest, _ in ENTRY.findall(source):
        text = BOTH.join(_unquoted(part) for part in (one, many) if part)
        forms = [_unquoted(form) for form in FORM.findall(rest)]
        if all(forms):
            entries[text] = BOTH.join(forms)
    return entries


def _unquoted(lines: str) -> str:
    return "".join(ast.literal_eval(line) for line in lines.strip().splitlines())


def compile_po(entries: dict[str, str]) -> bytes:
    """Return a catalogue as gettext reads it at run time."""
    texts = sorted(entries)
    pairs = [(text.encode(), entries[text].encode()) for text in texts]
    n, ids, strings = len(pairs), b"", b""
    table: list[tuple[int, int, int, int]] = []
    for text, translated in pairs:
        table.append((len(text), len(ids), len(translated), len(strings)))
        ids += text + b"\0"
        strings += translated + b"\0"
    start = 28 + 16 * n
    keys = b"".join(struct.pack("<II", size, start + at) for size, at, _, _ in table)
    values = b"".join(struct.pack("<II", size, start + len(ids) + at) for _, _, size, at in table)
    head = struct.pack("<7I", 0x950412DE, 0, n, 28, 28 + 8 * n, 0, 28 + 16 * n)
    return head + keys + values + ids + strings


def wanted_texts() -> dict[str, None]:
    """Return all that a catalogue has to have: texts, and pairs of singular and plural."""
    return dict.fromkeys(
        (
            *script_texts(),
            *(BOTH.join(pair) for pair in (*script_pairs(), *template_pairs())),
            *template_texts(),
            *code_texts(),
            *choice_texts(),
            *sample_texts(),
        )
    )


def choice_texts() -> Iterator[str]:
    """Yield the names of kinds, and what fields of models can be: states, roles, outcomes."""
    yield from (kind.name for kind in KINDS.annotated())
    for name in OWN_APPS:
        for model in apps.get_app_config(name).get_models():
            for one in model._meta.get_fields():
                for value, words in getattr(one, "choices", None) or ():
                    yield from (text for text in (str(words), str(value)) if text.isalpha())
                    yield from (text for text in (str(words),) if " " in text)


def sample_texts() -> Iterator[str]:
    """Yield what the projects that one can begin with are called, and what they are for."""
    for path in sorted((ROOT / "projects" / "templates").glob("*.toml")):
        sample = tomllib.loads(path.read_text())
        yield from (sample["name"], sample["description"])


def main() -> None:
    """Compile every catalogue, and print which texts each one lacks."""
    wanted = wanted_texts()
    for path in sorted(LOCALE.glob("*/LC_MESSAGES/django.po")):
        entries = read_po(path)
        path.with_suffix(".mo").write_bytes(compile_po(entries))
        known = with_parts(entries)
        missing = [text for text in wanted if text not in known]
        print(f"{path.parent.parent.name}: {len(missing)} of {len(wanted)} texts stay English.")
        for text in missing:
            print(f"  {text!r}")


class Loader(app_directories.Loader):
    """Templates of apps; those of Tandem with all their phrases marked."""

    def get_contents(self, origin: Origin) -> str:
        """Return the source of a template."""
        source = super().get_contents(origin)
        return mark_phrases(source) if _is_own(Path(origin.name)) else source


def mark_phrases(source: str) -> str:
    """Return a template's source in which every phrase is a message."""
    return "".join(part.marked() for part in read_parts(source))


@cache
def template_texts() -> tuple[str, ...]:
    """Return every message of all own templates, in the order of the files."""
    found: dict[str, None] = {}
    for path in _templates():
        found.update(dict.fromkeys(texts_of(path.read_text(encoding="utf-8"))))
    return tuple(found)


def texts_of(source: str) -> Iterator[str]:
    """Yield the messages of a template."""
    for part in read_parts(source):
        if part.has_words:
            yield part.message
        if part.is_phrase:
            yield from (text[1:-1] for tag in part.tags for _, text in OTHERWISE.findall(tag))
    yield from SAID.findall(source)
    yield from WRITTEN.findall(source)


@dataclass
class Part:
    """A stretch of a template: a phrase, texts and variables in turn, or something else."""

    texts: list[str] = field(default_factory=lambda: [""])
    tags: list[str] = field(default_factory=list)  # the variable between texts i and i + 1
    is_phrase: bool = False
    is_for_programs: bool = False  # in an attribute that nobody reads

    @property
    def has_words(self) -> bool:
        """Return whether there is something to translate."""
        return self.is_phrase and any(LETTERS.search(NO_WORD.sub("", text)) for text in self.texts)

    @property
    def message(self) -> str:
        """Return the text as gettext knows it."""
        texts = [" ".join(f"_{text}_".split())[1:-1].replace("%", "%%") for text in self.texts]
        names = [f"%({name})s" for name in self._names()]
        return "".join(a + b for a, b in zip(texts, [*names, ""], strict=True)).strip()

    def marked(self) -> str:
        """Return the source of this part with its message marked."""
        if self.is_for_programs:
            return self.source([f"{tag[:-2].rstrip()}|for_programs }}}}" for tag in self.tags])
        if not self.is_phrase:
            return self.source(self.tags)
        tags = [OTHERWISE.sub(r"\1_(\2)", _told(tag)) for tag in self.tags]
        if not self.has_words:
            return self.source(tags)
        names = self._names()
        shown = self.message.replace("%%", "%")
        values = ""
        for name, tag in zip(names, tags, strict=True):
            shown = shown.replace(f"%({name})s", f"{{{{ {name} }}}}")
            values += f" {name}={tag[2:-2].strip()}"
        opening = f"blocktranslate with{values}" if values else "blocktranslate"
        if self.message in counted_phrases():
            number = tags[0][2:-2].strip().replace("|grouped", "")
            opening += f" count counted={number}|as_number"
            shown = f"{shown}{{% plural %}}{shown}"
        first, last = self.texts[0], self.texts[-1]
        before = first[: len(first) - len(first.lstrip())]
        after = last[len(last.rstrip()) :]
        return f"{before}{{% {opening} %}}{shown}{{% endblocktranslate %}}{after}"

    def source(self, tags: Sequence[str]) -> str:
        """Return the source of this part with these variables."""
        return "".join(a + b for a, b in zip(self.texts, [*tags, ""], strict=True))

    def _names(self) -> list[str]:
        """Return a name for each variable: the last of its path."""
        found: list[str] = []
        for tag in self.tags:
            path = tag[2:-2].strip().split("|")[0]
            name = (NAME.findall(path) or ["value"])[-1]
            n = sum(other.rstrip("0123456789") == name for other in found)
            found.append(name if not n else f"{name}{n + 1}")
        return found


def read_parts(source: str) -> Iterator[Part]:
    """Yield the parts of a template in order; together they are its source."""
    reader = _Reader()
    for i, piece in enumerate(tag_re.split(source)):
        if i % 2:
            reader.read_tag(piece)
        else:
            reader.read_html(piece)
    yield from reader.parts


class _Reader:
    """Walks through a template and cuts it where phrases begin and end."""

    def __init__(self) -> None:
        self.parts = [Part(is_phrase=True)]
        self.where = "text"  # or in a "tag", or in the "value" of an attribute
        self.silent = ""  # the element whose text is none for people
        self.is_marked = False  # inside a blocktranslate, or a block that holds no text
        self.branches: list[tuple[str, str, bool]] = []  # where each open condition began

    def cut(self, *, is_phrase: bool) -> None:
        """Begin another part."""
        is_for_programs = self.where != "text" and not (is_phrase or self.is_marked)
        is_phrase = is_phrase and not self.is_marked
        self.parts.append(Part(is_phrase=is_phrase, is_for_programs=is_for_programs))

    def read_tag(self, tag: str) -> None:
        """Read a tag of the template: a variable belongs to its phrase, all else ends it."""
        part = self.parts[-1]
        if tag.startswith("{{"):
            part.tags.append(tag)
            part.texts.append("")
            return
        is_phrase = self._may_speak() if self.where == "text" else part.is_phrase
        self.cut(is_phrase=False)
        self.parts[-1].texts[-1] = tag
        name, *words = tag[2:-2].split() or [""]
        if name in MARKED or (name == "block" and words[0].endswith("_class")):
            self.is_marked = True
        elif self.is_marked and name.startswith("end"):
            self.is_marked = False
            is_phrase = True
        if name in ("if", "for"):
            self.branches.append((self.where, self.silent, is_phrase))
        elif name in ("elif", "else", "empty") and self.branches:
            self.where, self.silent, is_phrase = self.branches[-1]
        elif name in ("endif", "endfor") and self.branches:
            self.branches.pop()
        self.cut(is_phrase=is_phrase)

    def read_html(self, text: str) -> None:
        """Read what stands between two tags of the template."""
        at = 0
        for match in HTML.finditer(text):
            if match.lastgroup not in ENDS[self.where]:
                continue
            if self.silent and match[0].lower() not in (f"</{self.silent}", ">"):
                continue
            self.parts[-1].texts[-1] += text[at : match.start()]
            self._turn(match)
            at = match.end()
        self.parts[-1].texts[-1] += text[at:]

    def _turn(self, match: re.Match[str]) -> None:
        """Go on after a sign that ends a text, an attribute or an element's tag."""
        kind = match.lastgroup
        if self.where == "text":
            self.cut(is_phrase=False)
            if kind == "open":
                self.where = "tag"
                name = match[0].lower()[1:]
                self.silent = name if name in SILENT else ""
        elif self.where == "value":
            self.where = "tag"
            self.cut(is_phrase=False)
        self.parts[-1].texts[-1] += match[0]
        if kind == "attribute":
            self.where = "value"
            self.cut(is_phrase=match["attribute"].lower() in SHOWN)
        elif kind in ("end", "comment"):
            self.where = "text"
            self.cut(is_phrase=self._may_speak())

    def _may_speak(self) -> bool:
        return not self.silent


def _told(tag: str) -> str:
    """Return a variable that is translated when it is shown, if code has put it into words."""
    path, *filters = tag[2:-2].strip().split("|")
    if path.split(".")[-1] not in TOLD and not FORM_LABEL.search(path):
        return tag
    return "{{ " + "|".join([path, "said", *filters]) + " }}"


def _templates() -> Iterator[Path]:
    for folder in _folders():
        yield from sorted(folder.rglob("*.html"))


def _folders() -> list[Path]:
    return [Path(apps.get_app_config(name).path) / "templates" for name in OWN_APPS]


def _is_own(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in _folders())


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    main()
