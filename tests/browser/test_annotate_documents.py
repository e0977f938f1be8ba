"""Links between sentences of a document: drawn, made by keys, mouse and finger, and decided."""

import io
import json

from playwright.sync_api import expect

from annotation.corpora.imports import import_corpus
from annotation.models import Annotation, Gold, Membership, Role, Sentence
from annotation.queue.asks import AskRow, put_asks
from tests.browser.annotate_fixtures import Queue, start, submitted

TASKS = [
    {"name": "entities", "kind": "spans", "labels": ["PER", "ORG"]},
    {
        "name": "relations",
        "kind": "relations",
        "parent": "entities",
        "labels": ["works_for", "same"],
        "document": True,
        "window": 2,
    },
]
SENTENCES = [
    ("Ada Lovelace runs Acme with some help of her friends .", [[0, 2, "PER"], [3, 4, "ORG"]]),
    ("She founded the company .", [[0, 1, "PER"], [2, 4, "ORG"]]),
    ("Bob left it last year .", [[0, 1, "PER"]]),
]
WIDTHS = (1400, 820, 390)


def _documents(person, make_project, *, overlap=1, names=("ilse",)):
    owner = person("ilse-owner")
    project = make_project(owner, tasks=TASKS, overlap=overlap, hides_names=False)
    people = [person(name) for name in names]
    for one in people:
        Membership.objects.create(project=project, user=one, role=Role.ANNOTATOR)
    rows = [
        {"document": f"paper {d}", "text": text, "labels": {"entities": spans}}
        for d in range(2)
        for text, spans in SENTENCES
    ]
    import_corpus(
        project=project,
        stream=io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode()),
        file_name="papers.jsonl",
        format="jsonl",
        labels="gold",
    )
    documents = Sentence.objects.filter(project=project, is_document=True).order_by("position")
    asks = [AskRow(one.pk, ["relations"]) for one in documents]
    put_asks(project=project, round=None, rows=asks, overlap=overlap)
    return owner, project, people, list(documents)


def test_links_are_made_between_sentences_by_keyboard_and_mouse(
    person, make_project, open_page, tmp_path
):
    _owner, project, (annotator,), documents = _documents(person, make_project)
    queue = Queue(project, annotator)
    page = open_page(annotator)
    hands = start(page, queue, "Ada")
    sentence = page.locator("tandem-sentence").first
    numbers = sentence.locator(".sentence-number")
    expect(numbers).to_have_text(["1", "2", "3"])
    first_words = [sentence.locator(f'.word[data-word="{i}"]') for i in (0, 11, 16)]
    for number, word in zip(numbers.all(), first_words, strict=True):
        assert abs(number.bounding_box()["y"] - word.bounding_box()["y"]) < 2
    expect(sentence.locator(".chip")).to_have_text(["PER", "ORG", "PER", "ORG", "PER"])
    hands.go(11)
    hands.press("r")
    hands.go(0)
    hands.press(hands.key_of("relations", "same"))
    chips = sentence.locator('.chip[data-item^="entities/"]')
    chips.nth(2).drag_to(chips.nth(3))  # within a sentence
    page.get_by_role("option", name="works_for").click()
    hands.go(0)
    hands.press("r")
    hands.go(16)
    hands.press(hands.key_of("relations", "same"))
    expect(page.locator("#message")).to_contain_text("3 sentences apart, at most 2 may be linked")
    hands.press("Escape")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        for dark in ("light", "dark"):
            page.emulate_media(color_scheme=dark)
            page.screenshot(path=f"{tmp_path}/document-{width}-{dark}.png")
    links = [[11, 12, 0, 2, "same"], [11, 12, 13, 15, "works_for"]]
    page.set_viewport_size({"width": 1400, "height": 800})
    hands.press("Escape")
    submitted(page, queue, lambda: hands.press("Enter"))
    (answer,) = Annotation.objects.filter(task__name="relations")
    assert (answer.sentence_id, answer.value) == (documents[0].pk, links)


def test_links_by_finger_and_what_people_link_otherwise_is_decided_on_the_documents_page(
    person, make_project, open_page, tmp_path
):
    owner, project, (ilse, jan), (document, _) = _documents(
        person, make_project, overlap=2, names=("ilse", "jan")
    )
    page = open_page(ilse, has_touch=True, viewport={"width": 390, "height": 800})
    hands = start(page, Queue(project, ilse), "Ada")
    chips = page.locator('tandem-sentence .chip[data-item^="entities/"]')
    chips.nth(2).tap()
    chips.nth(0).tap()
    page.get_by_role("option", name="same").click()
    page.set_viewport_size({"width": 1400, "height": 800})
    submitted(page, Queue(project, ilse), lambda: hands.press("Escape", "Enter"))
    first = Annotation.objects.get(task__name="relations")
    assert first.value == [[11, 12, 0, 2, "same"]]
    Annotation.objects.create(
        sentence=document,
        task=first.task,
        author=jan,
        value=[[11, 12, 0, 2, "same"], [16, 17, 11, 12, "same"]],
        created_at=first.created_at,
        updated_at=first.updated_at,
    )
    page = open_page(owner)
    page.goto(f"/projects/{project.pk}/adjudicate/")
    case = page.locator('[data-case="relations"]')
    drawn = case.locator("tandem-sentence").first
    expect(drawn.locator(".sentence-number")).to_have_text(["1", "2", "3"])
    expect(drawn.locator(".chip", has_text="ORG")).to_have_count(2)
    page.screenshot(path=f"{tmp_path}/adjudicate.png", full_page=True)
    case.get_by_role("button", name="Edit", exact=True).click()
    editor = case.locator("[data-editor]")
    expect(editor.locator(".chip", has_text="PER")).to_have_count(3)
    page.screenshot(path=f"{tmp_path}/editor.png", full_page=True)
    page.get_by_role("button", name="Save gold and next").click()
    expect(page.get_by_role("heading", name="All decided")).to_be_visible()
    assert Gold.objects.get(task__name="relations").value == first.value
    page.goto(f"/projects/{project.pk}/sentences/{document.pk}/")
    gold = page.get_by_label("Answers: gold").locator("tandem-sentence")
    expect(gold.locator(".sentence-number")).to_have_text(["1", "2", "3"])
    expect(gold.locator(".chip", has_text="PER")).to_have_count(3)
    page.screenshot(path=f"{tmp_path}/sentence.png", full_page=True)
