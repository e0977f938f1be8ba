from django.db import models


class Study(models.Model):
    """A study file that was swept, at one scale."""

    name = models.CharField(max_length=120)
    scale = models.CharField(max_length=40, blank=True)
    kind = models.CharField(max_length=40)
    description = models.TextField(blank=True)
    note = models.TextField(blank=True)  # what was scaled down
    varying = models.JSONField(default=list)  # the settings that differ between runs
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "studies"
        constraints = [models.UniqueConstraint(fields=["name", "scale"], name="study_once")]

    def __str__(self) -> str:
        return f"{self.name} ({self.scale})" if self.scale else self.name


class Run(models.Model):
    """One run of a study, from the sweep that first wanted it on."""

    class State(models.TextChoices):
        MISSING = "missing"
        FINISHED = "finished"
        FAILED = "failed"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="runs")
    key = models.CharField(max_length=20)
    settings = models.JSONField()
    seed = models.IntegerField()
    state = models.CharField(max_length=10, choices=State)
    is_wanted = models.BooleanField(default=True, db_default=True)  # by the study file as it is now
    final = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    seconds = models.FloatField(default=0)
    cpu_seconds = models.FloatField(default=0)
    finished_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="run_once")]
