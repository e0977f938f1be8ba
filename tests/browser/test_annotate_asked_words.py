"""Asks for single words of a tree or of tags: these are open, the others are there to be read."""

import pytest
from playwright.sync_api import expect

from tests.browser.annotate_fixtures import Given, start, suggestion
from tests.browser.test_annotate_touch import PHONE, TABLET, Finger

TOKENS = "The ferry left the old quay".split()
TREE = {"name": "Syntax", "kind": "tree", "labels": ["det", "nsubj", "obl", "root", "amod"]}
TAGS = {"name": "Words", "kind": "tags", "labels": ["NOUN", "VERB", "DET"]}
ANSWER = [None, [3, "nsubj"], None, None, None, [3, "obl"]]


@pytest.fixture
def asked(make_queue, open_page):
    """A function that opens a page whose ask names words; returns its hands."""

    def open_asked(task, words, *, suggestions=None, **window):
        given = Given(TOKENS, suggestions=suggestions or {}, words={task["name"]: words})
        queue = make_queue([given], tasks=[task])
        hands = start(open_page(queue.annotator, **window), queue, "The")
        hands.queue = queue
        return hands

    return open_asked


def sent(hands, press_submit):
    """Return the answers that the page hands in, and that the server keeps as they are."""
    with hands.page.expect_response("**/submit/") as response:
        press_submit()
    assert response.value.ok, response.value.text()
    answers = response.value.request.post_data_json["answers"]
    assert hands.queue.said_of_words() == answers
    return answers


def cursor(hands):
    return int(hands.page.locator(".word[data-cursor]").get_attribute("data-word"))


def test_the_cursor_reaches_only_asked_words_and_any_word_as_head(asked):
    hands = asked(TREE, [1, 5])
    page = hands.page
    assert cursor(hands) == 1
    expect(page.locator(".word[data-grey]")).to_have_text(["The", "left", "the", "old"])
    expect(page.locator(".task-tab[aria-current]")).to_contain_text("0 of 2")
    hands.press("ArrowRight")
    assert cursor(hands) == 5
    hands.press("ArrowRight")
    assert cursor(hands) == 5
    hands.press("Home")
    assert cursor(hands) == 1
    hands.press("h", "ArrowRight")
    assert cursor(hands) == 2
    hands.press("Escape")
    assert cursor(hands) == 5
    hands.press("Home", "h", "ArrowRight", "Enter")
    page.keyboard.type("nsubj")
    hands.press("Enter")
    assert cursor(hands) == 5  # on to the next asked word
    expect(page.locator(".task-tab[aria-current]")).to_contain_text("1 of 2")
    hands.press("h", *["ArrowLeft"] * 3, "Enter")
    page.keyboard.type("obl")
    hands.press("Enter")
    expect(page.locator("#submit")).to_contain_text("Submit and next")
    assert sent(hands, lambda: hands.press("Enter")) == {"Syntax": ANSWER}


def test_a_click_on_a_word_that_is_not_asked_says_so_unless_a_head_is_sought(asked):
    hands = asked(TREE, [1, 5])
    page = hands.page
    hands.word(0).click()
    expect(page.locator("#message")).to_contain_text("not asked")
    assert cursor(hands) == 1
    for dep, label in ((1, "nsubj"), (5, "obl")):
        hands.word(dep).click()
        hands.word(2).click()
        page.locator(f'.chooser [data-label="{label}"]').click()
    assert sent(hands, page.locator("#submit").click) == {"Syntax": ANSWER}


@pytest.mark.parametrize("window", [PHONE, TABLET], ids=["390", "820"])
def test_asked_words_of_a_tree_are_answered_by_finger(asked, window):
    hands = asked(TREE, [1, 5], **window)
    finger = Finger(hands.page)
    for dep, label in ((1, "nsubj"), (5, "obl")):
        finger.tap(hands.word(dep))
        finger.tap(hands.word(2))
        finger.choose(label)
    finger.tap(hands.word(4))
    expect(hands.page.locator("#message")).to_contain_text("not asked")
    assert sent(hands, hands.page.locator("#submit").tap) == {"Syntax": ANSWER}


def test_only_suggestions_on_asked_words_are_to_be_checked(asked):
    arcs = [[2, "det"], [3, "nsubj"], [0, "root"], [6, "det"], [6, "amod"], [3, "obl"]]
    details = [{"value": arc, "confidence": 0.6, "others": []} for arc in arcs]
    hands = asked(TREE, [1, 5], suggestions={"Syntax": suggestion(arcs, 0.6, details)})
    expect(hands.page.locator(".task-tab[aria-current]")).to_contain_text("2 to check")
    hands.press("Shift+Enter")
    assert sent(hands, lambda: hands.press("Enter")) == {"Syntax": ANSWER}


def test_tags_of_asked_words_go_from_one_to_the_next(asked):
    hands = asked(TAGS, [1, 2, 5])
    noun, verb = hands.key_of("Words", "NOUN"), hands.key_of("Words", "VERB")
    hands.word(3).click()
    expect(hands.page.locator("#message")).to_contain_text("not asked of this word")
    assert cursor(hands) == 1
    hands.press(noun, verb)
    assert cursor(hands) == 5
    hands.press("Enter")  # one is missing: nothing is handed in
    assert cursor(hands) == 5
    hands.press(noun)
    answers = [None, "NOUN", "VERB", None, None, "NOUN"]
    assert sent(hands, lambda: hands.press("Enter")) == {"Words": answers}


def test_a_drag_over_all_words_tags_the_asked_ones(asked):
    hands = asked(TAGS, [1, 5])
    hands.drag(hands.word(0), hands.word(5))
    hands.label("Words", "NOUN").click()
    answers = [None, "NOUN", None, None, None, "NOUN"]
    assert sent(hands, hands.page.locator("#submit").click) == {"Words": answers}
