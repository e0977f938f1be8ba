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
