"""How the annotate page looks, and what assistive technology finds on it."""

import itertools

import pytest
from playwright.sync_api import expect

from annotation.models import Flag
from tests.browser import annotate_sentences as sentences
from tests.browser.annotate_fixtures import HARBOUR, Given, Hands, harbour_suggestions, start
from tests.browser.looking import overflow, picture, severe_violations

WIDE = {"width": 1280, "height": 900}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def _harbour():
    return Given(
        HARBOUR,
        harbour_suggestions(),
        reason={"why": "Syntax is torn over where ‘in fog’ attaches: one reading pays for three."},
        confidences={"Relations": 0.44, "Syntax": 0.51, "Entities": 0.63, "Notice type": 0.88},
    )


def _is_sound(page):
    assert severe_violations(page) == []
    assert overflow(page) <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_four_tasks_on_one_screen_have_no_serious_fault(make_queue, open_page, scheme):
    queue = make_queue([_harbour(), _harbour()])
    page = open_page(queue.annotator, viewport=WIDE, color_scheme=scheme)
    hands = start(page, queue, "Velmar")
    hands.press("Shift+A", "2")
    hands.go(14)
    hands.press("ArrowUp")
    hands.wait_for_saved()
    expect(page.locator("#detail .badge")).to_have_text("suggested arc")
    picture(page, f"annotate-{scheme}")
    _is_sound(page)
    hands.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    picture(page, f"annotate-keys-{scheme}")
    _is_sound(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_right_to_left_sentence_is_sound_and_arrows_follow_the_eye(make_queue, open_page, scheme):
    queue = make_queue([sentences.arabic()], tasks=sentences.ENTITY_TASKS, language="ar")
    page = open_page(queue.annotator, viewport=WIDE, color_scheme=scheme)
    hands = start(page, queue, "قال")
    assert hands.word(0).bounding_box()["x"] > hands.word(1).bounding_box()["x"]
    assert hands.word(4).bounding_box()["x"] < hands.word(5).bounding_box()["x"]  # New York
    hands.press("ArrowLeft")
    expect(page.locator(".word[data-cursor]")).to_have_text("جون")
    hands.press("/", "Shift+ArrowLeft")  # also in the list
    expect(page.locator(".chooser-for b")).to_have_text("جون سميث")
    expect(page.locator(".chooser-hints")).to_contain_text("⇧←")
    hands.press("Escape", "Escape")
    hands.press("Shift+A", "Tab", "Shift+A", "Tab", "Shift+A", "Tab", "Shift+A")
    picture(page, f"annotate-rtl-{scheme}")
    _is_sound(page)
    page.locator('text.arc[data-state="own"]', has_text="nsubj").first.click()
    pair = page.locator(".pair > *")
    expect(pair).to_have_text(["قال", "→", "جون"])
    xs = [part.bounding_box()["x"] for part in pair.all()]
    assert xs == sorted(xs)  # the arrow goes from the head to its dependent


def test_words_without_spaces_marks_and_emoji_stand_as_they_are_written(make_queue, open_page):
    queue = make_queue([sentences.japanese()], tasks=sentences.ENTITY_TASKS, language="ja")
    page = open_page(queue.annotator, viewport=WIDE)
    hands = start(page, queue, "東京")
    boxes = [hands.word(i).bounding_box() for i in range(6)]
    gaps = [b["x"] - a["x"] - a["width"] for a, b in itertools.pairwise(boxes)]
    assert max(gaps) <= 26  # written together, apart from room for chips
    expect(hands.word(5)).to_have_text("👩‍🚀")
    hands.go(5)
    hands.press("p", "Enter")
    hands.press("Shift+A")
    picture(page, "annotate-cjk")


def test_no_language_in_particular_is_none_that_a_screen_reader_would_seek(make_queue, open_page):
    queue = make_queue([Given(["Aurelia", "left"])], tasks=sentences.ENTITY_TASKS, language="xx")
    page = open_page(queue.annotator, viewport=WIDE)
    start(page, queue, "Aurelia")
    expect(page.locator("#sentence")).to_have_attribute("lang", "")
    assert severe_violations(page, "valid-lang") == []


def test_two_hundred_words_wrap_and_stay_readable(make_queue, open_page):
    queue = make_queue([sentences.long_sentence()], tasks=sentences.ENTITY_TASKS)
    page = open_page(queue.annotator, viewport=WIDE)
    hands = start(page, queue, sentences.long_sentence().tokens[0])
    hands.press("Shift+A", "Shift+A", "Shift+A", "End")
    expect(page.locator(".word[data-cursor]")).to_be_in_viewport()
    picture(page, "annotate-200-words")
    assert overflow(page) <= 0
    boxes = [hands.word(i).bounding_box() for i in range(0, 200, 7)]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= WIDE["width"] for box in boxes)


def test_twenty_relations_are_told_apart(make_queue, open_page):
    given = sentences.long_sentence(30, 14)
    given.tasks = ["Entities", "Links"]
    queue = make_queue([given], tasks=sentences.ENTITY_TASKS)
    page = open_page(queue.annotator, viewport=WIDE)
    hands = start(page, queue, given.tokens[0])
    hands.press("Shift+A", "Shift+A")
    hands.chip("PER").first.hover()
    picture(page, "annotate-relations")
    names = page.locator("text.link")
    boxes = [names.nth(i).bounding_box() for i in range(names.count())]
    assert page.locator("g.link").count() == 14
    # A relation that a line break cuts is named on several lines, so names are counted by relation.
    named = names.evaluate_all("all => all.map((name) => name.dataset.item)")
    assert len(set(named)) == 14
    assert not any(_overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])


def _overlap(a, b):
    """Whether two boxes of names lie on each other by more than their halo."""
    return (
        min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"]) > 4
        and min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"]) > 8
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_labels_and_submit_are_at_the_thumb(make_queue, open_page, scheme):
    queue = make_queue([sentences.slots()], tasks=sentences.SLOT_TASKS, name="Home helper")
    page = open_page(queue.annotator, color_scheme=scheme, **PHONE)
    hands = start(page, queue, "keep")
    hands.word(2).tap()
    hands.label("Slots", "room").tap()
    expect(page.locator('.chip[data-state="own"]')).to_have_text(["room"])
    hands.chip("end").tap()
    page.get_by_role("button", name="Accept", exact=True).tap()
    hands.label("Intent", "Set heating").tap()
    picture(page, f"slots-phone-{scheme}")
    _is_sound(page)
    sentence, labels = page.locator("#sentence"), page.locator(".task-open:not([hidden])")
    assert sentence.bounding_box()["y"] < labels.bounding_box()["y"]
    submit = page.locator("#submit").bounding_box()
    assert submit["height"] >= 44
    assert submit["y"] + submit["height"] <= 844


def test_a_sentence_can_be_flagged_on_a_phone(make_queue, open_page):
    queue = make_queue([_harbour()])
    page = open_page(queue.annotator, **PHONE)
    start(page, queue, "Velmar")
    flag = page.get_by_role("button", name="Flag")
    expect(flag).to_be_in_viewport(ratio=1)
    box = flag.bounding_box()
    assert min(box["width"], box["height"]) >= 44
    flag.tap()
    page.get_by_role("textbox").fill("Two sentences in one")
    page.get_by_role("dialog").get_by_role("button", name="Flag").tap()
    expect(page.locator("#message")).to_have_text("Flagged. Thank you.")
    assert Flag.objects.get().comment == "Two sentences in one"


def test_on_a_phone_suggested_arcs_are_decided_at_the_thumb(make_queue, open_page):
    queue = make_queue([_harbour()])
    page = open_page(queue.annotator, **PHONE)
    start(page, queue, "Velmar")
    decisions = [page.get_by_role("button", name=n, exact=True) for n in ("Accept", "Reject")]
    for button in decisions:
        expect(button).to_have_count(0)
    page.locator(".task-tab", has_text="Syntax").tap()  # a phone draws what is open
    page.locator("text.arc", has_text="nmod .54").tap()
    for button in decisions:
        expect(button).to_be_in_viewport(ratio=1)
        assert button.bounding_box()["height"] >= 44
    picture(page, "annotate-phone-decide")
    for button in reversed(decisions):  # each goes on to the next suggestion
        button.tap()
    expect(page.locator('g.arc.over[data-state="own"]')).to_have_count(1)
    expect(page.locator('g.arc.over[data-state="suggested"]')).to_have_count(16)
    word = page.locator(".word[data-cursor]").bounding_box()
    assert word["y"] + word["height"] <= page.locator(".actions").bounding_box()["y"]
    _is_sound(page)


def test_all_tasks_fit_on_a_phone_too(make_queue, open_page):
    queue = make_queue([_harbour()])
    page = open_page(queue.annotator, **PHONE)
    start(page, queue, "Velmar")
    picture(page, "annotate-phone")
    _is_sound(page)


@pytest.mark.parametrize("width", [640, 320])
def test_a_magnified_page_needs_no_sideways_scrolling(make_queue, open_page, width):
    queue = make_queue([_harbour()])
    page = open_page(queue.annotator, viewport={"width": width, "height": 450})
    start(page, queue, "Velmar")
    picture(page, f"annotate-{width}")
    assert overflow(page) <= 0


def test_markup_in_names_words_and_guidelines_is_shown_as_text(make_queue, open_page):
    queue = make_queue(
        [sentences.hostile()], tasks=sentences.HOSTILE_TASKS, guidelines=sentences.HOSTILE
    )
    page = open_page(queue.annotator, viewport=WIDE)
    hands = start(page, queue, sentences.HOSTILE)
    task, label = sentences.HOSTILE_TASKS[0]["name"], sentences.HOSTILE_TASKS[0]["labels"][1]
    hands.word(0).click()
    page.get_by_label(f"Labels of {task}").get_by_role("button", name=label).click()
    hands.press("1", "g", "?", "Escape", "f")
    expect(page.get_by_role("dialog")).to_be_visible()
    hands.press("Escape")
    picture(page, "annotate-hostile")
    assert page.locator("main img, main b b, main script").count() == 0
    assert "broken" not in page.title()
    hands.press("Enter")
    page.locator("#empty h2").wait_for()
    assert queue.answers() == {task: [[0, 1, label]], "Type": sentences.HOSTILE}


def test_markup_in_labels_of_arcs_tags_and_relations_is_shown_as_text(make_queue, open_page):
    label = sentences.HOSTILE
    tasks = [
        {"name": "Spans", "kind": "spans", "labels": [label]},
        {"name": "Tags", "kind": "tags", "labels": [label]},
        {"name": "Tree", "kind": "tree", "labels": [label, "root"]},
        {"name": "Links", "kind": "relations", "parent": "Spans", "labels": [label]},
    ]
    said = {
        "Spans": sentences.suggestion([[0, 1, label], [1, 2, label]], 0.5, []),
        "Tags": sentences.suggestion([label, label], 0.5, []),
        "Tree": sentences.suggestion([[2, label], [0, "root"]], 0.5, []),
        "Links": sentences.suggestion([[0, 1, 1, 2, label]], 0.5, []),
    }
    queue = make_queue([Given([label, "</script>"], said)], tasks=tasks)
    page = open_page(queue.annotator, viewport=WIDE)
    hands = start(page, queue, label)
    hands.press("Shift+A", "Shift+A", "Shift+A", "Shift+A", "ArrowUp", "Space")
    expect(page.get_by_role("option", name=label).last).to_be_visible()
    hands.press("Escape", "Enter")
    page.locator("#empty h2").wait_for()
    assert queue.answers()["Links"] == [[0, 1, 1, 2, label]]
    sentence = queue.project.sentences.get()
    owner = open_page(queue.project.memberships.get(role="owner").user)
    owner.goto(f"/projects/{queue.project.pk}/sentences/{sentence.pk}/")
    expect(owner.locator("text.link").first).to_have_text(label)
    for shown in (page, owner):
        assert shown.locator("main img, main script[src]").count() == 0
        assert "broken" not in shown.title()


def test_a_screen_reader_hears_words_with_all_that_is_on_them(make_queue, open_page):
    queue = make_queue([_harbour()])
    page = open_page(queue.annotator, viewport=WIDE)
    hands = start(page, queue, "Velmar")
    assert isinstance(hands, Hands)
    hands.press("Shift+A", "Tab", "Tab", "Shift+A")
    expect(page.get_by_role("status")).to_have_text("Syntax: 18 accepted")
    hands.go(6)
    expect(
        page.get_by_role("option", name="Aurelia; in Aurelia, VESSEL; appos of ferry")
    ).to_be_focused()
    hands.press("Tab", "Tab")  # past the last task: on to the rest of the page
    expect(page.locator("tandem-sentence :focus")).to_have_count(0)


def test_keys_can_be_changed_and_letters_switched_off(make_queue, open_page):
    queue = make_queue([_harbour()])
    page = open_page(queue.annotator, viewport=WIDE)
    hands = start(page, queue, "Velmar")
    hands.press("?")
    page.get_by_role("button", name="Key for CARGO").click()
    hands.press("o")
    expect(page.get_by_role("button", name="Key for CARGO")).to_have_text("o")
    expect(page.get_by_role("button", name="Key for ORG")).not_to_have_text("o")
    hands.press("Escape")
    hands.press("o")
    expect(page.locator('.chip[data-state="own"]')).to_have_text(["CARGO"])
    hands.press("?")
    page.get_by_label("Letters and digits are keys").uncheck()
    hands.press("Escape", "Backspace", "v")
    expect(page.locator('.chip[data-state="own"]')).to_have_count(0)
    page.reload()
    hands.wait_for_sentence("Velmar")
    hands.press("?")
    expect(page.get_by_role("button", name="Key for CARGO")).to_have_text("o")


def test_the_flag_button_shows_its_key_also_after_it_was_changed(make_queue, open_page):
    queue = make_queue([_harbour()])
    page = open_page(queue.annotator, viewport=WIDE)
    hands = start(page, queue, "Velmar")
    cap = page.locator("#flag kbd")
    expect(cap).to_have_text("f")
    hands.press("?")
    page.get_by_role("button", name="Key for flag the sentence").click()
    hands.press("z", "Escape")
    expect(cap).to_have_text("z")
    hands.press("z")
    expect(page.get_by_role("dialog", name="Flag this sentence")).to_be_visible()


def test_in_a_small_window_no_bar_moves_and_no_label_is_cut_off(make_queue, open_page):
    queue = make_queue([_harbour()])
    page = open_page(queue.annotator, viewport={"width": 1024, "height": 768})
    hands = start(page, queue, "Velmar")
    kept = [page.locator("#submit"), page.locator("#why"), hands.label("Notice type", "Hazard")]
    before = [node.bounding_box() for node in kept]
    hands.press("Shift+A")
    hands.go(6)
    hands.press("ArrowDown")
    expect(page.locator("#detail")).to_contain_text("end ⇥")
    assert [node.bounding_box() for node in kept] == before
    canvas = page.locator(".canvas").bounding_box()
    hands.open_task("Syntax")
    opened = page.locator(".canvas").bounding_box()
    assert opened["y"] + opened["height"] == canvas["y"] + canvas["height"]
    tabs = page.locator(".task-tabs").bounding_box()
    assert 0 < opened["y"] - tabs["y"] - tabs["height"] < 16  # the sentence has what is left
    labels = page.locator(".task-open:not([hidden]) .task-labels")
    box, last = labels.bounding_box(), labels.get_by_role("button").last.bounding_box()
    assert last["x"] + last["width"] <= box["x"] + box["width"] + 1
    assert last["y"] + last["height"] <= box["y"] + box["height"] + 1
    picture(page, "annotate-1024")


def test_the_active_task_s_labels_are_in_view_however_many_there_are(make_queue, open_page):
    spans = {"name": "Types", "kind": "spans", "labels": [f"a long type {i}" for i in range(60)]}
    topic = {"name": "Topic", "kind": "classes", "labels": ["one", "two"]}
    queue = make_queue([Given(["Ferry", "left"])], tasks=[spans, topic])
    page = open_page(queue.annotator, viewport={"width": 1024, "height": 768})
    hands = start(page, queue, "Ferry")
    hands.press("Tab")
    expect(hands.label("Topic", "two")).to_be_in_viewport()
    bars, row = (
        page.locator("#task-bars").bounding_box(),
        hands.label("Topic", "two").bounding_box(),
    )
    assert row["y"] + row["height"] <= bars["y"] + bars["height"]
