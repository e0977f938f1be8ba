"""Deciding where people differ, by keyboard alone and by mouse."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotation.models import Annotation, Corpus, Gold, Sentence, Task
from tests.browser.looking import overflow, picture, severe_violations

TOKENS = ["Ann", "joined", "Acme", "in", "Rome"]
TASKS = [
    {"name": "Entities", "kind": "spans", "labels": ["PER", "ORG", "LOC"]},
    {"name": "Topic", "kind": "classes", "labels": ["work", "travel"]},
    {"name": "Syntax", "kind": "tree", "labels": ["root", "nsubj", "obj", "case", "obl"]},
]
ANN = {
    "Entities": [[0, 1, "PER"], [2, 3, "ORG"]],
    "Topic": "work",
    "Syntax": [[2, "nsubj"], [0, "root"], [2, "obj"], [5, "case"], [2, "obl"]],
}
BEN = {
    "Entities": [[0, 1, "PER"], [4, 5, "LOC"]],
    "Topic": "travel",
    "Syntax": [[2, "nsubj"], [0, "root"], [2, "obj"], [5, "case"], [3, "obl"]],
}


@pytest.fixture
def project(person, make_project):
    """A project with one sentence on which two people differ in every task."""
    made = make_project(person("ada"), tasks=TASKS, hides_names=False)
    store_answers(made, person("ann"), ANN)
    store_answers(made, person("ben"), BEN)
    return made


def store_answers(project, author, answers):
    """Store one person's answers to the one sentence of a project."""
    corpus, _ = Corpus.objects.get_or_create(
        project=project, name="one", defaults={"format": "text", "n_sentences": 1}
    )
    text = " ".join(TOKENS)
    offsets = [[text.index(token), text.index(token) + len(token)] for token in TOKENS]
    sentence, _ = Sentence.objects.get_or_create(
        project=project,
        corpus=corpus,
        position=0,
        defaults={"text": text, "tokens": TOKENS, "offsets": offsets, "n_tokens": len(TOKENS)},
    )
    now = timezone.now()
    for name, value in answers.items():
        Annotation.objects.create(
            sentence=sentence, author=author, value=value, created_at=now, updated_at=now,
            task=Task.objects.get(project=project, name=name),
        )  # fmt: skip


def _open(open_page, project, **options):
    page = open_page(project.memberships.get().user, **options)
    page.goto(f"/projects/{project.pk}/adjudicate/")
    expect(page.locator("[data-count]")).to_have_text("0 of 4 decided")
    return page


def _gold():
    return dict(Gold.objects.values_list("task__name", "value"))


def test_a_dispute_is_decided_by_keyboard_alone(open_page, project):
    page = _open(open_page, project)
    keys = page.keyboard
    expect(page.get_by_role("radio", name="keep it").first).to_be_focused()
    keys.press("Space")  # Acme is there
    keys.press("ArrowDown")
    keys.press("ArrowRight")  # Rome is not
    keys.press("ArrowDown")
    keys.press("ArrowRight")  # the second class: work
    keys.press("ArrowDown")
    keys.press("Space")  # the first arc
    expect(page.locator("[data-count]")).to_have_text("4 of 4 decided")
    keys.press("Enter")
    expect(page.get_by_text("Nothing to decide")).to_be_visible()
    assert _gold() == {"Entities": ANN["Entities"], "Topic": "work", "Syntax": ANN["Syntax"]}


def test_a_dispute_is_decided_by_mouse(open_page, project):
    page = _open(open_page, project)
    entities = page.locator('[data-case="Entities"]')
    for choice in entities.get_by_role("radio", name="keep it").all():
        choice.click()
    page.locator('[data-case="Topic"]').get_by_role("radio", name="work").click()
    page.locator('[data-case="Syntax"]').get_by_role("button", name="All from ben").click()
    expect(page.locator("[data-count]")).to_have_text("4 of 4 decided")
    page.get_by_role("button", name="Save gold and next").click()
    expect(page.get_by_text("Nothing to decide")).to_be_visible()
    both = [[0, 1, "PER"], [2, 3, "ORG"], [4, 5, "LOC"]]
    assert _gold() == {"Entities": both, "Topic": "work", "Syntax": BEN["Syntax"]}


def test_relations_are_drawn_on_the_spans_that_they_link(open_page, person, make_project):
    links = {"name": "Links", "kind": "relations", "parent": "Entities", "labels": ["works for"]}
    made = make_project(person("ada"), tasks=[*TASKS, links])
    spans = [[0, 1, "PER"], [2, 3, "ORG"]]
    store_answers(made, person("ann"), {"Entities": spans, "Links": [[0, 1, 2, 3, "works for"]]})
    store_answers(made, person("ben"), {"Entities": spans, "Links": []})
    page = open_page(made.memberships.get().user)
    page.goto(f"/projects/{made.pk}/adjudicate/")
    expect(page.locator('[data-case="Links"] text.link')).to_have_text(["≠ works for"])


def test_the_two_who_answered_a_task_are_set_against_each_other(open_page, person, make_project):
    made = make_project(person("ada"), tasks=TASKS, hides_names=False)
    store_answers(made, person("ann"), {"Topic": "work", "Syntax": ANN["Syntax"]})
    store_answers(made, person("ben"), {"Topic": "travel"})
    store_answers(made, person("cleo"), {"Syntax": BEN["Syntax"]})
    page = open_page(made.memberships.get().user)
    page.goto(f"/projects/{made.pk}/adjudicate/")
    tree = page.locator('[data-case="Syntax"]')
    expect(tree.get_by_text("ann above the words, cleo below")).to_be_visible()
    expect(tree.locator("text.over[data-differs]")).to_have_text(["≠ obl", "≠ obl"])


def test_a_card_counts_what_is_to_be_decided_on_it(open_page, project):
    page = _open(open_page, project)
    counts = [page.locator(f'[data-case="{name}"] .badge.warn') for name in ANN]
    expect(counts[0]).to_have_text("≠ 2 differences")
    expect(counts[1]).to_have_text("≠ 1 difference")
    expect(counts[2]).to_have_text("≠ 1 difference")


def test_what_was_decided_is_closed_until_it_is_decided_again(open_page, project):
    page = _open(open_page, project)
    entities = page.locator('[data-case="Entities"]')
    entities.get_by_role("button", name="All from ben").click()
    page.get_by_role("button", name="Save gold and next").click()
    expect(entities.get_by_text("gold, adjudicated")).to_be_visible()
    assert _gold() == {"Entities": BEN["Entities"]}
    expect(entities.get_by_role("button", name="Edit")).to_have_count(0)
    expect(page.locator("[data-count]")).to_have_text("0 of 2 decided")
    entities.get_by_role("link", name="Decide again").click()
    expect(page.locator("[data-count]")).to_have_text("2 of 4 decided")  # as they were decided


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_the_sides_are_accessible_and_fit(open_page, project, theme, width):
    size = {"width": width, "height": 900}
    page = _open(open_page, project, color_scheme=theme, viewport=size)
    picture(page, f"adjudicate-{width}-{theme}")
    assert severe_violations(page) == []
    assert overflow(page) <= 0


def test_a_project_without_two_answers_to_one_sentence_says_what_to_do(open_page, project):
    Annotation.objects.filter(author__username="ben").delete()
    page = open_page(project.memberships.get().user)
    page.goto(f"/projects/{project.pk}/adjudicate/")
    expect(page.get_by_role("heading", name="Nothing to compare yet")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Settings").click()
    expect(page.get_by_label("Answers per sentence")).to_be_visible()
