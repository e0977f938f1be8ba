"""What people made of insights: suspected errors that they looked at, quotes that they kept."""

from django.conf import settings
from django.db import models

from annotation.models import Project, Sentence, Task


class Repair(models.Model):
    """What came of a suspected error."""

    class Decision(models.TextChoices):
        KEPT = "kept"  # the answer was right
        REPAIRED = "repaired"  # it is gold as the model expected it
        ASKED = "asked"  # somebody is asked again

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="repairs")
    sentence = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="+")
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="+")
    given = models.JSONField(null=True)  # the suspected item; none where one was missing
    expected = models.JSONField(null=True)
    probability = models.FloatField()  # of an error, as it was foretold
    decision = models.CharField(max_length=8, choices=Decision)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField()


class Quote(models.Model):
    """What a target was said to cost, kept to be judged once it is reached."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="quotes")
    task = models.ForeignKey(  # empty: all targets together
        Task, null=True, on_delete=models.CASCADE, related_name="+"
    )
    target = models.FloatField(null=True)
    targets = models.JSONField(default=dict)  # of all tasks, where they are together
    round_number = models.PositiveIntegerField()  # of the newest model then
    n_labelled = models.PositiveIntegerField()  # sentences with the task's answer then
    spent_hours = models.FloatField()  # of all people until then
    hours = models.FloatField(null=True)  # still to work, as foretold; empty: not in sight
    low = models.FloatField()
    high = models.FloatField(null=True)  # empty: no upper end could be told
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
