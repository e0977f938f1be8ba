"""A walk by the quote, the plan and the ledger: numbers follow what is changed."""

import io

from django.core.management import call_command
from playwright.sync_api import expect

from annotation.models import Project, Round
from annotation.rounds.settings import RoundSettings
from tests.browser.looking import overflow, picture, severe_violations


def _rounds(project):
    """Store three rounds with scores, the last one compared with chance."""
    for number, (n, entities, topic) in enumerate(
        ((50, 0.5, 0.7), (100, 0.6, 0.78), (200, 0.68, 0.93)), 1
    ):
        scores = {
            name: {"score": s, "interval": [s - 0.02, s + 0.02], "n": 100, "metrics": {},
                   "calibration": {"overconfidence": 0.0, "bins": []},
                   "calibration_scaled": {"overconfidence": 0.0, "bins": []}}
            for name, s in (("entities", entities), ("topic", topic))
        }  # fmt: skip
        ledger = {
            "entities": {"chance": 0.62, "chosen": 0.68, "difference": 0.06,
                         "interval": [0.03, 0.09], "verdict": "better"}
        }  # fmt: skip
        training = {
            "is_seed": False,
            "scores": scores,
            "temperatures": {},
            "n_labelled": {"entities": n, "topic": n},
            "n_train": n,
            "n_test": 100,
            "control": {"n_labelled": n, "scores": scores, "ledger": ledger},
        }
        Round.objects.create(
            project=project,
            number=number,
            state=Round.State.DONE,
            config=RoundSettings().to_dict(),
            stages={"training": training},
        )


def test_an_owner_asks_for_a_quote_plans_by_it_and_reads_the_ledger(
    open_page, person, make_project
):
    owner = person("ilse")
    project = make_project(owner, hour_price=40)
    project.tasks.filter(name="entities").update(target_score=0.75)
    project.tasks.filter(name="topic").update(target_score=0.9)
    _rounds(project)
    call_command("quote", str(project.pk), stdout=io.StringIO())
    call_command("ledger", str(project.pk), stdout=io.StringIO())
    page = open_page(owner)
    page.goto(f"/projects/{project.pk}/quote/")
    numbers = page.locator("[data-live=numbers]")
    expect(numbers).to_contain_text("Work still to do")
    expect(page.locator("[data-live=targets]")).to_contain_text("reached")  # topic
    before = numbers.locator("b").first.inner_text()
    target = page.get_by_label("Target of entities")
    target.fill("0.70")
    expect(numbers.locator("b").first).not_to_have_text(before)
    expect(target).to_be_focused()
    page.get_by_label("Hours per week").fill("6")
    page.get_by_label("Deadline").fill("2099-01-01")
    expect(numbers).to_contain_text("likely")
    page.locator(".what-if", has_text="Two answers per sentence").click()
    expect(numbers).to_contain_text("As planned it would be")
    page.get_by_label("Hours per week").fill("-1")
    expect(page.locator("[data-problem]")).to_contain_text("more than 0")
    page.get_by_label("Hours per week").fill("6")
    expect(page.locator("[data-problem]")).to_be_hidden()
    target.fill("0.70")
    plan = page.get_by_role("button", name="Make it the plan")
    expect(plan).to_be_enabled()
    plan.click()
    expect(page.get_by_text("The plan is changed")).to_be_visible()
    call_command("quote", str(project.pk), stdout=io.StringIO())  # what the job does that this made
    assert project.tasks.get(name="entities").target_score == 0.7
    assert Project.objects.get(pk=project.pk).weekly_hours == 6
    page.get_by_role("button", name="Keep this quote").click()
    expect(page.get_by_text("Kept:")).to_be_visible()
    expect(page.get_by_label("Earlier quotes").first).to_contain_text("entities")
    page.reload()
    for scheme in ("light", "dark"):
        for width in (390, 820, 1400):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            assert overflow(page) == 0, (scheme, width)
            picture(page, f"quote-{scheme}-{width}")
        assert severe_violations(page) == []
    page.goto(f"/projects/{project.pk}/")
    expect(page.locator("[data-saved]")).to_contain_text("saved so far")
    expect(page.locator("[data-saved]")).to_contain_text("EUR")
    expect(page.get_by_text("All targets:")).to_be_visible()
    page.goto(f"/projects/{project.pk}/rounds/plan/")
    expect(page.get_by_text("All targets:")).to_be_visible()
