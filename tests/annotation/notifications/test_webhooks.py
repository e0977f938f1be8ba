"""Webhooks: who may be called, what they are told, how they know that it was us."""

import hashlib
import hmac
import json
import socket
import threading
import time
from contextlib import suppress
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.corpora.jobs import start_export
from annotation.errors import InvalidInput, Refused
from annotation.jobs import worker
from annotation.jobs.worker import JobWorker
from annotation.models import Delivery, Webhook
from annotation.notifications import transport
from annotation.notifications.transport import MOST_TRIES, deliver, find_host, signature
from annotation.projects.services import add_webhook, send_test
from tandem_client.webhooks import BadSignature, verify

pytestmark = pytest.mark.any_database


def work():
    worker.queue_deliveries(now=timezone.now())
    return JobWorker().run_all()


@pytest.fixture
def hook(project, ada, listener):
    return add_webhook(
        project=project, url=listener.url, events=["export.done", "round.ready"], actor=ada
    )


def test_a_call_is_signed_with_its_time_and_says_names_and_numbers_only(
    project, ada, hook, listener
):
    start_export(project=project, format="jsonl", labels="final", created_by=ada)
    JobWorker().run_all()
    assert listener.calls == []  # the export does not wait for anybody
    work()
    ((headers, body),) = listener.calls
    told = json.loads(body)
    assert told["event"] == headers["Tandem-Event"] == "export.done"
    assert told["project"] == {"id": project.pk, "name": "Harbour"}
    assert told["format"] == "jsonl"
    assert headers["Tandem-Delivery"] == str(told["id"])
    moment, mark = headers["Tandem-Signature"].split(",")
    signed = f"{moment[2:]}.".encode() + body
    expected = hmac.new(hook.secret.encode(), signed, hashlib.sha256).hexdigest()
    assert mark == f"v1={expected}"
    verify(hook.secret, headers["Tandem-Signature"], body)


def test_the_client_knows_a_call_that_was_changed_is_old_or_is_another_s():
    body = b'{"event": "test"}'
    mark = signature("secret", 1_000, body)
    header = f"t=1000,v1={mark}"
    assert verify("secret", header, body, now=1_100)["event"] == "test"
    for secret, sent, given, now in (
        ("other", header, body, 1_100),
        ("secret", header, body + b" ", 1_100),
        ("secret", f"t=1001,v1={mark}", body, 1_100),
        ("secret", header, body, 1_400),
        ("secret", "nonsense", body, 1_100),
    ):
        with pytest.raises(BadSignature):
            verify(secret, sent, given, now=now)


def test_what_fails_is_tried_again_and_the_log_says_why(project, ada, hook, listener):
    sent = send_test(webhook=hook.webhook, actor=ada, now=timezone.now())
    listener.statuses = [500, 204]
    work()
    sent.refresh_from_db()
    assert (sent.state, sent.status, sent.message) == ("waiting", 500, "It answered 500.")
    work()
    assert len(listener.calls) == 1  # not before its time
    Delivery.objects.update(next_try_at=timezone.now())
    work()
    sent.refresh_from_db()
    assert (sent.state, sent.status, sent.n_tries, sent.message) == ("delivered", 204, 2, "")
    ids = {headers["Tandem-Delivery"] for headers, _ in listener.calls}
    assert ids == {str(sent.pk)}


def test_it_is_given_up_after_the_last_try(hook, ada, listener):
    sent = send_test(webhook=hook.webhook, actor=ada, now=timezone.now())
    listener.statuses = [404] * MOST_TRIES
    for _ in range(MOST_TRIES):
        deliver(delivery=sent, now=sent.next_try_at)
        sent.refresh_from_db()
    assert (sent.state, sent.n_tries, len(listener.calls)) == ("failed", MOST_TRIES, MOST_TRIES)


def test_redirects_are_not_followed(hook, ada, listener):
    listener.statuses = [302]
    listener.headers = {"Location": "http://169.254.169.254/"}
    sent = send_test(webhook=hook.webhook, actor=ada, now=timezone.now())
    work()
    sent.refresh_from_db()
    assert (sent.state, "redirects" in sent.message) == ("waiting", True)


def _drips(connection):
    """Answer with one byte of a header now and then."""
    connection.sendall(b"HTTP/1.1 204 No Content\r\nX: ")
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


def _goes_on(connection):
    """Say for ever that the answer is about to come."""
    while True:
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


@pytest.mark.parametrize("answer", [_drips, _goes_on, lambda _: time.sleep(5)])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_call_ends_in_its_time_whatever_comes_back(settings, answer, scheme):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            connection, _ = server.accept()
            with suppress(OSError), connection:
                answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        settings.WEBHOOK_HOSTS = [address]
        began = time.monotonic()
        with pytest.raises(transport.BadAnswer):
            transport.post(find_host(f"{scheme}://{address}/"), b"{}", headers={}, seconds=0.5)
        assert time.monotonic() - began < 4


@pytest.mark.parametrize("path", ["/ü", "/a b", "/a\x00", "/?q=名"])
def test_an_address_that_cannot_be_called_is_refused_where_it_is_entered(
    project, ada, listener, path
):
    url = listener.url.replace("/hook", path)
    with pytest.raises(InvalidInput):
        add_webhook(project=project, url=url, events=["export.done"], actor=ada)
    old = Webhook.objects.create(project=project, url=url, events=["export.done"], secret="s")
    sent = send_test(webhook=old, actor=ada, now=timezone.now())
    work()
    sent.refresh_from_db()
    assert (sent.n_tries, bool(sent.message)) == (1, True)  # and others are told nevertheless


def test_only_listed_hosts_are_called_and_names_may_not_lead_inside(settings, monkeypatch):
    settings.WEBHOOK_HOSTS = ["hooks.example.org", "ci.lan=10.0.0.0/8", "other.example.org:8443"]

    def leads_to(address):
        rows = [(2, 1, 6, "", (address, 443))]
        monkeypatch.setattr(transport.socket, "getaddrinfo", lambda *_, **__: rows)

    for url in (
        "https://evil.example.org/",
        "https://hooks.example.org.evil.org/",
        "https://hooks.example.org@evil.org/",
        "http://hooks.example.org/",  # in the clear, over the open net
        "https://other.example.org/",  # another port
        "ftp://hooks.example.org/",
        "https://127.0.0.1/",
        "https://[::1/",
        "nonsense",
    ):
        with pytest.raises(InvalidInput):
            find_host(url)
    with pytest.raises(InvalidInput) as refusal:
        find_host("https://other.example.org:9000/x")
    assert "'other.example.org:9000' is not among" in str(refusal.value.problems[0].message)
    inside = ["127.0.0.1", "10.0.0.7", "169.254.169.254", "192.168.1.1", "::1", "224.0.0.1"]
    inside += ["::ffff:10.0.0.7", "::127.0.0.1", "64:ff9b::a00:7", "2002:a00:7::", "fec0::1"]
    for one in inside:
        leads_to(one)
        with pytest.raises(Refused, match="not allowed"):
            find_host("https://hooks.example.org/x").address()
    leads_to("93.184.216.34")
    assert find_host("https://Hooks.example.org/x").address() == "93.184.216.34"
    leads_to("10.1.2.3")
    assert find_host("http://ci.lan:8080/x").address() == "10.1.2.3"
    leads_to("192.168.1.1")
    with pytest.raises(Refused, match="not allowed"):
        find_host("http://ci.lan:8080/x").address()
    assert find_host("https://other.example.org:8443/").port == 8443


def test_a_host_that_is_no_longer_listed_is_not_called(hook, ada, listener, settings):
    sent = send_test(webhook=hook.webhook, actor=ada, now=timezone.now())
    settings.WEBHOOK_HOSTS = []
    work()
    sent.refresh_from_db()
    assert listener.calls == []
    assert "TANDEM_WEBHOOK_HOSTS" in sent.message


def test_owners_add_test_switch_and_remove_on_the_page(project, ada, client, listener):
    client.force_login(ada)
    page = reverse("webhooks", args=[project.pk])
    shown = client.post(page, {"url": listener.url, "events": ["target.reached"]}).content.decode()
    hook = Webhook.objects.get()
    assert hook.secret in shown
    assert hook.secret not in client.get(page).content.decode()
    change = reverse("change-webhook", args=[project.pk, hook.pk])
    client.post(change, {"action": "test"})
    work()
    assert "delivered" in client.get(page).content.decode()
    client.post(change, {"action": "off"})
    client.post(change, {"action": "test"})
    assert Delivery.objects.count() == 1
    client.post(change, {"action": "remove"})
    assert not Webhook.objects.exists()


def test_what_is_wrong_with_an_address_is_said_at_its_field(project, ada, client, listener):
    client.force_login(ada)
    page = reverse("webhooks", args=[project.pk])
    form = {"url": "https://evil.example.org", "events": ["export.done"]}
    assert "TANDEM_WEBHOOK_HOSTS" in client.post(page, form).content.decode()
    assert not Webhook.objects.exists()


def test_rest_adds_changes_tests_lists_and_removes(project, ada, client, listener):
    client.force_login(ada)
    hooks = f"/api/projects/{project.pk}/webhooks/"

    def call(method, path, body=None):
        return getattr(client, method)(path, body, content_type="application/json")

    made = call("post", hooks, {"url": listener.url, "events": ["round.ready"]})
    assert made.status_code == 201
    one = f"{hooks}{made.json()['id']}/"
    assert len(made.json()["secret"]) == 43
    assert "secret" not in client.get(hooks).json()["results"][0]
    assert call("patch", one, {"events": ["export.done"]}).json()["events"] == ["export.done"]
    assert call("patch", one, {"events": ["no.such"]}).status_code == 400
    assert call("post", f"{one}test/").status_code == 202
    work()
    (sent,) = client.get(f"{one}deliveries/").json()["results"]
    assert (sent["state"], sent["event"], sent["status"]) == ("delivered", "test", 204)
    assert call("patch", one, {"is_active": False}).json()["is_active"] is False
    assert call("post", f"{one}test/").status_code == 409
    assert call("delete", one).status_code == 204
    bad = call("post", hooks, {"url": "https://evil.example.org/", "events": ["round.ready"]})
    assert "url" in bad.json()["error"]["fields"]


def test_what_ended_a_month_ago_is_forgotten(hook, ada, listener):
    old = send_test(webhook=hook.webhook, actor=ada, now=timezone.now())
    ended = timezone.now() - timedelta(days=31)
    Delivery.objects.filter(pk=old.pk).update(state="delivered", ended_at=ended)
    send_test(webhook=hook.webhook, actor=ada, now=timezone.now())
    work()
    assert list(Delivery.objects.values_list("pk", flat=True)) != [old.pk]
    assert not Delivery.objects.filter(pk=old.pk).exists()
