from django.conf import settings
from django.db import models
from django.db.models import Q


class Project(models.Model):
    """A set of sentences, the tasks wanted on them, and the people who work on it."""

    name = models.CharField(max_length=120, unique=True)
    description = models.TextField(blank=True)
    guidelines = models.TextField(blank=True)
    language = models.CharField(max_length=16, default="en")
    overlap = models.PositiveSmallIntegerField(default=1)  # answers wanted on each ask
    lease_minutes = models.PositiveSmallIntegerField(default=15)
    shows_suggestions = models.BooleanField(default=True)
    accepts_on_submit = models.BooleanField(default=False)  # unchecked suggestions count
    shows_working_styles = models.BooleanField(default=False)
    round_defaults = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(overlap__gte=1), name="project_overlap_from_1"),
            models.CheckConstraint(condition=~Q(name=""), name="project_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Task(models.Model):
    """One question asked of every sentence."""

    class Kind(models.TextChoices):
        SPANS = "spans"
        TAGS = "tags"
        CLASSES = "classes"
        TREE = "tree"
        RELATIONS = "relations"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tasks")
    name = models.CharField(max_length=60)
    kind = models.CharField(max_length=10, choices=Kind)
    position = models.PositiveSmallIntegerField(default=0)
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="children"
    )
    is_open = models.BooleanField(default=False)  # the label set grows on import
    is_nested = models.BooleanField(default=False)  # spans may overlap
    pairs = models.JSONField(default=dict, blank=True)  # relation -> [[from label, to label], ...]
    guidelines = models.TextField(blank=True)
    target_score = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="task_name_once_a_project"),
            models.CheckConstraint(
                condition=Q(kind="relations", parent__isnull=False)
                | (~Q(kind="relations") & Q(parent__isnull=True)),
                name="only_relations_have_a_parent",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["spans", "tags", "classes", "tree", "relations"]),
                name="task_kind_is_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Label(models.Model):
    """One label of a task, with its place in the palette and its key."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="labels")
    name = models.CharField(max_length=120)
    position = models.PositiveSmallIntegerField(default=0)
    colour = models.PositiveSmallIntegerField(default=0)  # index into the 12 hues x 6 patterns
    key = models.CharField(max_length=16, blank=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["task", "name"], name="label_once_a_task"),
            models.CheckConstraint(condition=~Q(name=""), name="label_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name
