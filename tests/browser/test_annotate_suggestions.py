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


def test_a_whole_tree_is_taken_with_two_keys(make_queue, open_page):
    queue, _, hands = _start(make_queue, open_page, ["Entities", "Syntax"])
    hands.press("Tab", "Shift+A")
    _submit(hands)
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
    assert log.suggestions["Syntax"] == {"seen": 18, "accepted": 18, "edited": 0, "rejected": 0}
    assert [action["kind"] for action in log.actions] == ["suggestion.accept"] * 4


def test_mere_submit_takes_nothing_over(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, ["Entities"])
    expect(page.locator("#message")).to_contain_text("7 suggestions are not checked")
    _submit(hands)
    assert queue.answers() == {"Entities": []}
    assert Submission.objects.get().suggestions["Entities"] == {
        "seen": 7, "accepted": 0, "edited": 0, "rejected": 0
    }  # fmt: skip


def test_mere_submit_takes_all_over_where_the_project_says_so(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, ["Syntax"], accepts_on_submit=True)
    expect(page.locator("#message")).to_have_text("18 suggestions will count as yours.")
    _submit(hands)
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
        "seen": 7, "accepted": 4, "edited": 1, "rejected": 2
    }  # fmt: skip


def test_another_of_the_model_s_options_is_one_click_away(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, ["Syntax"])
    page.locator("text.arc", has_text="nmod .54").click()
    page.get_by_role("button", name="held → fog, obl").click()
    hands.press("Shift+A")
    _submit(hands)
    assert queue.answers()["Syntax"][14] == [4, "obl"]


def test_a_relation_brings_the_spans_that_it_links(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, ["Entities", "Relations"])
    page.locator("text.arc", has_text="located at").dblclick()
    _submit(hands)
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
    _submit(hands)
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
    stroke = drawn.locator("g.relation .stroke").first
    assert stroke.evaluate("path => getComputedStyle(path).strokeDasharray") != "none"
    dashed = drawn.locator(".class").evaluate("word => getComputedStyle(word).borderTopStyle")
    assert dashed == "dashed"
    picture(page, "sentence-suggestions")
    assert severe_violations(page) == []
