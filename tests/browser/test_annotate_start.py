"""The first moments of the annotate page: nothing moves, however slow the server is."""

import pytest
from playwright.sync_api import expect

from tests.browser.annotate_fixtures import HARBOUR, Given, Hands, harbour_suggestions
from tests.browser.looking import picture

WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, sources, hadRecentInput } of list.getEntries()) {
    const moved = sources.map(({ node }) => node?.id || node?.className || node?.nodeName);
    if (!hadRecentInput) shifts.push([value, moved]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("size", [(1280, 900), (1024, 640), (390, 844)])
def test_nothing_moves_when_the_first_sentence_comes_late(make_queue, open_page, size):
    queue = make_queue([Given(HARBOUR, harbour_suggestions())])
    page = open_page(queue.annotator, viewport={"width": size[0], "height": size[1]})
    page.add_init_script(WATCH)

    def answer_late(route):
        page.wait_for_timeout(2_500)
        route.continue_()

    page.route("**/next/", answer_late)
    page.goto(queue.url)
    expect(page.get_by_text("Loading…")).to_be_visible()
    Hands(page).wait_for_sentence("Velmar")
    page.wait_for_timeout(300)
    assert page.evaluate("shifts") == []


def test_whoever_starts_without_a_line_is_told_so_and_goes_on_when_it_is_back(
    make_queue, open_page
):
    queue = make_queue([Given(HARBOUR, harbour_suggestions())])
    page = open_page(queue.annotator)
    page.route("**/next/", lambda route: route.abort("internetdisconnected"))
    page.goto(queue.url)
    expect(page.get_by_text("Loading…")).to_be_visible()
    expect(page.locator("#saved")).to_have_text("Offline: kept in this browser")
    expect(page.locator("#saved")).to_be_visible()
    picture(page, "annotate-slow-start")
    page.unroute("**/next/")
    page.evaluate("dispatchEvent(new Event('online'))")
    Hands(page).wait_for_sentence("Velmar")
    expect(page.get_by_text("Loading…")).to_be_hidden()
