"""Reading the queue: where a person is in it, what they hold, what a lease shows, what is left."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotation.accounts.access import visible_projects
from annotation.bridge import tasks_by_name
from annotation.errors import NotFound
from annotation.formats.conllu import task_findings
from annotation.models import (
    Annotation,
    Ask,
    Gold,
    Lease,
    Membership,
    Project,
    Role,
    Sentence,
    Submission,
    WordAnswer,
    WorkGroupMember,
)
from annotation.models.prepared import Parameter, Prepared
from annotation.projects.documents import joined_spans, sentences_of, starts_of
from annotation.queue.store import QueuePosition, queue_position
from annotation.queue.suggestions import shown_suggestions
from annotation.web.code_texts import said
from mtl_engine.costs import CostModel, WorkEvent, fit_costs
from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.kinds.checks import is_row

NEWEST = 3000  # answers that count: people get faster, so the old ones do not
LONGEST = 3600.0  # seconds; whoever was away longer was not working

EXACT_BELOW = 200  # asks; more than these are counted from sums
HEARTBEATS_PER_LEASE = 5
NO_LEASE = "This lease does not exist, or it is somebody else's."
NO_QUEUE = {"left": 0, "done": 0, "skipped": 0, "minutes": 0.0, "budget_minutes": None}

_ASK_COLUMNS = (
    *("id", "rank", "is_blind", "purpose", "tasks", "words", "given", "reason", "confidences"),
    "predicted_seconds",
    *("queue__n_asks", "queue__round__number"),
    *("sentence_id", "sentence__corpus_id", "sentence__corpus__name", "sentence__position"),
    *("sentence__corpus__language",),
    *("sentence__key", "sentence__document", "sentence__is_document", "sentence__text"),
    *("sentence__tokens", "sentence__offsets"),
)
_LEASE_COLUMNS = (
    *("token", "expires_at", "draft", "draft_version", "draft_saved_at", "context", "note"),
    *("annotator_id", "project_id", "project__lease_minutes", "project__shows_suggestions"),
)
_OWN_LEASE = (
    *("project_id", "annotator_id", "context", "project__lease_minutes"),
    *("ask__tasks", "ask__words", "ask__given", "ask__purpose"),
    *("ask__sentence__tokens", "ask__sentence__is_document"),
)
N_ANSWERS = 200  # to a task that are looked at: the person's latest, and some of all

_lease_of_member = Prepared(
    lambda: _own_leases(_Member(Parameter("user"))).filter(pk=Parameter("lease"))
)
_lease_with_ask = Prepared(
    lambda: Lease.objects.filter(pk=Parameter("lease")).values(
        *_LEASE_COLUMNS, *(f"ask__{name}" for name in _ASK_COLUMNS)
    )
)
_answers = Prepared(
    lambda: Annotation.objects.filter(sentence=Parameter("sentence")).values_list(
        "author_id", "task__name", "value"
    )
)
_neighbours = Prepared(
    lambda: Sentence.objects.filter(
        corpus=Parameter("corpus"),
        position__in=(Parameter("before"), Parameter("after")),  # type: ignore[misc]
        document=Parameter("document"),
    ).values_list("position", "text")
)


WHAT_COUNTS: list[Callable[[Project, Iterable[int]], Mapping[int, Mapping[str, Any]]]] = []
# The room that decides which answers count adds its rule: answers by sentence and task.


@dataclass(frozen=True)
class _Member:
    """Anybody who is no admin, so that the rule of who sees what is compiled with a query."""

    pk: Any
    is_active: bool = True
    is_superuser: bool = False


def next_ask(project_id: int, annotator_id: int) -> int | None:
    """Return the ask that a person would be given next; it is not kept for them."""
    position = queue_position(project_id, annotator_id)
    if position is None or position.is_used_up:
        return None
    free = _asks_left(position, annotator_id, without=Lease.NOT_OFFERED).filter(
        n_answers__lt=F("overlap") - F("n_leases")
    )
    return free.order_by("rank").values_list("id", flat=True).first()


def open_asks(project: Project) -> QuerySet[Ask]:
    """Return the asks of the current queue that still want answers, first rank first."""
    return Ask.objects.filter(
        queue__project=project, queue__is_current=True, is_open=True
    ).order_by("rank")


def get_lease(user: Any, lease_id: int) -> Lease:
    """Return a person's own lease with its ask, sentence and project, while they are a member."""
    if user.is_active and not user.is_superuser:
        lease = _lease_of_member.first(lease=lease_id, user=user.pk)
    else:
        lease = _own_leases(user).filter(pk=lease_id).first()
    if lease is None:
        raise NotFound(NO_LEASE)
    return lease


def rule_findings(lease: Lease, answers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what Universal Dependencies' rules say of answers, however unfinished they are."""
    tokens = lease.ask.sentence.tokens
    tasks = tasks_by_name(lease.project_id)
    known = {**(lease.context or {}), **answers}
    entries = {
        name: value
        for name, value in known.items()
        if name in tasks and _is_readable(tasks[name], value, tokens)
    }
    found = task_findings(tokens, list(tasks.values()), entries)
    return [
        {"task": task, **{key: getattr(one, key) for key in ("rule", "level", "word", "message")}}
        for task, one in found
    ]


def _is_readable(task: TaskSpec, value: Any, tokens: Sequence[str]) -> bool:
    """Return whether an answer, which may lack words, has the form that its kind says."""
    kind = KINDS[task.kind]
    if kind.unit != "token":
        return not replace(task, is_open=True).check(value, tokens)
    if not isinstance(value, list) or len(value) != len(tokens):
        return False
    if not kind.has_rows:
        return all(entry is None or isinstance(entry, str) for entry in value)
    heads = range(len(tokens) + 1)
    return all(arc is None or (is_row(arc, [int, str]) and arc[0] in heads) for arc in value)


def _own_leases(user: Any) -> QuerySet[Lease]:
    leases = Lease.objects.select_related("project", "ask__sentence").only(*_OWN_LEASE)
    return leases.filter(annotator=user.pk, project__in=visible_projects(user))


def get_submission(user: Any, submission_id: int) -> Submission:
    """Return a person's own submission with its lease, while they are a member."""
    submissions = Submission.objects.select_related("lease__project", "lease__ask")
    own = submissions.filter(annotator=user.pk, project__in=visible_projects(user))
    submission = own.filter(pk=submission_id).first()
    if submission is None:
        raise NotFound("This submission does not exist, or it is somebody else's.")
    return submission


def get_sentence(user: Any, sentence_id: int) -> Sentence:
    """Return a sentence of a project in which a person is a member."""
    sentences = Sentence.objects.filter(project__in=visible_projects(user))
    sentence = sentences.filter(pk=sentence_id).first()
    if sentence is None:
        raise NotFound("This sentence does not exist, or you are not a member of its project.")
    return sentence


def count_queue(project_id: int, annotator_id: int) -> dict[str, Any]:
    """Return what a person did and has left in the current queue, and the minutes of the team.

    ``left`` is exact from some hundred asks down; above, asks that others closed and this person
    skipped may be counted too.
    """
    position = queue_position(project_id, annotator_id)
    if position is None:
        return dict(NO_QUEUE)
    left = position.n_asks - max(position.n_closed, position.n_done + position.n_skipped)
    if left <= EXACT_BELOW:
        left = _asks_left(position, annotator_id).count()
    if position.quota is not None:
        left = min(left, max(0, position.quota - position.n_done))
    return {
        "left": left,
        "done": position.n_done,
        "skipped": position.n_skipped,
        "minutes": round(position.seconds / 60, 1),
        "budget_minutes": position.budget_minutes,
    }


def describe_lease(lease_id: int) -> dict[str, Any]:
    """Return a lease with its sentence, own answers, draft, suggestions and counts."""
    lease = _lease_with_ask.first(lease=lease_id)
    if lease is None:
        raise NotFound(NO_LEASE)
    ask = {name: lease[f"ask__{name}"] for name in _ASK_COLUMNS}
    sentence_id, annotator_id = ask["sentence_id"], lease["annotator_id"]
    described = {
        "id": lease_id,
        "token": lease["token"],
        "expires_at": lease["expires_at"],
        "heartbeat_seconds": lease["project__lease_minutes"] * 60 // HEARTBEATS_PER_LEASE,
        **_describe_ask(ask, shows_suggestions=lease["project__shows_suggestions"]),
        "answers": own_answers(sentence_id, annotator_id, ask["tasks"], ask["words"]),
        "note": lease["note"],
        "draft": lease["draft"],
        "draft_version": lease["draft_version"],
        "draft_saved_at": lease["draft_saved_at"],
        "counts": count_queue(lease["project_id"], annotator_id),
    }
    if ask["given"]:
        is_document = ask["sentence__is_document"]
        shown = lease["context"] or given_spans(
            ask["given"], sentence_id, annotator_id, is_document=is_document
        )
        described["context"] = shown
    return described


def describe_ask(ask_id: int, project: Project) -> dict[str, Any]:
    """Return an ask that is in nobody's hands, so that it can be shown without a wait later."""
    ask = next(iter(Ask.objects.filter(pk=ask_id).values(*_ASK_COLUMNS)), None)
    if ask is None:
        raise NotFound("This ask does not exist any more.")
    return _describe_ask(ask, shows_suggestions=project.shows_suggestions)


def lease_context(lease: Lease) -> dict[str, Any]:
    """Return the spans that relations are asked on without being asked themselves.

    They are what was there when the ask was claimed.
    """
    ask = lease.ask
    if not ask.given:
        return {}
    is_document = ask.sentence.is_document
    return lease.context or given_spans(
        ask.given, ask.sentence_id, lease.annotator_id, is_document=is_document
    )


def given_spans(
    tasks: Sequence[str], sentence_id: int, annotator_id: int, *, is_document: bool = False
) -> dict[str, list[Any]]:
    """Return for each spans task the person's own answer, else gold, else the model's.

    Of a document they are those of its sentences, and the same for everybody as far as possible.
    """
    if is_document:
        return _spans_of_document(sentence_id, tasks, annotator_id)
    own = own_answers(sentence_id, annotator_id, tasks)
    gold = Gold.objects.filter(sentence=sentence_id, task__name__in=tasks)
    decided = dict(gold.values_list("task__name", "value"))
    found = shown_suggestions(sentence_id, tasks, sentence_id)
    model = {task: one["value"] for task, one in found.items()}
    return {task: own.get(task, decided.get(task, model.get(task, []))) for task in tasks}


def _spans_of_document(
    document_id: int, tasks: Sequence[str], annotator_id: int
) -> dict[str, list[Any]]:
    """Return the spans of a document's sentences: what counts, else one's own, else the model's."""
    document = Sentence.objects.select_related("project").get(pk=document_id)
    parts = sentences_of([document_id])[document_id]
    ids = [pk for pk, _ in parts]
    counting = {pk: row for tell in WHAT_COUNTS for pk, row in tell(document.project, ids).items()}
    values: dict[str, dict[int, Any]] = {task: {} for task in tasks}
    for pk in ids:
        for task in tasks:
            value = counting.get(pk, {}).get(task)
            values[task][pk] = (
                given_spans([task], pk, annotator_id)[task] if value is None else value
            )
    return {task: joined_spans(parts, values[task]) for task in tasks}


def own_answers(
    sentence_id: int,
    annotator_id: int,
    tasks: Sequence[str],
    words: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, Any]:
    """Return a person's present answers to some tasks of a sentence.

    Of tasks with asked ``words`` what they said of these. The few answers of others are read too:
    asked for one person's, SQLite would walk through everything that they ever answered.
    """
    found = {
        task: value
        for author, task, value in _answers(sentence=sentence_id)
        if author == annotator_id and task in tasks and not (words and task in words)
    }
    if not words:
        return found
    said = WordAnswer.objects.filter(
        sentence=sentence_id, author=annotator_id, task__name__in=list(words)
    )
    for task, value in said.values_list("task__name", "value"):
        asked = [entry if i in words[task] else None for i, entry in enumerate(value)]
        if any(entry is not None for entry in asked):
            found[task] = asked
    return found


def _asks_left(
    position: QueuePosition, annotator_id: int, *, without: Sequence[str] = Lease.FINISHED
) -> QuerySet[Ask]:
    """Return the open asks of a queue that a person has neither answered nor skipped."""
    finished = Lease.objects.filter(ask=OuterRef("pk"), annotator=annotator_id, state__in=without)
    own = WorkGroupMember.objects.filter(user=annotator_id).values("group")
    answered = Annotation.objects.filter(sentence=OuterRef("sentence"), author=annotator_id)
    decides = Membership.objects.filter(
        project=OuterRef("queue__project"),
        user=annotator_id,
        role__in=(Role.OWNER, Role.CURATOR),
    )
    return Ask.objects.filter(
        Q(group=None) | Q(group__in=own),
        Q(purpose__in=Ask.OF_NEW)
        | (Q(purpose=Ask.Purpose.SECOND) & ~Exists(answered))
        | (Q(purpose__in=Ask.OF_CURATORS) & Exists(decides)),
        ~Exists(finished),
        queue=position.queue_id,
        is_open=True,
        rank__gte=position.first_rank,
    )


def _describe_ask(ask: Mapping[str, Any], *, shows_suggestions: bool) -> dict[str, Any]:
    corpus_id, position = ask["sentence__corpus_id"], ask["sentence__position"]
    document, is_blind = ask["sentence__document"], ask["is_blind"]
    around = _texts_around(corpus_id, document, position)
    suggestions = {}
    if ask["purpose"] in Ask.OF_CURATORS:
        suggestions = _answers_so_far(ask["sentence_id"], ask["tasks"])
    elif shows_suggestions and not is_blind:
        suggestions = shown_suggestions(ask["sentence_id"], ask["tasks"], ask["id"])
    return {
        "ask": {
            "id": ask["id"],
            "rank": ask["rank"],
            "n_asks": ask["queue__n_asks"],
            "round": ask["queue__round__number"],
            "is_blind": is_blind,
            "purpose": ask["purpose"],
            "tasks": ask["tasks"],
            "words": ask["words"],
            "why": said(ask["reason"].get("why", "")),
            "reason": ask["reason"],
            "confidences": ask["confidences"],
            "predicted_seconds": ask["predicted_seconds"],
        },
        "sentence": {
            **_starts(ask),
            "id": ask["sentence_id"],
            "corpus": ask["sentence__corpus__name"],
            "position": position,
            "key": ask["sentence__key"],
            "document": document,
            "is_document": ask["sentence__is_document"],
            "language": ask["sentence__corpus__language"],
            "text": ask["sentence__text"],
            "tokens": ask["sentence__tokens"],
            "offsets": ask["sentence__offsets"],
            "before": around.get(position - 1, ""),
            "after": around.get(position + 1, ""),
        },
        "suggestions": suggestions,
    }


def _starts(ask: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return where the sentences of a document begin; a sentence has no inside."""
    if not ask["sentence__is_document"]:
        return {}
    parts = sentences_of([ask["sentence_id"]])[ask["sentence_id"]]
    return {"starts": [*starts_of(parts).values()]}


def _answers_so_far(sentence_id: int, tasks: Sequence[str]) -> dict[str, Any]:
    """Return what counts now as suggestions: a curator looks at it and decides."""
    sentence = Sentence.objects.select_related("project").get(pk=sentence_id)
    return {
        name: {"value": value, "confidence": None, "details": {}, "source": "answers so far"}
        for tell in WHAT_COUNTS
        for name, value in tell(sentence.project, [sentence_id]).get(sentence_id, {}).items()
        if name in tasks
    }


def _texts_around(corpus_id: int, document: str, position: int) -> dict[int, str]:
    """Return the texts before and after a place of a document, by position."""
    places = {"before": position - 1, "after": position + 1}
    return dict(_neighbours(corpus=corpus_id, document=document, **places))


def label_usage(project: Project, person: Any) -> dict[str, Any]:
    """Return how often labels are used by a person and by all: {"own", "all"}, each {task: {label:
    n}}. Every task has its own share of answers, or a long one would crowd out the others."""
    own: dict[str, dict[str, int]] = {}
    all_: dict[str, dict[str, int]] = {}
    for task_id, name, kind in project.tasks.values_list("id", "name", "kind"):
        answers = Annotation.objects.filter(task_id=task_id).values_list("value", flat=True)
        gold = Gold.objects.filter(task_id=task_id).values_list("value", flat=True)
        by_person = answers.filter(author=person).order_by("-id")
        for counts, values in (
            (own, by_person[:N_ANSWERS]),
            (all_, [*answers[:N_ANSWERS], *gold[:N_ANSWERS]]),
        ):
            found = Counter(label for value in values for label in KINDS[kind].labels_of(value))
            if found:
                counts[name] = dict(found)
    return {"own": own, "all": all_}


def cost_model(project: Project, tasks: tuple[str, ...]) -> CostModel:
    """Return how many seconds a person needs for these tasks; the prior before there is data."""
    kinds = dict(project.tasks.values_list("name", "kind"))
    return fit_costs(work_events(project, tasks), {name: kinds[name] for name in tasks})


def work_events(project: Project, tasks: tuple[str, ...]) -> list[WorkEvent]:
    """Return the newest first answers: who, how long, how many tokens, how many things marked."""
    rows = list(
        Submission.objects.filter(project=project, number=1, seconds__gt=0, seconds__lte=LONGEST)
        .order_by("-id")
        .values_list(
            "annotator_id",
            "annotator__username",
            "seconds",
            "lease__ask__sentence_id",
            "lease__ask__sentence__n_tokens",
        )[:NEWEST]
    )
    counts = _item_counts(project, {row[3] for row in rows})
    events = []
    for annotator_id, name, seconds, sentence_id, n_tokens in rows:
        found = counts.get((annotator_id, sentence_id), {})
        items = {task: n for task, n in found.items() if task in tasks}
        if items:
            events.append(WorkEvent(name, seconds, n_tokens, items))
    return events


def sentence_seconds(project: Project) -> dict[int | str, float]:
    """Return how long people took for each sentence, all its asks together, on average."""
    totals: dict[tuple[int, int], float] = defaultdict(float)
    rows = Submission.objects.filter(
        project=project, number=1, seconds__gt=0, seconds__lte=LONGEST
    ).values_list("lease__ask__sentence_id", "annotator_id", "seconds")
    for sentence_id, annotator_id, seconds in rows:
        totals[sentence_id, annotator_id] += seconds
    of_sentence: dict[int | str, list[float]] = defaultdict(list)
    for (sentence_id, _), seconds in totals.items():
        of_sentence[sentence_id].append(seconds)
    return {sentence_id: sum(found) / len(found) for sentence_id, found in of_sentence.items()}


def _item_counts(project: Project, sentences: set[int]) -> dict[tuple[int, int], dict[str, float]]:
    counts: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    wanted = sorted(sentences)
    for first in range(0, len(wanted), 500):
        for model in (WordAnswer, Annotation):
            answers = model._default_manager.filter(
                sentence__in=wanted[first : first + 500], task__project=project
            )
            for author, sentence, task, kind, value in answers.values_list(
                "author_id", "sentence_id", "task__name", "task__kind", "value"
            ):
                entries = KINDS[kind].entries(value)
                n_marked = sum(entry is not None for entry in entries)
                counts[author, sentence][task] = float(n_marked)
    return counts
