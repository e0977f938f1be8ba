"""Every page in both themes: accessible, never wider than the window, text as text."""

import io

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotation.accounts.services import invite
from annotation.corpora.imports import import_corpus
from annotation.models import Annotation, Flag, Role, Suggestion
from tests.browser.looking import overflow, picture, severe_violations

EVIL = "<img src=x onerror=alert(1)>"
TSV = f"""Ada NNP O B-PER
{EVIL.replace(" ", "_")} NN O B-ORG
in IN O O
Oster NNP O B-LOC
. . O O
"""


@pytest.fixture
def evil(person, make_project):
    """A project whose name, labels and tokens try to be markup, and its owner."""
    ada = person("ada")
    tasks = [
        {"name": "entities", "kind": "spans", "labels": ["PER", "ORG", "LOC", EVIL]},
        {"name": EVIL[:60], "kind": "classes", "labels": ["calm", f"{EVIL}!"]},
        {"name": "links", "kind": "relations", "labels": [EVIL], "parent": "entities"},
        {"name": "syntax", "kind": "tree", "labels": []},
    ]
    project = make_project(ada, name=f"Harbour {EVIL}", tasks=tasks, guidelines=EVIL)
    import_corpus(
        project=project,
        stream=io.BytesIO((TSV + "\n" + TSV).encode()),
        file_name=f"{EVIL}.conll",
        format="conll2003",
        labels="gold",
        created_by=ada,
    )
    sentence, topic = project.sentences.first(), project.tasks.get(kind="classes")
    now = timezone.now()
    Flag.objects.create(sentence=sentence, author=ada, comment=EVIL, created_at=now)
    Annotation.objects.create(
        sentence=sentence, task=topic, author=ada, value=f"{EVIL}!", created_at=now, updated_at=now
    )
    Suggestion.objects.create(
        sentence=sentence, task=topic, value="calm", confidence=0.95, source=EVIL, created_at=now
    )
    return project


def _pages(project):
    base = f"/projects/{project.pk}"
    task = project.tasks.first()
    sentence = project.sentences.first()
    return {
        "projects": "/",
        "new-project": "/projects/new/?template=entities-relations",
        "account": "/account/",
        "password": "/account/password/",
        "overview": f"{base}/",
        "data": f"{base}/data/?task={task.pk}&state=gold",
        "sentence": f"{base}/sentences/{sentence.pk}/",
        "inbox": f"{base}/inbox/",
        "review": f"{base}/review/",
        "labels": f"{base}/labels/?" + "&".join(f"label={x.pk}" for x in task.labels.all()[:3]),
        "import": f"{base}/import/",
        "export": f"{base}/export/",
        "members": f"{base}/members/",
        "settings": f"{base}/settings/",
        "tasks": f"{base}/tasks/",
        "edit-task": f"{base}/tasks/{task.pk}/",
        "new-task": f"{base}/tasks/new/",
        "not-found": f"{base}/sentences/0/",
    }


@pytest.mark.parametrize(
    ("theme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 360)]
)
def test_every_page_is_accessible_and_fits(open_page, evil, theme, width):
    ada = evil.memberships.get().user
    is_phone = width < 500
    page = open_page(
        ada,
        color_scheme=theme,
        viewport={"width": width, "height": 800},
        is_mobile=is_phone,
        has_touch=is_phone,
    )
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    faults = {}
    for name, path in _pages(evil).items():
        page.goto(path)
        picture(page, f"{name}-{width}-{theme}")
        found = []
        if not is_phone:
            found += severe_violations(page, *(["color-contrast"] if theme == "dark" else []))
        if overflow(page) > 0:
            found.append(f"{overflow(page)} pixels too wide")
        if page.locator("img").count():
            found.append("a text became an image")
        if found:
            faults[name] = found
    assert faults == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_doors_are_accessible(open_page, evil, theme):
    ada = evil.memberships.get().user
    token = invite(project=evil, role=Role.CURATOR, invited_by=ada, now=timezone.now()).token
    page = open_page(color_scheme=theme)
    faults = {}
    for name, path in {
        "sign-in": "/sign-in/",
        "sign-in-link": "/sign-in/some-token/",
        "invitation": f"/invitations/{token}/",
        "invitation-gone": "/invitations/other/",
    }.items():
        page.goto(path)
        picture(page, f"{name}-1280-{theme}")
        faults |= {name: found} if (found := severe_violations(page)) else {}
    assert faults == {}


def test_the_accessibility_check_sees_faults(open_page):
    page = open_page()
    page.set_content("<html lang=en><title>x</title><main><button></button></main></html>")
    assert "button-name" in severe_violations(page)[0]


def test_names_labels_and_words_are_shown_as_text(open_page, evil):
    page = open_page(evil.memberships.get().user)
    base = f"/projects/{evil.pk}"
    page.goto(f"{base}/")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Harbour {EVIL}")
    expect(page.locator(".label", has_text=EVIL).first).to_be_visible()
    page.goto(f"{base}/data/")
    expect(page.locator(".sentences p").first).to_contain_text(EVIL.replace(" ", "_"))
    page.goto(f"{base}/sentences/{evil.sentences.first().pk}/")
    expect(page.locator("tandem-sentence").first).to_contain_text(EVIL.replace(" ", "_"))


def test_the_chosen_theme_is_there_from_the_first_byte_on(open_page, person):
    page = open_page(person("ada"), color_scheme="light")
    page.goto("/")
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert 'data-theme="dark"' in page.request.get("/").text()
    page.goto("/account/")
    page.get_by_label("system", exact=True).check(force=True)
    with page.expect_response("**/theme/"):
        page.get_by_role("group", name="Theme").get_by_role("button", name="Apply").click()
    assert "data-theme" not in page.request.get("/").text().partition("<head>")[0]
