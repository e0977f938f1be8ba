"""Big files: read and written by the worker, followed by the page."""

import re

import pytest
from playwright.sync_api import expect

from annotation.corpora import jobs as importing
from annotation.jobs.worker import JobWorker
from annotation.models import Corpus
from annotation.predictions import export_pages as exporting

FILE = "Ada NNP O B-PER\nwaited VBD O O\n\nBob NNP O B-PER\n\n"


@pytest.fixture
def nothing_is_small(monkeypatch):
    monkeypatch.setattr(importing, "SMALL_BYTES", 0)
    monkeypatch.setattr(exporting, "SMALL_SENTENCES", 0)


def test_a_big_file_is_checked_imported_and_exported_by_the_worker(
    open_page, person, make_project, nothing_is_small, tmp_path
):
    file = tmp_path / "shifts.conll"
    file.write_text(FILE)
    project = make_project(person("ada"))
    page = open_page(project.memberships.get().user)
    page.goto(f"/projects/{project.pk}/import/")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_text("Waiting for a free worker.")).to_be_visible()
    expect(page.get_by_text("No worker is running")).to_be_visible()

    _work()
    expect(page.get_by_role("heading", level=1)).to_have_text("shifts.conll can be imported")
    assert Corpus.objects.count() == 0
    page.get_by_role("button", name=re.compile("Import [0-9]+ sentence")).click()
    page.get_by_role("link", name="Back to the data").click()
    page.get_by_label("Work of the worker").get_by_role("link").first.click()
    expect(page.get_by_text("Waiting for a free worker.")).to_be_visible()
    _work()
    expect(page.get_by_role("heading", level=1)).to_have_text("shifts.conll is imported")
    page.get_by_role("link", name="See the sentences").click()
    expect(page.locator(".sentences > li")).to_have_count(2)

    page.get_by_role("link", name="Export").click()
    page.get_by_label("Format").select_option("conll2003")
    page.get_by_role("button", name="Export").click()
    _work()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.path().read_text() == FILE


def test_a_waiting_import_can_be_cancelled(
    open_page, person, make_project, nothing_is_small, tmp_path
):
    file = tmp_path / "shifts.conll"
    file.write_text(FILE)
    project = make_project(person("ada"))
    page = open_page(project.memberships.get().user)
    page.goto(f"/projects/{project.pk}/import/")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Check the file").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Nothing was stored.")).to_be_visible()


def _work():
    """Do everything that waits for a worker, here and now."""
    JobWorker(interval=0, batch=True).run()
