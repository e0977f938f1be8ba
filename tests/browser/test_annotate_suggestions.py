"""Suggestions: visibly apart, taken or put away one by one or all at once, never by mere submit."""

from playwright.sync_api import expect

from annotation.models import Submission
from tests.browser.annotate_fixtures import (
    HARBOUR,
    HARBOUR_RELATIONS,
    HARBOUR_SPANS,
    HARBOUR_TREE,
    Given,
    harbour_suggestions,
    start,
)
from tests.browser.looking import picture, severe_violations

NEXT = Given("Fog lifted .".split())


def _start(make_queue, open_page, tasks=None, **values):
    given = Given(HARBOUR, harbour_suggestions(), tasks=tasks)
    queue = make_queue([given, NEXT], **values)
    page = open_page(queue.annotator)
    return queue, page, start(page, queue, "Velmar")


def _submit(hands):
    hands.press("Enter")
    hands.wait_for_sentence("Fog")


def _submit_at_once(hands):
    """Submit although suggestions were not checked: the page asks first."""
    hands.press("Control+Enter", "Control+Enter")
    hands.wait_for_sentence("Fog")


def test_a_whole_tree_is_taken_with_two_keys(make_queue, open_page):
    queue, _, hands = _start(make_queue, open_page, ["Entities", "Syntax"])
    hands.press("Tab", "Shift+A")
    _submit_at_once(hands)
    assert queue.answers() == {"Entities": [], "Syntax": HARBOUR_TREE}


def test_everything_is_taken_task_by_task_and_counted(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page)
    hands.press("Shift+A", "Shift+A", "Shift+A", "Shift+A")
    expect(page.locator("#message")).to_have_text("")
    _submit(hands)
    stored = queue.answers()
    assert stored["Entities"] == sorted(HARBOUR_SPANS, key=lambda s: (s[0], -s[1], s[2]))
    assert stored["Syntax"] == HARBOUR_TREE
    assert stored["Relations"] == HARBOUR_RELATIONS
    assert stored["Notice type"] == "Delay"
    log = Submission.objects.get()
    assert log.suggestions["Syntax"] == {
        "seen": 18, "accepted": 18, "edited": 0, "rejected": 0, "source": "test"
    }  # fmt: skip
    assert [action["kind"] for action in log.actions] == ["suggestion.accept"] * 4


def test_everything_of_all_tasks_is_taken_and_submitted_with_two_keys(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page)
    expect(page.locator("#accept-all")).to_have_text("Accept all 28 ⇧↵")
    hands.press("Shift+Enter")
    expect(page.locator("#accept-all")).to_be_hidden()
    expect(page.locator("#submit")).to_have_text("Submit and next ↵")
    hands.press("Control+z")  # one step, however many were accepted
    expect(page.locator("#submit")).to_have_text("Check next, 28 left ↵")
    hands.press("Shift+Enter")
    _submit(hands)
    assert queue.answers()["Relations"] == HARBOUR_RELATIONS
    assert queue.answers()["Notice type"] == "Delay"


def test_enter_never_stores_what_was_not_looked_at(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, ["Entities", "Notice type"])
    main = page.locator("#submit")
    expect(main).to_have_text("Check next, 8 left ↵")
    chosen = page.locator(".chip[data-selected]")
    hands.press("Enter")
    expect(chosen).to_have_text("ORG.90")
    hands.press("Enter")
    expect(chosen).to_have_text("PLACE.58")
    main.click()
    expect(chosen).to_have_text("VESSEL.95")
    assert Submission.objects.count() == 0
    hands.press("Shift+X")
    expect(main).to_have_text("Check next, 1 left ↵")
    hands.press("Enter")
    expect(page.locator("#detail")).to_contain_text("suggested class")
    hands.press("x")
    expect(main).to_have_text("Go to what is missing ↵")
    hands.press("2")
    expect(main).to_have_text("Submit and next ↵")
    _submit(hands)
    assert queue.answers() == {"Entities": [], "Notice type": "Delay"}


def test_submitting_at_once_asks_what_becomes_of_unchecked_suggestions(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, ["Entities"])
    hands.press("Control+Enter")
    dialog = page.get_by_role("dialog", name="7 suggestions were not checked")
    expect(dialog).to_contain_text("They count as “not there”: ORG, PLACE, VESSEL,")
    picture(page, "annotate-unchecked")
    hands.press("Enter")  # checks them
    expect(dialog).to_have_count(0)
    assert Submission.objects.count() == 0
    _submit_at_once(hands)
    assert queue.answers() == {"Entities": []}
    assert Submission.objects.get().suggestions["Entities"] == {
        "seen": 7, "accepted": 0, "edited": 0, "rejected": 0, "source": "test"
    }  # fmt: skip


def test_submitting_at_once_takes_all_over_where_the_project_says_so(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, ["Syntax"], accepts_on_submit=True)
    hands.press("Control+Enter")
    expect(page.get_by_role("dialog")).to_contain_text("They count as yours: compound, ")
    page.get_by_role("button", name="Submit as it is").click()
    hands.wait_for_sentence("Fog")
    assert queue.answers() == {"Syntax": HARBOUR_TREE}


def test_one_by_one_the_next_suggestion_comes_by_itself(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, ["Entities"])
    expect(page.locator('.chip[data-state="suggested"]')).to_have_count(7)
    hands.press(".", "a", "x", "a", "a", "a", "x", "a")
    expect(page.locator('.chip[data-state="own"]')).to_have_count(5)
    expect(page.locator('.chip[data-state="suggested"]')).to_have_count(0)
    hands.press("Control+z", "d")  # the last one back, then another label in its place
    _submit(hands)
    kept = [HARBOUR_SPANS[i] for i in (0, 2, 3, 4)]
    assert queue.answers()["Entities"] == [*kept, [16, 17, "DURATION"]]
    assert Submission.objects.get().suggestions["Entities"] == {
        "seen": 7, "accepted": 4, "edited": 1, "rejected": 2, "source": "test"
    }  # fmt: skip


def test_another_label_decides_a_suggestion_and_the_next_one_comes(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, ["Entities"])
    hands.press(".", "d")
    expect(page.locator(".chip[data-selected]")).to_have_attribute("data-state", "suggested")
    hands.press("a", "Shift+X", "a")
    expect(page.locator("#message")).to_contain_text("No suggestion here")
    _submit(hands)
    expect(page.locator("#message")).to_have_text("")  # that was about another sentence
    start, end, _ = HARBOUR_SPANS[0]
    assert queue.answers()["Entities"] == [[start, end, "DURATION"], HARBOUR_SPANS[1]]


def test_another_of_the_model_s_options_is_one_click_away(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, ["Syntax"])
    page.locator("text.arc", has_text="nmod .54").click()
    page.get_by_role("button", name="held, obl").click()
    hands.press("Shift+A")
    _submit(hands)
    assert queue.answers()["Syntax"][14] == [4, "obl"]


def test_a_relation_brings_the_spans_that_it_links(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, ["Entities", "Relations"])
    page.locator("text.arc", has_text="located at").dblclick()
    _submit_at_once(hands)
    assert queue.answers() == {
        "Entities": [[6, 7, "VESSEL"], [8, 10, "PLACE"]],
        "Relations": [[6, 7, 8, 10, "located at"]],
    }


def test_a_right_click_puts_a_suggestion_away_and_deletes_an_answer(make_queue, open_page):
    queue, _, hands = _start(make_queue, open_page, ["Entities"])
    hands.chip("DATE").click(button="right")
    expect(hands.chip("DATE")).to_have_count(0)
    hands.chip("VESSEL").dblclick()
    expect(hands.chip("VESSEL")).to_have_attribute("data-state", "own")
    hands.chip("VESSEL").click(button="right")
    expect(hands.chip("VESSEL")).to_have_count(0)
    _submit_at_once(hands)
    assert queue.answers() == {"Entities": []}


def test_relations_alone_stand_on_spans_that_are_given(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, ["Relations"])
    expect(page.locator('.chip[data-state="given"]')).to_have_count(7)
    hands.press("Shift+A")
    _submit(hands)
    assert queue.answers() == {"Relations": HARBOUR_RELATIONS}


def test_the_detail_panel_is_headed_by_the_task_s_name_alone(make_queue, open_page):
    _, page, hands = _start(make_queue, open_page, ["Entities", "Relations"])
    detail = page.locator("#detail")
    page.locator("text.arc", has_text="located at").click()
    expect(detail.get_by_role("heading")).to_have_text("Relations")
    expect(detail.locator(".badge")).to_have_text("suggested relation")
    hands.chip("VESSEL").dblclick()
    hands.chip("VESSEL").click()
    expect(detail.get_by_role("heading")).to_have_text("Entities")
    expect(detail.locator(".badge")).to_have_text("your span")


def test_the_page_of_a_sentence_draws_suggestions_as_the_annotate_page_does(make_queue, open_page):
    queue = make_queue([Given(HARBOUR, harbour_suggestions())])
    page = open_page(queue.project.memberships.get(role="owner").user)
    page.goto(f"/projects/{queue.project.pk}/sentences/{queue.project.sentences.get().pk}/")
    drawn = page.get_by_label("Answers: suggestions").locator("tandem-sentence")
    expect(drawn.locator(".chip", has_text="WEATHER")).to_have_text("WEATHER.71")
    expect(drawn.locator("text.arc", has_text="nmod .54")).to_be_visible()
    expect(drawn.locator(".class")).to_have_text("Notice type: Delay .57")
    expect(drawn.locator('[data-item]:not([data-state="suggested"])')).to_have_count(0)
    stroke = drawn.locator("g.link .stroke").first
    assert stroke.evaluate("path => getComputedStyle(path).strokeDasharray") != "none"
    dashed = drawn.locator(".class").evaluate("word => getComputedStyle(word).borderTopStyle")
    assert dashed == "dashed"
    picture(page, "sentence-suggestions")
    assert severe_violations(page) == []
