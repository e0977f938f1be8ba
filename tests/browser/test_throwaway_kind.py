"""A kind of task that is one file of Python and one of JavaScript lives its whole life in pages."""

import json
import shutil
from pathlib import Path

import pytest
from django.contrib.staticfiles.finders import get_finder
from drf_spectacular.generators import SchemaGenerator
from playwright.sync_api import expect

from annotation.models import Annotation, Ask, Gold, Membership, Project, Role, Suggestion
from mtl_engine.kinds import KINDS
from tests.openapi import WATCH, Checker
from tests.throwaway.stars import STARS, StarsKind

HERE = Path(__file__).parent
WORDS = {"awful": "1", "poor": "2", "fair": "3", "good": "4", "superb": "5"}
PLACES = ("Rome", "Oslo", "Lima", "Bonn", "Kyiv", "Bern", "Cork", "Nice")
KNOWN = [(f"{place} was {word}", stars) for place in PLACES for word, stars in WORDS.items()]
OPEN = [f"{place} is truly {word}" for place in PLACES[:3] for word in WORDS]


@pytest.fixture
def _stars(monkeypatch, settings, tmp_path):
    """Put both files where a release would have them, for as long as the test runs."""
    kind = StarsKind()
    monkeypatch.setitem(KINDS, kind.name, kind)
    kinds = tmp_path / "static" / "annotation" / "annotate" / "kinds"
    kinds.mkdir(parents=True)
    shutil.copy(HERE / "stars.js", kinds)
    settings.STATICFILES_DIRS = [tmp_path / "static"]
    get_finder.cache_clear()
    described = Checker(SchemaGenerator().get_schema(request=None, public=True))
    monkeypatch.setattr(WATCH, "checker", lambda: described)
    yield
    get_finder.cache_clear()


def _file(tmp_path, name, rows):
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _import(page, project, path, labels, n):
    page.goto(f"/projects/{project.pk}/import/")
    page.get_by_label("File", exact=True).set_input_files(path)
    page.get_by_label("Labels in the file").select_option(labels)
    page.get_by_role("button", name="Check the file").click()
    page.get_by_role("button", name=f"Import {n} sentences").click()
    expect(page.get_by_role("status")).to_contain_text(f"{n} sentences are in the corpus")


def _answer(page, project, keys):
    """Answer the asks of somebody, each by the next key."""
    page.goto(f"/projects/{project.pk}/annotate/")
    place = page.locator("#place")
    for n, key in enumerate(keys, start=1):
        expect(place).to_contain_text(f"ask {n} of")
        expect(page.locator("#submit")).to_be_enabled()
        page.keyboard.press(key)
        expect(page.get_by_role("radio", checked=True)).to_have_attribute("data-label", key)
        page.keyboard.press("Enter")
    expect(place).to_contain_text(f"ask {len(keys) + 1} of")


@pytest.mark.usefixtures("_stars")
def test_a_kind_of_two_files_lives_from_the_new_project_to_the_export(
    open_page, person, work, tmp_path
):
    ada, ben = person("ada", is_superuser=True), person("ben")
    page = open_page(ada)

    # A project is described, and two files come in: one of answers, one to be answered.
    page.goto("/")
    page.get_by_role("link", name="New project").first.click()
    page.get_by_role("link", name="Your own tasks").click()
    page.get_by_label("Name", exact=True).first.fill("Hotels")
    page.get_by_label("Name", exact=True).last.fill("rating")
    page.get_by_label("Kind").select_option(label="Stars: from one to five")
    page.get_by_label("Labels", exact=True).fill("\n".join(STARS))
    page.get_by_role("button", name="Create project").last.click()
    expect(page.get_by_role("status")).to_contain_text("Hotels is there.")
    project = Project.objects.get()
    Membership.objects.create(project=project, user=ben, role=Role.ANNOTATOR)
    Project.objects.update(overlap=2)
    wrong = [{"text": "Rome was odd", "labels": {"rating": "6"}}]
    page.goto(f"/projects/{project.pk}/import/")
    page.get_by_label("File", exact=True).set_input_files(_file(tmp_path, "wrong", wrong))
    page.get_by_role("button", name="Check the file").click()
    expect(page.locator("body")).to_contain_text("'6' is no number of stars. Give one to five")
    rows = [{"text": text, "labels": {"rating": stars}} for text, stars in KNOWN]
    _import(page, project, _file(tmp_path, "known", rows), "gold", len(KNOWN))
    assert Gold.objects.count() == len(KNOWN)
    open_rows = [{"text": text} for text in OPEN]
    _import(page, project, _file(tmp_path, "open", open_rows), "none", len(OPEN))

    # A round learns stars, chooses sentences and suggests stars for them.
    page.goto(f"/projects/{project.pk}/rounds/plan/")
    page.get_by_role("spinbutton", name="Budget").fill("8")
    page.get_by_text("More settings").click()
    page.get_by_role("radio", name="sentences", exact=True).check(force=True)
    page.get_by_label("Encoder").select_option("tiny")
    page.get_by_label("Test slice", exact=True).fill("20")
    page.get_by_role("button", name="Start round 1").click()
    expect(page.locator("h1 .badge")).to_have_text("queued")
    work()
    expect(page.locator("h1 .badge")).to_have_text("labelling", timeout=120_000)
    assert Ask.objects.filter(queue__round__number=1).count() == 8
    suggested = set(Suggestion.objects.values_list("value", flat=True))
    assert suggested
    assert suggested <= set(STARS)

    # Two people answer, one of them a star higher; pages show both as stars.
    _answer(page, project, "1234")
    _answer(open_page(ben), project, "2345")
    values = Annotation.objects.order_by("created_at").values_list("author__username", "value")
    assert sorted(values) == [*(("ada", key) for key in "1234"), *(("ben", key) for key in "2345")]
    page.goto(f"/projects/{project.pk}/agreement/")
    table = page.get_by_role("table").filter(has_text="rating").first
    expect(table).to_contain_text("closeness")
    expect(table).to_contain_text(".75")
    page.goto(f"/projects/{project.pk}/adjudicate/")
    expect(page.locator("main")).to_contain_text("★★")
