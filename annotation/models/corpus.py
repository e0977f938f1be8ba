from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.project import Project


class Corpus(models.Model):
    """One import into a project, for example a domain."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="corpora")
    name = models.CharField(max_length=200)
    format = models.CharField(max_length=30)
    file_name = models.CharField(max_length=255, blank=True)
    file_hash = models.CharField(max_length=64, blank=True)
    header = models.JSONField(default=dict, blank=True)  # what the file says before its sentences
    n_sentences = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "corpora"
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="corpus_name_once_a_project")
        ]

    def __str__(self) -> str:
        return self.name


class Sentence(models.Model):
    """Tokens, text and code-point offsets; never changed after import."""

    # Look-ups by project and corpus use the composite indexes below; more would slow imports.
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="sentences", db_index=False
    )
    corpus = models.ForeignKey(
        Corpus, on_delete=models.CASCADE, related_name="sentences", db_index=False
    )
    position = models.PositiveIntegerField()  # in its corpus, from 0 without gaps
    key = models.CharField(max_length=200, blank=True)  # the file's own id
    document = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    tokens = models.JSONField()  # ["It", "works", "."]
    offsets = models.JSONField()  # [[0, 2], [3, 8], [8, 9]]
    n_tokens = models.PositiveIntegerField()
    is_test = models.BooleanField(default=False)  # frozen: never selected, never trained on
    extra = models.JSONField(default=dict, blank=True)  # what its format needs to write it back

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "position"], name="sentence_place_once"),
            models.UniqueConstraint(
                fields=["corpus", "key"], condition=~Q(key=""), name="sentence_key_once"
            ),
        ]
        indexes = [models.Index(fields=["project", "id"], name="sentence_by_project")]

    def __str__(self) -> str:
        return self.text[:60]
