"""Answers; a foreign key whose composite index begins with it has no index of its own."""

from django.conf import settings
from django.db import models

from annotation.models.project import Sentence, Task
from annotation.models.round import Round


class Annotation(models.Model):
    """One person's present answer to one task on one sentence."""

    sentence = models.ForeignKey(
        Sentence, on_delete=models.CASCADE, related_name="annotations", db_index=False
    )
    task = models.ForeignKey(
        Task, on_delete=models.CASCADE, related_name="annotations", db_index=False
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="annotations"
    )
    value = models.JSONField()
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["sentence", "task", "author"], name="one_answer_a_person"
            )
        ]
        indexes = [models.Index(fields=["task", "sentence"], name="annotation_by_task")]


class AnnotationVersion(models.Model):
    """An earlier answer, kept when a newer one took its place."""

    annotation = models.ForeignKey(
        Annotation, on_delete=models.CASCADE, related_name="versions", db_index=False
    )
    version = models.PositiveIntegerField()
    value = models.JSONField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["version"]
        constraints = [
            models.UniqueConstraint(
                fields=["annotation", "version"], name="annotation_version_once"
            )
        ]


class Gold(models.Model):
    """The answer that counts: adjudicated, agreed or imported."""

    class Source(models.TextChoices):
        IMPORTED = "imported"
        ADJUDICATED = "adjudicated"
        AGREED = "agreed"
        MAJORITY = "majority"  # a curator let the votes decide
        REVIEWED = "reviewed"  # a curator looked at a single answer and kept or corrected it

    sentence = models.ForeignKey(
        Sentence, on_delete=models.CASCADE, related_name="gold", db_index=False
    )
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="gold", db_index=False)
    value = models.JSONField()
    source = models.CharField(max_length=12, choices=Source)
    version = models.PositiveIntegerField(default=1)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "gold"
        constraints = [models.UniqueConstraint(fields=["sentence", "task"], name="one_gold_a_task")]
        indexes = [models.Index(fields=["task", "sentence"], name="gold_by_task")]


class GoldVersion(models.Model):
    """An earlier gold answer."""

    gold = models.ForeignKey(
        Gold, on_delete=models.CASCADE, related_name="versions", db_index=False
    )
    version = models.PositiveIntegerField()
    value = models.JSONField()
    source = models.CharField(max_length=12)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["version"]
        constraints = [
            models.UniqueConstraint(fields=["gold", "version"], name="gold_version_once")
        ]


class Review(models.Model):
    """A curator's look at one person's answer."""

    class Decision(models.TextChoices):
        KEPT = "kept"
        CORRECTED = "corrected"
        RETURNED = "returned"  # the author is asked to look again

    annotation = models.ForeignKey(Annotation, on_delete=models.CASCADE, related_name="reviews")
    version = models.PositiveIntegerField()  # of the answer that was looked at
    decision = models.CharField(max_length=9, choices=Decision)
    remark = models.TextField(blank=True)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField()


class Suggestion(models.Model):
    """A machine's answer to one task on one sentence, offered to a person."""

    sentence = models.ForeignKey(
        Sentence, on_delete=models.CASCADE, related_name="suggestions", db_index=False
    )
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="suggestions")
    value = models.JSONField()
    confidence = models.FloatField(null=True)  # of the whole answer, in [0, 1]
    details = models.JSONField(default=dict, blank=True)  # confidence and runners-up of each item
    source = models.CharField(max_length=60)  # "model", "import", or what else it is called
    round = models.ForeignKey(
        Round, null=True, on_delete=models.CASCADE, related_name="suggestions"
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["sentence", "task", "source"], name="one_suggestion_a_source"
            )
        ]
