"""Relations between two tasks, attributes and spans in pieces, by keyboard and by mouse."""

from playwright.sync_api import expect

from tests.browser.annotate_fixtures import Given, start, submitted, suggestion

TASKS = [
    {"name": "Drug", "kind": "spans", "labels": ["DRUG", "CLASS"], "nested": False},
    {"name": "Dose", "kind": "spans", "labels": ["STRENGTH"], "nested": False},
    {
        "name": "Gives",
        "kind": "relations",
        "labels": ["of"],
        "parent": "Drug",
        "second_parent": "Dose",
        "pairs": {"of": [["DRUG", "STRENGTH"]]},
    },
    {
        "name": "Facts",
        "kind": "attributes",
        "labels": ["negated", "sure.yes", "sure.no"],
        "parent": "Drug",
    },
]
TOKENS = "No aspirin or plain ibuprofen 5 mg .".split()
SPANS = {"Drug": suggestion([[1, 2, "DRUG"], [4, 5, "DRUG"]], 0.9, [])}
DOSES = {"Dose": suggestion([[5, 7, "STRENGTH"]], 0.9, [])}


def test_a_sentence_is_answered_by_keyboard(make_queue, open_page):
    queue = make_queue([Given(TOKENS)], tasks=TASKS)
    page = open_page(queue.annotator)
    hands = start(page, queue, "No")
    key = hands.key_of
    hands.go(1)
    hands.press(key("Drug", "DRUG"), "+", "ArrowRight", "ArrowRight", "ArrowRight", "Enter")
    hands.open_task("Dose")
    hands.go(5)
    hands.press("Shift+ArrowRight", key("Dose", "STRENGTH"))
    hands.go(5)
    hands.press("r")  # from where the relation ends: it still goes from the drug to the dose
    hands.go(1)
    hands.press("Enter")
    hands.open_task("Facts")
    hands.go(4)  # the second piece is the same span
    hands.press(key("Facts", "negated"), key("Facts", "sure.yes"), key("Facts", "sure.no"))
    hands.press("Escape", "Escape")
    assert submitted(page, queue, lambda: hands.press("Enter")) == {
        "Drug": [[1, 2, 4, 5, "DRUG"]],
        "Dose": [[5, 7, "STRENGTH"]],
        "Gives": [[1, 2, 5, 7, "of"]],
        "Facts": [[1, 2, "negated"], [1, 2, "sure.no"]],
    }


def test_a_sentence_is_answered_by_mouse(make_queue, open_page):
    queue = make_queue([Given(TOKENS, suggestions={**SPANS, **DOSES})], tasks=TASKS)
    page = open_page(queue.annotator)
    hands = start(page, queue, "No")
    sentence = page.locator("tandem-sentence").first
    page.get_by_role("button", name="Facts").first.click()
    page.locator('[data-task="Facts"]:visible').get_by_text("negated").first.click()
    sentence.locator('.chip[data-item="Drug/1-2-DRUG"]').click()
    expect(sentence.locator('.chip[data-item="Facts/1-2-negated"]')).to_be_visible()
    page.get_by_role("button", name="Gives").first.click()
    sentence.locator('.chip[data-item="Dose/5-7-STRENGTH"]').drag_to(
        sentence.locator('.chip[data-item="Drug/4-5-DRUG"]')
    )
    hands.press("Escape", "Escape", "Shift+Enter")
    assert submitted(page, queue, lambda: hands.press("Enter")) == {
        "Drug": [[1, 2, "DRUG"], [4, 5, "DRUG"]],
        "Dose": [[5, 7, "STRENGTH"]],
        "Gives": [[4, 5, 5, 7, "of"]],
        "Facts": [[1, 2, "negated"]],
    }
