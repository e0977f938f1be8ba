"""The README's tour of ten minutes, done in the browser as it is told."""

import json
import re
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotation.accounts.services import create_admin
from annotation.demo.services import NEWS_DESK, corpus_lines, create_demo_projects
from annotation.models import Annotation, Gold, Project
from tests.browser.annotate_fixtures import Hands

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
SIZES = {"N_LABELLED": 40, "N_TEST": 30, "N_OPEN": 40}
TRAINS = 180_000  # milliseconds that a round may take on a busy machine
# What the README's section names in bold, and this test does.
STEPS = {"Demo: news desk", "Annotate", "Rounds", "Plan a round", "Overview", "Settings"}
STEPS |= {"People", "For researchers", "Adjudicate", "Data", "Export"}


@pytest.fixture
def token(transactional_db, monkeypatch):
    """The token of the first sign-in link, beside small demo projects."""
    for name, size in SIZES.items():
        monkeypatch.setattr(f"annotation.demo.services.{name}", size)
    ada, token = create_admin(username="ada", now=timezone.now())
    assert len(list(create_demo_projects(owner=ada))) == 2
    return token


@pytest.fixture
def truth():
    """The grammar's own answers to the sentences of the news desk, by words."""
    lines = corpus_lines(NEWS_DESK, first=0, last=sum(SIZES.values()), labelled=True)
    return {" ".join(row["tokens"]): row for row in map(json.loads, lines)}


def test_the_tour_of_the_readme_is_walked_from_the_link_to_the_export(
    open_page, token, truth, work
):
    section = README.partition("## A tour of ten minutes")[2].partition("\n## ")[0]
    for words in re.findall(r"\*\*(.+?)\*\*", section):
        assert words in STEPS, f"the README speaks of {words}, which this test does not do"
    page = open_page()
    _sign_in(page, token)
    page.get_by_role("link", name="Demo: news desk").first.click()
    _tab(page, "Annotate")
    answered = _annotate_by_keys(page, truth)
    _train_a_round(page, work)
    asked = _check_suggestions(page)
    assert asked != " ".join(answered["tokens"])
    _read_the_overview(page)
    other = open_page()
    _invite(page, other)
    _ask_for_two_answers(page)
    _differ(other, asked)
    _adjudicate(page)
    _export(page, answered)


def _tab(page, name):
    page.get_by_role("navigation", name="Project").get_by_role("link", name=name).click()


def _sign_in(page, token):
    page.goto(f"/sign-in/{token}/")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose a password")
    for box in page.locator("input[type=password]").all():
        box.fill("harbour bell 7")
    page.get_by_role("button", name="Set password").click()
    for name in ("Demo: news desk", "Demo: travel assistant"):
        expect(page.get_by_role("link", name=name).first).to_be_visible()


def _text(page):
    """Return the sentence on the annotate page, once it is leased."""
    expect(page.locator("#sentence .word").first).to_be_visible()
    expect(page.locator("#submit")).to_be_enabled()
    return " ".join(page.locator("#sentence .word").all_inner_texts())


def _submit(page):
    """Submit what is ready, and wait until the server has it."""
    expect(page.locator("#submit")).to_contain_text("Submit and next")
    with page.expect_response("**/submit/") as response:
        page.keyboard.press("Enter")
    assert response.value.ok, response.value.text()


def _digit(topic):
    """Return the key of a topic, which is its place."""
    spec = next(task for task in NEWS_DESK.spec["tasks"] if task["name"] == "Topic")
    return str(spec["labels"].index(topic) + 1)


def _annotate_by_keys(page, truth):
    """Give one sentence the grammar's answers, go back into it by Ctrl+Z and submit again."""
    hands = Hands(page)
    text = _text(page)
    labels = truth[text]["labels"]
    hands.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next")
    hands.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    for start, end, label in labels["Entities"]:
        hands.go(start)
        hands.press(*["Shift+ArrowRight"] * (end - start - 1), hands.key_of("Entities", label))
    expect(page.locator("#sentence .chip")).to_have_count(len(labels["Entities"]))
    hands.press(_digit(labels["Topic"]))
    for start, _, other, _, label in labels["Relations"]:
        hands.go(start)
        steps = other - start
        hands.press("r", *["ArrowRight" if steps > 0 else "ArrowLeft"] * abs(steps))
        hands.press(hands.key_of("Relations", label))
    hands.press("Enter")  # goes to what is missing
    expect(page.locator("#message")).to_contain_text("Syntax")
    hands.open_task("Syntax")
    for dep, (head, label) in enumerate(labels["Syntax"]):
        hands.go(dep)
        if not head:
            hands.press("0")
            continue
        hands.press("h", "Home", *["ArrowRight"] * (head - 1), "Enter")
        page.keyboard.type(label)
        hands.press("Enter")
    _submit(page)
    expect(page.locator("#place")).to_contain_text("ask 2 of 40")
    assert _text(page) != text
    assert dict(Annotation.objects.values_list("task__name", "value")) == labels
    hands.press("Control+z")
    hands.wait_for_sentence(text.split()[0])
    assert _text(page) == text
    _submit(page)
    expect(page.locator("#place")).to_contain_text("ask 2 of 40")
    return truth[text]


def _train_a_round(page, work):
    """Plan a round, start it, and follow it until its queue is there."""
    project = Project.objects.get(name="Demo: news desk")
    page.goto(f"/projects/{project.pk}/")
    _tab(page, "Rounds")
    page.get_by_role("link", name="Plan a round").click()
    budget = page.get_by_role("spinbutton", name="Budget")
    expect(budget).to_have_value("60")
    expect(page.locator("[data-plan] .checks li").first).to_be_visible()
    page.get_by_text("More settings").click()
    expect(page.get_by_role("radio", name="MT-EEC")).to_be_checked()
    expect(page.get_by_label("Random share", exact=True)).to_have_value("20")
    page.get_by_role("radio", name="sentences", exact=True).check(force=True)
    budget.fill("8")
    page.get_by_label("Encoder").select_option("tiny")
    page.get_by_label("Test slice", exact=True).fill("30")
    page.get_by_label("Blind share", exact=True).fill("0")
    page.get_by_text("More about choosing").click()
    page.get_by_label("Whole sentences", exact=True).check()
    page.get_by_role("button", name="Start round 1").click()
    expect(page.get_by_text("Waiting for a free worker.")).to_be_visible()
    address = page.url
    page.get_by_role("link", name="Annotate").first.click()  # the old queue is there meanwhile
    expect(page.locator("#place")).to_contain_text("ask 2 of 40")
    page.goto(address)
    work()
    expect(page.locator("h1 .badge")).to_have_text("labelling", timeout=TRAINS)


def _check_suggestions(page):
    """Answer a sentence of the round with its suggestions, and return its words."""
    _tab(page, "Annotate")
    held, hands = _text(page), Hands(page)
    hands.press("F4")  # what was open before the round
    page.get_by_role("button", name="Leave for later").click()
    expect(page.locator("#round")).to_contain_text("ound 1")
    text = _text(page)
    assert text != held
    why = page.locator("#why")
    expect(why).to_contain_text("rank 1 of 8")
    expect(why).to_contain_text("The model's confidence")
    expect(why).not_to_contain_text("It is next in the queue.")
    submit, rest = page.locator("#submit"), page.locator("#accept-all")
    expect(submit).to_contain_text("Check next")
    expect(submit).to_be_enabled()
    n_left = int(re.search(r"\d+", rest.inner_text())[0])
    hands.press("Enter", "a")
    expect(rest).to_contain_text(f"Accept all {n_left - 1}")
    hands.press("Enter", "x")
    expect(rest).not_to_contain_text(f"Accept all {n_left - 1}")
    hands.press("Control+z")
    expect(rest).to_contain_text(f"Accept all {n_left - 1}")
    hands.press("Shift+Enter")
    _submit(page)
    expect(page.locator("#counts")).to_contain_text("1 done")
    return text


def _read_the_overview(page):
    page.get_by_role("link", name="Demo: news desk").click()
    expect(page.get_by_role("link", name="Overview")).to_have_attribute("aria-current", "page")
    expect(page.locator("[data-dashboard]")).to_have_attribute("data-ready", "yes")
    expect(page.locator("[data-chart=curves] svg.chart")).to_have_count(4)
    expect(page.locator("[data-legend]")).to_contain_text("95 % interval")
    expect(page.get_by_text("1 of 8 asks")).to_be_visible()
    page.get_by_text("For researchers").click()
    for name in ("Pool map", "Calibration"):
        expect(page.get_by_role("heading", name=name)).to_be_visible()


def _invite(page, other):
    """Create a link under Settings, and join by it in another browser."""
    _tab(page, "Settings")
    parts = page.get_by_role("navigation", name="Settings")
    parts.get_by_role("link", name="People").click()
    page.get_by_label("For whom").fill("Bob from the night shift")
    page.get_by_role("button", name="Create a link").click()
    other.goto(page.get_by_label("The link").input_value())
    other.get_by_label("Your name").fill("bob")
    other.get_by_label("Password").fill("harbour bell 8")
    other.get_by_role("button", name="Create account and join").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Demo: news desk")
    parts.get_by_role("link", name="Project").click()


def _ask_for_two_answers(page):
    page.get_by_label("Answers per sentence").fill("2")
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_role("status")).to_be_visible()
    _tab(page, "Adjudicate")
    expect(page.get_by_role("heading", name="Nothing to compare yet")).to_be_visible()


def _differ(page, asked):
    """Answer the same sentence with another topic."""
    _tab(page, "Annotate")
    hands = Hands(page)
    assert _text(page) == asked
    hands.press("Shift+Enter")
    topic = Annotation.objects.filter(task__name="Topic").latest("pk").value
    hands.press(_digit("sport" if topic != "sport" else "health"))
    _submit(page)
    expect(page.locator("#counts")).to_contain_text("1 done")


def _adjudicate(page):
    n_gold = Gold.objects.count()
    page.reload()
    topic = page.locator('[data-case="Topic"]')
    topic.get_by_role("radio").first.check()
    expect(page.locator("[data-count]")).to_have_text("1 of 1 decided")
    page.get_by_role("button", name="Save gold and next").click()
    expect(page.get_by_role("heading", name="All decided")).to_be_visible()
    assert Gold.objects.count() > n_gold


def _export(page, answered):
    _tab(page, "Data")
    page.get_by_role("link", name="Export").click()
    page.get_by_label("Format").select_option("jsonl")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    rows = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    stored = {row["text"]: row["labels"] for row in rows}
    assert stored[answered["text"]] == answered["labels"]
