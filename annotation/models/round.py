"""Rounds, and the jobs that workers do: of rounds, of files, of insights."""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.project import Project


def new_folder() -> str:
    """Return the name of a folder of files: nobody guesses it, and no other row ever gets it."""
    return secrets.token_hex(16)


class Round(models.Model):
    """One turn of active learning: train, score, select, label."""

    class State(models.TextChoices):
        QUEUED = "queued"
        TRAINING = "training"
        SCORING = "scoring"
        SELECTING = "selecting"
        LABELLING = "labelling"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    RUNNING = (State.QUEUED, State.TRAINING, State.SCORING, State.SELECTING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    config = models.JSONField(default=dict)
    stages = models.JSONField(default=dict)  # what each finished stage found; kept when resumed
    manifest = models.JSONField(default=dict)  # what is needed to replay it to the same asks
    message = models.TextField(blank=True)  # why it failed and what to do
    folder = models.CharField(max_length=40, default=new_folder, db_default="")  # of its files
    files = models.JSONField(
        default=dict, db_default={}
    )  # digests by path of what lies in the store
    n_resumed = models.PositiveSmallIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="round_number_once"),
            models.UniqueConstraint(
                fields=["folder"], condition=~Q(folder=""), name="round_folder_once"
            ),
            models.UniqueConstraint(
                fields=["project"],
                condition=Q(state__in=["queued", "training", "scoring", "selecting"]),
                name="one_running_round_a_project",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.project} round {self.number}"


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
        DELIVER = "deliver"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=30)  # see annotation.jobs.services
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
