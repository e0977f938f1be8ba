"""Nothing is lost: reload, no line, two tabs, two devices, an expired lease, undo after submit."""

from datetime import timedelta

from django.utils import timezone
from playwright.sync_api import expect

from annotation.models import AnnotationVersion, Ask, Flag, Lease, Membership, Role, Submission
from tests.browser.annotate_fixtures import (
    HARBOUR,
    Given,
    Hands,
    harbour_suggestions,
    start,
    start_ahead,
)
from tests.browser.looking import overflow, picture

TASKS = [
    {"name": "Entities", "kind": "spans", "labels": ["VESSEL", "PLACE"]},
    {"name": "Type", "kind": "classes", "labels": ["Arrival", "Delay"]},
]
FIRST = "Aurelia docked at Brask .".split()
SECOND = "Velmar closed the berth .".split()
FILL_STORAGE = """() => {
  for (let size = 1 << 20, n = 0; size; n++) {
    try { localStorage.setItem(`filler ${n}`, "x".repeat(size)); } catch { size >>= 1; }
  }
}"""
ANSWERS = {"Entities": [[0, 1, "VESSEL"]], "Type": "Arrival"}


def _queue(make_queue, **values):
    return make_queue([Given(FIRST), Given(SECOND)], tasks=TASKS, **values)


def test_a_reload_in_the_middle_brings_back_the_work_and_its_undo_steps(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    hands.press("v", "1")
    hands.go(3)
    hands.press("p")
    page.reload()
    hands.wait_for_sentence("Aurelia")
    expect(hands.chip("VESSEL")).to_be_visible()
    expect(hands.label("Type", "Arrival")).to_have_attribute("aria-checked", "true")
    hands.press("Control+z")
    expect(hands.chip("PLACE")).to_have_count(0)
    hands.press("Enter")
    hands.wait_for_sentence("Velmar")
    assert queue.answers(0) == ANSWERS


def test_another_device_goes_on_from_the_draft(make_queue, open_page):
    queue = _queue(make_queue)
    hands = start(open_page(queue.annotator), queue, "Aurelia")
    hands.press("v")
    hands.wait_for_saved()
    other = start(open_page(queue.annotator), queue, "Aurelia")
    expect(other.chip("VESSEL")).to_be_visible()


def test_without_a_line_it_says_so_keeps_working_and_sends_when_back(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start_ahead(page, queue, "Aurelia")
    page.context.set_offline(True)
    saved = page.locator("#saved")
    expect(saved).to_contain_text("Offline")
    hands.press("v", "1")
    expect(hands.chip("VESSEL")).to_be_visible()
    hands.press("Enter")
    expect(hands.word(0)).to_have_text("Velmar")  # the next sentence was there already
    hands.press("p")
    expect(hands.chip("PLACE")).to_be_visible()
    expect(page.locator("#submit")).to_be_disabled()
    assert queue.answers(0) == {}
    page.context.set_offline(False)
    hands.wait_for_sentence("Velmar")
    assert queue.answers(0) == ANSWERS
    expect(hands.chip("PLACE")).to_be_visible()
    hands.press("2", "Enter")
    page.locator("#empty h2").wait_for()
    assert queue.answers(1) == {"Entities": [[0, 1, "PLACE"]], "Type": "Delay"}


def test_whoever_is_signed_out_is_told_to_sign_in_and_goes_on(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    [session] = [c for c in page.context.cookies() if c["name"] == "sessionid"]
    page.context.clear_cookies(name="sessionid")
    hands.press("v")
    expect(page.locator("#saved")).to_contain_text("Signed out")
    expect(page.locator("#saved a")).to_have_attribute("href", "/sign-in/")
    page.context.add_cookies([session])
    _try_again(page)
    hands.wait_for_saved()
    page.context.clear_cookies(name="csrftoken")  # the other half of being signed in
    hands.press("1")
    expect(page.locator("#saved")).to_contain_text("Signed out")


def test_whoever_signs_in_in_another_tab_gets_nothing_of_the_first_person_s(
    make_queue, open_page, person
):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    hands.press("v")
    hands.wait_for_saved()
    [own] = [c for c in page.context.cookies() if c["name"] == "sessionid"]
    rival = person("tomas")
    Membership.objects.create(project=queue.project, user=rival, role=Role.ANNOTATOR)
    [other] = [c for c in open_page(rival).context.cookies() if c["name"] == "sessionid"]
    page.context.add_cookies([other])
    hands.press("1")
    expect(page.locator("#saved")).to_contain_text("Signed in as somebody else: kept here")
    hands.press("Enter")
    expect(hands.word(0)).to_have_text("Velmar")
    expect(page.locator("#message")).to_contain_text("What you did last is kept here")
    hands.press("f")
    page.get_by_role("textbox").fill("Two sentences in one")
    page.get_by_role("textbox").press("Enter")
    page.wait_for_timeout(1_500)  # the page has tried again
    assert Lease.objects.filter(annotator=rival).count() == 0
    assert (Submission.objects.count(), Flag.objects.count()) == (0, 0)
    page.context.add_cookies([own])
    _come_back(page)
    hands.wait_for_sentence("Velmar")
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert queue.answers(0) == ANSWERS
    assert Flag.objects.get().author == queue.annotator


def test_whoever_was_removed_is_told_so_and_loses_nothing(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    Membership.objects.filter(user=queue.annotator).delete()
    hands.press("v")
    expect(page.locator("#saved")).to_contain_text("No longer in this project")
    hands.press("1", "Enter")
    expect(hands.word(0)).to_have_text("Velmar")
    expect(page.locator("#message")).to_contain_text("What you did last is kept here")
    Membership.objects.create(project=queue.project, user=queue.annotator, role=Role.ANNOTATOR)
    _try_again(page)
    expect(page.locator("#saved")).to_contain_text("Saved")
    hands.wait_for_sentence("Velmar")
    assert queue.answers(0) == ANSWERS


def test_whoever_is_let_in_between_a_refusal_and_the_next_knock_goes_on(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)

    def let_in_and_go_on(route):
        Membership.objects.get_or_create(
            project=queue.project, user=queue.annotator, role=Role.ANNOTATOR
        )
        route.continue_()

    page.route("**/peek/", let_in_and_go_on)
    hands = start(page, queue, "Aurelia")
    hands.press("v", "1")
    hands.wait_for_saved()
    Membership.objects.filter(user=queue.annotator).delete()
    hands.press("Enter")
    hands.wait_for_sentence("Velmar")
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert queue.answers(0) == ANSWERS


def test_whoever_has_too_low_a_role_is_told_so(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator, viewport={"width": 320, "height": 640})
    error = {"code": "forbidden", "message": "Your role does not allow this."}
    page.route("**/draft/", lambda route: route.fulfill(status=403, json={"error": error}))
    hands = start(page, queue, "Aurelia")
    hands.press("v")
    expect(page.locator("#saved")).to_contain_text("No longer allowed by your role")
    picture(page, "annotate-forbidden")
    assert overflow(page) <= 0
    page.unroute("**/draft/")
    _try_again(page)
    hands.wait_for_saved()


def test_a_lease_that_is_gone_does_not_count_as_being_removed(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    Lease.objects.all().delete()
    hands.press("v")
    expect(page.locator("#message")).to_contain_text("This lease does not exist")
    expect(page.locator("#saved")).not_to_contain_text("No longer")


def test_an_answer_that_waits_is_sent_after_the_page_was_closed(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start_ahead(page, queue, "Aurelia")
    hands.press("v", "1")
    page.context.set_offline(True)
    hands.press("Enter")
    expect(hands.word(0)).to_have_text("Velmar")
    page.goto("about:blank")
    page.context.set_offline(False)
    start(page, queue, "Velmar")
    assert queue.answers(0) == ANSWERS
    assert Submission.objects.count() == 1


def test_a_lost_reply_does_not_store_the_answer_twice(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    lost = []

    def lose_the_first_reply(route):
        if not lost:
            lost.append(route.fetch())
            route.fulfill(status=503)
        else:
            route.continue_()

    page.route("**/submit/", lose_the_first_reply)
    hands = start(page, queue, "Aurelia")
    hands.press("v", "1", "Enter")
    hands.wait_for_sentence("Velmar")
    assert len(lost) == 1
    assert lost[0].ok
    assert Submission.objects.count() == 1
    assert queue.answers(0) == ANSWERS


def test_a_second_tab_waits_and_can_take_over(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    hands.press("v")
    second = page.context.new_page()
    second.goto(queue.url)
    expect(second.get_by_role("heading", name="Open in another tab")).to_be_visible()
    second.get_by_role("button", name="Work here").click()
    others = Hands(second)
    others.wait_for_sentence("Aurelia")
    expect(others.chip("VESSEL")).to_be_visible()
    expect(page.get_by_role("heading", name="Open in another tab")).to_be_visible()
    others.press("1", "Enter")
    others.wait_for_sentence("Velmar")
    assert queue.answers(0) == ANSWERS
    second.close()  # the first tab takes over by itself
    hands.wait_for_sentence("Velmar")


def test_one_of_two_waiting_tabs_goes_on_when_the_working_one_is_closed(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    start(page, queue, "Aurelia")
    waiting = [page.context.new_page(), page.context.new_page()]
    for tab in waiting:
        tab.goto(queue.url)
        expect(tab.get_by_role("dialog", name="Open in another tab")).to_be_visible()
    page.close()
    at_work, n_same = [], 0
    for _ in range(150):
        found = [tab for tab in waiting if tab.get_by_role("dialog").count() == 0]
        n_same = n_same + 1 if found == at_work and len(found) == 1 else 0
        at_work = found
        if n_same == 10:  # both have claimed the work by now, and one has given way
            break
        waiting[0].wait_for_timeout(100)
    assert len(at_work) == 1
    Hands(at_work[0]).wait_for_sentence("Aurelia")


def test_with_full_storage_answers_are_still_sent(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    page.evaluate(FILL_STORAGE)
    hands.press("v", "1")
    expect(page.locator("#message")).to_contain_text("storage is full")
    hands.press("Enter")
    hands.wait_for_sentence("Velmar")
    assert queue.answers(0) == ANSWERS


def test_two_devices_at_once_are_shown_both_versions(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    other = start(open_page(queue.annotator), queue, "Aurelia")
    other.press("p")
    other.wait_for_saved()
    hands.press("v")
    dialog = page.get_by_role("dialog", name="Changed elsewhere")
    expect(dialog).to_contain_text("≠ VESSEL")
    expect(dialog).to_contain_text("≠ PLACE")
    dialog.get_by_role("button", name="Take the other").click()
    expect(page.locator("#sentence .chip")).to_have_text(["PLACE"])
    hands.press("Control+z")  # even that is undone
    expect(page.locator("#sentence .chip")).to_have_text(["VESSEL"])
    hands.press("1", "Enter")
    hands.wait_for_sentence("Velmar")
    assert queue.answers(0) == ANSWERS


def test_two_tall_versions_keep_their_title_and_buttons_in_view(make_queue, open_page):
    queue = make_queue([Given(HARBOUR, harbour_suggestions(), tasks=["Entities", "Syntax"])])
    page = open_page(queue.annotator, viewport={"width": 1280, "height": 640})
    hands = start(page, queue, "Velmar")
    other = start(open_page(queue.annotator), queue, "Velmar")
    other.press("Tab", "Shift+A")
    other.wait_for_saved()
    hands.press("Tab", "x")
    dialog = page.get_by_role("dialog", name="Changed elsewhere")
    expect(dialog.get_by_role("heading", name="Changed elsewhere")).to_be_in_viewport()
    expect(dialog.get_by_role("button", name="Keep mine")).to_be_in_viewport(ratio=1)
    expect(dialog.get_by_role("button", name="Keep mine")).to_be_focused()


def test_an_expired_lease_is_taken_up_again_while_its_place_is_free(make_queue, open_page):
    queue = _queue(make_queue)
    hands = start(open_page(queue.annotator), queue, "Aurelia")
    _expire_leases()
    hands.press("v", "1", "Enter")
    hands.wait_for_sentence("Velmar")
    assert queue.answers(0) == ANSWERS


def test_a_sentence_that_somebody_else_took_is_shown_and_kept(
    make_queue,
    open_page,
    person,
    client,
):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    hands.press("v", "1")
    hands.wait_for_saved()
    _expire_leases()
    rival = person("tomas")
    Membership.objects.create(project=queue.project, user=rival, role=Role.ANNOTATOR)
    client.force_login(rival)
    assert client.post(f"/api/projects/{queue.project.pk}/next/").status_code == 200
    hands.press("Enter")
    dialog = page.get_by_role("dialog", name="This sentence is no longer yours")
    expect(dialog).to_contain_text("VESSEL")
    dialog.get_by_role("button", name="Go on").click()
    hands.wait_for_sentence("Velmar")
    assert queue.answers(0) == {}


def test_undo_goes_back_into_the_submitted_sentence(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    hands.press("v", "1", "Enter")
    hands.wait_for_sentence("Velmar")
    hands.press("p")
    hands.press("Control+z", "Control+z")  # the second sentence's span, then the first sentence
    hands.wait_for_sentence("Aurelia")
    expect(hands.chip("VESSEL")).to_be_visible()
    hands.press("Control+z")  # its last step: the class
    expect(hands.label("Type", "Arrival")).to_have_attribute("aria-checked", "false")
    hands.press("2", "Enter")
    hands.wait_for_sentence("Velmar")
    assert queue.answers(0) == {**ANSWERS, "Type": "Delay"}
    assert [row.value for row in AnnotationVersion.objects.all()] == ["Arrival"]


def test_undo_after_a_reload_still_finds_the_last_submission(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    hands.press("v", "1", "Enter")
    hands.wait_for_sentence("Velmar")
    page.reload()
    hands.wait_for_sentence("Velmar")
    hands.press("Control+z")
    hands.wait_for_sentence("Aurelia")
    expect(hands.chip("VESSEL")).to_be_visible()


def test_undo_without_a_line_says_so_and_does_not_jump_later(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    hands.press("v", "1", "Enter")
    hands.wait_for_sentence("Velmar")
    page.context.set_offline(True)
    expect(page.locator("#saved")).to_contain_text("Offline")
    hands.press("Control+z")
    expect(page.locator("#message")).to_contain_text("comes back only online")
    hands.press("p")
    page.context.set_offline(False)
    hands.wait_for_saved()
    page.wait_for_timeout(500)
    expect(hands.word(0)).to_have_text("Velmar")


def test_skipping_gives_the_sentence_back_with_a_reason(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start(page, queue, "Aurelia")
    _skip(hands, "Half a sentence")
    hands.wait_for_sentence("Velmar")
    assert Lease.objects.get(state=Lease.State.SKIPPED).skip_reason == "Half a sentence"
    assert Ask.objects.get(rank=1).n_answers == 0


def test_a_skip_that_waits_is_sent_after_the_page_was_closed(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start_ahead(page, queue, "Aurelia")
    page.context.set_offline(True)
    _skip(hands, "Half a sentence")
    expect(hands.word(0)).to_have_text("Velmar")  # one goes on at once
    expect(page.locator("#message")).to_contain_text("What you did last is kept here")
    page.goto("about:blank")
    page.context.set_offline(False)
    start(page, queue, "Velmar")
    assert Lease.objects.get(state=Lease.State.SKIPPED).skip_reason == "Half a sentence"
    assert Ask.objects.get(rank=1).n_leases == 0


def test_a_flag_and_an_answer_that_wait_are_sent_after_the_page_was_closed(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    hands = start_ahead(page, queue, "Aurelia")
    page.context.set_offline(True)
    hands.press("f")
    page.get_by_role("textbox").fill("Two sentences in one")
    page.get_by_role("textbox").press("Enter")
    expect(page.locator("#message")).to_have_text("Your flag is kept here and sent later.")
    hands.press("v", "1", "Enter")
    expect(hands.word(0)).to_have_text("Velmar")
    page.goto("about:blank")
    page.context.set_offline(False)
    start(page, queue, "Velmar")
    assert Flag.objects.get().comment == "Two sentences in one"
    assert queue.answers(0) == ANSWERS
    page.reload()
    hands.wait_for_sentence("Velmar")
    assert page.evaluate("Object.keys(localStorage).filter((key) => /parcels/.test(key))") == []
    assert Flag.objects.count() == 1


def test_a_skip_outlives_its_lease_and_a_lost_reply(make_queue, open_page):
    queue = _queue(make_queue)
    page = open_page(queue.annotator)
    lost = []

    def lose_a_reply(route):
        reply = route.fetch()
        if reply.ok and not lost:
            lost.append(reply)
            route.fulfill(status=503)
        else:
            route.fulfill(response=reply)

    page.route("**/skip/", lose_a_reply)
    hands = start(page, queue, "Aurelia")
    _expire_leases()
    _skip(hands, "Half a sentence")
    hands.wait_for_sentence("Velmar")
    assert len(lost) == 1
    assert Lease.objects.get(state=Lease.State.SKIPPED).skip_reason == "Half a sentence"
    expect(page.locator("#counts")).to_contain_text("1 skipped")


def _skip(hands, reason):
    hands.press("Control+Space")
    hands.page.get_by_role("textbox").fill(reason)
    hands.page.get_by_role("textbox").press("Enter")


def _try_again(page):
    """Let the page try at once what it would try again in some seconds."""
    page.evaluate("dispatchEvent(new Event('online'))")


def _come_back(page):
    """Look at the page again, as from another tab."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def _expire_leases():
    """Let the time of every lease run out and give their places back."""
    past = timezone.now() - timedelta(minutes=1)
    Lease.objects.update(expires_at=past, state=Lease.State.RETURNED)
    Ask.objects.update(n_leases=0)
