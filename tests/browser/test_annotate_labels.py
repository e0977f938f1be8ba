"""Big label sets: every task in sight, the likely labels first, all of them a few letters away."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.annotate_fixtures import Given, start, submitted, suggestion
from tests.browser.looking import overflow, picture, severe_violations

PLACES = "city_name airport_name airport_code state_name state_code country_name".split()
DATES = "day_name day_number month_name date_relative today_relative year".split()
TIMES = "time time_relative period_of_day period_mod start_time end_time".split()
SLOTS = [
    *[f"fromloc.{name}" for name in PLACES[:5]],
    *[f"toloc.{name}" for name in PLACES],
    *[f"stoploc.{name}" for name in ("city_name", "airport_name", "state_code")],
    *[f"depart_date.{name}" for name in DATES],
    *[f"depart_time.{name}" for name in TIMES],
    *[f"arrive_date.{name}" for name in DATES[:5]],
    *[f"arrive_time.{name}" for name in TIMES],
    *[f"return_date.{name}" for name in DATES[:4]],
    *[f"return_time.{name}" for name in ("period_of_day", "period_mod")],
    *"flight_mod flight_number flight_stop flight_time flight_days fare_amount".split(),
    *"fare_basis_code airline_name airline_code airport_name airport_code aircraft_code".split(),
    *"city_name class_type connect cost_relative economy meal meal_description or".split(),
    *"restriction_code round_trip state_name transport_type".split(),
]
INTENTS = (
    "flight airfare flight+airfare flight_time airline abbreviation aircraft ground_service "
    "ground_fare capacity city distance quantity restriction meal cheapest"
).split()
TASKS = [
    {"name": "Slots", "kind": "spans", "labels": SLOTS},
    {"name": "Intent", "kind": "classes", "labels": INTENTS},
]
TOKENS = (
    "show me flights from tucson to saint paul on sunday morning before eleven that stop in denver"
).split()
SPANS = [
    ([4, 5, "fromloc.city_name"], 0.95, []),
    ([6, 8, "toloc.city_name"], 0.93, []),
    ([9, 10, "depart_date.day_name"], 0.81, [([9, 10, "arrive_date.day_name"], 0.14)]),
    ([10, 11, "depart_time.period_of_day"], 0.77, []),
    ([14, 15, "flight_stop"], 0.38, [([14, 15, "connect"], 0.3)]),
    ([16, 17, "stoploc.city_name"], 0.6, [([16, 17, "toloc.city_name"], 0.3)]),
]


def _guesses() -> dict[str, Any]:
    items = [
        {
            "value": value,
            "confidence": sure,
            "others": [{"value": other, "confidence": c} for other, c in others],
        }
        for value, sure, others in SPANS
    ]
    intent = {"value": "flight", "confidence": 0.88, "others": []}
    return {
        "Slots": suggestion([value for value, _, _ in SPANS], 0.46, items),
        "Intent": suggestion("flight", 0.88, [intent]),
    }


def _start(make_queue, open_page, given=None, **options):
    queue = make_queue([given or Given(TOKENS, _guesses()), Given(["Fog", "."])], tasks=TASKS)
    page = open_page(queue.annotator, **options)
    return queue, page, start(page, queue, (given.tokens if given else TOKENS)[0])


WIDE = {"viewport": {"width": 1400, "height": 900}}


def test_sentence_states_and_twelve_labels_are_seen_without_scrolling(make_queue, open_page):
    assert (len(SLOTS), len(INTENTS)) == (67, 16)
    _, page, _ = _start(make_queue, open_page, **WIDE)
    for part in (page.locator("#sentence"), page.locator("#submit"), page.locator(".task-picks")):
        box = part.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 900
    labels = page.locator(".likely [data-label]:visible, .used [data-label]:visible")
    assert labels.count() == 12
    bars = page.locator("#task-bars")
    assert bars.bounding_box()["height"] <= 0.4 * 900
    assert bars.evaluate("node => node.scrollHeight === node.clientHeight")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    cut = page.locator("[data-label]:visible").evaluate_all(
        "nodes => nodes.filter((node) => node.scrollWidth > node.clientWidth + 1).length"
    )
    assert cut == 0
    expect(page.locator(".task-open:not([hidden]) .task-progress")).to_have_text(
        "0 yours · 6 to check"
    )
    expect(page.locator(".task-picks .task-progress")).to_have_text("1 to check")
    expect(page.locator(".likely [data-label]").first).to_have_attribute(
        "data-label", "toloc.city_name"
    )
    picture(page, "annotate-many-labels")
    assert severe_violations(page) == []


def test_a_label_without_a_key_is_typed_on_the_words(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, Given(TOKENS, tasks=["Slots"]), **WIDE)
    hands.go(11)
    hands.press("/")
    chooser = page.locator(".chooser")
    expect(chooser).to_contain_text("Slots before")
    hands.press("Shift+ArrowRight")
    expect(chooser.locator(".chooser-for")).to_have_text("Slots before eleven")
    top = chooser.bounding_box()["y"]
    expect(chooser.get_by_role("option")).to_have_count(67)
    branch = chooser.locator(".branch", has_text="depart_time")
    leaf = branch.locator("xpath=following-sibling::li[1]")  # of the tree of labels
    expect(leaf).to_have_class("leaf")
    expect(leaf.locator(".chooser-name")).to_have_text(re.compile(r"^\.\w+"))
    expect(leaf).to_have_attribute("data-label", re.compile(r"^depart_time\."))
    picture(page, "annotate-tree-of-labels")
    page.keyboard.type("de ti")
    expect(chooser.get_by_role("option")).to_have_count(6)
    expect(chooser.locator("u").first).to_have_text("de")
    expect(chooser).to_contain_text("6 of 67")
    picture(page, "annotate-type-ahead")
    assert chooser.bounding_box()["y"] == top
    page.keyboard.type(" rel")
    expect(chooser.get_by_role("option")).to_have_count(1)
    hands.press("Enter")
    expect(chooser).to_have_count(0)
    assert submitted(page, queue, lambda: hands.press("Enter")) == {
        "Slots": [[11, 13, "depart_time.time_relative"]]
    }


def test_a_letter_that_is_no_label_s_opens_the_type_ahead(make_queue, open_page):
    _, page, hands = _start(make_queue, open_page, Given(TOKENS, tasks=["Slots"]), **WIDE)
    hands.press("Shift+D")
    expect(page.locator(".chooser input")).to_have_value("D")
    expect(page.locator(".chooser [aria-selected=true]")).to_contain_text("depart_date.day_name")


def test_digits_choose_the_folded_class_and_zero_lists_all(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, Given(TOKENS), **WIDE)
    picks = page.locator(".task-picks")
    expect(picks.locator("[role=radio]")).to_have_count(4)
    expect(picks).to_contain_text("12 more")
    hands.press("2")
    expect(page.locator(".task-picks .task-progress")).to_have_text("✓ yours")
    hands.press("0")
    page.keyboard.type("gr fa")
    hands.press("Enter")
    assert submitted(page, queue, lambda: hands.press("Enter")) == {
        "Slots": [],
        "Intent": "ground_fare",
    }


def test_the_finder_arms_a_label_for_the_mouse(make_queue, open_page):
    queue, page, hands = _start(make_queue, open_page, Given(TOKENS, tasks=["Slots"]), **WIDE)
    finder = page.get_by_label("Find a label of Slots")
    finder.click()
    page.keyboard.type("fare b")
    hands.press("Enter")
    expect(finder).to_have_attribute("placeholder", "fare_basis_code")
    hands.word(2).click()
    expect(hands.chip("fare_basis_code")).to_have_count(1)
    hands.press("Escape")
    expect(finder).to_have_attribute("placeholder", "Find one of 67 labels")
    page.locator(".prefix", has_text="arrive_time.").click()
    page.locator(".prefix-labels [data-label='arrive_time.end_time']").click()
    hands.drag(hands.word(11), hands.word(12))
    picture(page, "annotate-prefix")
    assert submitted(page, queue, lambda: hands.press("Enter")) == {
        "Slots": [[2, 3, "fare_basis_code"], [11, 13, "arrive_time.end_time"]]
    }
    page.reload()
    hands.wait_for_sentence("Fog")
    expect(page.locator(".prefix[aria-expanded=true]")).to_contain_text("arrive_time.")


def test_what_one_uses_most_is_shown_first_and_stays_where_it_is_during_a_visit(
    make_queue, open_page
):
    _, page, hands = _start(make_queue, open_page, Given(TOKENS), **WIDE)
    used = page.locator(".task-open:not([hidden]) .used [data-label]")
    names = "nodes => nodes.map((node) => node.dataset.label)"
    before = used.evaluate_all(names)
    assert "class_type" not in before
    top = page.locator(".canvas").bounding_box()["y"]
    hands.press("1")
    hands.go(2)
    hands.press("/")
    page.keyboard.type("class")
    hands.press("Enter", "Enter")
    hands.wait_for_sentence("Fog")
    assert used.evaluate_all(names) == [*before[:-1], "class_type"]  # the eye finds all others
    assert page.locator(".canvas").bounding_box()["y"] == top
    page.reload()
    hands.wait_for_sentence("Fog")
    expect(used.first).to_have_attribute("data-label", "class_type")


def test_a_slip_of_the_fingers_makes_no_label(make_queue, open_page):
    many = {"name": "Types", "kind": "spans", "labels": [f"type{i}" for i in range(40)]}
    slots = {"name": "Slots", "kind": "spans", "labels": ["city", "day"], "open": True}
    queue = make_queue([Given(TOKENS)], tasks=[slots, many])
    page = open_page(queue.annotator)
    hands = start(page, queue, TOKENS[0])
    hands.go(4)
    hands.press("/")
    page.keyboard.type("citt")
    hands.press("Enter")
    expect(page.locator(".chooser")).to_contain_text("No label begins like that.")
    expect(page.locator(".chip")).to_have_count(0)
    hands.press("Backspace", "Enter")
    expect(page.locator(".chip")).to_have_text(["city"])
    place = hands.word(0).bounding_box()
    hands.go(2)
    hands.press("/")
    page.keyboard.type("mode")
    hands.press("ArrowDown", "Enter")  # meant
    expect(hands.label("Slots", "mode").locator("kbd")).to_have_text("m")
    assert hands.word(0).bounding_box() == place
    found = submitted(page, queue, lambda: hands.press("Control+Enter"))
    assert found == {"Slots": [[2, 3, "mode"], [4, 5, "city"]], "Types": []}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(390, 844), (820, 1180), (1400, 900), (2560, 1300)])
def test_many_labels_fit_every_window(make_queue, open_page, width, height, theme):
    options = {"viewport": {"width": width, "height": height}, "color_scheme": theme}
    _, page, hands = _start(make_queue, open_page, **options)
    hands.press("Enter")
    expect(page.locator(".chip[data-selected]")).to_be_visible()
    picture(page, f"annotate-labels-{width}-{theme}")
    assert overflow(page) == 0
    assert severe_violations(page) == []


def test_a_retired_label_is_neither_offered_nor_suggested(make_queue, open_page):
    tasks = [{"name": "Slots", "kind": "spans", "labels": ["city", "airport", "day"]}]
    rows = ([4, 5, "city"], [9, 10, "day"])
    guess = suggestion(list(rows), 0.9, [{"value": row, "confidence": 0.9} for row in rows])
    queue = make_queue([Given(TOKENS, {"Slots": guess})], tasks=tasks)
    queue.project.tasks.get().labels.filter(name="city").update(is_retired=True)
    page = open_page(queue.annotator)
    start(page, queue, TOKENS[0])
    expect(page.locator("#sentence .chip", has_text="day")).to_be_visible()
    expect(page.locator("#sentence .chip", has_text="city")).to_have_count(0)
    expect(page.locator("[data-label=airport]").first).to_be_visible()
    expect(page.locator("[data-label=city]")).to_have_count(0)
