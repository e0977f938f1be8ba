"""Webhooks of a project: which programs are told what, and how that went."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.accounts.access import new_token
from annotation.accounts.log import record
from annotation.errors import Conflict, InvalidInput, NotFound, Problem, unknown_name
from annotation.models import Delivery, Project, Webhook
from annotation.notifications.events import TEST, webhook_events
from annotation.notifications.outbox import call_facts
from annotation.notifications.transport import find_host

MOST = 10  # of a project
MOST_TESTS = 5  # that wait


@dataclass(frozen=True)
class NewWebhook:
    """A webhook and its secret, which is shown this once."""

    webhook: Webhook
    secret: str


def get_webhook(project: Project, webhook_id: int) -> Webhook:
    """Return a webhook of a project."""
    found = project.webhooks.filter(pk=webhook_id).first()
    if found is None:
        raise NotFound("This webhook does not exist in this project.")
    return found


def deliveries_of(webhook: Webhook) -> QuerySet[Delivery]:
    """Return what was sent to a webhook or waits for it, newest first."""
    return webhook.deliveries.order_by("-id")


@transaction.atomic
def add_webhook(*, project: Project, url: str, events: Iterable[str], actor: Any) -> NewWebhook:
    """Let a program be told of events; its address must be on a host that the admin lists."""
    wanted = _events(events)
    find_host(url)
    if project.webhooks.count() >= MOST:
        raise Conflict(f"A project has at most {MOST} webhooks. Remove one first.")
    secret = new_token()
    made = Webhook.objects.create(
        project=project, url=url, events=wanted, secret=secret, created_by=actor
    )
    record("webhook.added", project=project, actor=actor, url=url, events=wanted)
    return NewWebhook(made, secret)


@transaction.atomic
def change_webhook(
    *,
    webhook: Webhook,
    actor: Any,
    events: Iterable[str] | None = None,
    is_active: bool | None = None,
) -> Webhook:
    """Tell a program of other events, or of nothing for a while."""
    if events is not None:
        webhook.events = _events(events)
    if is_active is not None:
        webhook.is_active = is_active
    webhook.save(update_fields=["events", "is_active"])
    record(
        "webhook.changed",
        project=webhook.project,
        actor=actor,
        url=webhook.url,
        events=webhook.events,
        state="on" if webhook.is_active else "off",
    )
    return webhook


@transaction.atomic
def remove_webhook(*, webhook: Webhook, actor: Any) -> None:
    """Tell a program nothing any more, and forget what it was told."""
    record("webhook.removed", project=webhook.project, actor=actor, url=webhook.url)
    webhook.delete()


def send_test(*, webhook: Webhook, actor: Any, now: datetime) -> Delivery:
    """Queue a call that says nothing but that it is a test."""
    waiting = webhook.deliveries.filter(event=TEST.name, state=Delivery.State.WAITING)
    if waiting.count() >= MOST_TESTS:
        raise Conflict(f"{MOST_TESTS} tests wait already. Is a worker running?")
    if not webhook.is_active:
        raise Conflict("This webhook is switched off. Switch it on first.")
    return Delivery.objects.create(
        project=webhook.project,
        webhook=webhook,
        event=TEST.name,
        payload=call_facts(TEST.name, webhook.project, {}),
        next_try_at=now,
        created_at=now,
    )


def _events(events: Iterable[str]) -> list[str]:
    """Return the names of events that webhooks may ask for, in their order; at least one."""
    names = [event.name for event in webhook_events()]
    given = list(events)
    problems = [
        Problem("events", unknown_name("event", name, names)) for name in given if name not in names
    ]
    if not given:
        problems.append(Problem("events", f"Choose at least one: {', '.join(names)}."))
    if problems:
        raise InvalidInput(problems)
    return [name for name in names if name in given]
