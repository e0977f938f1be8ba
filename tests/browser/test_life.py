"""A project's life in the browser, with one's own lines: from the import to the end."""

import re
from pathlib import Path

from playwright.sync_api import expect

from annotation.models import Annotation, Flag, Gold, Lease, Project, Sentence

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
LINES = [
    "The ferry Aurelia leaves Oster at nine .",
    "Brask closes its harbour on Monday .",
    "The ferry Aurelia leaves Brask at ten .",
    "Oster and Brask share one pilot boat .",
    "--- page 3 ---",
]


def test_a_project_with_its_own_lines_lives_from_import_to_deletion(open_page, person, tmp_path):
    ada = person("ada", is_superuser=True)
    page = open_page(ada)
    keys = page.keyboard
    (tmp_path / "notices.txt").write_text("\n".join(LINES))

    # Your own data in five minutes, as the README tells it.
    section = README.partition("## Your own data in five minutes")[2].partition("\n## ")[0]
    for words in re.findall(r"\*\*(.+?)\*\*", section):
        assert words in STEPS, f"the README speaks of {words}, which this test does not do"
    page.goto("/")
    page.get_by_role("link", name="New project").first.click()
    page.get_by_role("link", name="Your own tasks").click()
    page.get_by_label("Name", exact=True).first.fill("Notices")
    page.get_by_label("Name", exact=True).last.fill("names")
    page.get_by_label("Labels", exact=True).fill("SHIP\nPORT\nTOWN")
    page.get_by_role("button", name="Create project").last.click()
    expect(page.locator("[aria-current=step] b")).to_have_text("Import sentences")
    page.locator("[aria-current=step] a").click()
    page.get_by_label("File", exact=True).set_input_files(tmp_path / "notices.txt")
    page.get_by_role("button", name="Check the file").click()
    expect(page.locator(".cut-word").first).to_have_text("The")
    page.get_by_role("button", name="Import 5 sentences").click()
    expect(page.get_by_role("status")).to_have_text("5 sentences are in the corpus notices.")
    page.get_by_role("link", name="Overview").click()
    expect(page.locator("[aria-current=step]")).to_contain_text("5 to do.")
    page.locator("[aria-current=step] a").click()

    # Annotate at once: label a word, flag one sentence, skip another.
    project = Project.objects.get()
    word, place = page.locator("#sentence .word").first, page.locator("#place")
    expect(place).to_contain_text("ask 1 of 5")
    keys.press("f")
    page.get_by_role("dialog").get_by_role("textbox").fill("Is a pilot boat a SHIP?")
    page.get_by_role("dialog").get_by_role("button", name="Flag").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    for n, key in enumerate("sppp", start=1):
        expect(place).to_contain_text(f"ask {n} of 5")
        expect(page.locator("#submit")).to_be_enabled()  # leased
        word.click()
        keys.press(key)
        expect(page.locator("#sentence .chip")).to_have_count(1)
        keys.press("Enter")
    expect(place).to_contain_text("ask 5 of 5")
    expect(page.locator("#submit")).to_be_enabled()
    keys.press("Control+Space")
    keys.press("1")
    page.get_by_role("dialog").get_by_role("button", name="Skip").click()
    expect(page.locator("#empty h2")).to_be_visible()
    assert Flag.objects.get().comment == "Is a pilot boat a SHIP?"
    assert Annotation.objects.count() == 4
    assert Lease.objects.filter(state="skipped").count() == 1

    # The flag is answered, a label renamed and two merged, an answer reviewed.
    page.goto(f"/projects/{project.pk}/inbox/")
    page.get_by_label("Answer", exact=True).fill("Yes.")
    keys.press("Control+Enter")
    expect(page.locator(".notice.good")).to_contain_text("Answered")
    page.get_by_role("link", name="Labels").click()
    page.locator("tr[data-name=SHIP]").get_by_role("rowheader").click()
    keys.press("F2")
    page.get_by_label("New name of SHIP").fill("VESSEL")
    keys.press("Enter")
    expect(page.locator("tr[data-name=VESSEL]")).to_be_focused()
    page.get_by_label("Choose PORT").check()
    page.get_by_label("Choose TOWN").check()
    keys.press("m")
    page.get_by_role("button", name="Merge").last.click()
    expect(page.locator("tr[data-label]")).to_have_count(2)
    page.get_by_role("link", name="Review").click()
    page.get_by_role("link", name="Show all 4").click()
    expect(page.locator("[data-only=answer]")).not_to_be_empty()
    page.get_by_role("button", name="Keep and next").click()
    expect(page.locator(".notice.good")).to_contain_text("Kept")
    assert Gold.objects.count() == 1

    # The final dataset, and the end.
    page.goto(f"/projects/{project.pk}/export/")
    page.get_by_label("Format").select_option("jsonl")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    text = download.value.path().read_text()
    assert text.count('"VESSEL"') == 1
    assert text.count('"PORT"') + text.count('"TOWN"') == 3
    page.goto(f"/projects/{project.pk}/settings/")
    page.get_by_label("Type its name").fill("Notices")
    page.get_by_role("button", name="Delete the project").click()
    expect(page.get_by_role("status")).to_have_text("Notices is deleted.")
    assert not Sentence.objects.exists()


# What the README's section names in bold, and this test does.
STEPS = {
    "New project",
    "Your own tasks",
    "Import sentences",
    "Check the file",
    "Import",
    "Annotate",
}
STEPS |= {"Next steps", "Plan a round", "Inbox", "Labels", "Review", "Export"}
