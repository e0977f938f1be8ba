"""Review: a curator looks at single answers, and keeps, corrects or returns each.

Keeping makes an answer gold by a second pair of eyes. Correcting makes other gold, with the
person's answer kept as it is. Returning asks the person to look again: the answer can be reopened
from their history, with the remark beside it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from statistics import median
from typing import Any, Literal

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.adjudication.services import decide
from annotation.errors import Conflict, InvalidInput, Problem
from annotation.models import (
    Annotation,
    AnnotationVersion,
    Ask,
    Gold,
    GoldVersion,
    Project,
    Review,
    Sentence,
    Submission,
    Suggestion,
    Task,
)
from annotation.queue.checks import asked_again
from mtl_engine.kinds import KINDS, Kind

LOOKED_AT = 5_000  # newest answers among which contradictions are looked for
LEAST_JUDGED = 10  # answers looked at before anything is said of the others
CHUNK = 500
NOTHING = "nothing"  # where a person or the model has no item
SURE = 0.9  # from here on a model's word weighs against an answer
RECENT = 1_000  # newest answers among which shaky ones are looked for
OFTEN = 4  # versions of an answer that was changed often
HASTY = 0.2  # of the usual time per word for the same tasks
FEW = 3  # submissions without which nothing is usual


@dataclass(frozen=True)
class Version:
    """An answer as it was at some time, and by whom."""

    value: Any
    version: int
    source: str  # "answer" or a source of gold
    person: str
    at: datetime
    is_current: bool


def answers_to_review(
    project: Project,
    *,
    task: str = "",
    person: str = "",
    round_number: int | None = None,
    label: str = "",
    is_reviewed: bool | None = False,
) -> QuerySet[Annotation]:
    """Return people's answers, those that the model is surest to contradict first."""
    answers = Annotation.objects.filter(sentence__project=project, task__is_hidden=False)
    if task:
        answers = answers.filter(task__name=task)
    if person:
        answers = answers.filter(author__username=person)
    if round_number is not None:
        asked = Ask.objects.filter(
            queue__project=project,
            queue__round__number=round_number,
            sentence=OuterRef("sentence"),
        )
        answers = answers.filter(Exists(asked))
    if label:
        answers = answers.filter(value__icontains=label)
    if is_reviewed is not None:
        looked_at = Review.objects.filter(annotation=OuterRef("pk"), version=OuterRef("version"))
        answers = answers.filter(Exists(looked_at) if is_reviewed else ~Exists(looked_at))
    return answers.select_related("sentence", "sentence__corpus", "task", "author").order_by("-id")


@dataclass(frozen=True)
class ReviewRow:
    """A person's answer beside what the model says of it."""

    answer: Annotation
    suggestion: Suggestion | None
    only_answer: tuple[Any, ...]  # items that the model does not have
    only_model: tuple[Any, ...]

    @property
    def differs(self) -> bool:
        """Return whether the model says something else."""
        return bool(self.only_answer or self.only_model)

    @property
    def is_unseen(self) -> bool:
        """Return whether the model spoke before the answer was there to learn from."""
        return self.suggestion is not None and self.suggestion.created_at <= self.answer.created_at


@dataclass(frozen=True)
class ReviewQueue:
    """Answers to look at, surest contradiction first, and how many there are."""

    rows: list[ReviewRow]
    n_answers: int  # that the filter lets pass
    n_contradicted: int  # of those, at any confidence
    n_found: int  # as asked for, with those beyond the rows
    pairs: list[tuple[str, str, int]]  # label of the answer, of the model, how often


def review_queue(
    answers: QuerySet[Annotation],
    *,
    label: str = "",
    least: float | None = None,
    pair: tuple[str, str] | None = None,
    most: int = 200,
) -> ReviewQueue:
    """Return answers with what the model says of them, surest contradiction first.

    ``least`` asks for contradictions only, of models that are at least so sure; ``pair`` for those
    of one label by another. The newest answers are looked at, ``LOOKED_AT`` of them.
    """
    newest = list(
        answers.values_list("id", "sentence_id", "task_id", "task__kind", "value")[:LOOKED_AT]
    )
    suggested = _suggested({row[1] for row in newest})
    found: list[tuple[float, int, tuple[str, str]]] = []
    n_answers = n_contradicted = 0
    for pk, sentence_id, task_id, kind_name, value in newest:
        kind = KINDS[kind_name]
        if label and label not in kind.labels_of(value):
            continue
        n_answers += 1
        model = suggested.get((sentence_id, task_id))
        differs = model is not None and kind.canonical(model[0]) != kind.canonical(value)
        n_contradicted += differs
        sure = (model[1] or 0.0) if model is not None and differs else -1.0
        if least is not None and sure < least:
            continue
        between = _labels_between(kind, value, model[0]) if model and differs else ("", "")
        if pair is None or pair == between:
            found.append((sure, pk, between))
    found.sort(key=lambda row: -row[0])
    ids = [pk for _, pk, _ in found[:most]]
    pairs = Counter(between for _, _, between in found if any(between))
    return ReviewQueue(
        rows=_rows(answers.model, ids),
        n_answers=n_answers,
        n_contradicted=n_contradicted,
        n_found=len(found),
        pairs=[(own, model, n) for (own, model), n in pairs.most_common() if n > 1],
    )


def review_row(answer: Annotation) -> ReviewRow:
    """Return one answer with what the model says of it."""
    return _rows(Annotation, [answer.pk])[0]


def _suggested(sentences: Collection[int]) -> dict[tuple[int, int], tuple[Any, float | None]]:
    found: dict[tuple[int, int], tuple[Any, float | None]] = {}
    ids = sorted(sentences)
    for start in range(0, len(ids), CHUNK):
        rows = Suggestion.objects.filter(sentence__in=ids[start : start + CHUNK])
        for sentence_id, task_id, value, sure in rows.values_list(
            "sentence_id", "task_id", "value", "confidence"
        ):
            found[sentence_id, task_id] = (value, sure)
    return found


def _labels_between(kind: Kind, value: Any, model: Any) -> tuple[str, str]:
    """Return the label that a person and the model give where they first differ."""
    own, other = _apart(kind, value, model)
    return (str(own[0][-1]) if own else NOTHING, str(other[0][-1]) if other else NOTHING)


def _apart(kind: Kind, value: Any, model: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    own, other = kind.items(value), kind.items(model)
    return (
        tuple(item for item in own if item not in other),
        tuple(item for item in other if item not in own),
    )


def _rows(model: type[Annotation], ids: Sequence[int]) -> list[ReviewRow]:
    related = ("sentence", "sentence__corpus", "task", "task__parent", "author")
    answers = model._default_manager.select_related(*related).in_bulk(ids)
    suggestions = {
        (row.sentence_id, row.task_id): row
        for row in Suggestion.objects.filter(
            sentence__in={answer.sentence_id for answer in answers.values()}
        )
    }
    rows = []
    for pk in ids:
        answer = answers[pk]
        suggestion = suggestions.get((answer.sentence_id, answer.task_id))
        own: tuple[Any, ...] = ()
        other: tuple[Any, ...] = ()
        if suggestion is not None:
            own, other = _apart(KINDS[answer.task.kind], answer.value, suggestion.value)
        rows.append(ReviewRow(answer, suggestion, own, other))
    return rows


@dataclass(frozen=True)
class ShakyAnswer:
    """Answers of one person to a sentence that deserve a second look, and why."""

    answers: tuple[Annotation, ...]
    reason: Literal["changed", "hasty", "contradicted"]
    figure: float  # changes, seconds, or how sure the model is


def shaky_answers(project: Project, *, most: int = 50) -> list[ShakyAnswer]:
    """Return answers changed often, given far too fast, or contradicted by a sure model.

    Of the newest that nobody has looked at, that are not gold, and on whose sentence nobody else is
    being asked; each cell once.
    """
    settled = Gold.objects.filter(sentence=OuterRef("sentence"), task=OuterRef("task"))
    open_answers = answers_to_review(project).filter(
        ~Exists(settled), ~Exists(asked_again("sentence"))
    )
    changed = open_answers.filter(version__gte=OFTEN).order_by("-version", "-id")[:most]
    found = [ShakyAnswer((row,), "changed", row.version - 1) for row in changed]
    found += _hasty(project, open_answers, most)
    found += [
        ShakyAnswer((row.answer,), "contradicted", row.suggestion.confidence or 0.0)
        for row in review_queue(open_answers[:RECENT], least=SURE, most=most).rows
        if row.suggestion is not None and row.is_unseen
    ]
    seen: set[int] = set()
    once = []
    for shaky in found:
        ids = {answer.pk for answer in shaky.answers}
        if not ids & seen:
            once.append(shaky)
        seen |= ids
    return once[:most]


def _hasty(project: Project, answers: QuerySet[Annotation], most: int) -> list[ShakyAnswer]:
    """Return what was submitted in a small part of the usual time, the newest first."""
    newest = (
        Submission.objects.filter(project=project, number=1, seconds__gt=0, lease__ask__words={})
        .order_by("-id")
        .values_list(
            "annotator_id",
            "lease__ask__sentence_id",
            "lease__ask__tasks",
            "lease__ask__sentence__n_tokens",
            "seconds",
        )[:RECENT]
    )
    rows = [(who, sentence, tuple(tasks), n, s) for who, sentence, tasks, n, s in newest if n]
    paces: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for _, _, tasks, n_words, seconds in rows:
        paces[tasks].append(seconds / n_words)
    usual = {tasks: median(pace) for tasks, pace in paces.items() if len(pace) >= FEW}
    hasty = {
        (who, sentence): seconds
        for who, sentence, tasks, n_words, seconds in rows
        if tasks in usual and seconds / n_words < HASTY * usual[tasks]
    }
    kept = list(hasty)[:most]
    given: dict[tuple[int, int], list[Annotation]] = {cell: [] for cell in kept}
    for answer in answers.filter(sentence__in={sentence for _, sentence in kept}):
        if (answer.author_id, answer.sentence_id) in given:
            given[answer.author_id, answer.sentence_id].append(answer)
    return [
        ShakyAnswer(tuple(found), "hasty", hasty[cell]) for cell, found in given.items() if found
    ]


@dataclass(frozen=True)
class ReviewSums:
    """What came of looking at answers so far."""

    n_kept: int
    n_corrected: int
    n_returned: int

    @property
    def n_judged(self) -> int:
        """Return how many were kept or corrected."""
        return self.n_kept + self.n_corrected

    def errors_expected(self, n_left: int) -> tuple[int, int] | None:
        """Return how many of those left are wrong, as a 95 % interval; nothing from too few."""
        if self.n_judged < LEAST_JUDGED or not n_left:
            return None
        n, share, z = self.n_judged, self.n_corrected / self.n_judged, 1.96
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return round(n_left * (middle - half)), round(n_left * (middle + half))


def review_sums(project: Project) -> ReviewSums:
    """Return how often answers of a project were kept, corrected and returned."""
    rows = Review.objects.filter(annotation__sentence__project=project)
    counts = Counter(rows.values_list("decision", flat=True))
    return ReviewSums(*(counts[decision.value] for decision in Review.Decision))


@transaction.atomic
def review_answer(
    *,
    answer: Annotation,
    decision: Review.Decision,
    reviewer: Any,
    now: datetime,
    remark: str = "",
    gold: Any = None,
) -> Review:
    """Keep, correct or return one answer."""
    if decision == Review.Decision.CORRECTED and gold is None:
        raise InvalidInput([Problem("gold", "Give the corrected answer.")])
    if decision == Review.Decision.RETURNED and not remark:
        raise InvalidInput([Problem("remark", "Say what to look at again.")])
    if decision != Review.Decision.RETURNED:
        value = answer.value if decision == Review.Decision.KEPT else gold
        decide(
            project=answer.sentence.project,
            sentence=answer.sentence,
            answers={**_spans_under(answer), answer.task.name: value},
            decided_by=reviewer,
            now=now,
            source=Gold.Source.REVIEWED,
        )
    return Review.objects.create(
        annotation=answer,
        version=answer.version,
        decision=decision,
        remark=remark,
        reviewer=reviewer,
        created_at=now,
    )


@transaction.atomic
def undo_look(*, project: Project, reviewer: Any) -> None:
    """Take back a person's last look, at however many answers it was."""
    mine = Review.objects.filter(annotation__sentence__project=project, reviewer=reviewer)
    last = mine.order_by("-id").first()
    at_once = mine.filter(created_at=last.created_at).count() if last else 1
    for _ in range(at_once):
        undo_review(project=project, reviewer=reviewer)


@transaction.atomic
def undo_review(*, project: Project, reviewer: Any) -> Review:
    """Take back a person's last look at an answer, with the gold that came of it."""
    review = (
        Review.objects.filter(annotation__sentence__project=project, reviewer=reviewer)
        .select_related("annotation")
        .order_by("-id")
        .first()
    )
    if review is None:
        raise Conflict("There is nothing to undo: you have not looked at an answer here.")
    answer = review.annotation
    if review.decision != Review.Decision.RETURNED:
        made = Gold.objects.select_for_update().filter(
            sentence=answer.sentence_id,
            decided_by=reviewer,
            source=Gold.Source.REVIEWED,
            updated_at=review.created_at,
        )
        if not made.filter(task=answer.task_id).exists():
            raise Conflict("The gold was changed since: nothing is undone. See its versions.")
        for gold in made:
            _go_back(gold)
    review.delete()
    return review


@transaction.atomic
def put_back(
    *, sentence: Sentence, task: Task, value: Any, decided_by: Any, now: datetime
) -> list[Gold]:
    """Make gold of an earlier version; what counted until now becomes a version itself."""
    return decide(
        project=sentence.project,
        sentence=sentence,
        answers={task.name: value},
        decided_by=decided_by,
        now=now,
        source=Gold.Source.REVIEWED,
    )


def _go_back(gold: Gold) -> None:
    before = gold.versions.order_by("-version").first()
    if before is None:
        gold.delete()
        return
    gold.value, gold.source, gold.decided_by = before.value, before.source, before.decided_by
    gold.version, gold.updated_at = before.version, before.created_at
    gold.save()
    before.delete()


def _spans_under(answer: Annotation) -> dict[str, Any]:
    """Return the person's spans that relations stand on, where there is no gold of them yet."""
    parents = [answer.task.parent_id, answer.task.second_parent_id]
    settled = Gold.objects.filter(sentence=answer.sentence, task__in=parents).values("task")
    spans = Annotation.objects.filter(
        sentence=answer.sentence, task__in=parents, author=answer.author
    ).exclude(task__in=settled)
    return dict(spans.values_list("task__name", "value"))


def history_of(sentence: Sentence) -> Mapping[str, list[Version]]:
    """Return every version of every answer and of gold, by task name, newest first."""
    found: dict[str, list[Version]] = {}
    for answer in Annotation.objects.filter(sentence=sentence).select_related("task", "author"):
        name, person = answer.task.name, answer.author.get_username()
        now = Version(answer.value, answer.version, "answer", person, answer.updated_at, True)
        found.setdefault(name, []).append(now)
    for old in AnnotationVersion.objects.filter(annotation__sentence=sentence).select_related(
        "annotation__task", "annotation__author"
    ):
        answer = old.annotation
        found.setdefault(answer.task.name, []).append(
            Version(
                old.value,
                old.version,
                "answer",
                answer.author.get_username(),
                old.created_at,
                False,
            )
        )
    for gold in Gold.objects.filter(sentence=sentence).select_related("task", "decided_by"):
        found.setdefault(gold.task.name, []).append(_gold_version(gold, True))
    for earlier in GoldVersion.objects.filter(gold__sentence=sentence).select_related(
        "gold__task", "decided_by"
    ):
        name = earlier.gold.task.name
        found.setdefault(name, []).append(_gold_version(earlier, False))
    for versions in found.values():
        versions.sort(key=lambda version: version.at, reverse=True)
    return found


def _gold_version(gold: Gold | GoldVersion, is_current: bool) -> Version:
    at = gold.updated_at if isinstance(gold, Gold) else gold.created_at
    person = gold.decided_by.get_username() if gold.decided_by else ""
    return Version(gold.value, gold.version, gold.source, person, at, is_current)
