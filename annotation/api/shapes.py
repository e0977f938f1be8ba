"""Shapes of the queue's requests and responses, for the API documentation."""

from typing import Any

from rest_framework import serializers as s

Shape = s.Serializer[dict[str, Any]]


class ErrorBody(Shape):
    code = s.CharField(help_text="What a program reads.")
    message = s.CharField(help_text="What a person reads.")
    fields = s.DictField(child=s.ListField(child=s.CharField()), required=False)  # type: ignore[assignment]
    details = s.DictField(required=False)


class Error(Shape):
    error = ErrorBody()


class Counts(Shape):
    left = s.IntegerField()
    done = s.IntegerField()
    skipped = s.IntegerField()
    minutes = s.FloatField(help_text="Measured minutes of all annotators in this queue.")
    budget_minutes = s.FloatField(allow_null=True)


class AskShape(Shape):
    id = s.IntegerField()
    rank = s.IntegerField()
    n_asks = s.IntegerField()
    round = s.IntegerField(allow_null=True)
    is_blind = s.BooleanField()
    tasks = s.ListField(child=s.CharField())
    why = s.CharField(allow_blank=True)
    reason = s.DictField()
    confidences = s.DictField(child=s.FloatField())
    predicted_seconds = s.FloatField(allow_null=True)


class SentenceShape(Shape):
    id = s.IntegerField()
    corpus = s.CharField()
    position = s.IntegerField()
    key = s.CharField(allow_blank=True)
    document = s.CharField(allow_blank=True)
    text = s.CharField()
    tokens = s.ListField(child=s.CharField())
    offsets = s.ListField(child=s.ListField(child=s.IntegerField()))
    before = s.CharField(allow_blank=True)
    after = s.CharField(allow_blank=True)


class SuggestionShape(Shape):
    value = s.JSONField()
    confidence = s.FloatField(allow_null=True)
    details = s.DictField()


class Peek(Shape):
    ask = AskShape()
    sentence = SentenceShape()
    suggestions = s.DictField(child=SuggestionShape())


class LeaseShape(Peek):
    id = s.IntegerField()
    token = s.CharField()
    expires_at = s.DateTimeField()
    heartbeat_seconds = s.IntegerField()
    answers = s.DictField()
    draft = s.JSONField(allow_null=True)
    draft_version = s.IntegerField()
    draft_saved_at = s.DateTimeField(allow_null=True)
    counts = Counts()
    context = s.DictField(  # type: ignore[assignment]
        required=False, help_text="Spans that relations are asked on, read-only."
    )


class TokenBody(Shape):
    token = s.CharField(help_text="The lease's token.")


class DraftBody(TokenBody):
    draft = s.JSONField(help_text="Anything, at most 256 kB.")
    version = s.IntegerField(min_value=1, help_text="Higher than the stored one.")


class DraftSaved(Shape):
    saved_at = s.DateTimeField()
    version = s.IntegerField()


class Renewed(Shape):
    expires_at = s.DateTimeField()


class Action(Shape):
    at = s.FloatField(help_text="Milliseconds since the sentence was shown.")
    kind = s.CharField(max_length=40)
    task = s.CharField(allow_null=True, required=False)
    detail = s.JSONField(required=False)


class SuggestionCounts(Shape):
    seen = s.IntegerField(min_value=0, required=False)
    accepted = s.IntegerField(min_value=0, required=False)
    edited = s.IntegerField(min_value=0, required=False)
    rejected = s.IntegerField(min_value=0, required=False)


class SubmitBody(TokenBody):
    answers = s.DictField(help_text="Answers by task name; every task wanted, no other.")
    seconds = s.FloatField(min_value=0, required=False)
    actions = s.ListField(child=Action(), required=False)
    suggestions = s.DictField(child=SuggestionCounts(), required=False)


class Submitted(Shape):
    submission = s.IntegerField()
    saved_at = s.DateTimeField()
    counts = Counts()


class SkipBody(TokenBody):
    reason = s.CharField(max_length=2000)


class OnlyCounts(Shape):
    counts = Counts()


class FlagBody(Shape):
    comment = s.CharField(max_length=5000)


class Flagged(Shape):
    flag = s.IntegerField()
    created_at = s.DateTimeField()


class HistorySentence(Shape):
    id = s.IntegerField()
    text = s.CharField()


class HistoryEntry(Shape):
    submission = s.IntegerField()
    sentence = HistorySentence()
    submitted_at = s.DateTimeField()
    tasks = s.ListField(child=s.CharField())
    can_reopen = s.BooleanField()


class HistoryPage(Shape):
    results = HistoryEntry(many=True)
    next = s.CharField(allow_null=True)


class TokenEntry(Shape):
    id = s.IntegerField()
    name = s.CharField()
    scope = s.ChoiceField(["read", "annotate", "manage"])
    created_at = s.DateTimeField()
    expires_at = s.DateTimeField()
    last_used_on = s.DateField(allow_null=True)


class TokenPage(Shape):
    results = TokenEntry(many=True)
    next = s.CharField(allow_null=True)


class NewTokenBody(Shape):
    name = s.CharField(max_length=120)
    scope = s.ChoiceField(["read", "annotate", "manage"])
    days = s.IntegerField(min_value=1, max_value=366, required=False)


class NewTokenShown(TokenEntry):
    secret = s.CharField(help_text="Shown this once.")


class LabelShape(Shape):
    name = s.CharField()
    colour = s.IntegerField()
    key = s.CharField(allow_blank=True)


class TaskShape(Shape):
    name = s.CharField()
    kind = s.ChoiceField(["spans", "tags", "classes", "tree", "relations"])
    parent = s.CharField(allow_null=True)  # type: ignore[assignment]
    is_nested = s.BooleanField()
    is_open = s.BooleanField()
    pairs = s.DictField()
    guidelines = s.CharField(allow_blank=True)
    target_score = s.FloatField(allow_null=True)
    labels = LabelShape(many=True)


class ProjectShape(Shape):
    id = s.IntegerField()
    name = s.CharField()
    description = s.CharField(allow_blank=True)
    guidelines = s.CharField(allow_blank=True)
    language = s.CharField(allow_blank=True)
    role = s.ChoiceField(["owner", "curator", "annotator"])
    overlap = s.IntegerField()
    lease_minutes = s.IntegerField()
    accepts_on_submit = s.BooleanField()
    shows_suggestions = s.BooleanField()
    shows_working_styles = s.BooleanField()
    n_sentences = s.IntegerField()
    created_at = s.DateTimeField()
    tasks = TaskShape(many=True)
