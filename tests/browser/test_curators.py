"""What curators do besides deciding disputes: the inbox, labels, single answers."""

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone
from playwright.sync_api import expect

from annotation.models import Annotation, Flag, Gold, Suggestion
from annotation.queue.asks import ask_everything
from tests.browser.test_adjudicate import ANN, TASKS, store_answers


@pytest.fixture
def project(person, make_project):
    """A project with one answered sentence and two flags on it."""
    made = make_project(person("ada"), tasks=TASKS)
    ann = person("ann")
    store_answers(made, ann, ANN)
    for comment in ("Is Acme a place?", "Who is Ann?"):
        Flag.objects.create(
            sentence=made.sentences.get(), author=ann, comment=comment, created_at=timezone.now()
        )
    return made


def _open(open_page, project, page_name, **options):
    page = open_page(project.memberships.get().user, **options)
    page.goto(f"/projects/{project.pk}/{page_name}/")
    return page


def _press(page, key):
    """Press a key on the page that was just seen, once its scripts listen."""
    page.wait_for_load_state()
    page.keyboard.press(key)


def test_flags_are_walked_answered_and_undone_by_keyboard(open_page, project):
    page = _open(open_page, project, "inbox")
    keys = page.keyboard
    expect(page.locator(".notice.warn")).to_have_text("Who is Ann?")
    _press(page, "j")
    expect(page.locator(".notice.warn")).to_have_text("Is Acme a place?")
    expect(page.locator("[data-walk] a[aria-current]")).to_be_focused()
    page.get_by_label("Answer", exact=True).fill("No, a company: dj")
    keys.press("Control+Enter")
    expect(page.locator(".notice.good")).to_contain_text("Answered")
    assert Flag.objects.get(comment="Is Acme a place?").answer == "No, a company: dj"
    expect(page.get_by_role("link", name="Inbox 1 open")).to_be_visible()
    _press(page, "d")
    expect(page.get_by_role("heading", name="Nothing is waiting")).to_be_visible()
    _press(page, "z")
    expect(page.locator(".notice.warn")).to_have_text("Who is Ann?")


def test_a_flag_is_left_for_later_and_goes_to_somebody_else_by_keyboard(open_page, project):
    ask_everything(project=project)
    page = _open(open_page, project, "inbox")
    expect(page.locator(".notice.warn")).to_have_text("Who is Ann?")
    _press(page, "s")
    expect(page.locator(".notice.warn")).to_have_text("Is Acme a place?")
    expect(page.locator("[data-walk] li").last).to_contain_text("Who is Ann?")
    _press(page, "2")
    expect(page.get_by_text("Somebody else is asked")).to_be_visible()
    expect(page.locator("[data-walk] li")).to_have_count(1)
    assert Flag.objects.get(comment="Is Acme a place?").outcome == "closed"
    assert project.queues.get().asks.get().purpose == "second"


def test_a_flag_leads_to_the_gold_editor(open_page, project):
    page = _open(open_page, project, "inbox")
    page.keyboard.press("e")
    expect(page.get_by_role("heading", name="Edit gold")).to_be_visible()
    expect(page.locator('[data-case="Entities"] .word')).to_have_count(5)
    topic = page.locator('[data-case="Topic"]')
    topic.get_by_role("button", name="Edit").click()
    expect(page.locator("[data-count]")).to_have_text("Topic edited")
    page.get_by_role("button", name="Save gold").click()
    expect(page.get_by_role("heading", name="Sentence 1")).to_be_visible()
    assert list(Gold.objects.values_list("task__name", "value")) == [("Topic", "work")]


def test_answers_are_kept_edited_and_undone_by_keyboard(open_page, project):
    ann = get_user_model().objects.get(username="ann")
    for answer in Annotation.objects.filter(author=ann):
        other = {"Entities": [[0, 1, "PER"], [2, 3, "LOC"]], "Topic": "travel"}
        Suggestion.objects.create(
            sentence=answer.sentence, task=answer.task, source="round 1", confidence=0.95,
            value=other.get(answer.task.name, answer.value), created_at=answer.created_at,
        )  # fmt: skip
    page = _open(open_page, project, "review")
    keys = page.keyboard
    expect(page.get_by_role("heading", name="1 of 2")).to_be_visible()
    expect(page.locator("[data-only=answer]")).to_have_text("work")
    expect(page.locator("[data-only=model]")).to_have_text("travel")
    _press(page, "j")
    expect(page.locator("[data-only=answer]")).to_have_text("ORG: Acme")
    expect(page.locator("tandem-sentence .chip")).to_have_count(3)
    _press(page, "e")
    expect(page.locator("[data-changes]")).to_have_text("Nothing is changed yet.")
    page.locator(".editor .chip", has_text="ORG").click()
    keys.press("Backspace")
    expect(page.locator("[data-changes]")).to_have_text("− ORG: Acme")
    keys.press("Escape")
    expect(page.locator(".editor")).to_be_hidden()
    keys.press("e")
    page.locator(".editor .chip", has_text="ORG").click()
    keys.press("Backspace")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="1 of 1")).to_be_visible()
    assert Gold.objects.get().value == [[0, 1, "PER"]]
    _press(page, "Enter")
    expect(page.get_by_role("heading", name="Nothing is contradicted")).to_be_visible()
    assert Gold.objects.count() == 2
    _press(page, "Control+z")
    expect(page.locator("[data-only=answer]")).to_have_text("work")
    assert Gold.objects.count() == 1


def test_labels_are_renamed_described_moved_and_merged_in_place(open_page, project):
    page = _open(open_page, project, "labels")
    keys = page.keyboard
    row = page.locator("tr[data-label]")
    row.filter(has_text="ORG").get_by_role("rowheader").click()
    keys.press("F2")
    page.get_by_label("New name of ORG").fill("FIRM")
    keys.press("Enter")
    expect(page.locator(".log-list")).to_contain_text("renamed ORG to FIRM, 1 answers")
    assert [2, 3, "FIRM"] in Annotation.objects.get(task__name="Entities").value
    firm = row.filter(has_text="FIRM")
    expect(firm).to_be_focused()
    with page.expect_response("**/labels/*/") as moved:
        keys.press("Alt+ArrowUp")
    assert moved.value.ok
    task = project.tasks.get(name="Entities")
    assert [label.name for label in task.labels.all()] == ["FIRM", "PER", "LOC"]
    expect(row.first).to_contain_text("FIRM")
    firm.locator("[data-describe]").click()
    page.get_by_label("What FIRM means").fill("companies")
    keys.press("Enter")
    expect(firm.locator("[data-describe]")).to_have_text("companies")
    page.get_by_label("Choose FIRM").check()
    page.get_by_label("Choose PER").check()
    keys.press("m")
    page.get_by_label("Keep the name").select_option("PER")
    page.get_by_role("button", name="Merge 1 answer").click()
    expect(page.get_by_role("status").first).to_have_text("FIRM is PER now.")
    assert Annotation.objects.get(task__name="Entities").value == [[0, 1, "PER"], [2, 3, "PER"]]
    page.locator(".log-list li").filter(has_text="merged").get_by_role("button").click()
    expect(page.locator(".log-list .undone")).to_have_count(1)
    assert [2, 3, "FIRM"] in Annotation.objects.get(task__name="Entities").value
