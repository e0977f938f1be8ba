"""Editing gold where neither answer is right: with the annotate page's own means, kind by kind."""

import re

import pytest
from playwright.sync_api import expect

from annotation.models import Gold
from tests.browser.annotate_fixtures import Hands
from tests.browser.looking import overflow, picture, severe_violations
from tests.browser.test_adjudicate import ANN, BEN, TASKS, store_answers

SPANS = [[0, 1, "PER"], [2, 3, "ORG"]]
LINKS = {
    "name": "Links",
    "kind": "relations",
    "parent": "Entities",
    "labels": ["works for", "born in"],
}
WORDS = {"name": "Words", "kind": "tags", "labels": ["NOUN", "VERB", "ADP"]}


@pytest.fixture
def case(open_page, person, make_project):
    """A function that opens the adjudication of a sentence with two people's answers."""

    def case(first, second, tasks=TASKS, **options):
        project = make_project(person("ada"), tasks=tasks, hides_names=False)
        store_answers(project, person("ann"), first)
        store_answers(project, person("ben"), second)
        page = open_page(project.memberships.get().user, **options)
        page.goto(f"/projects/{project.pk}/adjudicate/")
        return page

    return case


class Editor(Hands):
    """Hands on the editor of one task."""

    def __init__(self, page, task):
        super().__init__(page)
        self.card = page.locator(f'[data-case="{task}"]')

    def word(self, i):
        return self.card.locator(f'[data-editor] .word[data-word="{i}"]')

    def chip(self, text):
        return self.card.locator("[data-editor] .chip", has_text=text)

    def open(self):
        """Open the editor by mouse."""
        self.card.get_by_role("button", name="Edit", exact=True).click()
        expect(self.word(0)).to_be_focused()
        return self

    def type_label(self, label):
        """Answer the type-ahead."""
        box = self.page.get_by_role("combobox", name=re.compile("^Label of "))
        box.fill(label)
        box.press("Enter")
        expect(box).to_have_count(0)


def _saved(page, press):
    """Save, and return the gold of the sentence."""
    with page.expect_navigation():
        press()
    expect(page.locator(".notice.good")).to_contain_text(re.compile("(is|are) gold"))
    return dict(Gold.objects.values_list("task__name", "value"))


def _save(page):
    return _saved(page, page.get_by_role("button", name="Save gold and next").click)


def test_spans_are_edited_by_keyboard_alone(case):
    page = case({"Entities": ANN["Entities"]}, {"Entities": BEN["Entities"]})
    hands = Editor(page, "Entities")
    expect(page.get_by_role("radio", name="keep it").first).to_be_focused()
    hands.press("e")
    expect(hands.word(0)).to_be_focused()
    hands.go(3)
    hands.press("Shift+ArrowRight", hands.key_of("Entities", "LOC"))
    hands.press("Home", "Backspace")  # Ann is nobody
    gold = _saved(page, lambda: hands.press("Enter"))
    assert gold == {"Entities": [[2, 3, "ORG"], [3, 5, "LOC"]]}


def test_spans_are_edited_by_mouse_alone(case):
    page = case({"Entities": ANN["Entities"]}, {"Entities": BEN["Entities"]})
    hands = Editor(page, "Entities").open()
    hands.drag(hands.word(3), hands.word(4))
    hands.label("Entities", "LOC").click()
    hands.chip("PER").click(button="right")
    hands.chip("ORG").click()
    hands.label("Entities", "LOC").click()
    assert _save(page) == {"Entities": [[2, 3, "LOC"], [3, 5, "LOC"]]}


def test_choices_made_before_are_what_editing_starts_from(case):
    page = case({"Entities": ANN["Entities"]}, {"Entities": BEN["Entities"]})
    hands = Editor(page, "Entities")
    hands.card.get_by_role("radio", name="keep it").nth(1).check()  # Rome is there too
    hands.open()
    expect(hands.card.locator("[data-editor] .chip")).to_have_text(["PER", "ORG", "LOC"])


def test_tags_are_edited_by_keyboard_and_by_mouse(case):
    first = ["NOUN", "VERB", "NOUN", "ADP", "NOUN"]
    second = ["NOUN", "NOUN", "NOUN", "ADP", "NOUN"]
    page = case({"Words": first}, {"Words": second}, tasks=[WORDS])
    hands = Editor(page, "Words").open()
    hands.go(2)
    hands.press(hands.key_of("Words", "VERB"))
    hands.label("Words", "ADP").click()
    hands.word(4).click()
    assert _save(page) == {"Words": ["NOUN", "VERB", "VERB", "ADP", "ADP"]}


@pytest.mark.parametrize("is_by_mouse", [False, True])
def test_a_class_nobody_chose_is_chosen(case, is_by_mouse):
    topic = {"name": "Topic", "kind": "classes", "labels": ["work", "travel", "sport"]}
    page = case({"Topic": "work"}, {"Topic": "travel"}, tasks=[topic])
    hands = Editor(page, "Topic").open()
    hands.label("Topic", "sport").click() if is_by_mouse else hands.press("3")
    assert _save(page) == {"Topic": "sport"}


def test_a_tree_is_edited_by_keyboard_alone(case):
    page = case({"Syntax": ANN["Syntax"]}, {"Syntax": BEN["Syntax"]})
    hands = Editor(page, "Syntax")
    hands.press("e")
    hands.press("End", "h", "Home", "Enter")  # Rome hangs on Ann
    hands.type_label("obj")
    gold = _saved(page, lambda: hands.press("Enter"))
    assert gold == {"Syntax": [*ANN["Syntax"][:4], [1, "obj"]]}


def test_a_tree_is_edited_by_mouse_alone(case):
    page = case({"Syntax": ANN["Syntax"]}, {"Syntax": BEN["Syntax"]})
    hands = Editor(page, "Syntax").open()
    hands.drag(hands.word(4), hands.word(0))
    page.get_by_role("option", name="obj").click()
    assert _save(page) == {"Syntax": [*ANN["Syntax"][:4], [1, "obj"]]}


def test_relations_are_edited_on_spans_that_are_gold(case):
    first = {"Entities": SPANS, "Links": [[0, 1, 2, 3, "works for"]]}
    page = case(first, {"Entities": SPANS, "Links": []}, tasks=[*TASKS, LINKS])
    hands = Editor(page, "Links").open()
    hands.card.locator("[data-editor] text.link").click()
    hands.press("Shift+R")  # from Acme to Ann
    hands.drag(hands.chip("PER"), hands.chip("ORG"))
    page.get_by_role("option", name="born in").click()
    both = [[0, 1, 2, 3, "born in"], [2, 3, 0, 1, "works for"]]
    assert _save(page) == {"Entities": SPANS, "Links": both}


def test_relations_are_edited_together_with_spans_still_in_dispute(case):
    first = {"Entities": ANN["Entities"], "Links": [[0, 1, 2, 3, "works for"]]}
    page = case(first, {"Entities": BEN["Entities"], "Links": []}, tasks=[*TASKS, LINKS])
    hands = Editor(page, "Links")
    hands.card.get_by_role("radio").first.focus()
    hands.press("e")
    entities = page.locator('[data-case="Entities"]')
    expect(entities.get_by_text("Edited with Links, below.")).to_be_visible()
    hands.open_task("Entities")
    hands.go(4)
    hands.press(hands.key_of("Entities", "LOC"))
    hands.press("Home", "r", "End")
    hands.press(hands.key_of("Links", "born in"))
    expect(page.locator("[data-count]")).to_have_text("Entities, Links edited")
    gold = _saved(page, lambda: hands.press("Enter"))
    links = [[0, 1, 2, 3, "works for"], [0, 1, 4, 5, "born in"]]
    assert gold == {"Entities": [*SPANS, [4, 5, "LOC"]], "Links": links}


def test_sets_texts_features_arcs_and_attributes_are_edited_by_hand(case):
    tasks = [
        {"name": "Topics", "kind": "multiclasses", "labels": ["work", "travel", "sport"]},
        {"name": "Lemma", "kind": "lemmas"},
        {"name": "Feats", "kind": "features", "labels": ["Number=Sing", "Tense=Past"]},
        {"name": "Deps", "kind": "graph", "labels": ["root", "nsubj", "obj", "case", "obl"]},
        TASKS[0],
        {
            "name": "Facts",
            "kind": "attributes",
            "parent": "Entities",
            "labels": ["negated", "sure.yes", "sure.no"],
        },
    ]
    lemmas = ["Ann", "join", "Acme", "in", "Rome"]
    feats = ["Number=Sing", "Tense=Past", "_", "_", "_"]
    arcs = [["1", "2", "nsubj"], ["2", "0", "root"], ["3", "2", "obj"]]
    facts = [[0, 1, "sure.yes"]]
    first = {"Topics": ["work"], "Lemma": lemmas, "Feats": feats, "Deps": arcs}
    second = {
        "Topics": ["travel"],
        "Lemma": ["Ann", "joined", *lemmas[2:]],
        "Feats": ["_", *feats[1:]],
        "Deps": arcs[:2],
    }
    page = case(
        {**first, "Entities": SPANS, "Facts": facts},
        {**second, "Entities": SPANS, "Facts": []},
        tasks=tasks,
    )
    topics = Editor(page, "Topics").open()
    topics.label("Topics", "sport").click()
    lemma = Editor(page, "Lemma").open()
    lemma.go(1)
    lemma.press("Space")
    page.keyboard.type("joyn")
    lemma.press("Enter")
    shown = Editor(page, "Feats").open()
    shown.go(2)
    shown.label("Feats", "Number=Sing").click()
    deps = Editor(page, "Deps").open()
    deps.drag(deps.word(4), deps.word(0))
    page.get_by_role("option", name="obl", exact=True).click()
    said = Editor(page, "Facts").open()
    said.chip("ORG").click()
    said.label("Facts", "negated").click()
    assert _save(page) == {
        "Topics": ["sport", "work"],
        "Lemma": ["Ann", "joyn", *lemmas[2:]],
        "Feats": [*feats[:2], "Number=Sing", "_", "_"],
        "Deps": [*arcs, ["5", "1", "obl"]],
        "Entities": SPANS,
        "Facts": [*facts, [2, 3, "negated"]],
    }


def test_what_hangs_on_a_span_that_is_not_there_is_left_out_with_it(case):
    facts = {
        "name": "Facts",
        "kind": "attributes",
        "parent": "Entities",
        "labels": ["negated", "sure.yes"],
    }
    page = case(
        {
            "Entities": SPANS,
            "Links": [[0, 1, 2, 3, "works for"]],
            "Facts": [[0, 1, "sure.yes"], [2, 3, "negated"]],
        },
        {"Entities": SPANS[:1], "Links": [], "Facts": []},
        tasks=[TASKS[0], LINKS, facts],
    )

    def left_out(task):
        rows = page.locator(f'[data-case="{task}"] .decision')
        return [row.get_by_role("radio", name="not there").is_checked() for row in rows.all()]

    page.locator('[data-case="Entities"]').get_by_role("radio", name="not there").check()
    assert left_out("Links") == [True]
    assert left_out("Facts") == [False, True]  # one is on a span that both have
    page.locator('[data-case="Facts"]').get_by_role("radio", name="keep it").first.check()
    assert _save(page) == {"Entities": SPANS[:1], "Links": [], "Facts": [[0, 1, "sure.yes"]]}


def test_an_unfinished_answer_is_not_saved_and_says_what_is_missing(case):
    page = case({"Syntax": ANN["Syntax"]}, {"Syntax": BEN["Syntax"]})
    hands = Editor(page, "Syntax").open()
    hands.press("Backspace")
    page.get_by_role("button", name="Save gold and next").click()
    expect(hands.card.locator(".message")).to_contain_text("1 of 5 words have no head")
    assert Gold.objects.count() == 0
    hands.press("Control+z")
    assert _save(page) == {"Syntax": ANN["Syntax"]}


def test_what_the_server_refuses_is_still_there_to_be_mended(case):
    first = {"Entities": ANN["Entities"], "Links": [[0, 1, 2, 3, "works for"]]}
    links = {**LINKS, "pairs": {"works for": [["PER", "ORG"]]}}
    page = case(first, {"Entities": BEN["Entities"], "Links": []}, tasks=[*TASKS, links])
    entities, links = Editor(page, "Entities"), Editor(page, "Links")
    entities.open()
    entities.chip("ORG").click(button="right")
    entities.go(2)
    entities.press(entities.key_of("Entities", "LOC"))  # which nobody works for
    links.card.get_by_role("radio", name="keep it").check()
    page.get_by_role("button", name="Save gold and next").click()
    expect(page.locator(".notice.bad")).to_be_visible()
    assert Gold.objects.count() == 0
    expect(entities.card.locator("[data-editor] .chip")).to_have_text(["PER", "LOC"])
    expect(links.card.get_by_role("radio", name="keep it")).to_be_checked()
    links.card.get_by_role("radio", name="not there").check()
    assert _save(page) == {"Entities": [[0, 1, "PER"], [2, 3, "LOC"]], "Links": []}


def test_editing_can_be_left_for_the_choices(case):
    page = case({"Entities": ANN["Entities"]}, {"Entities": BEN["Entities"]})
    hands = Editor(page, "Entities").open()
    hands.press("Backspace")
    hands.card.get_by_role("button", name="Back to the choices").click()
    expect(hands.card.get_by_role("radio", name="keep it").first).to_be_focused()
    expect(page.locator("[data-count]")).to_have_text("0 of 2 decided")


def test_gold_is_edited_again(case):
    page = case({"Entities": ANN["Entities"]}, {"Entities": BEN["Entities"]})
    hands = Editor(page, "Entities").open()
    hands.press("Backspace")
    assert _save(page) == {"Entities": [[2, 3, "ORG"]]}
    page.goto(f"{page.url}?sentence={Gold.objects.get().sentence_id}")
    hands.open()
    expect(hands.card.locator("[data-editor] .chip")).to_have_text(["ORG"])
    hands.press("End", hands.key_of("Entities", "LOC"))
    assert _save(page) == {"Entities": [[2, 3, "ORG"], [4, 5, "LOC"]]}
    assert Gold.objects.get().version == 2


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_the_editors_are_accessible_and_fit(case, theme, width):
    tags = ["NOUN", "VERB", "NOUN", "ADP", "NOUN"]
    first = {**ANN, "Words": tags, "Links": [[0, 1, 2, 3, "works for"]]}
    second = {**BEN, "Words": ["VERB", *tags[1:]], "Links": []}
    size = {"width": width, "height": 900}
    page = case(first, second, tasks=[*TASKS, WORDS, LINKS], color_scheme=theme, viewport=size)
    for task in ("Topic", "Syntax", "Words", "Links"):
        Editor(page, task).open()
    Editor(page, "Links").chip("ORG").click()
    picture(page, f"adjudicate-editing-{width}-{theme}")
    assert severe_violations(page) == []
    assert overflow(page) <= 0
