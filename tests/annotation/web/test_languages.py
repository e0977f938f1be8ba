"""Languages: what is shown goes through the catalogues, and those are as they are compiled."""

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.web.languages import (
    LOCALE,
    ROOT,
    SCRIPTS,
    compile_po,
    read_po,
    script_texts,
    speaks_pages,
)
from annotation.web.phrases import texts_of
from tests.annotation.queue.conftest import Desk, new_project

CATALOGUES = sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))
TEMPLATES = ROOT / "templates" / "annotation"
PLACE = re.compile(r"{\w+}|%\(\w+\)s")
BARE = re.compile(
    r'(?:say|warn|words|title|text|action|message): (?:"[^"]* [^"]*"|`[^`$]*[a-z] )|refuse\(["`]'
)


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_a_catalogue_is_compiled_and_has_all_texts_of_the_annotate_page(path: Path):
    entries = read_po(path)
    assert path.with_suffix(".mo").read_bytes() == compile_po(entries)
    assert {*script_texts(), *texts_of((TEMPLATES / "annotate.html").read_text())} <= set(entries)
    for text, translated in entries.items():
        if text:
            assert sorted(PLACE.findall(translated)) == sorted(PLACE.findall(text)), text
            assert '"' not in translated, text  # it may stand in an attribute


def test_no_visible_text_of_the_annotate_page_escapes_the_catalogues():
    source = (TEMPLATES / "annotate.html").read_text()
    source = source.replace("{% block body_class %}desk{% endblock %}", "")
    left = re.sub(r"<kbd>.*?</kbd>|{%.*?%}|{{.*?}}|<[^>]+>", "", source, flags=re.DOTALL)
    assert re.findall(r"[A-Za-z]{2,}", left) == ["Tandem"]
    for path in sorted(SCRIPTS.rglob("*.js")):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith(("//", "*", "/*")):
                continue
            assert not BARE.search(line), f"{path.name}:{number}"


@pytest.mark.django_db
def test_the_annotate_page_is_in_the_chosen_language_and_direction():
    desk = Desk(new_project())
    client = Client()
    client.force_login(desk.person("ann"))
    page = reverse("annotate", args=[desk.project.pk])
    assert 'lang="en"' in client.get(page).content.decode()
    answer = client.post(reverse("language"), {"language": "ar", "next": page})
    assert answer.url == page
    shown = client.get(page).content.decode()
    assert '<html lang="ar" dir="rtl"' in shown
    assert "إجاباتك" in shown
    with_pages = "ar" if speaks_pages("ar") else "en"  # half translated ones stay English
    assert f'lang="{with_pages}"' in client.get(reverse("account")).content.decode()
    assert translation.get_language() == "en"
    client.post(reverse("language"), {"language": "xx"})
    assert client.cookies["language"].value == "ar"
