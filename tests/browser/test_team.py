"""The pages of admins and curators with a project of ten rounds and five people."""

import pytest
from playwright.sync_api import expect

from annotation.adjudication.selectors import decisions, disputes
from tests.browser.looking import overflow, severe_violations
from tests.browser.team_project import make_team


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


@pytest.mark.parametrize("width", [390, 1400])
def test_the_pages_fit_and_can_be_read(open_page, team, width):
    page = _page(open_page, team, "team/", viewport={"width": width, "height": 900})
    for path in ("team/", "adjudicate/", "studies/", "studies/new/replay/"):
        page.goto(f"/projects/{team.pk}/{path}")
        assert overflow(page) <= 0, path
        assert not severe_violations(page), path
