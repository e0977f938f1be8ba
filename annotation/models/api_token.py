from django.conf import settings
from django.db import models


class ApiToken(models.Model):
    """A secret that lets a program act for one person; only its hash is kept."""

    class Scope(models.TextChoices):
        READ = "read"  # looks, changes nothing
        ANNOTATE = "annotate"  # and works through the queue
        MANAGE = "manage"  # and does whatever the person may do

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=120)
    token_hash = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=10, choices=Scope)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_on = models.DateField(null=True)
