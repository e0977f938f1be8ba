"""A language per corpus: how words are cut, what the annotate page is told, whose scores."""

import io
import re

import pytest
from django.utils import timezone

from annotation.corpora.imports import import_corpus
from annotation.corpora.report import ImportChoices
from annotation.errors import Refused
from annotation.formats.records import ReadOptions
from annotation.models import Corpus, Gold
from annotation.projects.services import create_project
from annotation.rounds.data import FEWEST_OF_LANGUAGE, in_known_languages, languages_of
from mtl_engine.types import Example

pytestmark = [pytest.mark.any_database, pytest.mark.django_db]
TONE = {"name": "tone", "kind": "classes", "labels": ["good", "bad"]}


@pytest.fixture
def project():
    return create_project(spec={"name": "Voice", "language": "en", "tasks": [TONE]})


def _take(project, name, language, n=1):
    import_corpus(
        project=project,
        stream=io.BytesIO("".join(f"play {name} {i} .\n" for i in range(n)).encode()),
        file_name=name,
        format="text",
        labels="none",
        name=name,
        choices=ImportChoices(language=language),
        options=ReadOptions(tokeniser="whitespace"),
    )
    return Corpus.objects.get(project=project, name=name)


def test_a_sentence_has_the_language_of_its_corpus_or_of_the_project(project):
    german, other = _take(project, "a", "de"), _take(project, "b", "")
    assert (german.language, other.language) == ("de", "")
    ids = [corpus.sentences.get().pk for corpus in (german, other)]
    assert languages_of([Example(("x",), {}, i) for i in ids]) == ["de", "en"]


def test_a_model_of_one_language_suggests_nothing_in_one_that_it_has_hardly_seen(project):
    counts = {"": FEWEST_OF_LANGUAGE, "de": FEWEST_OF_LANGUAGE - 1, "ja": 0}
    found = {}
    for code, n in counts.items():
        corpus = _take(project, code or "own", code, n=n + 1)
        *answered, open_ = corpus.sentences.all()
        found[code] = open_.pk
        for sentence in answered[:n]:
            Gold.objects.create(
                task=project.tasks.get(), sentence=sentence, value="good", updated_at=timezone.now()
            )
    ids = list(found.values())
    assert in_known_languages(project, ids) == [found[""]]
    Gold.objects.filter(sentence__corpus__name="own").first().delete()
    assert in_known_languages(project, ids) == ids  # a first round, in whatever language


def test_what_is_no_language_is_refused():
    with pytest.raises(Refused, match="'deutsch!' is no code of a language"):
        ImportChoices(language="deutsch!")


def test_the_annotate_page_is_told_the_language(project, client, django_user_model):
    from annotation.models import Membership, Role

    ann = django_user_model.objects.create_user("ann")
    Membership.objects.create(project=project, user=ann, role=Role.ANNOTATOR)
    _take(project, "a", "ar")
    client.force_login(ann)
    found = client.post(f"/api/projects/{project.pk}/next/")
    assert found.status_code == 200
    assert found.json()["sentence"]["language"] == "ar"


@pytest.mark.parametrize("page", ["sentences/{}/", "adjudicate/?edit=1&sentence={}"])
def test_pages_draw_a_sentence_in_its_own_language(project, client, django_user_model, page):
    client.force_login(django_user_model.objects.create_user("ada", is_superuser=True))
    arabic, own = (_take(project, code or "own", code).sentences.get() for code in ("ar", ""))
    for sentence, language in ((arabic, "ar"), (own, "en")):
        found = client.get(f"/projects/{project.pk}/{page.format(sentence.pk)}")
        assert found.context["shown"]["sentence"]["language"] == language


@pytest.mark.parametrize(
    ("language", "tokeniser", "words"),
    [
        ("", "", ["do", "n&#x27;t"]),  # as the project, which is English
        ("de", "", ["don&#x27;t"]),
        ("de", "en", ["do", "n&#x27;t"]),
    ],
)
def test_the_page_cuts_words_by_the_language_of_the_sentences(
    project, client, django_user_model, language, tokeniser, words
):
    client.force_login(django_user_model.objects.create_user("ada", is_superuser=True))
    address = f"/projects/{project.pk}/import/"
    assert 'placeholder="en"' in client.get(address).content.decode()
    file = io.BytesIO(b"don't\n")
    file.name = "a.txt"
    sent = {"file": file, "format": "text", "labels": "none", "encoding": "utf-8"}
    page = client.post(address, {**sent, "language": language, "tokeniser": tokeniser})
    content = page.content.decode()
    assert re.findall(r'class="cut-word">([^<]+)', content) == words
    assert f'placeholder="{language or "en"}"' in content
