"""Mails: to whom, when, in which language, and what they never say."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core import mail
from django.urls import reverse
from django.utils import timezone

from annotation.adjudication.services import resolve_flag
from annotation.errors import Conflict, InvalidInput
from annotation.jobs import worker
from annotation.jobs.worker import JobWorker
from annotation.models import Delivery, Flag, Job, MailChoice, Sentence
from annotation.notifications.outbox import (
    EVENTS,
    FLAG_ANSWERED,
    FOOT,
    ROUND_READY,
    choose_mail,
    confirm_address,
    mail_invitation,
    notify,
)
from annotation.notifications.transport import MOST_TRIES, WAITS, deliver
from annotation.projects.services import create_project, delete_project
from annotation.web.languages import LOCALE, read_po
from config.environment import mail as read_mail

pytestmark = pytest.mark.any_database

NOW = timezone.now


def wants(user, *events, language="en", address=""):
    return MailChoice.objects.create(
        user=user,
        address=address or f"{user.username}@example.org",
        is_confirmed=True,
        language=language,
        events=list(events),
    )


def send_all():
    worker.queue_deliveries(now=NOW())
    return JobWorker().run_all()


def ready(project, people, number=3):
    facts = {"round": number, "n": 40}
    return notify(
        ROUND_READY, project=project, now=NOW(), facts=facts, page="annotate", people=people
    )


def test_a_real_server_gets_the_mail_from_a_job_in_the_person_s_language(team, bob, post_office):
    wants(bob, ROUND_READY.name, language="de")
    ready(team, [bob])
    assert post_office.mails == []  # nothing is sent where it happens
    assert send_all() == 1
    (letter,) = post_office.mails
    assert letter["To"] == "bob@example.org"
    assert letter["From"] == "Tandem <tandem@example.org>"
    assert letter["Subject"] == "Harbour: Runde 3 ist bereit"
    text = letter.get_payload(decode=True).decode()
    assert f"https://tandem.example.org/projects/{team.pk}/annotate/" in text
    assert "40" in text
    found = Delivery.objects.get()
    assert (found.state, found.payload, found.n_tries) == ("delivered", {}, 1)
    assert Job.objects.get().state == "done"


def test_only_those_get_mail_who_want_this_one_and_confirmed_their_address(team, ada, bob, mail_on):
    wants(ada, FLAG_ANSWERED.name)
    wants(bob, ROUND_READY.name)
    assert [one.user for one in ready(team, [ada, bob])] == [bob]
    MailChoice.objects.filter(user=bob).update(is_confirmed=False)
    assert ready(team, [ada, bob]) == []


def test_without_smtp_nothing_waits_and_nothing_is_offered(team, bob, client):
    wants(bob, ROUND_READY.name)
    assert ready(team, [bob]) == []
    client.force_login(bob)
    assert "change-mail" not in client.get(reverse("account")).content.decode()


def test_what_fails_is_tried_again_later_and_given_up_in_the_end(team, bob, settings, mail_on):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9  # nobody listens
    wants(bob, ROUND_READY.name)
    (waiting,) = ready(team, [bob])
    now = waiting.next_try_at
    for number in range(1, MOST_TRIES):
        assert not deliver(delivery=waiting, now=now)
        waiting.refresh_from_db()
        assert (waiting.state, waiting.n_tries) == ("waiting", number)
        assert waiting.next_try_at - NOW() > WAITS[number - 1] - timedelta(seconds=30)
        assert not deliver(delivery=waiting, now=now)  # not before its time
        now = waiting.next_try_at
    assert not deliver(delivery=waiting, now=now)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.n_tries, waiting.payload) == ("failed", MOST_TRIES, {})
    assert "refused" in waiting.message


def test_a_flag_that_is_answered_tells_its_author_and_says_no_sentence(harbour, ada, bob, mail_on):
    wants(bob, FLAG_ANSWERED.name)
    sentence = Sentence.objects.filter(project=harbour).first()
    flag = Flag.objects.create(sentence=sentence, author=bob, comment="odd", created_at=NOW())
    resolve_flag(flag=flag, outcome=Flag.Outcome.ANSWERED, answer="so", resolved_by=ada, now=NOW())
    send_all()
    (letter,) = mail.outbox
    assert letter.to == ["bob@example.org"]
    assert sentence.text not in letter.body
    assert f"/projects/{harbour.pk}/annotate/" in letter.body


def test_an_invitation_is_mailed_and_its_link_is_kept_only_until_then(team, ada, client, mail_on):
    client.force_login(ada)
    page = reverse("members", args=[team.pk])
    form = {"role": "annotator", "days": 7, "note": "zoe", "address": "zoe@example.org"}
    shown = client.post(page, form).content.decode()
    assert "on its way to zoe@example.org" in shown
    path = re.search(r"/invitations/[\w-]+/", shown)[0]
    assert path in Delivery.objects.get().payload["text"]
    send_all()
    assert path in mail.outbox[0].body
    assert mail.outbox[0].subject == "You are invited to Harbour"
    assert Delivery.objects.get().payload == {}


def test_an_invitation_that_the_mail_server_refuses_is_told_where_it_was_made(
    team, ada, client, mail_on, settings
):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1  # nobody listens there
    client.force_login(ada)
    page = reverse("members", args=[team.pk])
    form = {"role": "annotator", "days": 7, "note": "zoe", "address": "zoe@example.org"}
    shown = client.post(page, form).content.decode()
    assert "Send it to the person yourself" not in shown
    assert "could not be sent" not in shown
    send_all()
    shown = client.get(page).content.decode()
    assert "The mail to zoe@example.org could not be sent yet:" in shown
    assert "Another attempt follows." in shown


def test_the_mail_of_an_invitation_says_its_day_in_words(team, ada, mail_on):
    mail_invitation(
        project=team,
        address="zoe@example.org",
        invited_by=ada,
        role="annotator",
        until=datetime(2027, 3, 4, 20, 30, tzinfo=UTC),
        link="https://tandem.example.org/x",
        now=NOW(),
    )
    assert "once, until 4 March 2027, 20:30 UTC:" in Delivery.objects.get().payload["text"]


def test_an_invitation_by_rest_names_its_address_or_says_that_no_mail_is_sent(
    team, ada, client, settings, mail_on
):
    client.force_login(ada)

    def invite(address):
        body = {"role": "annotator", "address": address}
        page = f"/api/projects/{team.pk}/invitations/"
        return client.post(page, body, content_type="application/json")

    assert invite("zoe@example.org").status_code == 201
    assert "https://tandem.example.org/invitations/" in Delivery.objects.get().payload["text"]
    assert invite("zoe at home").status_code == 400
    settings.MAIL = type(settings.MAIL)()
    refused = invite("zoe@example.org")
    assert (refused.status_code, "TANDEM_SMTP" in refused.json()["error"]["message"]) == (409, True)
    assert team.invitations.count() == 1


def test_an_address_counts_after_its_link_was_opened_by_the_same_person(
    team, ada, bob, client, mail_on
):
    client.force_login(bob)
    client.post(reverse("language"), {"language": "fr"})
    form = {"address": "bob@example.org", "events": [ROUND_READY.name]}
    client.post(reverse("change-mail"), form)
    assert not MailChoice.objects.get(user=bob).is_confirmed
    send_all()
    link = re.search(r"https://tandem.example.org(/account/mail/\S+)", mail.outbox[0].body)[1]
    client.force_login(ada)
    client.get(link)
    assert not MailChoice.objects.filter(is_confirmed=True).exists()
    client.force_login(bob)
    client.get(link)
    choice = MailChoice.objects.get(user=bob)
    assert (choice.is_confirmed, choice.language) == (True, "fr")
    client.post(reverse("change-mail"), {**form, "events": []})
    assert MailChoice.objects.get(user=bob).is_confirmed  # the same address is not asked again
    client.post(reverse("change-mail"), {**form, "address": ""})
    assert MailChoice.objects.get(user=bob).address == ""
    with pytest.raises(Conflict):
        confirm_address(user=bob, token=link.split("/")[-2])


def test_addresses_of_others_are_not_flooded(team, bob, mail_on):
    for number in range(5):
        address = f"victim{number}@example.org"
        choose_mail(user=bob, address=address, events=[], language="en", now=NOW())
    with pytest.raises(Conflict, match="5 mails"):
        choose_mail(user=bob, address="victim@example.org", events=[], language="en", now=NOW())
    with pytest.raises(InvalidInput):
        choose_mail(user=bob, address="", events=["nonsense"], language="en", now=NOW())


@pytest.mark.parametrize("path", sorted(LOCALE.glob("*/LC_MESSAGES/django.po")), ids=str)
def test_every_language_has_the_texts_of_all_mails(path):
    entries = read_po(path)
    texts = [text for event in EVENTS.values() for text in (event.subject, event.text) if text]
    assert [text for text in [*texts, FOOT] if text not in entries] == []


@pytest.mark.parametrize(
    ("url", "host", "port", "tls", "starttls"),
    [
        ("smtps://me:p%40ss@mail.example.org", "mail.example.org", 465, True, False),
        ("smtp://me:p%40ss@mail.example.org:2525", "mail.example.org", 2525, False, True),
        ("smtp+plain://localhost", "localhost", 25, False, False),
    ],
)
def test_smtp_is_one_address_in_the_environment(monkeypatch, url, host, port, tls, starttls):
    monkeypatch.setenv("TANDEM_SMTP", url)
    monkeypatch.setenv("TANDEM_MAIL_FROM", "tandem@example.org")
    monkeypatch.setenv("TANDEM_ADDRESS", "https://tandem.example.org")
    found = read_mail()
    assert (found.host, found.port, found.is_tls, found.is_starttls) == (host, port, tls, starttls)
    assert found.password == ("p@ss" if "@" in url else "")


@pytest.mark.parametrize(
    ("url", "sender", "words"),
    [("mail.example.org:25", "a@b.org", "smtps://"), ("smtp://mail.example.org", "", "MAIL_FROM")],
)
def test_what_cannot_work_is_refused_at_the_start(monkeypatch, url, sender, words):
    monkeypatch.setenv("TANDEM_SMTP", url)
    monkeypatch.setenv("TANDEM_MAIL_FROM", sender)
    monkeypatch.setenv("TANDEM_ADDRESS", "https://tandem.example.org")
    with pytest.raises(Exception, match=words):
        read_mail()


def test_nobody_sends_more_mails_by_making_and_deleting_projects(team, ada, bob, mail_on, settings):
    def invite(project, by):
        mail_invitation(
            project=project, address="zoe@example.org", invited_by=by, role="annotator",
            until=NOW(), link="https://tandem.example.org/x", now=NOW(),
        )  # fmt: skip

    topic = {"name": "topic", "kind": "classes", "labels": ["a", "b"]}
    spec = {"name": "Mine", "tasks": [topic]}
    for _ in range(4):
        own = create_project(spec=spec, owner=ada)
        for _ in range(25):
            invite(own, ada)
        delete_project(project=own, actor=ada)
    own = create_project(spec=spec, owner=ada)
    with pytest.raises(Conflict, match="100 invitations"):
        invite(own, ada)
    invite(team, bob)
    for number in range(5):
        choose_mail(
            user=ada, address=f"victim{number}@example.org", events=[], language="en", now=NOW()
        )
    delete_project(project=own, actor=ada)
    Delivery.objects.all().delete()
    with pytest.raises(Conflict, match="5 mails"):
        choose_mail(user=ada, address="victim@example.org", events=[], language="en", now=NOW())
