"""A whole sentence of every kind of task, by keyboard alone and by mouse alone."""

from playwright.sync_api import expect

from tests.browser.annotate_fixtures import Given, start, submitted, suggestion
from tests.browser.looking import picture

TASKS = [
    {"name": "Entities", "kind": "spans", "labels": ["VESSEL", "PLACE"], "nested": True},
    {"name": "Words", "kind": "tags", "labels": ["NOUN", "VERB", "ADP", "PUNCT"]},
    {"name": "Notice type", "kind": "classes", "labels": ["Arrival", "Delay"]},
    {
        "name": "Syntax",
        "kind": "tree",
        "labels": ["nsubj", "case", "obl", "compound", "punct", "root"],
    },
    {
        "name": "Relations",
        "kind": "relations",
        "parent": "Entities",
        "labels": ["located at", "near"],
        "pairs": {"located at": [["VESSEL", "PLACE"]], "near": [["PLACE", "PLACE"]]},
    },
]
TOKENS = "Aurelia docked at Brask Quay .".split()
TREE = [[2, "nsubj"], [0, "root"], [5, "case"], [5, "compound"], [2, "obl"], [2, "punct"]]
TAGS = ["NOUN", "VERB", "ADP", "NOUN", "NOUN", "PUNCT"]
ANSWERS = {
    "Entities": [[0, 1, "VESSEL"], [3, 5, "PLACE"]],
    "Words": TAGS,
    "Notice type": "Arrival",
    "Syntax": TREE,
    "Relations": [[0, 1, 3, 5, "located at"]],
}


def test_a_whole_sentence_is_answered_by_keyboard_alone(make_queue, open_page):
    queue = make_queue([Given(TOKENS)], tasks=TASKS)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    key = hands.key_of

    hands.press(key("Entities", "VESSEL"))
    hands.go(3)
    hands.press("Shift+ArrowRight", key("Entities", "PLACE"), key("Notice type", "Arrival"))
    hands.go(0)
    hands.press("r", *["ArrowRight"] * 4)
    hands.press(key("Relations", "located at"))
    hands.go(0)
    hands.open_task("Words")
    hands.press(*[key("Words", tag) for tag in TAGS])
    hands.open_task("Syntax")
    hands.go(1)
    hands.press("0")
    hands.go(0)
    for head, label in TREE:  # the cursor goes on to the next word without a head by itself
        if head:
            hands.press("h", "Home", *["ArrowRight"] * (head - 1), "Enter")
            page.keyboard.type(label)
            hands.press("Enter")
    assert submitted(page, queue, lambda: hands.press("Enter")) == ANSWERS


def test_a_whole_sentence_is_answered_by_mouse_alone(make_queue, open_page):
    queue = make_queue([Given(TOKENS)], tasks=TASKS)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")

    hands.label("Entities", "VESSEL").click()
    hands.word(0).click()
    hands.label("Entities", "PLACE").click()
    hands.label("Entities", "PLACE").click()  # armed by the first click, put away by the second
    hands.drag(hands.word(3), hands.word(4))
    hands.label("Entities", "PLACE").click()  # on the words that are marked
    hands.label("Notice type", "Arrival").click()
    page.get_by_role("button", name="Words").click()
    for i, tag in enumerate(TAGS):
        hands.word(i).click()
        hands.label("Words", tag).click()
    page.get_by_role("button", name="Syntax").click()
    hands.word(1).click()
    hands.word(1).click()  # the same word twice: the root
    for dep, (head, label) in enumerate(TREE):
        if head == 2:
            hands.drag(hands.word(dep), hands.word(head - 1))
        elif head:
            hands.word(dep).click()
            hands.word(head - 1).click()
        if head:
            page.get_by_role("option", name=label, exact=True).click()
    hands.drag(hands.chip("VESSEL"), hands.chip("PLACE"))
    picture(page, "annotate-five-kinds")
    assert submitted(page, queue, page.locator("#submit").click) == ANSWERS


def test_a_span_is_stretched_relabelled_and_deleted(make_queue, open_page):
    queue = make_queue([Given(TOKENS, tasks=["Entities"])], tasks=TASKS)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    hands.go(3)
    hands.press("v", "Shift+ArrowRight", "p")
    expect(hands.chip("PLACE")).to_have_attribute("aria-label", "Brask Quay, PLACE")
    hands.press("Alt+Shift+ArrowLeft")
    expect(hands.chip("PLACE")).to_have_attribute("aria-label", "at Brask Quay, PLACE")
    hands.press("Backspace")
    expect(page.locator(".chip")).to_have_count(0)
    hands.press("Control+z")
    expect(hands.chip("PLACE")).to_have_attribute("aria-label", "at Brask Quay, PLACE")
    hands.press("Control+Shift+z")
    expect(page.locator(".chip")).to_have_count(0)
    hands.press("v")
    assert submitted(page, queue, lambda: hands.press("Control+Enter")) == {
        "Entities": [[2, 3, "VESSEL"]]  # the cursor is where the span began
    }


def test_spans_nest_where_the_task_allows_it_and_replace_each_other_elsewhere(
    make_queue,
    open_page,
):
    flat = [{"name": "Slots", "kind": "spans", "labels": ["day", "place"]}]
    for tasks, wanted in ((TASKS, [[3, 5, "PLACE"], [3, 4, "VESSEL"]]), (flat, [[3, 4, "day"]])):
        name = tasks[0]["name"]
        queue = make_queue(
            [Given(TOKENS, tasks=[name])],
            tasks=tasks,
            annotator=f"annotator of {name}",
            name=name,
        )
        page = open_page(queue.annotator)
        hands = start(page, queue, "Aurelia")
        outer, inner = tasks[0]["labels"][1], tasks[0]["labels"][0]
        hands.go(3)
        hands.press("Shift+ArrowRight", hands.key_of(name, outer))
        hands.go(3)
        hands.press(hands.key_of(name, inner))
        assert submitted(page, queue, lambda h=hands: h.press("Enter")) == {name: wanted}


def test_only_relations_that_fit_the_types_can_be_made_and_reversed(make_queue, open_page):
    queue = make_queue([Given(TOKENS, tasks=["Entities", "Relations"])], tasks=TASKS)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    hands.press("v")
    hands.go(3)
    hands.press("p")
    hands.go(4)
    hands.press("p")
    hands.go(0)
    hands.press("r", *["ArrowRight"] * 3)
    hands.press(hands.key_of("Relations", "near"))
    expect(page.locator("#message")).to_contain_text("near may not link Aurelia to Brask")
    hands.press("Enter")  # one label fits: it is taken without a question
    hands.press("Shift+R")
    expect(page.locator("#message")).to_contain_text("located at may not link Brask to Aurelia")
    hands.go(3)
    hands.press("r", "ArrowRight", "Enter", "Shift+R")
    assert submitted(page, queue, lambda: hands.press("Enter"))["Relations"] == [
        [0, 1, 3, 4, "located at"],
        [4, 5, 3, 4, "near"],
    ]


def test_what_is_missing_is_named_and_shown_before_anything_is_sent(make_queue, open_page):
    queue = make_queue([Given(TOKENS, tasks=["Notice type", "Syntax"])], tasks=TASKS)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    message = page.locator("#message")
    hands.press("Enter")
    expect(message).to_have_text("Notice type: choose one.")
    hands.press("1", "Tab", "0", "Enter")
    expect(message).to_have_text("Syntax: 5 of 6 words have no head.")
    expect(page.locator(".word[data-cursor]")).to_have_text("docked")
    for dep, head in ((1, 2), (2, 1)):
        hands.go(dep)
        hands.press("h", "Home", *["ArrowRight"] * head, "Enter", "Enter")
    expect(page.locator("text.arc[data-wrong]")).to_have_text(["↻ nsubj", "↻ nsubj"])
    expect(page.locator("#proposals")).to_contain_text("Cycle: docked → at → docked.")
    hands.press("End", "n")  # to the next problem
    expect(page.locator(".word[data-cursor]")).to_have_text("docked")
    hands.press("Control+Enter")
    expect(message).to_have_text("Syntax: a cycle, docked → at → docked.")
    assert queue.answers() == {}


def test_a_tree_takes_one_key_a_word_where_its_heads_are_proposed(make_queue, open_page):
    """By the model, by earlier answers to the same words, and by what lies near."""
    doubts = [{"value": arc, "confidence": 0.6, "others": []} for arc in TREE]
    doubts[4]["others"] = [{"value": [1, "obl"], "confidence": 0.3}]
    guess = {"Syntax": suggestion(TREE, 0.6, doubts)}
    queue = make_queue(
        [Given(TOKENS, guess, ["Syntax"]), Given([*TOKENS[:5], "!"], tasks=["Syntax"])], tasks=TASKS
    )
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    expect(page.locator("#proposals")).to_contain_text("Head of Aurelia")
    expect(page.locator("#submit")).to_contain_text("Attach Aurelia, go on")
    hands.press("1", "Enter", "1", hands.key_of("Syntax", "nsubj"), "1", "2", "1")
    tree = [*TREE[:3], [5, "nsubj"], [1, "obl"], [2, "punct"]]
    assert submitted(page, queue, lambda: hands.press("Enter")) == {"Syntax": tree}
    hands.wait_for_sentence("Aurelia")
    expect(page.locator(".proposal").first).to_have_text("1 dockednsubj")  # as it was before
    proposed, own = page.locator("text.arc[data-rank]"), page.locator('text.arc[data-state="own"]')
    expect(proposed.first).to_have_text("1 nsubj")  # drawn too
    expect(proposed).to_have_count(2)
    hands.press("1")
    expect(own).to_have_text(["nsubj"])
    expect(page.locator("#detail")).to_contain_text("dependentsAurelia nsubj")
    expect(page.locator(".word[data-cursor]")).to_have_text("docked")
    hands.press("0", "0")  # a second root takes the place of the first
    expect(own).to_have_text(["nsubj", "root"])
    expect(page.locator(".word[data-open]").first).to_have_text("docked")


def test_words_that_were_labelled_before_take_one_key_a_span_after_the_first(make_queue, open_page):
    first, again = "Aurelia left Brask for Brask".split(), "In Brask lay Aurelia near Brask".split()
    queue = make_queue([Given(first), Given(first), Given(again)], tasks=TASKS[:1])
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    for _ in range(2):
        hands.go(0)
        hands.press(hands.key_of("Entities", "VESSEL"), "Escape", "ArrowRight", "ArrowRight")
        hands.press(hands.key_of("Entities", "PLACE"), "=")  # and all equal words
        expect(hands.chip("PLACE")).to_have_count(2)
        with page.expect_response("**/submit/"):
            hands.press("Enter")
        page.locator("#submit:not([disabled])").wait_for()
    hands.wait_for_sentence("In")
    expect(page.locator(".word[data-known]")).to_have_text(["Brask", "Aurelia", "Brask"])
    hands.press(".", "a", "a", "a")
    with page.expect_response("**/submit/"):
        hands.press("Enter")
    assert queue.answers(2) == {"Entities": [[1, 2, "PLACE"], [3, 4, "VESSEL"], [5, 6, "PLACE"]]}


def test_words_that_were_labelled_before_are_passed_over_for_this_sentence(make_queue, open_page):
    first, again = "Aurelia left Brask".split(), "Brask and Aurelia".split()
    queue = make_queue([Given(first), Given(again)], tasks=TASKS[:1])
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    for word, label in ((0, "VESSEL"), (2, "PLACE")):
        hands.go(word)
        hands.press(hands.key_of("Entities", label), "Escape")
    submitted(page, queue, lambda: hands.press("Enter"))
    hands.wait_for_sentence("Brask")
    known = page.locator(".word[data-known]")
    expect(known).to_have_text(["Brask", "Aurelia"])
    hands.press(".", "x")
    expect(known).to_have_text(["Aurelia"])
    hands.press("a")  # the next ones have come
    expect(page.locator(".chip")).to_have_text(["VESSEL"])
    submitted(page, queue, lambda: hands.press("Enter"))
    assert queue.answers(1) == {"Entities": [[2, 3, "VESSEL"]]}


def test_enter_gives_a_word_the_tag_that_it_had_before(make_queue, open_page):
    queue = make_queue([Given(["Dogs", "bark"]), Given(["Dogs", "sleep"])], tasks=TASKS[1:2])
    page = open_page(queue.annotator)
    hands = start(page, queue, "Dogs")
    hands.press(*[hands.key_of("Words", tag) for tag in ("NOUN", "VERB")])
    submitted(page, queue, lambda: hands.press("Enter"))
    expect(hands.word(1)).to_have_text("sleep")
    expect(page.locator("#submit")).to_contain_text("NOUN on Dogs")
    hands.press("Enter")
    expect(page.locator("#submit")).to_contain_text("Go to what is missing")
    hands.press(hands.key_of("Words", "VERB"))
    submitted(page, queue, lambda: hands.press("Enter"))
    assert queue.answers(1) == {"Words": ["NOUN", "VERB"]}


def test_the_next_task_begins_at_its_first_gap_after_one_that_is_done(make_queue, open_page):
    queue = make_queue([Given(["Dogs", "bark"])], tasks=[TASKS[1], TASKS[3]])
    page = open_page(queue.annotator)
    hands = start(page, queue, "Dogs")
    cursor = page.locator(".word[data-cursor]")
    hands.press("ArrowRight", "Tab")
    expect(cursor).to_have_text("bark")  # the first task is not done: stay
    hands.press("Shift+Tab", "Home")
    hands.press(*[hands.key_of("Words", tag) for tag in ("NOUN", "VERB")])
    expect(cursor).to_have_text("bark")
    hands.press("Tab")
    expect(cursor).to_have_text("Dogs")
    expect(cursor).to_be_focused()
