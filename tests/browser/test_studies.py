"""A study's page: every configuration has its curve, however many there are."""

import pytest
from django.core.management import CommandError, call_command
from playwright.sync_api import expect

STUDY = """
name = "levels"
kind = "benchmarks.trivial_study"
seeds = [0, 1]
settings = { n_rows = 3 }
factors = { level = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] }
"""


def test_each_of_many_configurations_has_a_panel_with_its_single_runs(
    open_page, person, make_project, tmp_path, monkeypatch
):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
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
    expect(panels.nth(13).locator("svg > :last-child")).to_have_class("series chosen")  # on top
    said = page.locator("[data-legend] span").all_inner_texts()
    assert said == ["mean", "single runs", "the others"]
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_pages_tell_how_many_runs_are_missing_and_which_configurations_lack_them(
    open_page, person, make_project, tmp_path, monkeypatch
):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    file = tmp_path / "partly.toml"
    file.write_text(
        'name = "partly"\nkind = "benchmarks.trivial_study"\nseeds = [0, 1]\n'
        "[settings]\nn_rows = 3\nfails_on = 0\n[factors]\nlevel = [1, 2]\n"
    )
    with pytest.raises(CommandError, match="2 runs failed"):
        call_command("run_sweep", str(file), "--executor", "serial", "--limit", "3")
    project = make_project(person("ada", is_superuser=True))
    page = open_page(project.memberships.get().user)
    page.goto(f"/projects/{project.pk}/studies/")
    expect(page.get_by_role("row", name="partly")).to_contain_text("1 of 4")
    expect(page.get_by_role("row", name="partly")).to_contain_text("2 failed")
    page.get_by_role("link", name="partly").click()
    line = "3 of 4 runs missing: 1 not computed yet, 2 failed."
    expect(page.locator(".notice")).to_contain_text(line)
    gaps = page.locator(".card", has_text="Configurations that lack runs")
    expect(gaps.locator("tbody tr").nth(0)).to_contain_text("1 of 2")
    expect(gaps.locator("tbody tr").nth(1)).to_contain_text("asked to fail on seed 0")
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
