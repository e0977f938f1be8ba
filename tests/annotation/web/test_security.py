"""What is refused before any view, and what never reaches the log."""

import logging

import pytest
from django.test import RequestFactory
from django.utils import timezone

from annotation.accounts.services import create_token
from annotation.web import security
from annotation.web.security import HideSecrets, RateLimits, client_address

pytestmark = pytest.mark.any_database


def send(client, path, n_bytes, **headers):
    return client.generic(
        "POST", path, b"", content_type="multipart/form-data; boundary=x",
        CONTENT_LENGTH=str(n_bytes), **headers,
    )  # fmt: skip


@pytest.mark.django_db
def test_bodies_are_bounded_before_they_are_read(client, project, ada, settings):
    door = f"/projects/{project.pk}/import/"
    for path in ("/sign-in/", door, f"/api/projects/{project.pk}/corpora/"):
        assert send(client, path, 700 * 1024 * 1024).status_code == 413
        assert send(client, path, 100 * 1024).status_code == 413
    client.force_login(ada)
    assert send(client, "/account/password/", 9 * 1024 * 1024).status_code == 413
    assert send(client, door, 9 * 1024 * 1024).status_code != 413
    assert send(client, door, (settings.MAX_UPLOAD_MB + 1) * 1024 * 1024).status_code == 413
    assert send(client, door, "9" * 400).status_code == 413
    assert send(client, door, 9 * 1024 * 1024).status_code != 413


@pytest.mark.django_db
def test_a_token_that_nobody_has_made_opens_no_door_for_large_bodies(client, project, ada):
    made_up = {"HTTP_AUTHORIZATION": "Token made-up"}
    for path in (f"/projects/{project.pk}/import/", f"/api/projects/{project.pk}/corpora/"):
        assert send(client, path, 100 * 1024, **made_up).status_code == 413
    secret = create_token(user=ada, name="n", scope="manage", now=timezone.now()).secret
    real = {"HTTP_AUTHORIZATION": f"Token {secret}"}
    api, page = f"/api/projects/{project.pk}/corpora/", f"/projects/{project.pk}/import/"
    assert send(client, api, 100 * 1024, **real).status_code != 413
    assert send(client, page, 100 * 1024, **real).status_code == 413  # no page reads it


MANY = 30_000
LONG = "x" * 4_000_000


@pytest.mark.timeout(60)
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("tokens/", {f"key {i}": 1 for i in range(MANY)}),
        ("tokens/", {"name": "t", "scope": LONG}),
        ("projects/", {"name": "p", "tasks": [{}] * MANY}),
        (
            "projects/",
            {"name": "p", "tasks": [{"name": "t", "kind": "tags", "labels": [1] * MANY}]},
        ),
        ("projects/{}/tasks/{}/labels/", {"names": [1] * MANY}),
        ("projects/{}/webhooks/", {"url": "https://a.example/", "events": ["x"] * MANY}),
        ("projects/{}/rounds/", {"weights": {f"task {i}": -1 for i in range(MANY)}}),
        ("projects/{}/suggestions/", {"source": "s", "suggestions": [{"a": 1}] * 5_000}),
        ("projects/{}/adjudication/{}/", {"answers": {f"task {i}": 1 for i in range(MANY)}}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_body_with_very_many_faults_is_refused_at_once_and_in_few_words(
    client, harbour, ada, path, body
):
    ids = [harbour.pk]
    ids.append(harbour.sentences.first().pk if "adj" in path else harbour.tasks.first().pk)
    client.force_login(ada)
    method = client.put if "suggestions" in path else client.post
    answer = method(f"/api/{path.format(*ids)}", body, content_type="application/json")
    assert answer.status_code == 400
    assert len(answer.content) < 100_000


def test_a_person_who_asks_too_often_is_told_to_wait_and_others_are_not(settings):
    settings.RATE_LIMIT = 2
    limits = RateLimits(lambda request: "answered")
    ask = RequestFactory()
    answers = [limits(ask.get("/", HTTP_AUTHORIZATION="Token a")) for _ in range(12)]
    assert answers[:10] == ["answered"] * 10
    assert answers[11].status_code == 429
    assert answers[11]["Retry-After"] == "1"
    assert limits(ask.get("/", HTTP_AUTHORIZATION="Token b")) == "answered"


def test_nobody_asks_more_often_by_making_tokens_up(settings):
    settings.RATE_LIMIT = 2
    limits = RateLimits(lambda request: "answered")
    ask = RequestFactory()
    made_up = [
        ask.get("/", HTTP_AUTHORIZATION=f"Token {i}", REMOTE_ADDR="1.1.1.1") for i in range(130)
    ]
    answers = [limits(request) for request in made_up]
    assert answers[:100] == ["answered"] * 100
    assert answers[-1].status_code == 429
    elsewhere = ask.get("/", HTTP_AUTHORIZATION="Token 1", REMOTE_ADDR="2.2.2.2")
    assert limits(elsewhere) == "answered"


@pytest.mark.parametrize(
    "header", ["203.0.113.9", "address:203.0.113.9", "from 203.0.113.9", "session:theirs"]
)
def test_nobody_uses_up_what_another_may_ask_by_naming_them(settings, header):
    settings.RATE_LIMIT = 2
    limits = RateLimits(lambda request: "answered")
    ask = RequestFactory()
    for _ in range(60):
        limits(ask.get("/", HTTP_AUTHORIZATION=header, REMOTE_ADDR="198.51.100.1"))
    victim = ask.get("/", REMOTE_ADDR="203.0.113.9")
    assert limits(victim) == "answered"
    theirs = ask.get("/", REMOTE_ADDR="203.0.113.9", HTTP_COOKIE="sessionid=theirs")
    assert limits(theirs) == "answered"


@pytest.mark.parametrize(
    ("remote", "forwarded", "found"),
    [
        ("203.0.113.9", "1.2.3.4", "203.0.113.9"),  # a stranger's word counts for nothing
        ("10.0.0.1", "1.2.3.4", "1.2.3.4"),
        ("10.0.0.1", "9.9.9.9, 1.2.3.4, 10.0.0.7", "1.2.3.4"),  # what a client wrote is passed over
        ("10.0.0.1", "", "10.0.0.1"),
        ("", "1.2.3.4", "1.2.3.4"),
    ],
)
def test_addresses_are_those_that_trusted_proxies_name(settings, remote, forwarded, found):
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    security._is_trusted.cache_clear()
    request = RequestFactory().get("/", REMOTE_ADDR=remote, HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == found
    security._is_trusted.cache_clear()


@pytest.mark.django_db
def test_links_never_reach_the_log(client, ada, caplog):
    secret = "Abc_def-ghijklmnop0123456789"
    caplog.handler.addFilter(HideSecrets())
    with caplog.at_level(logging.DEBUG):
        client.delete(f"/sign-in/{secret}/")
        client.put(f"/invitations/{secret}/")
        client.force_login(ada)
        client.put(f"/account/mail/{secret}:1wAbCd:{secret}/")
    assert "sign-in" in caplog.text
    assert "account/mail" in caplog.text
    assert secret not in caplog.text


@pytest.mark.django_db
def test_tokens_may_send_files(client, project, ada):
    secret = create_token(user=ada, name="n", scope="manage", now=timezone.now()).secret
    path = f"/api/projects/{project.pk}/corpora/"
    sent = send(client, path, 9 * 1024 * 1024, HTTP_AUTHORIZATION=f"Token {secret}")
    assert sent.status_code != 413
