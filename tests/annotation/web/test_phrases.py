"""Texts of templates are messages without a mark on each; no page shows one that is not."""

import re
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.template import engines
from django.urls import reverse
from django.utils import translation

from annotation.models import Label
from annotation.web.languages import mark_phrases, read_parts, texts_of
from tests.marked_language import escaped, marked_language

pytestmark = pytest.mark.any_database

ROOT = Path(__file__).parents[3]
TEMPLATES = sorted(ROOT.glob("a*/templates/**/*.html"))
HIDDEN = re.compile(
    r'<(script|style|pre|code|kbd|svg|select)\b.*?</\1>|<span class="avatar.*?</span>', re.DOTALL
)
SHOWN = re.compile(r'(?:aria-label|title|placeholder|alt|data-confirm)="([^"]*)"')


@pytest.mark.parametrize(
    ("source", "messages"),
    [
        ("<p>Hello</p>", ["Hello"]),
        ("<p>{{ n|grouped }} of {{ page.total }} asks</p>", ["%(n)s of %(total)s asks"]),
        ("<p>One{% if x %}, two{% endif %}.</p>", ["One", ", two"]),
        (
            '<a class="not this" title="Say {{ a.n }} and {{ b.n }}">x1</a>',
            ["Say %(n)s and %(n2)s"],
        ),
        ("<code>make run</code> 95 % of all", ["95 %% of all"]),
        ('{{ day|default:"never" }}', ["never"]),
        ('<html lang="{{ code|default:"en" }}">', []),
        ('{% load i18n %}{% translate "Said" %}', ["Said"]),
        ("{% blocktranslate %}Said{% endblocktranslate %} more", ["more"]),
        ("{% block page_class %}narrow{% endblock %}<b>wide</b>", ["wide"]),
        ('<a {% if x %}title="One">a1{% else %}title="Two">b2{% endif %}</a>', ["One", "Two"]),
        ("<!-- none --> {{ a }} · 3", []),
    ],
)
def test_a_phrase_is_what_stands_between_two_tags(source, messages):
    assert list(texts_of(source)) == messages


def test_a_marked_phrase_keeps_its_spaces_and_its_filters():
    assert mark_phrases('<p> {{ n|add:"1" }} of\n  all <b>') == (
        '<p> {% blocktranslate with n=n|add:"1" %}{{ n }} of all{% endblocktranslate %} <b>'
    )


def test_numbers_in_attributes_that_nobody_reads_have_a_point_in_every_language():
    source = (
        '<rect x="{{ x }}" {% if x %}y="{{ x }}"{% endif %} aria-label="{{ x }}">{{ x }}</rect>'
    )
    template = engines["django"].from_string(mark_phrases(source))
    with translation.override("de"):
        shown = template.render({"x": 81.9})
    assert shown == '<rect x="81.9" y="81.9" aria-label="81,9">81,9</rect>'


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_is_read_whole_and_compiles(path):
    source = path.read_text()
    assert "".join(part.source(part.tags) for part in read_parts(source)) == source
    engines["django"].from_string(re.sub("{% extends .*? %}", "", mark_phrases(source)))


@pytest.mark.parametrize(
    ("who", "pages"),
    [
        ("", "sign-in"),
        ("admin", "projects set-password people account"),
        ("ada", "adjudicate inbox members overview team data labels quote settings rounds export"),
    ],
)
def test_no_text_of_a_page_escapes_the_catalogues(client, settings, project, admin, who, pages):
    labels = Label.objects.filter(task__project=project).values_list("name", flat=True)
    names = ["Harbour", "ada", "admin", "ben", *labels]
    names += project.tasks.values_list("name", flat=True)
    left = {}
    with marked_language(settings) as code:
        if who:
            client.force_login(get_user_model().objects.get(username=who))
        client.cookies["language"] = code
        for page in pages.split():
            args = [project.pk] if who == "ada" else []
            html = client.get(reverse(page, args=args)).content.decode()
            assert f'lang="{code}"' in html
            left[page] = escaped(_texts(html), *sorted(names, key=len, reverse=True))
    assert {page: texts for page, texts in left.items() if texts} == {}


def _texts(html):
    html = HIDDEN.sub(" ", html)
    return [unescape(text) for text in (*SHOWN.findall(html), *re.split(r"<[^>]*>", html))]
