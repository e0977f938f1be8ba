"""The languages of the pages: which one a person has chosen, and the words of the scripts in it.

Catalogues are gettext's: ``annotation/locale/<language>/LC_MESSAGES/django.po``, compiled beside
them by ``python -m annotation.web.languages``, which also says what they lack. The English text is
the key of its translation; without one it stays English. Scripts mark their texts with ``t``,
code with ``gettext``; the texts of templates need no mark (see ``phrases.py``).
"""

import ast
import os
import re
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path

import django
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation

from annotation.web.code_texts import code_texts
from annotation.web.phrases import template_texts

COOKIE = "language"
MOST_OF_THEM = 0.9
RIGHT_TO_LEFT = ("ar", "he", "fa", "ur")
ROOT = Path(__file__).parents[1]
LOCALE = ROOT / "locale"
SCRIPTS = ROOT / "static" / "annotation"
TEXT = r'"((?:[^"\\]|\\.)*)"'
CALLS = (re.compile(rf"\bt\(\s*{TEXT}"), re.compile(rf"\btn\(\s*{TEXT},\s*{TEXT}"))
ENTRY = re.compile(r'^msgid ((?:".*"\n)+)msgstr ((?:".*"\n?)+)', re.MULTILINE)


class Languages:
    """Middleware: shows pages in the language that a person has chosen.

    REST speaks English to programs; to the scripts of a page, which bring the person's cookies, it
    tells what is wrong in the page's language.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer; what a page was shown in does not reach the next one."""
        request.text_language, request.text_direction = "en", "ltr"  # type: ignore[attr-defined]
        with translation.override("en"):
            return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: object) -> None:
        """Activate the language of a page before its view runs."""
        chosen = chosen_language(request)
        match = request.resolver_match
        name = match.url_name if match else None
        if chosen == "en":
            return
        if request.path_info.startswith("/api/"):
            if not request.headers.get("Authorization"):
                translation.activate(chosen)
            return
        if name != "annotate" and not speaks_pages(chosen):
            return
        translation.activate(chosen)
        request.text_language = chosen  # type: ignore[attr-defined]
        is_rtl = chosen in RIGHT_TO_LEFT
        request.text_direction = "rtl" if is_rtl else "ltr"  # type: ignore[attr-defined]


def chosen_language(request: HttpRequest) -> str:
    """Return the language that a person has chosen in this browser, else English."""
    found = request.COOKIES.get(COOKIE, "")
    return found if found in dict(settings.LANGUAGES) else "en"


@cache
def speaks_pages(language: str) -> bool:
    """Return whether a catalogue has nearly all texts of the pages: half of them would be odd."""
    known, wanted = catalogue(language), template_texts()
    if not known:
        return True  # a language that is made otherwise
    return sum(text in known for text in wanted) >= MOST_OF_THEM * len(wanted)


@cache
def catalogue(language: str) -> dict[str, str]:
    """Return the texts of a language with their translations, none where it has no catalogue."""
    path = LOCALE / translation.to_locale(language) / "LC_MESSAGES" / "django.po"
    return read_po(path) if path.exists() else {}


def script_words() -> dict[str, str]:
    """Return the translations of the scripts' texts into the active language."""
    if translation.get_language() == "en":
        return {}
    words = {text: translation.gettext(text) for text in script_texts()}
    return {text: found for text, found in words.items() if found != text}


@cache
def script_texts() -> tuple[str, ...]:
    """Return every text that scripts show, in the order of the files."""
    found: dict[str, None] = {}
    for path in sorted(SCRIPTS.rglob("*.js")):
        source = path.read_text(encoding="utf-8")
        for call in CALLS:
            for match in call.finditer(source):
                found.update(
                    dict.fromkeys(ast.literal_eval(f'"{text}"') for text in match.groups())
                )
    return tuple(found)


def read_po(path: Path) -> dict[str, str]:
    """Return the translated texts of a catalogue, its header under the empty text."""
    source = path.read_text(encoding="utf-8")
    entries = {}
    for msgid, msgstr in ENTRY.findall(source):
        text, translated = (
            "".join(ast.literal_eval(line) for line in part.strip().splitlines())
            for part in (msgid, msgstr)
        )
        if translated:
            entries[text] = translated
    return entries


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


def main() -> None:
    """Compile every catalogue, and print how many texts each one lacks."""
    wanted = dict.fromkeys((*script_texts(), *template_texts(), *code_texts()))
    for path in sorted(LOCALE.glob("*/LC_MESSAGES/django.po")):
        entries = read_po(path)
        path.with_suffix(".mo").write_bytes(compile_po(entries))
        n = sum(text not in entries for text in wanted)
        print(f"{path.parent.parent.name}: {n} of {len(wanted)} texts stay English.")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    main()
