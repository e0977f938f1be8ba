"""Links between sentences of a document: drawn, made by keys, mouse and finger, and decided."""

import io
import json

from playwright.sync_api import expect

from annotation.corpora.imports import import_corpus
from annotation.models import Annotation, Membership, Role, Sentence
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
    project = make_project(owner, tasks=TASKS, overlap=overlap)
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
