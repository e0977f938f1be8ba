"""Invitations, roles, sign-in links and the brake on guessing."""

from datetime import timedelta

import pytest
from django.contrib.auth.hashers import get_hasher
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from annotation.accounts.access import (
    find_invitation,
    members_of,
    open_invitations,
)
from annotation.accounts.services import (
    accept_invitation,
    change_role,
    create_admin,
    create_sign_in_link,
    forget_failed_sign_ins,
    invite,
    join_with_new_account,
    may_try_password,
    remove_member,
    revoke_invitation,
    set_password,
    use_sign_in_link,
)
from annotation.errors import Conflict, InvalidInput
from annotation.models import Invitation, Membership, Role, SignInLink
from config.environment import weakness

NOW = timezone.now()
LATER = NOW + timedelta(days=15)


def invited(project, ada, role=Role.ANNOTATOR):
    return invite(project=project, role=role, invited_by=ada, now=NOW, note="for bob").token


def test_only_the_hash_of_an_invitation_is_kept(project, ada):
    token = invited(project, ada)
    stored = Invitation.objects.get()
    assert token not in str(vars(stored))
    assert find_invitation(token, now=NOW) == stored


def test_an_invitation_works_once(project, ada, bob, admin):
    token = invited(project, ada, Role.CURATOR)
    assert accept_invitation(token=token, user=bob, now=NOW).role == Role.CURATOR
    assert find_invitation(token, now=NOW) is None
    with pytest.raises(Conflict, match="was used, withdrawn or has expired"):
        accept_invitation(token=token, user=admin, now=NOW)
    assert [m.user.username for m in members_of(project)] == ["ada", "bob"]


def test_a_member_does_not_use_an_invitation_up(project, ada):
    token = invited(project, ada)
    with pytest.raises(Conflict, match="ada is a member"):
        accept_invitation(token=token, user=ada, now=NOW)
    assert find_invitation(token, now=NOW) is not None
    assert members_of(project).get().role == Role.OWNER


def test_an_invitation_expires_and_can_be_withdrawn(project, ada, bob):
    token = invited(project, ada)
    assert find_invitation(token, now=LATER) is None
    with pytest.raises(Conflict):
        accept_invitation(token=token, user=bob, now=LATER)
    revoke_invitation(invitation=open_invitations(project, now=NOW).get())
    with pytest.raises(Conflict):
        accept_invitation(token=token, user=bob, now=NOW)


def test_a_newcomer_joins_with_an_account_of_their_own(project, ada):
    token = invited(project, ada)
    with pytest.raises(InvalidInput) as caught:
        join_with_new_account(token=token, username="a b", password="123", now=NOW)
    assert {problem.path for problem in caught.value.problems} == {"username", "password"}
    with pytest.raises(InvalidInput, match="username: A user with that username already"):
        join_with_new_account(token=token, username="ada", password="vase-lantern-42", now=NOW)
    joined = join_with_new_account(
        token=token, username="carol", password="vase-lantern-42", now=NOW
    )
    assert joined.user.check_password("vase-lantern-42")
    assert joined.role == Role.ANNOTATOR


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_to_write_while_a_password_is_hashed(project, ada, monkeypatch):
    token, locked = invited(project, ada), []
    hasher = type(get_hasher())
    hashed = hasher.encode

    def encode(self, *args, **kwargs):
        locked.append(connection.in_atomic_block)
        return hashed(self, *args, **kwargs)

    monkeypatch.setattr(hasher, "encode", encode)
    joined = join_with_new_account(
        token=token, username="carol", password="vase-lantern-42", now=NOW
    )
    set_password(user=joined.user, password="lantern-vase-43")
    assert locked == [False, False]


def test_a_used_link_makes_no_account(project, ada, bob, django_user_model):
    token = invited(project, ada)
    accept_invitation(token=token, user=bob, now=NOW)
    with pytest.raises(Conflict):
        join_with_new_account(token=token, username="eve", password="vase-lantern-42", now=NOW)
    assert not django_user_model.objects.filter(username="eve").exists()


def test_a_project_keeps_an_owner(project, ada, bob):
    owner = project.memberships.get()
    with pytest.raises(Conflict, match="the only owner"):
        remove_member(membership=owner)
    with pytest.raises(Conflict, match="the only owner"):
        change_role(membership=owner, role=Role.ANNOTATOR)
    second = Membership.objects.create(project=project, user=bob, role=Role.CURATOR)
    change_role(membership=second, role=Role.OWNER)
    remove_member(membership=owner)
    assert project.memberships.get().user == bob


def test_a_sign_in_link_works_once_and_not_for_ever(ada):
    token = create_sign_in_link(user=ada, now=NOW)
    assert token not in str(vars(SignInLink.objects.get()))
    with pytest.raises(Conflict):
        use_sign_in_link(token=token, now=NOW + timedelta(hours=25))
    assert use_sign_in_link(token=token, now=NOW) == ada
    with pytest.raises(Conflict, match="was used or has expired"):
        use_sign_in_link(token=token, now=NOW)


def test_a_sign_in_link_of_an_inactive_person_is_useless(ada):
    token = create_sign_in_link(user=ada, now=NOW)
    ada.is_active = False
    ada.save()
    with pytest.raises(Conflict):
        use_sign_in_link(token=token, now=NOW)


def test_the_first_admin_has_no_password(db):
    user, token = create_admin(username="root", now=NOW)
    assert user.is_superuser
    assert not user.has_usable_password()
    assert use_sign_in_link(token=token, now=NOW) == user
    with pytest.raises(Conflict, match="a person 'root' already"):
        create_admin(username="root", now=NOW)


def test_guessing_is_slowed_by_name_and_by_address(db):
    here, elsewhere = "10.0.0.1", "10.0.0.2"
    for _ in range(10):
        assert may_try_password(name="ada", address=here, now=NOW)
    assert not may_try_password(name="ada", address=here, now=NOW)
    assert may_try_password(
        name="ada", address=elsewhere, now=NOW
    )  # nobody is locked out by others
    for i in range(39):
        assert may_try_password(name=f"guess{i}", address=here, now=NOW)
    assert not may_try_password(name="bob", address=here, now=NOW)
    assert may_try_password(name="ada", address=here, now=NOW + timedelta(minutes=16))
    for i in range(100):
        may_try_password(name="eve", address=f"10.0.1.{i}", now=NOW)
    assert not may_try_password(name="eve", address=elsewhere, now=NOW)
    forget_failed_sign_ins(name="eve")
    assert may_try_password(name="eve", address=elsewhere, now=NOW)


def test_the_command_prints_a_link_that_signs_in(db, capsys):
    call_command("sign_in_link", "--create-admin", "root")
    token = capsys.readouterr().out.strip().rstrip("/").rsplit("/", 1)[-1]
    assert use_sign_in_link(token=token, now=timezone.now()).username == "root"


def test_a_new_secret_key_is_as_private_as_the_old_one(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    monkeypatch.delenv("TANDEM_SECRET_KEY", raising=False)
    call_command("rotate_secret_key")
    first = (tmp_path / "secret_key").read_text()
    assert weakness(first) is None
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600
    call_command("rotate_secret_key")
    assert (tmp_path / "secret_key").read_text() != first
    monkeypatch.setenv("TANDEM_SECRET_KEY", first)
    with pytest.raises(CommandError, match="Change it there"):
        call_command("rotate_secret_key")
