from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.project import Project


class Job(models.Model):
    """Work of a worker as people see it: state, progress, log and result."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    class Kind(models.TextChoices):
        IMPORT = "import"
        EXPORT = "export"
        ROUND = "round"
        ADVICE = "advice"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=10, choices=Kind)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    arguments = models.JSONField(default=dict)
    stage = models.CharField(max_length=40, blank=True)
    n_done = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField(null=True)
    message = models.TextField(blank=True)
    log = models.TextField(blank=True)
    result = models.JSONField(default=dict)
    wants_cancel = models.BooleanField(default=False)
    worker = models.CharField(max_length=120, blank=True)
    heartbeat_at = models.DateTimeField(null=True)
    n_tries = models.PositiveSmallIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["heartbeat_at"], condition=Q(state="running"), name="job_running")
        ]


class Worker(models.Model):
    """A worker process and its last sign of life."""

    name = models.CharField(max_length=120, unique=True)
    started_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField()
    busy_with = models.CharField(max_length=120, blank=True)
