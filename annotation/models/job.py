from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.project import Project
from annotation.models.round import new_folder


class Job(models.Model):
    """Work of a worker, and the queue of it: state, progress, log and result."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    class Kind(models.TextChoices):  # of this app; apps above register their own
        IMPORT = "import"
        EXPORT = "export"
        ROUND = "round"
        INSIGHT = "insight"
        REPORT = "report"  # an insight that needs no model
        RESEARCH = "research"  # an insight that trains for long
        PREDICT = "predict"
        SUGGEST = "suggest"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=30)  # see annotation.jobs.kinds
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    arguments = models.JSONField(default=dict)
    stage = models.CharField(max_length=40, blank=True)
    n_done = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField(null=True)
    message = models.TextField(blank=True)
    log = models.TextField(blank=True)
    result = models.JSONField(default=dict)
    folder = models.CharField(max_length=40, default=new_folder, db_default="")  # of its files
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
            models.Index(
                fields=["id"], condition=Q(state__in=["queued", "running"]), name="job_open"
            )
        ]

    is_resumed = False  # of a claimed job: another worker began it


class Worker(models.Model):
    """A worker process and its last sign of life."""

    name = models.CharField(max_length=120, unique=True)
    started_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField()
    busy_with = models.CharField(max_length=120, blank=True)
    lane = models.CharField(max_length=10, blank=True)  # empty: it takes every job
    machine = models.CharField(max_length=120, blank=True)  # device, cores and memory


class Insight(models.Model):
    """The newest result of one kind of insight, and what it was computed from."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="insights")
    name = models.CharField(max_length=40)
    settings = models.JSONField(default=dict)
    inputs = models.CharField(max_length=64)  # hash of settings and of what was read
    result = models.JSONField(default=dict)
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_insight_per_name")
        ]
