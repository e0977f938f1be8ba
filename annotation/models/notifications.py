from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.project import Project


class MailChoice(models.Model):
    """Where a person wants mail, in which language, and about what."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mail_choice"
    )
    address = models.EmailField(blank=True)
    is_confirmed = models.BooleanField(default=False)  # by a link that was sent there
    language = models.CharField(max_length=16, default="en")
    events = models.JSONField(default=list)  # names of annotation.notifications.events


class Webhook(models.Model):
    """An address of another program that is told what happens in a project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    events = models.JSONField(default=list)  # names of annotation.notifications.events
    secret = models.CharField(max_length=64)  # signs what is sent; shown once
    is_active = models.BooleanField(default=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]


class Delivery(models.Model):
    """One mail, or one call of a webhook: what waits, what went out, what was given up."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="deliveries")
    webhook = models.ForeignKey(
        Webhook, null=True, on_delete=models.CASCADE, related_name="deliveries"
    )  # empty: a mail
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )  # whose mail it is; empty: of somebody who has no account yet
    address = models.EmailField(blank=True)
    event = models.CharField(max_length=40)
    payload = models.JSONField(default=dict)  # of a mail: emptied when it is sent or given up
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    n_tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True)  # of the newest answer
    message = models.CharField(max_length=300, blank=True)  # what went wrong last
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["next_try_at"], condition=Q(state="waiting"), name="delivery_waiting"
            )
        ]
