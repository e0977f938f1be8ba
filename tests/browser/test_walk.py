"""The way of a newcomer: from the sign-in link to an exported file."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotation.accounts.services import create_admin
from annotation.models import Corpus, Gold

GOOD = """-DOCSTART- -X- O O

The DT B-NP O
ferry NN I-NP O
Aurelia NNP I-NP B-ORG
left VBD B-VP O
Oster NNP B-NP B-LOC
. . O O

Ada NNP B-NP B-PER
waited VBD B-VP O
. . O O

"""
BAD = GOOD + "broken\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "harbour.conll").write_text(GOOD)
    (tmp_path / "broken.conll").write_text(BAD)
    return tmp_path


def test_from_the_sign_in_link_to_an_export_that_equals_the_import(
    open_page, transactional_db, files
):
    _, token = create_admin(username="ada", now=timezone.now())
    page = open_page()
    page.goto(f"/sign-in/{token}/")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Later").click()

    page.get_by_role("link", name="New project").first.click()
    page.get_by_role("link", name="Named entities People").click()
    page.get_by_label("Name", exact=True).first.fill("Harbour notices")
    page.get_by_role("button", name="Create project").last.click()
    expect(page.get_by_role("status")).to_contain_text("Harbour notices is created.")

    page.get_by_role("link", name="Import sentences").first.click()
    page.get_by_label("File", exact=True).set_input_files(files / "broken.conll")
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("1 problem in broken.conll")
    expect(page.get_by_role("cell", name="broken.conll:14")).to_be_visible()
    assert Corpus.objects.count() == 0

    page.get_by_role("link", name="Another file").click()
    page.get_by_label("File", exact=True).set_input_files(files / "harbour.conll")
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("harbour.conll can be imported")
    assert Corpus.objects.count() == 0
    page.get_by_role("button", name=re.compile("Import [0-9]+ sentence")).click()
    expect(page.get_by_role("status")).to_have_text("2 sentences are in the corpus harbour.")
    assert Gold.objects.count() == 2

    expect(page.locator(".marked").first).to_have_text("AureliaORG")
    page.get_by_label("Text contains").fill("WAITED")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".sentences > li")).to_have_count(1)
    page.get_by_role("link", name="Sentence 2").click()
    expect(page.locator("tandem-sentence")).to_contain_text("PER")

    page.get_by_role("link", name="Settings").click()
    parts = page.get_by_role("navigation", name="Settings")
    parts.get_by_role("link", name="People").click()
    page.get_by_label("For whom").fill("Bob from the night shift")
    page.get_by_role("button", name="Create a link").click()
    link = page.get_by_label("The link").input_value()
    expect(page.get_by_role("cell", name="Bob from the night shift", exact=True)).to_be_visible()

    other = open_page()
    other.goto(link)
    other.get_by_label("Your name").fill("bob")
    other.get_by_label("Password").fill("harbour bell 7")
    other.get_by_role("button", name="Create account and join").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Harbour notices")
    assert other.goto(page.url).status == 403
    expect(other.get_by_role("heading")).to_have_text("This is not open to you")

    page.reload()
    page.get_by_role("link", name="Data").click()
    page.get_by_role("link", name="Export").click()
    page.get_by_label("Format").select_option("conll2003")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    assert download.value.path().read_text() == GOOD


def test_a_project_is_made_with_the_keyboard_alone(open_page, person):
    page = open_page(person("ada"))
    page.goto("/")
    press = page.keyboard.press
    press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    press("Enter")
    press("Tab")
    press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("New project")
    _tab_to(page, "Your own tasks")
    press("Enter")
    page.wait_for_url("**template=blank**")
    _tab_to(page, "Name")
    page.keyboard.type("Voices")
    _tab_to(page, "Name")
    page.keyboard.type("topic")
    press("Tab")
    page.keyboard.type("Classes")
    _tab_to(page, "Labels")
    page.keyboard.type("question\nstatement")
    _tab_to(page, "Add a task")
    press("Enter")
    page.keyboard.type("names")
    _tab_to(page, "Labels")
    page.keyboard.type("PER")
    _tab_to(page, "Create project")
    press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Voices is created.")
    expect(page.locator(".task-labels")).to_contain_text(["question", "PER"])


def test_without_scripts_tasks_are_added_and_removed_all_the_same(open_page, person):
    page = open_page(person("ada"), java_script_enabled=False)
    page.goto("/projects/new/?template=slots-intent")
    page.get_by_label("Name", exact=True).first.fill("Voices")
    page.get_by_role("button", name="Remove task").first.click()
    page.get_by_role("button", name="Add a task").click()
    names = page.get_by_label("Name", exact=True)
    assert [box.input_value() for box in names.all()] == ["Voices", "intent", ""]
    names.last.fill("tone")
    page.get_by_label("Kind").last.select_option("classes")
    page.get_by_role("button", name="Create project").last.click()
    expect(page.locator(".errors")).to_have_text("A classes task needs labels, or open = true.")
    page.get_by_label("Labels", exact=True).last.fill("calm\nangry")
    page.get_by_role("button", name="Create project").last.click()
    expect(page.get_by_role("status")).to_contain_text("Voices is created.")


def _tab_to(page, name):
    """Press Tab until the next thing with this name has the focus."""
    here = "document.activeElement"
    named = f"({here}.labels?.[0] ?? {here}).innerText.trim().split('\\n')[0]"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(named) == name:
            return
    raise AssertionError(f"no way by Tab to '{name}'")
