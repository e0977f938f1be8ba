"""Single sign-on, against a provider of OpenID Connect that runs on this machine."""

from urllib.parse import parse_qs, urlsplit

import oidc_provider_mock
import pytest
import requests
from django.conf import settings as django_settings
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from annotation.accounts.services import create_token
from annotation.accounts.single_sign_on import disconnect
from annotation.errors import Conflict
from annotation.models import ApiToken, Identity, LogEntry, Membership, Role
from config.environment import GroupRole, SingleSignOn, group_roles, single_sign_on

pytestmark = [pytest.mark.any_database, pytest.mark.django_db]
ROLES = (
    GroupRole("cn=labellers,ou=people", "annotator", "Harbour"),
    GroupRole("leads", "curator", "Harbour"),
    GroupRole("heads", "owner", "*"),
    GroupRole("root", "admin", ""),
)


@pytest.fixture(scope="module")
def provider():
    with oidc_provider_mock.run_server_in_thread() as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def single(provider, settings):
    """Return a function that turns single sign-on on."""

    def turn_on(**changes):
        values = {
            "issuer": provider, "client_id": "tandem", "client_secret": "s3cret", "title": "Campus",
            "scopes": "openid profile email groups", "groups_claim": "groups", "roles": (),
            "is_only_way": False,
        }  # fmt: skip
        settings.SINGLE_SIGN_ON = SingleSignOn(**values | changes)

    turn_on()
    return turn_on


def _person(provider, sub, **claims):
    answer = requests.put(f"{provider}/users/{sub}", json=claims, timeout=10)
    assert answer.ok, answer.text


def _go(client, sub, address="/sign-in/single/"):
    """Walk to the provider and sign in there; return the address it sends the browser back to."""
    start = client.get(address)
    assert start.status_code == 302, start.content
    answer = requests.post(start["Location"], {"sub": sub}, allow_redirects=False, timeout=10)
    back = urlsplit(answer.headers["Location"])
    assert back.path == "/sign-in/single/back/"
    return f"{back.path}?{back.query}"


def _sign_on(client, sub, address="/sign-in/single/"):
    return client.get(_go(client, sub, address))


def _out(client):
    client.post("/sign-out/")


def test_it_is_off_unless_a_provider_is_named(client):
    assert not django_settings.SINGLE_SIGN_ON.is_on
    assert client.get("/sign-in/single/").status_code == 404
    assert client.get("/sign-in/single/back/").status_code == 404
    assert b"Campus" not in client.get("/sign-in/").content


def test_somebody_new_gets_an_account_without_a_password(client, provider, single):
    _person(provider, "u1", preferred_username="nora berg")
    assert "Sign in by Campus" in client.get("/sign-in/?next=/account/").content.decode()
    answer = _sign_on(client, "u1", "/sign-in/single/?next=/account/")
    assert answer["Location"] == "/account/"
    identity = Identity.objects.get(subject="u1")
    assert identity.user.get_username() == "nora-berg"
    assert not identity.user.has_usable_password()
    assert client.get("/account/").status_code == 200
    actions = set(LogEntry.objects.values_list("action", flat=True))
    assert {"sign_in", "person.made_by_sign_on"} <= actions
    _out(client)
    _person(provider, "u1", preferred_username="renamed")
    _sign_on(client, "u1")
    assert Identity.objects.get().user == identity.user  # known by the subject, not by the name


def test_the_request_carries_state_nonce_and_proof_key(client, single):
    sent = parse_qs(urlsplit(client.get("/sign-in/single/")["Location"]).query)
    assert {"state", "nonce", "code_challenge", "redirect_uri"} <= set(sent)
    assert sent["code_challenge_method"] == ["S256"]
    assert sent["redirect_uri"] == ["http://testserver/sign-in/single/back/"]


def test_a_foreign_page_is_not_gone_to_afterwards(client, provider, single):
    answer = _sign_on(client, "u2", "/sign-in/single/?next=https://evil.example/")
    assert answer["Location"] == "/"


def test_a_name_that_is_taken_gives_nobody_anothers_account(client, provider, single, ada):
    _person(provider, "thief", preferred_username=ada.get_username())
    answer = _sign_on(client, "thief")
    assert answer.status_code == 403
    assert "already" in answer.content.decode()
    assert not Identity.objects.exists()
    assert client.get("/account/").status_code == 302


@pytest.mark.parametrize("broken", ["state", "code", "nonce", "audience", "again", "other browser"])
def test_what_does_not_fit_together_is_refused(client, provider, single, broken):
    back = _go(client, "u3")
    if broken == "state":
        back = back.replace("state=", "state=x")
    elif broken == "code":
        back = back.replace("code=", "code=x")
    elif broken == "nonce":
        session = client.session
        (key,) = [key for key, _ in session.items() if key.startswith("_state_")]
        session[key]["data"]["nonce"] = "another"
        session.save()
    elif broken == "audience":
        single(client_id="somebody-else")
    elif broken == "again":
        assert client.get(back).status_code == 302
        _out(client)
    else:
        client.cookies.clear()
    answer = client.get(back)
    assert answer.status_code == 502
    assert "You are not signed in" in answer.content.decode()
    assert client.get("/account/").status_code == 302


def test_whoever_says_no_at_the_provider_is_told_so(client, single):
    start = client.get("/sign-in/single/")["Location"]
    answer = requests.post(start, {"action": "deny"}, allow_redirects=False, timeout=10)
    back = urlsplit(answer.headers["Location"])
    assert client.get(f"{back.path}?{back.query}").status_code == 502


def test_a_provider_that_is_away_is_told_in_words(client, single):
    single(issuer="http://127.0.0.1:9")
    answer = client.get("/sign-in/single/")
    assert answer.status_code == 502
    assert "cannot be asked" in answer.content.decode()


def test_groups_give_the_highest_role_and_take_it_back(client, provider, single, harbour):
    single(roles=ROLES)
    _person(provider, "u4", preferred_username="mo", groups=["leads", "cn=labellers,ou=people"])
    _sign_on(client, "u4")
    member = Membership.objects.get(user__username="mo")
    assert (member.project, member.role) == (harbour, Role.CURATOR)
    _out(client)
    _person(provider, "u4", preferred_username="mo", groups=["cn=labellers,ou=people"])
    _sign_on(client, "u4")
    member.refresh_from_db()
    assert member.role == Role.ANNOTATOR
    _out(client)
    create_token(user=member.user, name="t", scope="read", now=timezone.now())
    _person(provider, "u4", preferred_username="mo", groups=["strangers"])
    assert _sign_on(client, "u4").status_code == 403
    assert not Membership.objects.filter(user=member.user).exists()
    assert not ApiToken.objects.filter(user=member.user).exists()


def test_whoever_is_in_no_group_gets_no_account(client, provider, single, harbour):
    single(roles=ROLES)
    _person(provider, "u5", preferred_username="nobody")
    assert _sign_on(client, "u5").status_code == 403
    assert not Identity.objects.exists()


def test_a_role_given_by_hand_is_left_alone(client, provider, single, harbour, bob):
    Membership.objects.create(project=harbour, user=bob, role=Role.CURATOR)
    Identity.objects.create(user=bob, issuer=provider, subject="u6", created_at=timezone.now())
    single(roles=ROLES)
    _person(provider, "u6", groups=["cn=labellers,ou=people"])
    _sign_on(client, "u6")
    assert Membership.objects.get(user=bob).role == Role.CURATOR


def test_admins_are_made_and_unmade_by_their_group(client, provider, single):
    single(roles=ROLES)
    _person(provider, "u7", preferred_username="ruth", groups=["root"])
    _sign_on(client, "u7")
    user = Identity.objects.get(subject="u7").user
    assert user.is_superuser
    _out(client)
    _person(provider, "u7", groups=["leads"])
    _sign_on(client, "u7")
    user.refresh_from_db()
    assert not user.is_superuser


def test_an_account_is_connected_only_from_its_own_page(client, provider, single, bob):
    client.force_login(bob)
    assert client.get("/sign-in/single/")["Location"] == "/account/"  # a link that somebody sent
    page = client.get("/account/").content.decode()
    link = page.split('href="/sign-in/single/?connect=')[1].split('"')[0]
    answer = _sign_on(client, "u8", f"/sign-in/single/?connect={link}")
    assert answer["Location"] == "/account/"
    assert Identity.objects.get(subject="u8").user == bob
    _out(client)
    _sign_on(client, "u8")
    assert client.get("/account/").context["user"] == bob
    client.post("/account/single-sign-on/")
    assert Identity.objects.filter(user=bob).exists() is not bob.has_usable_password()


def test_nobody_disconnects_their_only_way_in(bob, provider):
    Identity.objects.create(user=bob, issuer=provider, subject="u9", created_at=timezone.now())
    bob.set_unusable_password()
    with pytest.raises(Conflict, match="password first"):
        disconnect(user=bob)
    bob.set_password("a long phrase of words")
    disconnect(user=bob)
    assert not Identity.objects.exists()


def test_a_closed_account_stays_closed(client, provider, single, bob):
    Identity.objects.create(user=bob, issuer=provider, subject="u10", created_at=timezone.now())
    bob.is_active = False
    bob.save()
    assert _sign_on(client, "u10").status_code == 403
    assert client.get("/account/").status_code == 302


def test_passwords_can_be_left_to_the_provider(client, single, bob):
    single(is_only_way=True)
    assert 'name="password"' not in client.get("/sign-in/").content.decode()
    values = {"username": bob.get_username(), "password": "whatever"}
    assert client.post("/sign-in/", values).status_code == 403


def test_what_cannot_work_is_refused_at_the_start(monkeypatch):
    monkeypatch.setenv("TANDEM_OIDC_ISSUER", "http://id.example.org")
    with pytest.raises(ImproperlyConfigured, match="https"):
        single_sign_on()
    monkeypatch.setenv("TANDEM_OIDC_ISSUER", "https://id.example.org/")
    with pytest.raises(ImproperlyConfigured, match="TANDEM_OIDC_CLIENT_ID"):
        single_sign_on()
    monkeypatch.setenv("TANDEM_OIDC_CLIENT_ID", "tandem")
    monkeypatch.setenv("TANDEM_OIDC_ROLES", "cn=a,ou=b=annotator:Harbour; root=admin; x=owner:*")
    found = single_sign_on()
    assert found.issuer == "https://id.example.org"
    assert found.roles[0] == GroupRole("cn=a,ou=b", "annotator", "Harbour")
    for wrong in ("a", "a=king:Harbour", "a=owner", "a=admin:Harbour"):
        monkeypatch.setenv("TANDEM_OIDC_ROLES", wrong)
        with pytest.raises(ImproperlyConfigured, match="GROUP=ROLE:PROJECT"):
            group_roles("TANDEM_OIDC_ROLES")
