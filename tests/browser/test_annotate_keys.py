"""A key that is held down, and questions that a list of labels asks."""

from playwright.sync_api import expect

from tests.browser.annotate_fixtures import Given, start

SPANS = [{"name": "Entities", "kind": "spans", "labels": ["VESSEL", "PLACE"]}]


def _hold(page, *keys, times=8):
    """Hold the last of some keys down until it has repeated."""
    for key in keys[:-1]:
        page.keyboard.down(key)
    for _ in range(times):
        page.keyboard.down(keys[-1])
        page.wait_for_timeout(60)
    for key in keys:
        page.keyboard.up(key)


def test_enter_held_down_submits_one_sentence(make_queue, open_page):
    queue = make_queue([Given([f"Ferry{i}", "left"]) for i in range(9)], tasks=SPANS)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Ferry0")
    hands.press("v")
    _hold(page, "Enter")
    hands.wait_for_sentence("Ferry1")
    expect(page.locator("#counts")).to_contain_text("1 done")
    assert queue.answers(1) == {}


def test_undo_held_down_stops_at_the_start_of_the_sentence(make_queue, open_page):
    queue = make_queue([Given([f"Ferry{i}", "left"]) for i in range(3)], tasks=SPANS)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Ferry0")
    hands.press("v", "Enter")
    hands.wait_for_sentence("Ferry1")
    hands.press("v", "p", "v", "p")
    _hold(page, "Control", "z")
    expect(page.locator(".chip")).to_have_count(0)
    page.wait_for_timeout(500)
    expect(hands.word(0)).to_have_text("Ferry1")


def test_every_label_of_a_long_list_is_reached_by_mouse_and_by_arrows(make_queue, open_page):
    labels = [f"label{i:02}" for i in range(25)]
    tree = [{"name": "Syntax", "kind": "tree", "labels": labels}]
    queue = make_queue([Given(["Ferry", "left"])], tasks=tree)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Ferry")
    hands.word(0).click()
    hands.word(1).click()
    page.get_by_role("option", name="label23").click()
    expect(page.locator('text.arc[data-state="own"]')).to_have_text(["label23"])
    hands.press("ArrowLeft", "Space", "ArrowUp")
    expect(page.get_by_role("option", name="label24")).to_be_in_viewport()
    hands.press("Enter")
    expect(page.locator('text.arc[data-state="own"]')).to_have_text(["label24"])


def test_a_dragged_relation_asks_for_its_label_beside_the_second_span(make_queue, open_page):
    tasks = [
        *SPANS,
        {"name": "Links", "kind": "relations", "parent": "Entities", "labels": ["near", "at"]},
    ]
    queue = make_queue(
        [Given("Aurelia and more ferries left Brask Quay early".split())], tasks=tasks
    )
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    hands.press("v")
    hands.go(5)
    hands.press("p", "Home")
    hands.drag(hands.chip("VESSEL"), hands.chip("PLACE"))
    asked, target = page.locator(".chooser").bounding_box(), hands.chip("PLACE").bounding_box()
    assert abs(asked["x"] - target["x"]) < 20
    page.get_by_role("option", name="at", exact=True).click()
    expect(page.locator(".word[data-cursor]")).to_have_text("Brask")
    expect(page.locator("#detail")).to_contain_text("Aurelia → Brask")
    expect(page.locator("#detail .badge")).to_have_text("your relation")


def test_a_problem_lets_go_of_what_was_selected(make_queue, open_page):
    tasks = [*SPANS, {"name": "Type", "kind": "classes", "labels": ["Arrival", "Delay"]}]
    queue = make_queue([Given("Aurelia left".split())], tasks=tasks)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    hands.press("v", "Enter")
    expect(page.locator("#message")).to_have_text("Type: choose one.")
    expect(page.locator("[data-selected]")).to_have_count(0)
    hands.press("Backspace")
    expect(hands.chip("VESSEL")).to_have_count(1)
