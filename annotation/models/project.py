from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from mtl_engine.kinds.kind import DEFAULT_WINDOW
from mtl_engine.settings import Form, SettingField

if TYPE_CHECKING:
    from annotation.models.access import Role


AnyField = TypeVar("AnyField", bound="models.Field[Any, Any]")
ABOUT, WORK, TARGETS = "Project", "Work", "Targets"  # headings of the page of settings
LONGEST = 100_000  # characters of a text without a limit of its own


def described(
    field: AnyField,
    *,
    title: str,
    help: str = "",
    section: str = WORK,
    low: float | None = None,
    high: float | None = None,
    n_lines: int = 1,
    problem: Callable[[str], str] | None = None,
) -> AnyField:
    """Make a field of ``Project`` a setting: TOML, REST, form and page are made from it.

    What is described here is no part of migrations; the field itself is.
    """
    form: Form = "text"
    if isinstance(field, models.BooleanField):
        form = "bool"
    elif isinstance(field, models.IntegerField):
        form = "int"
    field.about = SettingField(  # type: ignore[attr-defined]
        name="",  # Django tells it later
        form=form,
        default=field.get_default(),
        title=title,
        help=help,
        section=section,
        low=low,
        high=high,
        longest=field.max_length or LONGEST,
        n_lines=n_lines,
        is_filled=form == "text" and not field.blank,
        problem=problem,
    )
    return field


def day_problem(text: str) -> str:
    """Return what is wrong with a day, nothing where it is one or empty."""
    try:
        is_day = not text or date.fromisoformat(text).isoformat() == text
    except ValueError:
        is_day = False
    return "" if is_day else f"'{text}' is no day: write it as 2027-04-11, or leave it empty."


def project_settings() -> tuple[SettingField, ...]:
    """Return what can be set about a project besides its name, in the order of its fields."""
    return tuple(
        replace(about, name=field.name)
        for field in Project._meta.fields
        if (about := getattr(field, "about", None)) is not None
    )


class Project(models.Model):
    """A set of sentences, the tasks wanted on them, and the people who work on it."""

    class State(models.TextChoices):
        ACTIVE = "active"
        PAUSED = "paused"  # nothing is handed out; everything else works
        ARCHIVED = "archived"  # read-only, and out of the list

    role: "Role | None" = None  # of whoever opened it; accounts.access says so

    name = models.CharField(max_length=120, db_index=True)
    description = described(
        models.TextField(blank=True), title="Description", section=ABOUT, n_lines=2
    )
    language = described(
        models.CharField(max_length=16, default="en"),
        title="Language",
        help="The code of the language: en, de, zh, ... or xx for any.",
        section=ABOUT,
    )
    guidelines = described(
        models.TextField(blank=True),
        title="Guidelines",
        help="How to decide in doubt. Annotators open them beside the sentence; each task may "
        "have its own as well.",
        section=ABOUT,
        n_lines=8,
    )
    overlap = described(
        models.PositiveSmallIntegerField(default=1),
        title="Answers per sentence",
        help="How many people answer the same sentence. Two measure agreement and feed "
        "adjudication, at twice the time. It holds at once, also for what is asked now.",
        low=1,
        high=100,
    )
    lease_minutes = described(
        models.PositiveSmallIntegerField(default=15),
        title="Minutes to keep",
        help="How long a sentence waits for somebody who went away before another person gets "
        "it. It is renewed while the page is open. From the next sentence that is opened.",
        low=1,
        high=1440,
    )
    shows_suggestions = described(
        models.BooleanField(default=True),
        title="Show the model's suggestions",
        help="Suggestions save time but pull answers their way; a share of sentences is shown "
        "without them, so that the pull is measured. From the next sentence that is opened.",
    )
    accepts_on_submit = described(
        models.BooleanField(default=False),
        title="Suggestions that nobody checked count as answers",
        help="Faster, and less careful. Off: only what a person accepted or made counts.",
    )
    shows_working_styles = described(
        models.BooleanField(default=False),
        title="Show working styles",
        help="Curators see how people work, as mixtures of shared habits. Tell your annotators "
        "before you switch this on.",
    )
    check_share = described(
        models.PositiveSmallIntegerField(default=0, db_default=0),
        title="Gold checks, per cent",
        help="So many of a hundred sentences that people get have a known answer. Nobody sees "
        "which; the page People says how often each person agrees with them. 0: none.",
        low=0,
        high=50,
    )
    hides_names = described(
        models.BooleanField(default=True, db_default=True),
        title="Adjudicate without names",
        help="Curators see who gave which answer only after they have decided.",
    )
    ud_validation = described(
        models.BooleanField(default=False, db_default=False),
        title="Check by the rules of Universal Dependencies",
        help="Imports, exports and the annotate page tell what breaks the rules that hold for all "
        "languages: tags, features, relations, the root. They warn; nothing is refused for it.",
    )
    deadline = described(
        models.CharField(max_length=10, blank=True, default="", db_default=""),
        title="Deadline",
        help="The day by which all tasks are to reach their targets, as 2027-04-11; empty: none.",
        section=TARGETS,
        problem=day_problem,
    )
    work_minutes = described(
        models.PositiveIntegerField(default=0, db_default=0),
        title="Minutes to spend",
        help="Work of all people together, from the first sentence on, that the targets may "
        "take; 0: no limit.",
        section=TARGETS,
        low=0,
        high=10_000_000,
    )
    weekly_hours = described(
        models.PositiveSmallIntegerField(default=0, db_default=0),
        title="Hours per week",
        help="Of all people together; 0: as measured in the last four weeks.",
        section=TARGETS,
        low=0,
        high=10_000,
    )
    hour_price = described(
        models.PositiveIntegerField(default=0, db_default=0),
        title="Price of an hour",
        help="What an hour of work costs; 0: money is not shown.",
        section=TARGETS,
        low=0,
        high=1_000_000,
    )
    currency = described(
        models.CharField(max_length=8, default="EUR", db_default="EUR"),
        title="Currency",
        help="Of the price, as it is to be written.",
        section=TARGETS,
    )
    replays_at_night = described(
        models.BooleanField(default=True, db_default=True),
        title="Replay at night",
        help="A worker for research tries other ways of choosing on what was answered so far, and "
        "proposes a change where it is shown to be better.",
        section=TARGETS,
    )
    applies_proposals = described(
        models.BooleanField(default=False, db_default=False),
        title="Take up proposals by itself",
        help="What the nightly replay proposes becomes the default of new rounds. Off: an owner "
        "decides.",
        section=TARGETS,
    )
    round_defaults = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.ACTIVE, db_default="active")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(overlap__gte=1), name="project_overlap_from_1"),
            models.CheckConstraint(condition=~Q(name=""), name="project_has_a_name"),
            models.UniqueConstraint(fields=["created_by", "name"], name="project_name_once_each"),
        ]

    def __str__(self) -> str:
        return self.name


class Task(models.Model):
    """One question asked of every sentence."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tasks")
    name = models.CharField(max_length=60)
    kind = models.CharField(max_length=40)  # of ``mtl_engine.kinds.KINDS``
    position = models.PositiveSmallIntegerField(default=0)
    parent = models.ForeignKey(  # the task whose answers it links, where its kind links any
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="children"
    )
    second_parent = models.ForeignKey(  # the task in whose answers links end, if another
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="second_children"
    )
    is_document = models.BooleanField(
        default=False, db_default=False
    )  # answered once per document, not per sentence
    window = models.PositiveSmallIntegerField(
        default=DEFAULT_WINDOW, db_default=DEFAULT_WINDOW
    )  # sentences of a document that one of its links may span
    is_open = models.BooleanField(default=False)  # the label set grows on import
    is_nested = models.BooleanField(default=False)  # spans may overlap
    pairs = models.JSONField(default=dict, blank=True)  # relation -> [[from label, to label], ...]
    guidelines = models.TextField(blank=True)
    is_hidden = models.BooleanField(
        default=False, db_default=False
    )  # no longer asked, trained or exported
    target_score = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="task_name_once_a_project"),
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
    description = models.TextField(blank=True, default="", db_default="")
    is_retired = models.BooleanField(
        default=False, db_default=False
    )  # kept in old answers, no longer offered

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["task", "name"], name="label_once_a_task"),
            models.CheckConstraint(condition=~Q(name=""), name="label_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name


class LogEntries(models.Manager["LogEntry"]):
    """The log, which is only added to."""

    def record(
        self,
        action: str,
        *,
        project: Project | None,
        actor: Any,
        undo: dict[str, Any] | None = None,
        **details: Any,
    ) -> "LogEntry":
        """Write that somebody did something, in the transaction in which it is done."""
        return self.create(
            project=project,
            actor=actor if actor is not None and actor.pk else None,
            action=action,
            details={"project": project.name, **details} if project else details,
            undo=undo,
            created_at=timezone.now(),
        )


class LogEntry(models.Model):
    """One thing that somebody did; written once, never changed but to mark it as undone.

    ``project`` is empty for acts on the server as a whole, and becomes empty when the project is
    deleted: its name in ``details`` is then all that is left of it.
    """

    project = models.ForeignKey(
        Project, null=True, on_delete=models.SET_NULL, related_name="log", db_index=False
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    action = models.CharField(max_length=40)  # "label.merged"
    details = models.JSONField(default=dict)  # what people read: names and counts, no answers
    undo = models.JSONField(null=True)  # what is needed to take it back
    undone_by = models.OneToOneField("self", null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField()

    objects = LogEntries()

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Write a new entry; an old one is never changed, but that it was undone is noted."""
        if self.pk is not None and kwargs.get("update_fields") != ["undone_by"]:
            raise ValueError("An entry of the log is never changed.")
        super().save(*args, **kwargs)

    class Meta:
        indexes = [models.Index(fields=["project", "-id"], name="log_of_a_project")]


class Corpus(models.Model):
    """One import into a project, for example a domain."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="corpora")
    name = models.CharField(max_length=200)
    format = models.CharField(max_length=30)
    file_name = models.CharField(max_length=255, blank=True)
    file_hash = models.CharField(max_length=64, blank=True)
    header = models.JSONField(default=dict, blank=True)  # what the file says before its sentences
    n_sentences = models.PositiveIntegerField(default=0)
    language = models.CharField(
        max_length=16, blank=True, default="", db_default=""
    )  # its code; empty = the project's
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
    """Tokens, text and code-point offsets; changed by corrections alone, see `SentenceVersion`.

    A document that is answered as a whole is a row as well, behind the sentences of its corpus: it
    has their words, and everything that asks, learns and counts takes it as one long sentence.
    """

    # Look-ups by project and corpus use the composite indexes below; more would slow imports.
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="sentences", db_index=False
    )
    corpus = models.ForeignKey(
        Corpus, on_delete=models.CASCADE, related_name="sentences", db_index=False
    )
    position = models.PositiveIntegerField()  # in its corpus, from 0; gaps where some were deleted
    key = models.CharField(max_length=200, blank=True)  # the file's own id
    document = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    tokens = models.JSONField()  # ["It", "works", "."]
    offsets = models.JSONField()  # [[0, 2], [3, 8], [8, 9]]
    n_tokens = models.PositiveIntegerField()
    is_document = models.BooleanField(
        default=False, db_default=False
    )  # the words of a whole document, for tasks that are answered once per document
    is_test = models.BooleanField(default=False)  # frozen: never selected, never trained on
    left_out = models.CharField(
        max_length=200, blank=True, default="", db_default=""
    )  # why it is out of the pool; empty = in it
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

    @property
    def title(self) -> str:
        """What people call it beside its text."""
        return f"document {self.document}" if self.is_document else f"sentence {self.position + 1}"

    @property
    def language(self) -> str:
        """The code of the language that it is in: its corpus's, else the project's."""
        return self.corpus.language or self.project.language


class SentenceVersion(models.Model):
    """A sentence as it was before its words or borders were corrected, with its answers then.

    ``answers`` are rows [model, task id, person id or null, value]; a sentence that was joined to
    another is kept here too.
    """

    sentence = models.ForeignKey(Sentence, on_delete=models.CASCADE, related_name="versions")
    key = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    tokens = models.JSONField()
    offsets = models.JSONField()
    extra = models.JSONField(default=dict, blank=True)
    answers = models.JSONField(default=list, blank=True)
    change = models.CharField(max_length=300)  # what was done to it, in words
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
