"""Getting in: by link, by password, by invitation."""

from django.utils import timezone
from playwright.sync_api import expect

from annotation.accounts.access import MAX_FAILURES_PER_NAME
from annotation.accounts.services import (
    create_admin,
    create_sign_in_link,
    invite,
    may_try_password,
    set_password,
)
from annotation.models import Role


def test_a_sign_in_link_lets_in_once_and_then_a_password_does(open_page, transactional_db):
    _, token = create_admin(username="admin", now=timezone.now())
    page = open_page()
    page.goto(f"/sign-in/{token}/")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("New password").fill("harbour bell 7")
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()

    other = open_page()
    other.goto(f"/sign-in/{token}/")
    other.get_by_role("button", name="Sign in").click()
    expect(other.get_by_role("heading")).to_have_text("This link does not work any more")
    other.goto("/account/")
    other.get_by_label("Name").fill("admin")
    other.get_by_label("Password").fill("harbour bell 7")
    other.get_by_role("button", name="Sign in").click()
    expect(other.get_by_role("heading", name="admin")).to_be_visible()
    other.get_by_role("button", name="Sign out").click()
    expect(other.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_weak_password_is_refused_with_its_reason(open_page, person):
    link = create_sign_in_link(user=person("ada"), now=timezone.now())
    page = open_page()
    page.goto(f"/sign-in/{link}/")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("New password").fill("12345678")
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_text("This password is entirely numeric.")).to_be_visible()


def test_guessing_passwords_is_slowed_down_in_plain_words(open_page, person):
    set_password(user=person("ada"), password="harbour bell 7")
    for _ in range(MAX_FAILURES_PER_NAME - 1):
        assert may_try_password(name="ada", address="127.0.0.1", now=timezone.now())
    page = open_page()
    page.goto("/sign-in/")
    for password, answer in (("wrong", "do not belong together"), ("harbour bell 7", "Wait 15")):
        page.get_by_label("Name").fill("ada")
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text(answer)


def test_a_person_joins_by_invitation_with_a_new_account(open_page, person, make_project):
    ada = person("ada")
    project = make_project(ada)
    token = invite(project=project, role=Role.ANNOTATOR, invited_by=ada, now=timezone.now()).token
    page = open_page()
    page.goto(f"/invitations/{token}/")
    page.get_by_label("Your name").fill("bob")
    page.get_by_label("Password").fill("harbour bell 7")
    page.get_by_role("button", name="Create account and join").click()
    expect(page.get_by_role("status")).to_contain_text("You are now annotator in Harbour notices.")
    tabs = page.get_by_role("navigation", name="Project").get_by_role("link")
    assert "Settings" not in tabs.all_inner_texts()
    page.goto(f"/invitations/{token}/")
    expect(page.get_by_role("heading")).to_have_text("This invitation does not work any more")
