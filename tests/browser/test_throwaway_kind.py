"""A kind of task that is one file of Python and one of JavaScript lives its whole life in pages."""

import json

import pytest
from playwright.sync_api import expect

from annotation.jobs.worker import JobWorker
from annotation.models import Annotation, Ask, Gold, Membership, Project, Role, Suggestion
from tests.throwaway.stars import STARS

WORDS = {"awful": "1", "poor": "2", "fair": "3", "good": "4", "superb": "5"}
PLACES = ("Rome", "Oslo", "Lima", "Bonn", "Kyiv", "Bern", "Cork", "Nice")
KNOWN = [(f"{place} was {word}", stars) for place in PLACES for word, stars in WORDS.items()]
OPEN = [f"{place} is truly {word}" for place in PLACES[:3] for word in WORDS]


def _file(tmp_path, name, rows):
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _import(page, project, path, labels, n):
    page.goto(f"/projects/{project.pk}/import/")
    page.get_by_label("File", exact=True).set_input_files(path)
    page.get_by_role("radio", name=labels).check()
    page.get_by_role("button", name="Check the file").click()
    page.get_by_role("button", name=f"Import {n} sentences").click()
    expect(page.get_by_role("status")).to_contain_text(f"{n} sentences are in the corpus")


def _answer(page, project, keys):
    """Answer the asks of somebody, each by the next key."""
    page.goto(f"/projects/{project.pk}/annotate/")
    place = page.locator("#place")
    for n, key in enumerate(keys, start=1):
        expect(place).to_contain_text(f"ask {n} of")
        expect(page.locator("#submit")).to_be_enabled()
        page.keyboard.press(key)
        expect(page.get_by_role("radio", checked=True)).to_have_attribute("data-label", key)
        with page.expect_response("**/submit/") as response:
            page.keyboard.press("Enter")
        assert response.value.ok
    expect(place).to_contain_text(f"ask {len(keys) + 1} of")


@pytest.mark.usefixtures("stars_kind")
def test_a_kind_of_two_files_lives_from_the_new_project_to_the_export(
    open_page, person, work, tmp_path
):
    ada, ben = person("ada", is_superuser=True), person("ben")
    page = open_page(ada)

    # A project is described, and two files come in: one of answers, one to be answered.
    page.goto("/")
    page.get_by_role("link", name="New project").first.click()
    page.get_by_role("link", name="Your own tasks").click()
    page.get_by_label("Name", exact=True).first.fill("Hotels")
    page.get_by_label("Name", exact=True).last.fill("rating")
    page.get_by_label("Kind").select_option(label="Stars: from one to five")
    page.get_by_label("Labels", exact=True).fill("\n".join(STARS))
    page.get_by_role("button", name="Create project").last.click()
    expect(page.get_by_role("status")).to_contain_text("Hotels is created.")
    project = Project.objects.get()
    Membership.objects.create(project=project, user=ben, role=Role.ANNOTATOR)
    Project.objects.update(overlap=2)
    wrong = [{"text": "Rome was odd", "labels": {"rating": "6"}}]
    page.goto(f"/projects/{project.pk}/import/")
    page.get_by_label("File", exact=True).set_input_files(_file(tmp_path, "wrong", wrong))
    page.get_by_role("button", name="Check the file").click()
    expect(page.locator("body")).to_contain_text("'6' is no number of stars. Give one to five")
    rows = [{"text": text, "labels": {"rating": stars}} for text, stars in KNOWN]
    _import(page, project, _file(tmp_path, "known", rows), "as gold", len(KNOWN))
    assert Gold.objects.count() == len(KNOWN)
    open_rows = [{"text": text} for text in OPEN]
    _import(page, project, _file(tmp_path, "open", open_rows), "not at all", len(OPEN))

    # A round learns stars, chooses sentences and suggests stars for them.
    page.goto(f"/projects/{project.pk}/rounds/plan/")
    page.get_by_role("spinbutton", name="Budget").fill("8")
    page.get_by_text("More settings").click()
    page.get_by_role("radio", name="sentences", exact=True).check(force=True)
    page.get_by_label("Encoder").select_option("tiny")
    page.get_by_label("Test slice", exact=True).fill("20")
    page.get_by_role("button", name="Start round 1").click()
    expect(page.locator("h1 .badge")).to_have_text("queued")
    work()
    expect(page.locator("h1 .badge")).to_have_text("labelling", timeout=120_000)
    assert Ask.objects.filter(queue__round__number=1).count() == 8
    suggested = set(Suggestion.objects.values_list("value", flat=True))
    assert suggested
    assert suggested <= set(STARS)

    # Two people answer, one of them a star higher; pages show both as stars.
    _answer(page, project, "1234")
    _answer(open_page(ben), project, "2345")
    values = Annotation.objects.order_by("created_at").values_list("author__username", "value")
    assert sorted(values) == [*(("ada", key) for key in "1234"), *(("ben", key) for key in "2345")]
    page.goto(f"/projects/{project.pk}/agreement/")
    page.get_by_role("button", name="Compute now").click()
    expect(page.locator("main")).to_contain_text("Agreement is being computed.")
    JobWorker().run_all()
    page.reload()
    pairs = page.get_by_role("region", name="Pairs, rating")
    expect(pairs).to_contain_text("closeness")
    expect(pairs).to_contain_text("75")
    page.goto(f"/projects/{project.pk}/adjudicate/")
    expect(page.locator("main")).to_contain_text("★★")

    # A curator decides one of them, and the file has what counts, as it would come in again.
    page.get_by_role("button", name="All from").last.click()
    expect(page.locator("[data-count]")).to_have_text("1 of 1 decided")
    with page.expect_navigation():
        page.get_by_role("button", name="Save gold and next").click()
    assert Gold.objects.filter(sentence__is_test=False).exclude(source="imported").count() == 1
    page.goto(f"/projects/{project.pk}/export/")
    page.get_by_label("Format").select_option("jsonl")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    lines = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert len(lines) == len(KNOWN) + len(OPEN)
    given = {line["text"]: line["labels"].get("rating") for line in lines}
    assert {text: given[text] for text, _ in KNOWN} == dict(KNOWN)
    assert sum(given[text] in STARS for text in OPEN) == 4
