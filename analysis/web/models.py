from django.db import models


class Study(models.Model):
    """A line of the index of studies: the files of its runs are what is true of it."""

    name = models.CharField(max_length=120)
    scale = models.CharField(max_length=40, blank=True)
    kind = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    note = models.TextField(blank=True)  # what was scaled down
    n_wanted = models.PositiveIntegerField(default=0)
    n_finished = models.PositiveIntegerField(default=0)
    n_failed = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "studies"
        constraints = [models.UniqueConstraint(fields=["name", "scale"], name="study_once")]

    def __str__(self) -> str:
        return f"{self.name} ({self.scale})" if self.scale else self.name
