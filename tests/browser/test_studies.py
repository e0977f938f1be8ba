"""A study's page: every configuration has its curve, however many there are."""

from django.core.management import call_command
from playwright.sync_api import expect

STUDY = """
name = "levels"
kind = "trivial"
seeds = [0, 1]
settings = { n_rows = 3 }
factors = { level = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] }
"""


def test_each_of_many_configurations_has_a_panel_with_its_single_runs(
    open_page, person, make_project, tmp_path, settings
):
    settings.TANDEM_HOME = tmp_path
    (tmp_path / "levels.toml").write_text(STUDY)
    call_command("run_sweep", str(tmp_path / "levels.toml"), "--executor", "serial")
    project = make_project(person("ada", is_superuser=True))
    page = open_page(project.memberships.get().user)
    page.goto(f"/projects/{project.pk}/studies/")
    page.get_by_role("link", name="levels").click()
    panels = page.locator(".panels figure")
    expect(panels).to_have_count(14)
    expect(panels.nth(13).locator("figcaption")).to_have_text("14")
    expect(panels.nth(13).locator("circle")).to_have_count(3 * 2)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
