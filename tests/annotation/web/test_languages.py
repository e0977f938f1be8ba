"""Languages: what is shown goes through the catalogues, and those are as they are compiled."""

import re
import time
from datetime import date
from pathlib import Path

import pytest
from django.template import engines
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.errors import Refused
from annotation.notifications.outbox import mail_choice
from annotation.web.code_texts import _Form, _forms, said, texts_of_code
from annotation.web.languages import (
    BOTH,
    LOCALE,
    PLURALS,
    ROOT,
    SCRIPTS,
    compile_po,
    read_po,
    texts_of,
    wanted_texts,
    with_parts,
)
from tests.annotation.queue.conftest import Desk, new_project

pytestmark = pytest.mark.any_database

CATALOGUES = sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))
TEMPLATES = ROOT / "templates" / "annotation"
PLACE = re.compile(r"{\w+}|%\(\w+\)s")
BARE = re.compile(
    r'(?:say|warn|words|title|text|action|message): (?:"[^"]* [^"]*"|`[^`$]*[a-z] )|refuse\(["`]'
    r'|(?:textContent|placeholder|ariaLabel|title) = ["`][^"`]*[A-Za-z]{2}|"aria-label", ["`]'
    r'|element\("\w+", \{[^{}]*\}, ["`][^"`]*[A-Za-z]{2}|append\(["`][^"`]*[A-Za-z]{2}'
    r'|(?<!\bt\()(?<!\btn\()(?<!Error\()(?<!Unreachable\()["`][A-Z][a-z]+,? [a-z][^"`]*["`]'
)


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_a_catalogue_has_every_text_of_scripts_templates_and_code(path: Path):
    entries = read_po(path)
    assert path.with_suffix(".mo").read_bytes() == compile_po(entries)
    assert "fuzzy" not in path.read_text()
    known = with_parts(entries)
    assert [text for text in wanted_texts() if text not in known] == []


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_translations_have_the_places_of_their_text_and_all_forms_of_the_language(path: Path):
    entries = read_po(path)
    n_forms = int(PLURALS.search(entries[""])[1])
    for text, translated in entries.items():
        if not text:
            continue
        assert '"' not in translated, text  # it may stand in an attribute
        if BOTH not in text:
            assert sorted(PLACE.findall(translated)) == sorted(PLACE.findall(text)), text
            continue
        forms = translated.split(BOTH)
        assert len(forms) == n_forms, text
        wanted = {*PLACE.findall(text)}
        for number, form in enumerate(forms):  # one and two may be said by words alone
            assert {*PLACE.findall(form)} - {"{n}"} == wanted - {"{n}"}, (text, number)
    assert BOTH not in "".join(text for text in entries if text.count(BOTH) > 1)


def test_the_check_of_catalogues_finds_what_is_missing():
    assert set(texts_of("<p>A page nobody has translated</p>")) - set(wanted_texts())
    assert BARE.search('node.textContent = "Nobody marked this";')
    assert BARE.search('node.append(element("b", {}, "nobody"));')
    assert BARE.search('const WORDS = { empty: "Nobody marked this either." };')
    assert not BARE.search('node.textContent = t("Somebody marked this");')


def test_a_text_of_code_is_found_by_itself_by_its_form_and_piece_by_piece():
    with translation.override("de"):
        assert said("The settings are saved.") == "Die Einstellungen sind gespeichert."
        assert said("3 fields are wrong.") == "3 Felder sind falsch."
        assert said("The heads form a cycle: a -> b.") == "Die Köpfe bilden einen Kreis: a -> b."
        both = "The model is unsure of Topic. It is surer of Entities."
        assert said(both) == "Das Modell ist unsicher bei Topic. Sicherer ist es bei Entities."
        assert said(["One field is wrong.", "Aurelia"]) == ["Ein Feld ist falsch.", "Aurelia"]
        assert said(Refused("Drawn by chance.")) == "Zufällig gezogen."
        listed = "0 of 2 targets reached; Slots is farthest from its target."
        assert said(listed) == "0 von 2 Zielen erreicht; Slots ist am weitesten vom Ziel entfernt."
        quoted = "not in sight with what is known."
        assert said(quoted) == "nach dem, was bekannt ist, nicht in Sicht."
        assert said("Aurelia left Brask Quay.") == "Aurelia left Brask Quay."
    with translation.override("en"):
        assert said("The settings are saved.") == "The settings are saved."


@pytest.mark.parametrize("language", ["de", "zh-hans"])
def test_no_text_that_people_have_typed_takes_long_to_be_looked_up(language):
    """What is refused quotes it: a pattern for each message took minutes for a thousand letters."""
    with translation.override(language):
        said("One field is wrong.")  # the catalogue is read
        forms = _forms(language)
        started = time.process_time()
        for form in forms:
            middle = "x".join(form.pieces[1:-1]) or " "
            for n in (400, 8_000):
                text = f"{form.pieces[0]}x" + f"{middle}x" * (n // (len(middle) + 1))
                said(f"{text}!")
                said(text)
        nested = "".join(form.pieces[0] for form in forms[:300])
        said(nested)
        said("9" * 5_000 + " fields are wrong.")
        assert time.process_time() - started < 0.03 * len(forms)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a: 1 of 2, ok", {"x": "1", "n": "2"}),
        ("a: 1 of 2, of 3, ok", {"x": "1", "n": "2, of 3"}),
        ("a:  of , ok", {"x": "", "n": ""}),
        ("a: 1 of, ok", None),
        ("b: 1 of 2, ok", None),
        ("a: 1 of 2", None),
    ],
)
def test_the_values_of_a_form_are_the_shortest_from_the_left(text, values):
    form = _Form("a: {x} of {n}, ok", ("a: ", " of ", ", ok"), ("x", "n"), False)
    assert form.values(text) == values


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


def test_a_reason_of_several_tasks_is_said_sentence_by_sentence():
    reason = (
        "Terms, Links: 'Face', 'views' cover 86 words like them (visual); the model gets about a "
        "fifth to about a third of them wrong, 7 labelled. Aim: covers 38 sentences like it; the "
        "model gets about one in ten of them wrong, none labelled."
    )
    with translation.override("de"):
        assert said(reason) == (
            "Terms, Links: 'Face', 'views' decken 86 ähnliche Wörter ab (visual); das Modell macht "
            "etwa ein Fünftel bis etwa ein Drittel davon falsch, 7 annotiert. Aim: deckt 38 "
            "ähnliche Sätze ab; das Modell macht etwa jedes zehnte davon falsch, keine annotiert."
        )


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
            assert not BARE.search(without_places(line)), f"{path.name}:{number}"


def without_places(line: str) -> str:
    """Return a line of a script without the code in its template texts."""
    while (shorter := re.sub(r"\$\{[^{}]*\}|\{[^{}`]*\}(?=\)\})", "", line)) != line:
        line = shorter
    return line


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


@pytest.mark.django_db
def test_a_language_belongs_to_the_person_and_before_that_to_the_browser():
    ann = Desk(new_project()).person("ann")
    page = reverse("sign-in")
    assert 'lang="fr"' in Client().get(page, headers={"Accept-Language": "fr-CA"}).content.decode()
    chinese = {"Accept-Language": "xx, zh-CN;q=0.9, de;q=0.8"}
    assert 'lang="zh-hans"' in Client().get(page, headers=chinese).content.decode()
    here, elsewhere = Client(), Client(headers={"Accept-Language": "fr"})
    for browser in (here, elsewhere):
        browser.force_login(ann)
    here.post(reverse("language"), {"language": "de"})
    elsewhere.force_login(ann)  # signs in anew
    for browser in (here, elsewhere):
        assert 'lang="de"' in browser.get(reverse("account")).content.decode()
    assert mail_choice(ann).language == "de"


def test_numbers_days_and_plurals_are_as_the_language_has_them():
    told = {}
    for language in ("en", "de", "ar", "zh-hans"):
        with translation.override(language):
            text = (
                "{{ n|grouped }} {{ x|as_share }} {{ d|date:'j M Y' }}|{{ n|counted:'word,words' }}"
            )
            page = engines["django"].from_string("{% load humanise %}" + text)
            told[language] = page.render({"n": 3, "x": 0.5, "d": date(2027, 3, 4)})
    assert told["en"] == "3 .50 4 Mar 2027|3 words"
    assert told["de"].endswith("|3 Wörter")
    assert told["de"].startswith("3 0,50 ")
    assert told["ar"].endswith("|3 كلمات")
    assert told["zh-hans"].endswith("|3 个词")
    with translation.override("de"):
        assert said("12,345 words, at most 2,000 at once.") == (
            "12.345 Wörter, höchstens 2.000 auf einmal."
        )
