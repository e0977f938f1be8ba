"""Fingers on the annotate page, by real touch events, on a phone and on a tablet."""

import pytest
from playwright.sync_api import expect

from tests.browser.annotate_fixtures import Given, start, submitted
from tests.browser.test_annotate_kinds import ANSWERS, TAGS, TASKS, TOKENS, TREE

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
TABLET = {**PHONE, "viewport": {"width": 820, "height": 1180}}


class Finger:
    """One finger that taps, drags and rests."""

    def __init__(self, page):
        self.page = page
        self.touch = page.context.new_cdp_session(page)

    def tap(self, locator):
        locator.scroll_into_view_if_needed()
        locator.tap()

    def drag(self, start, end):
        """Go from one place to another at once: a finger that waits means something else."""
        end.scroll_into_view_if_needed()
        (x1, y1), (x2, y2) = self._middle(start), self._middle(end)
        way = {"xDistance": x2 - x1, "yDistance": y2 - y1, "speed": 2000, "preventFling": True}
        gesture = {"x": x1, "y": y1, **way, "gestureSourceType": "touch"}
        self.touch.send("Input.synthesizeScrollGesture", gesture)

    def swipe(self, by):
        """Go sideways below the words, where there is nothing to drag."""
        box = self.page.locator("#sentence").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 4
        for kind, dx in (("touchStart", 0), ("touchMove", by / 2), ("touchMove", by)):
            self._send(kind, x + dx, y)
        self._send("touchEnd")

    def rest(self, locator, answer):
        """Hold until the page has answered."""
        self._send("touchStart", *self._middle(locator))
        self.page.locator(answer).wait_for()
        self._send("touchEnd")

    def choose(self, label):
        """Tap a label of the list, which must stay open."""
        self.page.locator(f'.chooser [data-label="{label}"]').tap()

    def _middle(self, locator):
        locator.scroll_into_view_if_needed()
        box = locator.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def _send(self, kind, *at):
        points = [{"x": at[0], "y": at[1]}] if at else []
        self.touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


@pytest.mark.parametrize("window", [PHONE, TABLET], ids=["390", "820"])
def test_every_kind_is_answered_by_finger_alone(make_queue, open_page, window):
    queue = make_queue([Given(TOKENS)], tasks=TASKS)
    page = open_page(queue.annotator, **window)
    hands = start(page, queue, "Aurelia")
    finger = Finger(page)
    bottom = hands.word(len(TOKENS) - 1).bounding_box()
    assert bottom["y"] + bottom["height"] < window["viewport"]["height"]  # words above the fold

    hands.word(0).tap()
    finger.tap(hands.label("Entities", "VESSEL"))
    finger.rest(hands.word(3), ".word[data-range]")
    hands.word(4).tap()  # ends the range
    finger.tap(hands.label("Entities", "PLACE"))
    finger.tap(hands.label("Notice type", "Delay"))
    finger.tap(hands.label("Notice type", "Arrival"))
    finger.tap(page.get_by_role("button", name="Words"))
    finger.drag(hands.word(0), hands.word(1))
    finger.tap(hands.label("Words", "VERB"))
    for i, tag in enumerate(TAGS):
        if tag != "VERB":
            finger.tap(hands.word(i))
            finger.tap(hands.label("Words", tag))
    finger.tap(page.locator(".task-tab", has_text="Syntax"))
    for dep, (head, label) in enumerate(TREE):
        finger.tap(hands.word(dep))
        finger.tap(hands.word(max(0, head - 1) if head else dep))
        if head:
            finger.choose(label)
    finger.tap(page.locator(".task-tab", has_text="Relations"))
    finger.tap(hands.chip("VESSEL"))
    finger.tap(hands.word(3))
    finger.rest(page.locator("text.link"), ".chooser")  # asks for another label
    finger.choose("located at")
    assert submitted(page, queue, page.locator("#submit").tap) == ANSWERS


@pytest.mark.parametrize("window", [PHONE, TABLET], ids=["390", "820"])
def test_a_drag_by_finger_makes_arcs_and_relations(make_queue, open_page, window):
    queue = make_queue([Given(TOKENS, tasks=["Entities", "Syntax", "Relations"])], tasks=TASKS)
    page = open_page(queue.annotator, **window)
    hands = start(page, queue, "Aurelia")
    finger = Finger(page)
    for word, label in ((0, "VESSEL"), (3, "PLACE")):
        finger.tap(hands.word(word))
        finger.tap(hands.label("Entities", label))
    finger.tap(page.locator(".task-tab", has_text="Syntax"))
    finger.drag(hands.word(0), hands.word(1))
    finger.choose("nsubj")
    expect(page.locator('text.arc.over[data-state="own"]')).to_have_text("nsubj")
    finger.tap(page.locator(".task-tab", has_text="Relations"))
    finger.drag(hands.chip("VESSEL"), hands.chip("PLACE"))
    expect(page.locator("text.link")).to_have_text("located at")


@pytest.mark.parametrize("window", [PHONE, TABLET], ids=["390", "820"])
def test_a_swipe_over_an_empty_place_goes_to_the_sentence_before(make_queue, open_page, window):
    tasks = [{"name": "Topic", "kind": "classes", "labels": ["Arrival", "Delay"]}]
    queue = make_queue([Given(["Aurelia", "left"]), Given(["Brask", "waits"])], tasks=tasks)
    page = open_page(queue.annotator, **window)
    hands = start(page, queue, "Aurelia")
    finger = Finger(page)
    finger.tap(hands.label("Topic", "Delay"))
    finger.tap(page.locator("#submit"))
    hands.wait_for_sentence("Brask")
    expect(page.locator("#submit")).to_be_enabled()
    finger.swipe(-150)  # the other way is nothing
    hands.wait_for_sentence("Brask")
    finger.swipe(150)
    hands.wait_for_sentence("Aurelia")


def test_several_classes_are_ticked_by_finger(make_queue, open_page):
    tasks = [{"name": "Topics", "kind": "multiclasses", "labels": ["Arrival", "Delay", "Storm"]}]
    queue = make_queue([Given(["Aurelia", "left"])], tasks=tasks)
    page = open_page(queue.annotator, **PHONE)
    hands = start(page, queue, "Aurelia")
    finger = Finger(page)
    for label in ("Arrival", "Delay", "Storm", "Delay"):
        finger.tap(hands.label("Topics", label))
    expected = {"Topics": ["Arrival", "Storm"]}
    assert submitted(page, queue, page.locator("#submit").tap) == expected
