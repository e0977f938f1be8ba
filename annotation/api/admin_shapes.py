"""Shapes of what owners and curators do, for the API documentation."""

from rest_framework import serializers as s

from annotation.api.shapes import Shape


class TaskBody(Shape):
    name = s.CharField(max_length=60)
    kind = s.ChoiceField(["spans", "tags", "classes", "tree", "relations"])
    labels = s.ListField(child=s.JSONField(), help_text="Names, or tables with name, colour, key.")
    parent = s.CharField(  # type: ignore[assignment]
        required=False, help_text="The spans task that relations link."
    )


class NewProjectBody(Shape):
    name = s.CharField(max_length=120)
    tasks = s.ListField(child=TaskBody(), min_length=1)
    description = s.CharField(required=False)
    language = s.CharField(required=False)
    guidelines = s.CharField(required=False)


class Anything(Shape):
    """A table whose keys the description lists."""


class ProjectRow(Shape):
    id = s.IntegerField()
    name = s.CharField()
    role = s.CharField()


class ProjectPage(Shape):
    results = s.ListField(child=ProjectRow())
    next = s.CharField(allow_null=True)


class ProjectChanges(Shape):
    name = s.CharField(required=False)
    description = s.CharField(required=False)
    guidelines = s.CharField(required=False)
    overlap = s.IntegerField(required=False)
    lease_minutes = s.IntegerField(required=False)


class CorpusShape(Shape):
    id = s.IntegerField()
    name = s.CharField()
    format = s.CharField()
    n_sentences = s.IntegerField()
    created_at = s.DateTimeField()


class CorpusPage(Shape):
    results = s.ListField(child=CorpusShape())
    next = s.CharField(allow_null=True)


class ImportBody(Shape):
    file = s.FileField()
    format = s.CharField()
    labels = s.ChoiceField(["gold", "suggestions", "annotations", "none"])
    name = s.CharField(required=False)
    is_dry_run = s.BooleanField(required=False)


class ImportReportShape(Shape):
    file_name = s.CharField()
    format = s.CharField()
    corpus_name = s.CharField()
    n_sentences = s.IntegerField()


class SentenceRow(Shape):
    id = s.IntegerField()
    corpus = s.CharField()
    position = s.IntegerField()
    key = s.CharField(allow_blank=True)
    text = s.CharField()
    tokens = s.ListField(child=s.CharField())
    is_test = s.BooleanField()


class SentencePage(Shape):
    results = s.ListField(child=SentenceRow())
    next = s.CharField(allow_null=True)


class MemberShape(Shape):
    id = s.IntegerField()
    user = s.CharField()
    role = s.CharField()
    since = s.DateTimeField()


class MemberPage(Shape):
    results = s.ListField(child=MemberShape())
    next = s.CharField(allow_null=True)


class RoleBody(Shape):
    role = s.ChoiceField(["owner", "curator", "annotator"])


class InviteBody(RoleBody):
    note = s.CharField(required=False, max_length=120)
    days = s.IntegerField(required=False, min_value=1, max_value=90)


class Invited(Shape):
    id = s.IntegerField()
    role = s.CharField()
    expires_at = s.DateTimeField()
    path = s.CharField(help_text="The link's path, shown this once.")


class RoundShape(Shape):
    id = s.IntegerField()
    number = s.IntegerField()
    state = s.CharField()
    message = s.CharField(allow_blank=True)
    config = s.DictField()
    stages = s.DictField()
    progress = s.DictField(allow_null=True)
    created_at = s.DateTimeField()
    finished_at = s.DateTimeField(allow_null=True)


class RoundPage(Shape):
    results = s.ListField(child=RoundShape())
    next = s.CharField(allow_null=True)


class RoundAsk(Shape):
    rank = s.IntegerField()
    sentence = s.IntegerField()
    text = s.CharField()
    tasks = s.ListField(child=s.CharField())
    is_random = s.BooleanField()
    is_blind = s.BooleanField()
    is_open = s.BooleanField()
    confidences = s.DictField()
    predicted_seconds = s.FloatField(allow_null=True)
    why = s.CharField(allow_blank=True)


class RoundAskPage(Shape):
    results = s.ListField(child=RoundAsk())
    next = s.CharField(allow_null=True)


class DisputeShape(Shape):
    sentence = s.IntegerField()
    text = s.CharField()
    disagreement = s.FloatField()
    tasks = s.ListField(child=s.CharField())


class DisputeList(Shape):
    results = s.ListField(child=DisputeShape())
    total = s.IntegerField()


class CaseShape(Shape):
    sentence = s.DictField()
    tasks = s.ListField(child=s.DictField())


class DecideBody(Shape):
    answers = s.DictField(help_text="Gold by task name; an empty list means nothing is there.")


class Decided(Shape):
    gold = s.DictField(help_text="The version of each task's gold.")


class JobShape(Shape):
    id = s.IntegerField()
    kind = s.CharField()
    state = s.CharField()
    stage = s.CharField(allow_blank=True)
    n_done = s.IntegerField()
    n_total = s.IntegerField(allow_null=True)
    message = s.CharField(allow_blank=True)
    result = s.DictField()


class AdviceBody(Shape):
    method = s.ChoiceField(["trained", "gradients"], required=False)


class AdviceShape(Shape):
    advice = s.DictField(allow_null=True)
    words = s.ListField(child=s.CharField())
    job = JobShape(allow_null=True)
