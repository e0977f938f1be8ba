"""A round from its plan to the charts it leaves behind."""

import io

import numpy as np
import pytest
from playwright.sync_api import expect

from annotation.corpora.imports import import_corpus
from annotation.demo.services import TRAVEL_DESK, corpus_lines
from annotation.models import Job, Round
from annotation.projects.services import create_project
from annotation.queue.asks import AskRow, put_asks
from annotation.rounds.selection_stage import length_shares
from annotation.rounds.settings import RoundSettings
from tests.browser.looking import overflow, picture, severe_violations

LOOKS = [("light", 1280), ("dark", 1280), ("light", 390)]


@pytest.fixture
def project(person):
    """A project with labelled and open sentences."""
    made = create_project(spec=TRAVEL_DESK.spec, owner=person("ada"))
    for first, last, labels in ((0, 80, "gold"), (80, 140, "none")):
        lines = corpus_lines(TRAVEL_DESK, first=first, last=last, labelled=labels == "gold")
        import_corpus(
            project=made,
            stream=io.BytesIO("".join(lines).encode()),
            file_name=f"{labels}.jsonl",
            format="jsonl",
            labels=labels,
        )
    return made


def _plan(page, project):
    page.goto(f"/projects/{project.pk}/")
    page.get_by_role("link", name="Plan a round").click()
    page.get_by_role("spinbutton", name="Budget").fill("12")
    page.get_by_text("More settings").click()
    page.get_by_role("radio", name="sentences", exact=True).check(force=True)
    page.get_by_label("Encoder").select_option("tiny")
    page.get_by_label("Test slice", exact=True).fill("30")


def test_an_owner_plans_a_round_follows_it_and_reads_its_charts(open_page, project, work, tmp_path):
    ada = project.memberships.get().user
    page = open_page(ada)
    page.goto(f"/projects/{project.pk}/rounds/plan/")
    page.get_by_role("spinbutton", name="Budget").fill("1")
    expect(page.locator(".says")).to_contain_text("1 minute buy")
    page.get_by_role("spinbutton", name="Budget").fill("9000")
    expect(page.locator("[data-n-sentences]")).to_have_text("140 sentences")  # all there are
    _plan(page, project)
    page.get_by_role("button", name="Start round 1").click()
    expect(page.get_by_text("Waiting for a free worker.")).to_be_visible()
    expect(page.locator("[data-stage=queued]")).to_have_attribute("aria-current", "step")
    picture(page, "round-waiting-1280-light")
    Job.objects.update(worker="a-worker")
    Round.objects.update(state=Round.State.TRAINING)
    expect(page.locator("h1 .badge")).to_have_text("training")
    expect(page.locator("[data-worker]")).to_have_text("a-worker")
    Round.objects.update(state=Round.State.QUEUED)
    work()
    expect(page.locator("h1 .badge")).to_have_text("labelling", timeout=120_000)
    asks = page.get_by_role("region", name="Asks", exact=True)
    expect(asks.locator("tbody tr")).to_have_count(12)
    expect(page.get_by_role("heading", name="Scores")).to_be_visible()

    page.goto(f"/projects/{project.pk}/")
    expect(page.locator("[data-dashboard]")).to_have_attribute("data-ready", "yes")
    page.get_by_text("For researchers").click()
    for name in ("learning-curves", "pool", "calibration"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"{name} as a table").click()
        assert download.value.suggested_filename == f"{name}.csv"
        assert len(download.value.path().read_text().splitlines()) > 1
    with page.expect_download() as download:
        page.get_by_role("button", name="learning-curves as a picture").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    assert page.locator("[data-chart=curves] svg.chart").count() == 2
    _looks_well(open_page, project)


def _looks_well(open_page, project):
    """Assert that the pages of a round are accessible and fit, in both themes and on a phone."""
    ada = project.memberships.get().user
    base = f"/projects/{project.pk}"
    faults = {}
    for theme, width in LOOKS:
        page = open_page(ada, color_scheme=theme, viewport={"width": width, "height": 900})
        for name, path in {
            "dashboard": f"{base}/",
            "plan": f"{base}/rounds/plan/",
            "rounds": f"{base}/rounds/",
            "round": f"{base}/rounds/1/",
        }.items():
            page.goto(path)
            if name == "dashboard":
                expect(page.locator("[data-dashboard]")).to_have_attribute("data-ready", "yes")
            picture(page, f"{name}-{width}-{theme}")
            found = severe_violations(page) if width > 500 else []
            if overflow(page) > 0:
                found.append(f"{overflow(page)} pixels too wide")
            if found:
                faults[name, theme, width] = found
    assert faults == {}


def test_what_cannot_start_is_said_on_the_plan_and_a_queued_round_can_be_cancelled(
    open_page, project
):
    page = open_page(project.memberships.get().user)
    _plan(page, project)
    page.get_by_role("spinbutton", name="Budget").fill("-3")
    page.get_by_role("button", name="Start round 1").click()
    expect(page.locator(".errors").first).to_be_visible()
    page.get_by_role("spinbutton", name="Budget").fill("12")
    page.get_by_role("button", name="Start round 1").click()
    page.get_by_role("button", name="Cancel the round").click()
    expect(page.locator("h1 .badge")).to_have_text("cancelled")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Waiting for a free worker.")).to_be_visible()


def test_the_round_says_why_each_sentence_is_asked_and_how_choosing_has_done(
    open_page, project, tmp_path
):
    """The terms of the rule on round, plan and annotate page, in both themes and on a phone."""
    ada = project.memberships.get().user
    entry = {"chance": 0.8, "chosen": 0.76, "difference": -0.04, "interval": [-0.07, -0.01]}
    better = {**entry, "difference": 0.04, "interval": [0.01, 0.07], "verdict": "better"}
    found = Round.objects.create(
        project=project,
        number=1,
        state="labelling",
        config=RoundSettings().to_dict(),
        stages={
            "training": {
                "is_seed": False,
                "n_train": 80,
                "control": {
                    "n_labelled": 30,
                    "scores": {},
                    "ledger": {"Slots": {**entry, "verdict": "worse"}, "Intent": better},
                },
            },
            "scoring": {"needs": {"Slots": 1.0, "Intent": 0.25}},
            "selecting": {
                "worth": {"Slots": 1.2, "Intent": 1.0},
                "minutes": {"Slots": 0.5, "Intent": 0.04},
                "lengths": length_shares(np.array([2, 6, 30, 40]), [2, 3]),
            },
        },
    )
    why = (
        "Slots: 'Boston' covers 14 words like it (denver, dallas); the model gets about a third of "
        "them wrong, none labelled."
    )
    sentence = project.sentences.exclude(gold__isnull=False).order_by("id").first()
    asks = [AskRow(sentence.pk, ["Slots"], reason={"source": "strategy", "why": why})]
    put_asks(project=project, rows=asks, round=found)
    for theme, width in LOOKS:
        page = open_page(ada, color_scheme=theme, viewport={"width": width, "height": 900})
        page.goto(f"/projects/{project.pk}/rounds/1/")
        expect(page.get_by_role("region", name="Asks", exact=True)).to_contain_text(why)
        ledger = page.locator("[data-ledger]")
        expect(ledger).to_contain_text("worse: -4.0 points (-7.0 to -1.0)")
        expect(ledger).to_contain_text("better: +4.0 points (+1.0 to +7.0)")
        expect(page.locator(".notice.warn")).to_contain_text("Slots:chance")
        expect(page.locator("[data-lengths] tbody tr")).to_have_count(5)
        picture(page, f"ledger-{width}-{theme}")
        assert overflow(page) <= 0
        assert width < 500 or severe_violations(page) == []
    page.goto(f"/projects/{project.pk}/rounds/plan/")
    plan = page.locator("[data-plan]")
    expect(plan).to_contain_text("Slots selected sentences have taught less than")
    expect(plan).to_contain_text("Intent counts for 25 %")
    page = open_page(ada)
    page.goto(f"/projects/{project.pk}/annotate/")
    expect(page.locator("#why")).to_contain_text(why)
