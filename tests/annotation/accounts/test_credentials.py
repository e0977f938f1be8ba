"""Whatever lets people in ends when it should, and what they did is written down."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from annotation.accounts.access import find_token
from annotation.accounts.log import GROUPS, filter_log, log_lines, log_of, plain_cell, record
from annotation.accounts.services import (
    accept_invitation,
    change_role,
    create_sign_in_link,
    create_token,
    invite,
    remove_member,
    set_password,
    use_sign_in_link,
)
from annotation.erasure.services import erase, set_active
from annotation.errors import Conflict
from annotation.models import Gold, Invitation, LogEntry, Membership, Role

pytestmark = pytest.mark.django_db
NOW = timezone.now()
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def second_owner(project, bob):
    return Membership.objects.create(project=project, user=bob, role=Role.OWNER)


@pytest.mark.parametrize("end", ["removed", "lowered", "deactivated"])
def test_an_invitation_ends_with_the_power_of_whoever_made_it(project, bob, second_owner, end):
    token = invite(project=project, role=Role.OWNER, invited_by=bob, now=NOW).token
    if end == "removed":
        remove_member(membership=second_owner)
    elif end == "lowered":
        change_role(membership=second_owner, role=Role.ANNOTATOR)
    else:
        set_active(person=bob, is_active=False, actor=None)
    eve = get_user_model().objects.create_user("eve")
    with pytest.raises(Conflict, match="withdrawn"):
        accept_invitation(token=token, user=eve, now=NOW)
    assert not Membership.objects.filter(user=eve).exists()
    assert not Invitation.objects.exists()  # nor does it come back with the role


def test_an_invitation_of_somebody_who_lost_the_role_by_other_ways_is_dead_too(
    project, bob, second_owner
):
    token = invite(project=project, role=Role.OWNER, invited_by=bob, now=NOW).token
    Membership.objects.filter(pk=second_owner.pk).delete()
    assert Invitation.objects.exists()
    with pytest.raises(Conflict):
        accept_invitation(token=token, user=bob, now=NOW)


def test_a_new_password_ends_tokens_links_and_other_sessions(client, bob):
    client.force_login(bob)
    secret = create_token(user=bob, name="n", scope="read", now=NOW).secret
    link = create_sign_in_link(user=bob, now=NOW)
    set_password(user=bob, password="a fine long password")
    assert find_token(secret, NOW) is None
    with pytest.raises(Conflict):
        use_sign_in_link(token=link, now=NOW)
    assert client.get("/account/").status_code == 302


def test_a_person_who_is_shut_out_is_out_everywhere_at_once(client, admin, bob, project):
    from django.test import Client

    theirs = Client()
    theirs.force_login(bob)
    secret = create_token(user=bob, name="n", scope="read", now=NOW).secret
    link = create_sign_in_link(user=bob, now=NOW)
    client.force_login(admin)
    page = client.post(f"/people/{bob.pk}/", {"deactivate": "1"}, follow=True).content.decode()
    assert "bob is blocked" in page
    assert theirs.get("/account/").status_code == 302
    assert find_token(secret, NOW) is None
    with pytest.raises(Conflict):
        use_sign_in_link(token=link, now=NOW)
    client.post(f"/people/{bob.pk}/", {"activate": "1"})
    bob.refresh_from_db()
    assert bob.is_active
    assert theirs.get("/account/").status_code == 302  # what was ended stays so
    assert find_token(secret, NOW) is None
    with pytest.raises(Conflict):
        use_sign_in_link(token=link, now=NOW)
    assert b"signs bob in is ready" in client.post(f"/people/{bob.pk}/", {"link": "1"}).content


def test_the_only_admin_cannot_be_shut_out(admin):
    with pytest.raises(Conflict, match="last admin"):
        set_active(person=admin, is_active=False, actor=None)


@pytest.mark.parametrize("path", ["/people/", "/log/"])
def test_pages_of_the_server_are_for_admins_alone(client, ada, admin, path):
    assert client.get(path).status_code == 302
    client.force_login(ada)
    assert client.get(path).status_code == 404
    assert client.post("/people/1/", {"deactivate": "1"}).status_code == 404
    client.force_login(admin)
    assert client.get(path).status_code == 200


def test_tokens_are_made_and_withdrawn_on_the_account_page(client, ada, bob):
    client.force_login(ada)
    body = {"name": "backup script", "scope": "read", "days": "30"}
    page = client.post("/account/", body).content.decode()
    assert "shown only now" in page
    token = ada.api_tokens.get()
    assert (token.scope, token.expires_at.date()) == (
        "read",
        (timezone.now() + timedelta(days=30)).date(),
    )
    row = client.get("/account/").content.decode().partition("backup script")[2]
    assert "<td>read</td>" in row
    create_token(user=ada, name="desk", scope="annotate", days=30, now=timezone.now())
    row = client.get("/account/").content.decode().partition(">desk<")[2]
    assert "<td>read and annotate</td>" in row
    client.force_login(bob)
    assert client.post(f"/account/tokens/{token.pk}/").status_code == 404
    client.force_login(ada)
    client.post(f"/account/tokens/{token.pk}/")
    assert [left.name for left in ada.api_tokens.all()] == ["desk"]


def test_guesses_of_the_old_password_are_throttled(client, bob):
    set_password(user=bob, password="a fine long password")
    client.force_login(bob)
    body = {"old_password": "wrong", "password": "another fine password"}
    statuses = [client.post("/account/password/", body).status_code for _ in range(11)]
    assert statuses[-1] == 429
    assert 429 not in statuses[:10]


def test_the_log_is_filtered_shown_and_written_as_a_file(client, project, ada, bob):
    client.force_login(ada)
    membership = Membership.objects.create(project=project, user=bob, role=Role.ANNOTATOR)
    change_role(membership=membership, role=Role.CURATOR, actor=ada)
    record("export.started", project=project, actor=bob, format="=cmd|' /C calc'!A0")
    path = f"/projects/{project.pk}/log/"
    page = client.get(path, {"about": "member"}).content.decode()
    assert "member: role changed" in page
    assert "export: started" not in page
    assert "export: started" in client.get(path, {"person": "bob"}).content.decode()
    tomorrow = (NOW + timedelta(days=2)).date()
    assert not filter_log(log_of(project), since=tomorrow).exists()
    assert filter_log(log_of(project), until=tomorrow).exists()
    assert client.get(path, {"since": "nonsense", "page": "x"}).status_code == 200
    ends = {"since": "0001-01-01", "until": "9999-12-31"}
    assert "member: role changed" in client.get(path, ends).content.decode()
    lines = b"".join(client.get(path, {"csv": "1"}).streaming_content).decode()
    assert "member.role_changed" in lines
    assert plain_cell("=1+1") == "'=1+1"


def test_details_of_the_log_have_the_words_of_the_pages(client, project, ada):
    fields = ["overlap", "target_score", "is_open"]
    record("task.changed", project=project, actor=ada, task="Topic", task_id=7, fields=fields)
    record("sentences.deleted", project=project, actor=ada, n=3)
    client.force_login(ada)
    page = client.get(f"/projects/{project.pk}/log/").content.decode()
    words = "Answers per sentence, Target score, An import may bring new labels"
    assert f"task: Topic; changed: {words}" in page
    assert "how many: 3" in page
    assert "task id" not in page


def test_everything_that_is_written_down_is_in_a_group_of_the_log():
    code = [path.read_text() for room in ("annotation", "analysis") for path in files_of(room)]
    named = {name for text in code for name in re.findall(r'record\(\s*"([a-z_.]+)"', text)}
    assert len(named) > 40
    assert not {name for name in named if not name.startswith(tuple(filter(None, GROUPS)))}


def files_of(room):
    """Return the modules of a package."""
    return (ROOT / room).rglob("*.py")


def test_an_entry_of_the_log_is_never_changed(project, ada):
    entry = record("label.renamed", project=project, actor=ada)
    entry.action = "nothing"
    with pytest.raises(ValueError, match="never changed"):
        entry.save()
    assert LogEntry.objects.get(pk=entry.pk).action == "label.renamed"


def test_sign_ins_are_written_down(client, bob):
    client.force_login(bob)
    assert list(log_of(None).filter(action="sign_in").values_list("actor__username")) == [("bob",)]
    assert "sign_in" in "".join(log_lines(log_of(None)))


def test_an_erased_person_has_no_name_and_no_address_in_the_log(client, project, ada, bob):
    client.force_login(bob)
    membership = Membership.objects.create(project=project, user=bob, role=Role.ANNOTATOR)
    change_role(membership=membership, role=Role.CURATOR, actor=ada)
    erase(person=bob, keeps_answers=False, actor=ada)
    assert "bob" not in "".join(log_lines(log_of(None)))
    assert "127.0.0.1" not in "".join(log_lines(log_of(None)))


def test_what_leaves_the_server_is_written_down(client, harbour, ada):
    client.force_login(ada)
    answer = client.get(f"/api/projects/{harbour.pk}/export/?format=jsonl")
    assert answer.status_code == 200
    entry = LogEntry.objects.filter(project=harbour, action="export.taken").get()
    assert (entry.actor, entry.details["format"]) == (ada, "jsonl")
    assert filter_log(log_of(harbour), about="export").get() == entry


def test_a_file_of_a_project_in_any_script_has_its_name(client, harbour, ada):
    harbour.name = "Hafen 港口"
    harbour.save()
    client.force_login(ada)
    answer = client.get(f"/api/projects/{harbour.pk}/export/?format=jsonl")
    assert answer["Content-Disposition"].startswith("attachment; filename*=utf-8''Hafen%20%E6%B8")


def test_looking_at_disputes_writes_nothing(client, harbour, ada, bob):
    sentence, task = harbour.sentences.first(), harbour.tasks.filter(kind="classes").first()
    value = task.labels.first().name
    for author in (ada, bob):
        sentence.annotations.create(
            task=task, author=author, value=value, created_at=NOW, updated_at=NOW
        )
    before = Gold.objects.count()
    client.force_login(ada)
    assert client.get(f"/projects/{harbour.pk}/adjudicate/").status_code == 200
    assert Gold.objects.count() == before
