"""Webhooks by REST; owners only."""

from django.utils import timezone
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project
from annotation.models import Delivery, Role, Webhook
from annotation.notifications.outbox import webhook_events
from annotation.projects.services import (
    add_webhook,
    change_webhook,
    deliveries_of,
    get_webhook,
    remove_webhook,
    send_test,
)
from annotation.web.rest import page_of
from annotation.web.serializers import (
    CHANGES,
    PAGE,
    READS,
    ListField,
    Message,
    NameField,
    TextField,
    documented,
    page_message,
)

NAMES = [event.name for event in webhook_events()]


class WebhookMessage(Message):
    """A program that is told what happens; its secret is not shown again."""

    id = s.IntegerField(source="pk")
    url = s.CharField()
    events = s.ListField(child=s.CharField())
    is_active = s.BooleanField()
    created_at = s.DateTimeField()


class NewWebhookMessage(WebhookMessage):
    """A new webhook with its secret."""

    secret = s.CharField(help_text="Signs what is sent. Shown this once.")


class WebhookBody(Message):
    """Which address is told what."""

    url = TextField(max_length=500, help_text="On a host that the server's admin lists.")
    events = ListField(child=NameField(NAMES), max_length=len(NAMES), allow_empty=False)


class ChangeWebhookBody(Message):
    """What to change about a webhook."""

    events = ListField(
        child=NameField(NAMES), max_length=len(NAMES), allow_empty=False, required=False
    )
    is_active = s.BooleanField(required=False)


class DeliveryMessage(Message):
    """One call of a webhook, and how it went."""

    id = s.IntegerField(source="pk")
    event = s.CharField()
    state = s.ChoiceField(Delivery.State.values)
    n_tries = s.IntegerField()
    status = s.IntegerField(allow_null=True, help_text="Of the newest answer.")
    message = s.CharField(allow_blank=True, help_text="What went wrong last.")
    created_at = s.DateTimeField()
    next_try_at = s.DateTimeField()
    ended_at = s.DateTimeField(allow_null=True)


WebhookPage = page_message(WebhookMessage)
DeliveryPage = page_message(DeliveryMessage)


class WebhooksView(APIView):
    """Webhooks."""

    @documented(tag="webhooks", answers={200: WebhookPage}, errors=READS, parameters=PAGE)
    def get(self, request: Request, project_id: int) -> Response:
        """Return the programs that are told what happens in a project."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        page = page_of(project.webhooks.all(), request, sort="id")
        return Response(WebhookPage.render({"results": page.rows, "next": page.next}))

    @documented(tag="webhooks", body=WebhookBody, answers={201: NewWebhookMessage}, errors=CHANGES)
    def post(self, request: Request, project_id: int) -> Response:
        """Let a program be told of events; the secret of its signatures is shown this once."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        body = WebhookBody.read(request.data)
        new = add_webhook(project=project, actor=request.user, **body)
        rendered = {**WebhookMessage.render(new.webhook), "secret": new.secret}
        return Response(rendered, status=201)


class WebhookView(APIView):
    """One webhook."""

    @documented(
        tag="webhooks", body=ChangeWebhookBody, answers={200: WebhookMessage}, errors=CHANGES
    )
    def patch(self, request: Request, project_id: int, webhook_id: int) -> Response:
        """Tell a program of other events, or switch it off or on."""
        webhook = _find(request, project_id, webhook_id)
        body = ChangeWebhookBody.read(request.data)
        changed = change_webhook(webhook=webhook, actor=request.user, **body)
        return Response(WebhookMessage.render(changed))

    @documented(tag="webhooks", answers={204: None})
    def delete(self, request: Request, project_id: int, webhook_id: int) -> Response:
        """Remove a webhook and the list of what it was told."""
        remove_webhook(webhook=_find(request, project_id, webhook_id), actor=request.user)
        return Response(status=204)


class WebhookTestView(APIView):
    """A test of a webhook."""

    @documented(tag="webhooks", answers={202: DeliveryMessage}, errors=CHANGES)
    def post(self, request: Request, project_id: int, webhook_id: int) -> Response:
        """Queue a call that says nothing but that it is a test."""
        webhook = _find(request, project_id, webhook_id)
        sent = send_test(webhook=webhook, actor=request.user, now=timezone.now())
        return Response(DeliveryMessage.render(sent), status=202)


class DeliveriesView(APIView):
    """What a webhook was told."""

    @documented(tag="webhooks", answers={200: DeliveryPage}, errors=READS, parameters=PAGE)
    def get(self, request: Request, project_id: int, webhook_id: int) -> Response:
        """Return the calls of a webhook, newest first, and how each went."""
        page = page_of(deliveries_of(_find(request, project_id, webhook_id)), request)
        return Response(DeliveryPage.render({"results": page.rows, "next": page.next}))


def _find(request: Request, project_id: int, webhook_id: int) -> Webhook:
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    return get_webhook(project, webhook_id)
