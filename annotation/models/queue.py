from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.models.access import WorkGroup
from annotation.models.project import Project, Sentence, Task
from annotation.models.round import Round


class Queue(models.Model):
    """The asks of one round, or of a project without rounds; one a project is current.

    A queue is filled while another one serves, and takes over by one change of ``is_current``.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="queues")
    round = models.ForeignKey(Round, null=True, on_delete=models.CASCADE, related_name="queues")
    is_current = models.BooleanField(default=False)
    overlap = models.PositiveSmallIntegerField()  # of its asks
    n_asks = models.PositiveIntegerField(default=0)
    budget_minutes = models.FloatField(null=True)  # of all annotators together
    created_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True)  # empty while it is being filled

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project"], condition=Q(is_current=True), name="one_current_queue"
            )
        ]


class Ask(models.Model):
    """A sentence and the tasks wanted on it, with its rank in a queue.

    The counters make a claim a matter of this row alone, and the database itself refuses an
    answer or a lease beyond the overlap.
    """

    class Purpose(models.TextChoices):
        LABEL = "label"
        CHECK = "check"  # of what somebody outside suggests
        SECOND = "second"  # opinion: of somebody who has not answered
        ADJUDICATE = "adjudicate"  # by a curator, whose answer is gold
        REPAIR = "repair"  # the same, of an answer that may be wrong

    OF_NEW = (Purpose.LABEL, Purpose.CHECK)
    OF_CURATORS = (Purpose.ADJUDICATE, Purpose.REPAIR)

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="asks", db_index=False)
    sentence = models.ForeignKey(
        Sentence, on_delete=models.CASCADE, related_name="asks", db_index=False
    )
    rank = models.PositiveIntegerField()  # from 1: asked first
    tasks = models.JSONField()  # names of the tasks wanted
    words = models.JSONField(  # {task name: places} where not all words are asked
        default=dict, db_default=models.Value({}, models.JSONField())
    )
    given = models.JSONField(default=list)  # names of spans tasks whose answers are shown with it
    overlap = models.PositiveSmallIntegerField()  # answers wanted, each of another person
    n_answers = models.PositiveSmallIntegerField(default=0)
    n_leases = models.PositiveSmallIntegerField(default=0)  # in somebody's hands now
    is_open = models.BooleanField(default=True)  # wants answers while its queue is current
    is_random = models.BooleanField(default=False)  # drawn by chance, not by the strategy
    is_blind = models.BooleanField(default=False)  # shown without suggestions
    is_check = models.BooleanField(default=False, db_default=False)  # its answer is known: gold
    purpose = models.CharField(
        max_length=10, choices=Purpose, default=Purpose.LABEL, db_default="label"
    )  # why it is asked, which says of whom
    group = models.ForeignKey(  # whose work it is; empty: anybody's
        WorkGroup, null=True, on_delete=models.RESTRICT, related_name="asks", db_index=False
    )
    reason = models.JSONField(default=dict)  # {"why": plain words, ...}
    confidences = models.JSONField(default=dict)  # {task name: confidence}
    predicted_seconds = models.FloatField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "rank"], name="rank_once_a_queue"),
            models.UniqueConstraint(
                fields=["sentence", "queue"],
                condition=Q(group=None),
                name="sentence_once_a_queue",
            ),
            models.UniqueConstraint(
                fields=["sentence", "queue", "group"], name="sentence_once_a_group"
            ),
            models.CheckConstraint(condition=Q(overlap__gte=1), name="ask_overlap_from_1"),
            models.CheckConstraint(
                condition=Q(n_answers__lte=F("overlap") - F("n_leases")),
                name="never_more_than_the_overlap",
            ),
        ]
        indexes = [
            models.Index(fields=["queue", "rank"], condition=Q(is_open=True), name="ask_open")
        ]


class Lease(models.Model):
    """An ask in one annotator's hands; one row per person and ask, whatever happens to it."""

    class State(models.TextChoices):
        LIVE = "live"  # holds a place of the ask
        RETURNED = "returned"  # expired or released: the place is free again
        SUBMITTED = "submitted"
        SKIPPED = "skipped"
        REOPENED = "reopened"  # submitted, and being changed
        LATER = "later"  # the place is free; it comes back when all else is done

    class SkipKind(models.TextChoices):
        NOT_A_SENTENCE = "not_a_sentence"
        WRONG_LANGUAGE = "wrong_language"
        BROKEN = "broken"
        UNCLEAR = "unclear"
        OTHER = "other"

    UNUSABLE = (SkipKind.NOT_A_SENTENCE, SkipKind.WRONG_LANGUAGE, SkipKind.BROKEN)
    IN_HAND = (State.LIVE, State.REOPENED)
    FINISHED = (State.SUBMITTED, State.SKIPPED, State.REOPENED)
    NOT_OFFERED = (*FINISHED, State.LATER)

    ask = models.ForeignKey(Ask, on_delete=models.CASCADE, related_name="leases", db_index=False)
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="leases", db_index=False
    )
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="leases", db_index=False
    )
    token = models.CharField(max_length=32)  # a new one with each claim
    state = models.CharField(max_length=9, choices=State)
    claimed_at = models.DateTimeField()
    expires_at = models.DateTimeField()  # of what was skipped or left for later: when that was
    skip_kind = models.CharField(
        max_length=16, blank=True, default="", db_default="", choices=SkipKind
    )
    skip_reason = models.TextField(blank=True)
    note = models.TextField(blank=True, default="", db_default="")  # on the answer, for curators
    draft = models.JSONField(null=True)
    draft_version = models.PositiveIntegerField(default=0)
    draft_saved_at = models.DateTimeField(null=True)
    context = models.JSONField(null=True)  # {spans task: value} that relations were shown on

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ask", "annotator"], name="one_lease_a_person"),
            models.UniqueConstraint(
                fields=["project", "annotator", "state"],
                condition=Q(state__in=["live", "reopened"]),
                name="one_lease_in_hand",
            ),
        ]
        indexes = [
            models.Index(
                fields=["project", "expires_at"], condition=Q(state="live"), name="lease_live"
            ),
            models.Index(
                fields=["project", "annotator"],
                condition=Q(state__in=["skipped", "later"]),
                name="lease_not_done",
            ),
            models.Index(fields=["ask"], condition=~Q(note=""), name="lease_with_note"),
        ]


class Submission(models.Model):
    """What one request to submit did: the proof that a retry is one.

    The answers themselves are in ``Annotation`` and its versions.
    """

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="submissions", db_index=False
    )
    lease = models.ForeignKey(
        Lease, on_delete=models.CASCADE, related_name="submissions", db_index=False
    )
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="submissions",
        db_index=False,
    )
    number = models.PositiveIntegerField()  # 1, then one more each time it was reopened
    key = models.CharField(max_length=64)  # the client's Idempotency-Key
    request_hash = models.CharField(max_length=64)
    counts = models.JSONField()  # as answered to the first request
    seconds = models.FloatField()
    actions = models.JSONField(default=list)  # [{"at": ms, "kind", "task", "detail"}]
    suggestions = models.JSONField(default=dict)  # {task: {"seen", "accepted", ...}}
    submitted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["annotator", "key"], name="idempotency_key_once"),
            models.UniqueConstraint(fields=["lease", "number"], name="submission_number_once"),
        ]
        indexes = [models.Index(fields=["project", "annotator", "id"], name="submission_by_person")]


class Progress(models.Model):
    """What one person did in one queue: sums that need no counting, and where to look next."""

    queue = models.ForeignKey(
        Queue, on_delete=models.CASCADE, related_name="progress", db_index=False
    )
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    n_done = models.PositiveIntegerField(default=0)
    n_skipped = models.PositiveIntegerField(default=0)
    n_closed = models.PositiveIntegerField(default=0)  # asks whose last answer was this person's
    seconds = models.FloatField(default=0)
    first_rank = models.PositiveIntegerField(default=1)  # nothing left for them before this

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "annotator"], name="one_progress_a_person")
        ]


class Flag(models.Model):
    """A person's remark that something is wrong with a sentence, and what became of it."""

    class Outcome(models.TextChoices):
        ANSWERED = "answered"
        CORRECTED = "corrected"  # gold was changed
        LEFT_OUT = "left_out"  # the sentence is out of the pool
        CLOSED = "closed"  # nothing to do

    sentence = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="flags")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    comment = models.TextField()
    created_at = models.DateTimeField()
    outcome = models.CharField(
        max_length=10, blank=True, default="", db_default="", choices=Outcome
    )
    answer = models.TextField(blank=True, default="", db_default="")  # of a curator, to the author
    resolved_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)  # when the author saw what became of it
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )


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


class WordAnswer(models.Model):
    """What one person says of single words of a sentence, null of the others.

    Models learn from it. It is no answer to the task: nothing is final by it, and the whole can
    still be asked.
    """

    sentence = models.ForeignKey(
        Sentence, on_delete=models.CASCADE, related_name="word_answers", db_index=False
    )
    task = models.ForeignKey(
        Task, on_delete=models.CASCADE, related_name="word_answers", db_index=False
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="word_answers"
    )
    value = models.JSONField()
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["sentence", "task", "author"], name="one_word_answer_a_person"
            )
        ]
        indexes = [models.Index(fields=["task", "sentence"], name="word_answer_by_task")]


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
