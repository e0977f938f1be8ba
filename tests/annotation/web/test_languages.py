"""Languages: what is shown goes through the catalogues, and those are as they are compiled."""

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.errors import Refused
from annotation.rounds.settings import RoundSettings
from annotation.web.code_texts import code_texts, said, texts_of_code
from annotation.web.frame import TABS
from annotation.web.languages import (
    LOCALE,
    ROOT,
    SCRIPTS,
    compile_po,
    read_po,
    script_texts,
    template_texts,
    texts_of,
)
from mtl_engine.kinds import KINDS
from mtl_engine.selection.registry import STRATEGIES
from mtl_engine.settings import settings_fields
from tests.annotation.queue.conftest import Desk, new_project

CATALOGUES = sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))
TEMPLATES = ROOT / "templates" / "annotation"
MOST_MISSING = 0.05  # of the templates' texts, while a new page is being translated
LEAST_OF_CODE = 0.4  # the rest are rare refusals, which stay English
PLACE = re.compile(r"{\w+}|%\(\w+\)s")
BARE = re.compile(
    r'(?:say|warn|words|title|text|action|message): (?:"[^"]* [^"]*"|`[^`$]*[a-z] )|refuse\(["`]'
)


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_a_catalogue_is_compiled_and_has_the_texts_of_scripts_and_templates(path: Path):
    entries = read_po(path)
    assert path.with_suffix(".mo").read_bytes() == compile_po(entries)
    annotate = texts_of((TEMPLATES / "annotate.html").read_text())
    assert {*script_texts(), *annotate} - set(entries) == set()
    missing = [text for text in template_texts() if text not in entries]
    assert len(missing) <= MOST_MISSING * len(template_texts()), missing
    for text, translated in entries.items():
        if text:
            assert sorted(PLACE.findall(translated)) == sorted(PLACE.findall(text)), text
            assert '"' not in translated, text  # it may stand in an attribute


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_a_catalogue_has_what_people_read_daily_of_the_texts_of_code(path: Path):
    known = set(read_po(path))
    daily = {
        *texts_of_settings(),
        *(text for kind in KINDS.annotated() for text in (kind.title, kind.summary)),
        *(text for one in STRATEGIES.values() for text in (one.title, one.summary)),
        *(words for _, words, _ in TABS),
    }
    assert {text for text in daily if text} - known == set()
    n_known = sum(text in known for text in code_texts())
    assert n_known >= LEAST_OF_CODE * len(code_texts())


def texts_of_settings():
    for about in settings_fields(RoundSettings):
        yield about.title
        yield from (choice.title for choice in about.choices or ())


def test_a_text_of_code_is_found_by_itself_by_its_form_and_piece_by_piece():
    with translation.override("de"):
        assert said("The settings are saved.") == "Die Einstellungen sind gespeichert."
        assert said("3 fields are wrong.") == "3 Felder sind falsch."
        assert said("The heads form a cycle: a -> b.") == "Die Köpfe bilden einen Kreis: a -> b."
        both = "The model is unsure of Topic. It is surer of Entities."
        assert said(both) == "Das Modell ist unsicher bei Topic. Sicherer ist es bei Entities."
        assert said(["One field is wrong.", "Aurelia"]) == ["Ein Feld ist falsch.", "Aurelia"]
        assert said(Refused("Drawn by chance.")) == "Zufällig gezogen."
        assert said("Aurelia left Brask Quay.") == "Aurelia left Brask Quay."
    with translation.override("en"):
        assert said("The settings are saved.") == "The settings are saved."


def test_a_message_of_code_is_its_form_and_what_is_no_prose_is_none():
    source = '''
"""Not this."""
WORDS = "Choose a file."
NAME = "not_this"
def f(task, labels):
    """Nor this."""
    logger.warning("Nor that one.")
    raise Conflict(f"Task {task.name} has {len(labels)} labels, {task.name} again.")
'''
    assert list(texts_of_code(source, Path("services.py"))) == [
        "Choose a file.",
        "Task {name} has {labels} labels, {name2} again.",
    ]


@pytest.mark.django_db
def test_scripts_of_a_page_are_told_in_its_language_and_programs_in_english():
    desk = Desk(new_project())
    client = Client()
    client.cookies["language"] = "de"
    client.force_login(desk.person("ann"))
    error = client.get("/api/projects/99999/").json()["error"]["message"]
    assert error == "Dieses Projekt gibt es nicht, oder du bist kein Mitglied."
    del client.cookies["language"]
    error = client.get("/api/projects/99999/").json()["error"]["message"]
    assert error == "This project does not exist, or you are not a member of it."


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
    assert '<html lang="ar" dir="rtl"' in client.get(reverse("account")).content.decode()
    assert translation.get_language() == "en"
    client.post(reverse("language"), {"language": "xx"})
    assert client.cookies["language"].value == "ar"
