"""A round from its plan to the charts it leaves behind."""

import io
import threading

import pytest
from django.db import connection
from playwright.sync_api import expect

from annotation.corpora.imports import import_corpus
from annotation.demo.services import TRAVEL_DESK, corpus_lines
from annotation.jobs.worker import JobWorker
from annotation.models import Job, Round
from annotation.projects.services import create_project
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


@pytest.fixture
def work():
    """A function that starts a worker beside the test, which ends when nothing is left to do."""
    threads = []

    def run():
        JobWorker(interval=0.1, batch=True).run()
        connection.close()

    def start():
        threads.append(threading.Thread(target=run))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join()


def _plan(page, project):
    page.goto(f"/projects/{project.pk}/")
    page.get_by_role("link", name="Plan a round").click()
    page.get_by_role("spinbutton", name="Budget").fill("12")
    page.get_by_text("More settings").click()
    page.get_by_role("radio", name="sentences", exact=True).check(force=True)
    page.get_by_label("Encoder").select_option("tiny")
    page.get_by_label("Test slice").fill("30")


def test_an_owner_plans_a_round_follows_it_and_reads_its_charts(open_page, project, work, tmp_path):
    ada = project.memberships.get().user
    page = open_page(ada)
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
