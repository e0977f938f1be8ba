"""The pages of admins and curators with a project of ten rounds and five people."""

import re

import pytest
from playwright.sync_api import expect

from annotation.adjudication.selectors import decisions, disputes
from annotation.jobs.insights import get_insight, keep_insight
from tests.browser.looking import overflow, picture, severe_violations
from tests.browser.team_project import make_team, store_research


@pytest.fixture
def team(person, transactional_db):
    return make_team(person("olga"), n_rounds=10, per_round=6)


def _page(open_page, team, path="", **options):
    page = open_page(team.memberships.get(role="owner").user, **options)
    page.goto(f"/projects/{team.pk}/{path}")
    return page


def test_the_overview_answers_and_its_pool_map_leads_to_sentences(open_page, team):
    page = _page(open_page, team)
    expect(page.locator("[data-dashboard]")).to_have_attribute("data-ready", "yes")
    expect(page.get_by_role("heading", name="Where it stands")).to_be_visible()
    legend = page.locator("[data-legend]")
    expect(legend).to_contain_text("target")
    page.get_by_text("For researchers").click()
    expect(page.locator("[data-chart=calibration]")).to_contain_text("Underconfident by 9 points")
    mark = page.locator("[data-chart=pool] a").first
    expect(mark.locator("title")).not_to_be_empty()
    assert not severe_violations(page)
    page.goto(mark.get_attribute("href"))
    expect(page.locator("h1")).to_be_visible()


def test_disputes_are_walked_by_keyboard_alone(open_page, team):
    page = _page(open_page, team, "adjudicate/")
    expect(page.locator(".decision input").first).to_be_focused()
    first, second = (d.sentence_id for d in disputes(team)[:2])
    page.keyboard.press("s")
    page.wait_for_url(f"**sentence={second}*")
    page.goto(f"/projects/{team.pk}/adjudicate/")
    expect(page.locator(".decision input").first).to_be_focused()
    n_cards = page.locator(".decision").count()
    for number in range(n_cards):
        page.locator(".decision input").nth(0 if number == 0 else -1).focus()
        page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("gold.").first).to_be_visible()
    assert [d.sentence_id for d in decisions(team)] == [first]
    page.keyboard.press("b")
    page.wait_for_url(f"**sentence={first}*")
    expect(page.get_by_text("Decided by olga")).to_be_visible()
    expect(page.locator(".decision input:checked")).to_have_count(n_cards)


PAGES = (
    *("", "rounds/", "rounds/plan/", "rounds/10/", "team/", "agreement/", "adjudicate/", "inbox/"),
    *("review/", "studies/", "studies/new/replay/", "working-styles/", "advice/", "suspects/"),
    *("webhooks/", "members/", "settings/", "quote/", "data/", "export/"),
)


FINISH = """for (const one of document.getAnimations())
    if (one instanceof CSSTransition) one.finish()"""  # colours that are on their way


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_the_pages_fit_and_can_be_read_in_light_and_dark(open_page, team, width):
    store_research(team)
    size = {"width": width, "height": 900}
    page = _page(open_page, team, viewport=size, color_scheme="light")
    faults = {}
    for path in PAGES:
        page.goto(f"/projects/{team.pk}/{path}")
        page.evaluate(
            "for (const part of document.querySelectorAll('main details')) part.open = true"
        )
        name = f"desk-{path.replace('/', '-')}{width}"
        picture(page, f"{name}-light")
        found = severe_violations(page)
        page.emulate_media(color_scheme="dark")
        page.evaluate(FINISH)
        picture(page, f"{name}-dark")
        found += severe_violations(page, "color-contrast")
        page.emulate_media(color_scheme="light")
        if overflow(page) > 0:
            found.append(f"{overflow(page)} pixels too wide")
        if found:
            faults[path] = found
    assert faults == {}


def test_the_current_tab_is_in_view_where_tabs_scroll(open_page, team):
    page = _page(open_page, team, "settings/", viewport={"width": 390, "height": 800})
    tab = page.locator(".tabs [aria-current]")
    expect(tab).to_have_text("Settings")
    expect(tab).to_be_in_viewport()


def test_working_styles_have_a_name_a_picture_and_what_to_do(open_page, team):
    store_research(team)
    page = _page(open_page, team, "working-styles/")
    styles = page.locator(".working-style")
    assert styles.count() >= 2
    expect(page.locator("main")).not_to_contain_text("span.add")
    for style in styles.all():
        expect(style.locator("svg.stacked rect").first).to_be_visible()
        expect(style.get_by_role("heading", name="What to do with it")).to_be_visible()
    styles.first.locator("ul.plain a").first.click()
    expect(page).to_have_url(re.compile(r"/sentences/\d+/"))


def test_advice_is_a_sentence_and_an_interval_per_pair_of_tasks(open_page, team):
    store_research(team)
    page = _page(open_page, team, "advice/")
    expect(page.get_by_text("Let the tasks share, with a gate.")).to_be_visible()
    expect(page.get_by_text("Entities helps Topic.")).to_be_visible()
    assert page.locator("svg.interval").count() == 2
    page.get_by_role("link", name="Plan a round").click()
    expect(page.get_by_role("heading", name="Plan round 11")).to_be_visible()


def test_a_draft_says_the_same_of_its_minutes_as_when_they_were_typed(open_page, team):
    hour = {"n_sentences": 60, "n_test": 12, "minutes": 60.0, "is_all": False}
    hour |= {"chance": 0.4, "tasks": {"Entities": 0.3, "Topic": 0.2, "Syntax": 0.1}}
    found = {"round": 10, "train_seconds": 30.0, "minutes": 60.0, "budgets": {"60": hour}}
    kind = get_insight("preview")
    keep_insight(project=team, kind=kind, settings={}, inputs="", result=found)
    page = _page(open_page, team, "rounds/plan/")
    page.get_by_role("spinbutton", name="Budget").fill("25")
    says = page.locator(".says")
    expect(says).to_contain_text("25 minutes will buy about 25 sentences. 5 of them are test")
    typed = says.inner_text()
    page.get_by_role("button", name="Keep as draft").click()
    expect(page.get_by_text("Your draft is saved")).to_be_visible()
    expect(page.get_by_role("spinbutton", name="Budget")).to_have_value("25")
    expect(says).to_have_text(typed)


def test_the_plan_shows_only_settings_that_the_strategy_uses(open_page, team):
    page = _page(open_page, team, "rounds/plan/")
    page.get_by_text("More settings").click()
    task, weights = (page.locator(f"[data-setting={name}]") for name in ("task", "weights"))
    scale = page.locator("[data-setting=scale]")
    expect(weights).to_be_visible()
    expect(task).to_be_hidden()
    expect(scale).to_be_hidden()
    page.get_by_role("radio", name="One task alone").check()
    expect(task).to_be_visible()
    expect(scale).to_be_visible()
    expect(weights).to_be_hidden()
    page.get_by_role("radio", name="By chance RANDOM").check()
    expect(scale).to_be_hidden()
