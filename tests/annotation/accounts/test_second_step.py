"""A code after the password: asked for, used once, replaced by recovery codes, turned off."""

from datetime import UTC, datetime, timedelta

import pyotp
import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.accounts.authentication import (
    N_RECOVERY_CODES,
    PERIOD,
    has_second_step,
    new_secret,
    secret_address,
    secret_picture,
    turn_on,
    use_code,
)
from annotation.accounts.services import create_sign_in_link, set_password
from annotation.erasure.services import anonymise
from annotation.errors import InvalidInput
from annotation.models import LogEntry, RecoveryCode, SecondStep

pytestmark = [pytest.mark.any_database, pytest.mark.django_db]
NOW = datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)
# RFC 6238, appendix B: the last six of the eight digits of the SHA-1 column
RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
RFC_CODES = {59: "287082", 1111111109: "081804", 1234567890: "005924", 20000000000: "353130"}
PASSWORD = "a long phrase of words"


@pytest.fixture
def cy(django_user_model):
    return django_user_model.objects.create_user("cy", password=PASSWORD)


@pytest.fixture
def codes(cy):
    """Cy's recovery codes; the app's first code is an hour old."""
    then = timezone.now() - timedelta(hours=1)
    return turn_on(user=cy, secret=RFC_SECRET, code=_code(then), now=then)


def _code(now, secret=RFC_SECRET):
    return pyotp.TOTP(secret).at(now)


def _sign_in(client, **more):
    return client.post("/sign-in/", {"username": "cy", "password": PASSWORD, **more})


@pytest.mark.parametrize(("seconds", "code"), RFC_CODES.items())
def test_codes_are_those_of_the_standard(cy, seconds, code):
    SecondStep.objects.create(user=cy, secret=RFC_SECRET, last_period=-1, created_at=NOW)
    assert use_code(user=cy, code=code, now=datetime.fromtimestamp(seconds, UTC))


def test_a_code_works_once_and_none_from_before_it(cy):
    turn_on(user=cy, secret=RFC_SECRET, code=_code(NOW), now=NOW)
    later = NOW + timedelta(seconds=2 * PERIOD)
    assert not use_code(user=cy, code=_code(NOW), now=NOW)  # the one that turned it on
    assert use_code(user=cy, code=_code(later), now=later)
    assert not use_code(user=cy, code=_code(later), now=later)
    before = later - timedelta(seconds=PERIOD)
    assert not use_code(user=cy, code=_code(before), now=later)


def test_clocks_may_differ_by_half_a_minute_and_no_more(cy):
    for shift, is_good in ((-PERIOD, True), (PERIOD, True), (-2 * PERIOD, False), (90, False)):
        SecondStep.objects.all().delete()
        SecondStep.objects.create(user=cy, secret=RFC_SECRET, last_period=-1, created_at=NOW)
        code = _code(NOW + timedelta(seconds=shift))
        assert use_code(user=cy, code=code, now=NOW) is is_good, shift


@pytest.mark.parametrize("code", ["", "000000", "١٢٣٤٥٦", "x" * 40, "\ud800"])
def test_anything_else_is_no_code(cy, codes, code):
    assert not use_code(user=cy, code=code, now=NOW)


def test_the_password_alone_signs_nobody_in(client, cy, codes):
    answer = _sign_in(client, next="/account/")
    assert answer["Location"] == "/sign-in/code/"
    assert client.get("/account/").status_code == 302
    assert b"not right" in client.post("/sign-in/code/", {"code": "000000"}).content
    answer = client.post("/sign-in/code/", {"code": _code(timezone.now())})
    assert answer["Location"] == "/account/"
    assert client.get("/account/").status_code == 200
    actions = list(LogEntry.objects.order_by("pk").values_list("action", flat=True))
    assert actions[-2:] == ["sign_in.failed", "sign_in"]


def test_a_code_without_a_password_signs_nobody_in(client, cy, codes):
    answer = client.post("/sign-in/code/", {"code": _code(timezone.now())})
    assert answer["Location"] == "/sign-in/"


def test_the_first_step_ends_with_the_password_it_was_made_with(client, cy, codes):
    _sign_in(client)
    set_password(user=cy, password="quite another phrase")
    assert client.post("/sign-in/code/", {"code": _code(timezone.now())})["Location"] == "/sign-in/"
    assert client.get("/account/").status_code == 302


def test_guesses_of_codes_are_throttled(client, cy, codes):
    _sign_in(client)
    answers = [client.post("/sign-in/code/", {"code": f"{n:06}"}).status_code for n in range(11)]
    assert answers[-1] == 429
    assert client.post("/sign-in/code/", {"code": codes[0]}).status_code == 429


def test_a_recovery_code_works_once(client, cy, codes):
    assert len(codes) == N_RECOVERY_CODES
    assert not RecoveryCode.objects.filter(code_hash__in=codes).exists()  # only hashes are kept
    _sign_in(client)
    assert client.post("/sign-in/code/", {"code": codes[3].lower()}).status_code == 302
    assert client.get("/account/").status_code == 200
    assert not use_code(user=cy, code=codes[3], now=NOW)
    assert RecoveryCode.objects.filter(user=cy).count() == N_RECOVERY_CODES - 1


def test_a_sign_in_link_asks_for_the_code_too(client, cy, codes):
    token = create_sign_in_link(user=cy, now=timezone.now())
    assert client.post(f"/sign-in/{token}/")["Location"] == "/sign-in/code/"
    assert client.get("/account/").status_code == 302
    answer = client.post("/sign-in/code/", {"code": codes[0]})
    assert answer["Location"] == "/account/password/"


def test_it_is_turned_on_and_off_with_password_and_code(client, cy):
    client.force_login(cy)
    page = client.get("/account/second-step/").content.decode()
    secret = client.session["new_secret"]
    assert secret in page
    assert "data:image/svg+xml" in page
    now = timezone.now()
    wrong = {"password": "wrong", "code": _code(now, secret)}
    assert "not your password" in client.post("/account/second-step/", wrong).content.decode()
    assert not has_second_step(cy)
    right = {"password": PASSWORD, "code": _code(now, secret)}
    assert "recovery codes" in client.post("/account/second-step/", right).content.decode()
    assert has_second_step(cy)
    later = _code(timezone.now() + timedelta(seconds=PERIOD), secret)
    off = {"password": PASSWORD, "code": "000000", "off": "1"}
    client.post("/account/second-step/", off)
    assert has_second_step(cy)
    assert client.post("/account/second-step/", {**off, "code": later}).status_code == 302
    assert not has_second_step(cy)


def test_new_recovery_codes_end_the_old_ones(client, cy, codes):
    client.force_login(cy)
    values = {"password": PASSWORD, "code": codes[0], "renew": "1"}
    assert client.post("/account/second-step/", values).status_code == 200
    assert not use_code(user=cy, code=codes[1], now=NOW)
    assert RecoveryCode.objects.filter(user=cy).count() == N_RECOVERY_CODES


def test_an_app_that_does_not_know_the_secret_turns_nothing_on(cy):
    with pytest.raises(InvalidInput):
        turn_on(user=cy, secret=new_secret(), code=_code(NOW), now=NOW)
    assert not has_second_step(cy)


def test_admins_and_the_command_help_whoever_lost_the_phone(client, admin, cy, codes, capsys):
    client.force_login(admin)
    assert "Turn codes off" in client.get("/people/").content.decode()
    client.post(f"/people/{cy.pk}/", {"second_step_off": "1"})
    assert not has_second_step(cy)
    entry = LogEntry.objects.get(action="account.second_step_off")
    assert (entry.actor, entry.details["person"]) == (admin, "cy")
    turn_on(user=cy, secret=RFC_SECRET, code=_code(NOW), now=NOW)
    call_command("sign_in_link", "cy", "--no-code")
    assert not has_second_step(cy)


def test_nothing_of_it_is_left_of_an_anonymised_person(admin, cy, codes):
    anonymise(person=cy, actor=admin)
    assert not SecondStep.objects.exists()
    assert not RecoveryCode.objects.exists()


def test_apps_read_the_name_and_the_secret(cy):
    read = pyotp.parse_uri(secret_address(cy, RFC_SECRET))
    assert (read.name, read.issuer, read.secret) == ("cy", "Tandem", RFC_SECRET)
    assert secret_picture(cy, RFC_SECRET).startswith("data:image/svg+xml;base64,")
