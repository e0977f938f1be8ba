"""What is told to people and programs: every event, and the outbox that a worker sends from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext

from annotation.errors import Conflict, InvalidInput, Problem, unknown_name
from annotation.models import Delivery, LogEntry, MailChoice, Membership, Project
from mtl_engine.errors import UnknownName

CONFIRMS = "mail-address"  # salt of the links in mails
CONFIRM_SECONDS = 3 * 24 * 3600
MOST_INVITATIONS = 100  # mails per project and day, and per person and day
MAILED, ASKED = "invitation.mailed", "account.address_asked"  # in the log of the server
MOST_CONFIRMATIONS = 5  # mails per person and day


@dataclass(frozen=True)
class Event:
    """Something that happens, and the mail about it.

    ``subject`` and ``text`` are keys of the catalogues, with places for ``{project}``, ``{link}``
    and what ``notify`` is given. Mails name no sentence and no answer: those stay on the server.
    """

    name: str
    title: str  # "Notify me when ...", "Send when ..."
    subject: str = ""
    text: str = ""
    is_chosen: bool = False  # people choose on the account page whether they get the mail
    is_for_programs: bool = False  # webhooks may ask for it


EVENTS: dict[str, Event] = {}


def register_event(event: Event) -> Event:
    """Add something that people or programs can be told of."""
    EVENTS[event.name] = event
    return event


def get_event(name: str) -> Event:
    """Return the event of that name."""
    if name not in EVENTS:
        raise UnknownName("event", name, EVENTS)
    return EVENTS[name]


def mail_events() -> list[Event]:
    """Return what people may choose to get mail about."""
    return [event for event in EVENTS.values() if event.is_chosen]


def webhook_events() -> list[Event]:
    """Return what a webhook may ask for."""
    return [event for event in EVENTS.values() if event.is_for_programs]


ROUND_READY = register_event(
    Event(
        "round.ready",
        "A round is ready",
        subject="{project}: round {round} is ready",
        text="Round {round} of {project} asks for {n} sentences. The first one waits here:\n{link}",
        is_chosen=True,
        is_for_programs=True,
    )
)
TARGET_REACHED = register_event(
    Event("target.reached", "A task reaches its target", is_for_programs=True)
)
EXPORT_DONE = register_event(Event("export.done", "An export is done", is_for_programs=True))
FLAG_ANSWERED = register_event(
    Event(
        "flag.answered",
        "A sentence that I flagged is answered",
        subject="{project}: your remark was answered",
        text="A curator of {project} has dealt with a sentence that you flagged. You find the "
        "outcome among your answers (F8):\n{link}",
        is_chosen=True,
    )
)
INVITED = register_event(
    Event(
        "invitation",
        "Somebody invites me",
        subject="You are invited to {project}",
        text="{person} invites you to work on {project} as {role}. This link works once, until "
        "{until}:\n{link}\n\nIf you did not expect it, you can ignore this mail.",
    )
)
CONFIRM_ADDRESS = register_event(
    Event(
        "address.confirm",
        "I give an address",
        subject="Confirm your address",
        text="{person} on {server} wants to get mail at this address. If that is you, open this "
        "link while you are signed in:\n{link}\n\nIf it is not you, ignore this mail: no other "
        "will follow.",
    )
)
TEST = register_event(Event("test", "Test"))
FOOT = "You get this mail because you asked for it under Account: {link}"


def is_mail_on() -> bool:
    """Return whether this installation sends mail."""
    return bool(settings.MAIL.host)


def notify(
    event: Event,
    *,
    project: Project,
    now: datetime,
    facts: Mapping[str, Any],
    page: str = "",
    people: Iterable[Any] = (),
) -> list[Delivery]:
    """Write what webhooks and people are to be told of an event.

    ``facts`` fill the texts of mails and are all that programs get. ``page`` is a page of the
    project that the link leads to; ``people`` are those whom it concerns, of whom only those get
    mail who want it.
    """
    link = address_of(page, project.pk) if page else ""
    told = [
        _delivery(project, event, now, webhook=webhook, payload=_call(event, project, facts, link))
        for webhook in project.webhooks.filter(is_active=True)
        if event.name in webhook.events
    ]
    if event.is_chosen and is_mail_on():
        for choice in MailChoice.objects.filter(user__in=list(people), is_confirmed=True):
            if event.name in choice.events and choice.user.is_active:
                words = _mail(event, choice.language, project, {**facts, "link": link})
                told.append(
                    _delivery(
                        project,
                        event,
                        now,
                        user=choice.user,
                        address=choice.address,
                        payload=words,
                    )
                )
    return Delivery.objects.bulk_create(told)


def mail_invitation(
    *,
    project: Project,
    address: str,
    invited_by: Any,
    role: str,
    until: datetime,
    link: str,
    now: datetime,
) -> Delivery:
    """Send the link of an invitation to an address, in the language of whoever invites.

    Anybody may make projects: what a person has sent counts on when its project is deleted.
    """
    _require_mail()
    address = require_address(address)
    since = now - timedelta(days=1)
    sent = Delivery.objects.filter(project=project, event=INVITED.name, created_at__gt=since)
    by_person = LogEntry.objects.filter(action=MAILED, actor=invited_by, created_at__gt=since)
    if max(sent.count(), by_person.count()) >= MOST_INVITATIONS:
        raise Conflict(f"{MOST_INVITATIONS} invitations were mailed today. Pass the link on.")
    facts = {
        "person": invited_by.get_username(),
        "role": role,
        "link": link,
    }
    language = translation.get_language() or "en"
    with translation.override(language):
        facts["until"] = f"{date_format(until.astimezone(UTC), 'j F Y, H:i')} UTC"
    made = _delivery(
        project,
        INVITED,
        now,
        address=address,
        payload=_mail(INVITED, language, project, facts, has_foot=False),
    )
    made.save()
    LogEntry.objects.record(MAILED, project=None, actor=invited_by, name=project.name)
    return made


def stuck_invitations(project: Project) -> QuerySet[Delivery]:
    """Return the mails with invitations that have not gone out when they were tried."""
    mails = Delivery.objects.filter(project=project, event=INVITED.name, n_tries__gt=0)
    return mails.exclude(state=Delivery.State.DELIVERED).exclude(message="").order_by("-id")


def mail_choice(user: Any) -> MailChoice:
    """Return what a person wants mail about; nothing before they say so."""
    return MailChoice.objects.filter(user=user).first() or MailChoice(user=user)


def choose_mail(
    *, user: Any, address: str, events: Iterable[str], language: str, now: datetime
) -> MailChoice:
    """Keep where and about what a person wants mail; a new address is asked first.

    An empty address ends all mail.
    """
    wanted = list(events)
    names = [event.name for event in mail_events()]
    unknown = [name for name in wanted if name not in names]
    if unknown:
        problems = [Problem("events", unknown_name("event", name, names)) for name in unknown]
        raise InvalidInput(problems)
    choice = mail_choice(user)
    address = require_address(address) if address else ""
    is_new = address != choice.address
    choice.address, choice.events, choice.language = address, wanted, language
    if is_new:
        choice.is_confirmed = False
    if address and not choice.is_confirmed:
        _ask_address(choice, now)
    choice.save()
    return choice


def confirm_address(*, user: Any, token: str) -> MailChoice:
    """Take an address as a person's own, by the link that was sent there."""
    try:
        pk, address = signing.loads(token, salt=CONFIRMS, max_age=CONFIRM_SECONDS)
    except (signing.BadSignature, ValueError, TypeError):
        pk, address = None, ""
    choice = mail_choice(user)
    if pk != user.pk or not address or choice.address != address:
        raise Conflict("This link is too old, or it is for another account. Save the address anew.")
    choice.is_confirmed = True
    choice.save()
    return choice


def require_address(address: str) -> str:
    """Return an address that a mail can be sent to."""
    try:
        validate_email(address)
    except ValidationError:
        words = f"'{address[:80]}' is no mail address; write one like name@example.org."
        raise InvalidInput([Problem("address", words)]) from None
    return address


def address_of(page: str, *values: Any) -> str:
    """Return the whole address of a page, as people outside reach it; the path where unknown."""
    return f"{settings.ADDRESS}{reverse(page, args=values)}"


def call_facts(event: str, project: Project, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a webhook is told of an event."""
    return _call(EVENTS[event], project, facts, "")


def _require_mail() -> None:
    if not is_mail_on():
        raise Conflict("This server sends no mail: an admin sets TANDEM_SMTP. Pass the link on.")


def _ask_address(choice: MailChoice, now: datetime) -> None:
    """Send the link that confirms an address; not too often, for it may be somebody else's."""
    _require_mail()
    project = Project.objects.filter(
        pk__in=Membership.objects.filter(user=choice.user).values("project")
    ).first() or (Project.objects.first() if choice.user.is_superuser else None)
    if project is None:
        raise Conflict("Join a project first: mails are about projects.")
    sent = LogEntry.objects.filter(  # which stays when a project goes with its mails
        actor=choice.user, action=ASKED, created_at__gt=now - timedelta(days=1)
    )
    if sent.count() >= MOST_CONFIRMATIONS:
        raise Conflict(f"{MOST_CONFIRMATIONS} mails were sent to confirm addresses today.")
    token = signing.dumps([choice.user.pk, choice.address], salt=CONFIRMS)
    facts = {
        "person": choice.user.get_username(),
        "server": settings.ADDRESS,
        "link": address_of("confirm-address", token),
    }
    words = _mail(CONFIRM_ADDRESS, choice.language, project, facts, has_foot=False)
    _delivery(
        project, CONFIRM_ADDRESS, now, user=choice.user, address=choice.address, payload=words
    ).save()
    LogEntry.objects.record(ASKED, project=None, actor=choice.user)


def _mail(
    event: Event,
    language: str,
    project: Project,
    facts: Mapping[str, Any],
    *,
    has_foot: bool = True,
) -> dict[str, str]:
    """Return subject and text in a language."""
    with translation.override(language):
        values = {"project": " ".join(project.name.split()), **facts}
        if "role" in values:
            values["role"] = gettext(values["role"])
        subject = gettext(event.subject).format(**values)
        text = gettext(event.text).format(**values)
        if has_foot:
            text += f"\n\n-- \n{gettext(FOOT).format(link=address_of('account'))}"
    return {"subject": subject[:200], "text": f"{text}\n"}


def _call(event: Event, project: Project, facts: Mapping[str, Any], link: str) -> dict[str, Any]:
    about = {"id": project.pk, "name": project.name}
    return {"event": event.name, "project": about, **facts, **({"link": link} if link else {})}


def _delivery(project: Project, event: Event, now: datetime, **values: Any) -> Delivery:
    return Delivery(project=project, event=event.name, next_try_at=now, created_at=now, **values)
