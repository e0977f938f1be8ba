"""Groups of people, and which part of the work is theirs.

A group is limited to corpora, languages, documents and tasks; what it leaves open is not limited.
What falls to a group is asked of its people alone; the rest is asked of everybody. Where only
some tasks of a sentence fall to a group, the sentence is asked about in parts.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Max, Q

from annotation.accounts.log import record
from annotation.bridge import tasks_by_name
from annotation.errors import Conflict, InvalidInput, NotFound, Problem, unknown_name
from annotation.models import (
    Ask,
    Assignment,
    Membership,
    Progress,
    Project,
    Queue,
    Sentence,
    Task,
    WorkGroup,
    WorkGroupMember,
)

CHUNK = 2_000  # sentences per query


@dataclass(frozen=True)
class Limits:
    """What a group is limited to; an empty set limits nothing."""

    group_id: int
    corpora: frozenset[int] = frozenset()
    languages: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()

    @property
    def are_any(self) -> bool:
        """Return whether anything is assigned to the group."""
        return bool(self.corpora or self.languages or self.documents or self.tasks)

    def hold(self, place: "Place") -> bool:
        """Return whether a sentence is the group's."""
        return (
            (not self.corpora or place.corpus_id in self.corpora)
            and (not self.languages or place.language in self.languages)
            and (not self.documents or place.document in self.documents)
        )


@dataclass(frozen=True)
class Place:
    """Where a sentence comes from."""

    corpus_id: int
    language: str
    document: str


@dataclass
class Division:
    """How the work of a project is divided among its groups, the oldest group first."""

    limits: Sequence[Limits]
    places: Mapping[int, Place] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project, sentences: Iterable[int] = ()) -> "Division":
        """Return the division, knowing where some sentences come from."""
        limits = [found for found in limits_of(project) if found.are_any]
        ids = list(sentences) if limits else []
        places: dict[int, Place] = {}
        for first in range(0, len(ids), CHUNK):
            rows = Sentence.objects.filter(pk__in=ids[first : first + CHUNK])
            for pk, corpus, language, document in rows.values_list(
                "id", "corpus_id", "corpus__language", "document"
            ):
                places[pk] = Place(corpus, language or project.language, document)
        return cls(limits, places)

    def parts(self, sentence_id: int, tasks: Sequence[str]) -> list[tuple[int | None, list[str]]]:
        """Return who is asked what about a sentence: (group or nobody in particular, tasks)."""
        found: list[tuple[int | None, list[str]]] = []
        left = list(tasks)
        for limits in self.limits:
            if not limits.hold(self.places[sentence_id]):
                continue
            own = [task for task in left if not limits.tasks or task in limits.tasks]
            if own:
                found.append((limits.group_id, own))
                left = [task for task in left if task not in own]
        return [*found, (None, left)] if left else found


def limits_of(project: Project) -> list[Limits]:
    """Return what each group with people in it is limited to."""
    rows = Assignment.objects.filter(group__project=project).values_list(
        "group_id", "corpus_id", "language", "document", "task__name"
    )
    found: dict[int, list[set[Any]]] = defaultdict(lambda: [set(), set(), set(), set()])
    for group, *values in rows:
        for known, value in zip(found[group], values, strict=True):
            if value:
                known.add(value)
    peopled = WorkGroup.objects.filter(project=project, members__isnull=False).distinct()
    return [
        Limits(pk, *(frozenset(one) for one in found[pk]))
        for pk in peopled.order_by("id").values_list("id", flat=True)
    ]


@transaction.atomic
def save_group(
    *,
    project: Project,
    name: str,
    people: Collection[str],
    actor: Any,
    group: WorkGroup | None = None,
    corpora: Collection[str] = (),
    languages: Collection[str] = (),
    documents: Collection[str] = (),
    tasks: Collection[str] = (),
) -> WorkGroup:
    """Make a group or change one, and divide what is asked now anew. Everything goes by name."""
    known_people = dict(
        Membership.objects.filter(project=project).values_list("user__username", "user_id")
    )
    known_corpora = dict(project.corpora.values_list("name", "id"))
    known_tasks = dict(Task.objects.filter(project=project).values_list("name", "id"))
    problems = [
        *_unknown("people", "member", people, known_people),
        *_unknown("corpora", "corpus", corpora, known_corpora),
        *_unknown("tasks", "task", tasks, known_tasks),
        *_unknown("languages", "language", languages, languages_of(project)),
    ]
    if not name.strip():
        problems.append(Problem("name", "A group needs a name."))
    if problems:
        raise InvalidInput(problems)
    try:
        with transaction.atomic():
            group = group or WorkGroup(project=project)
            group.name = name.strip()
            group.save()
    except IntegrityError as error:
        raise Conflict(f"There is a group '{name}' already. Choose another name.") from error
    group.members.all().delete()
    group.assignments.all().delete()
    WorkGroupMember.objects.bulk_create(
        WorkGroupMember(group=group, user_id=known_people[one]) for one in dict.fromkeys(people)
    )
    Assignment.objects.bulk_create(
        [
            *(Assignment(group=group, corpus_id=known_corpora[one]) for one in corpora),
            *(Assignment(group=group, task_id=known_tasks[one]) for one in tasks),
            *(Assignment(group=group, language=one) for one in languages),
            *(Assignment(group=group, document=one) for one in documents if one),
        ]
    )
    record("member.grouped", project=project, actor=actor, name=group.name, people=len(people))
    divide_queue(project=project)
    return group


@transaction.atomic
def delete_group(*, group: WorkGroup, actor: Any) -> None:
    """Give a group's work back to everybody and remove it.

    A group that answered something stays in the records of its queue, without people or a name
    that anybody could confuse with another's.
    """
    project = group.project
    record("member.group_ended", project=project, actor=actor, name=group.name)
    group.members.all().delete()
    group.assignments.all().delete()
    divide_queue(project=project)
    if group.asks.exists():
        Ask.objects.filter(group=group, queue__is_current=True, is_open=True).update(is_open=False)
        WorkGroup.objects.filter(pk=group.pk).update(name=f"{group.name[:40]} (ended {group.pk})")
    else:
        group.delete()


def divide_queue(*, project: Project) -> int:
    """Divide the untouched asks of the current queue among the groups; return how many changed."""
    queue = Queue.objects.select_for_update(no_key=True).filter(project=project, is_current=True)
    current = queue.first()
    if current is None:
        return 0
    untouched = Ask.objects.filter(
        queue=current, is_open=True, is_check=False, n_answers=0, n_leases=0, leases__isnull=True
    )
    by_sentence: dict[int, list[Ask]] = defaultdict(list)
    for ask in untouched.order_by("rank"):
        by_sentence[ask.sentence_id].append(ask)
    division = Division.of(project, by_sentence)
    taken = set(  # parts that somebody works on already keep their group
        Ask.objects.filter(queue=current)
        .exclude(pk__in=untouched.values("pk"))
        .values_list("sentence_id", "group_id")
    )
    parents = parents_of(project)
    changed: list[Ask] = []
    new: list[Ask] = []
    surplus: list[int] = []
    for sentence, asks in by_sentence.items():
        tasks = list(dict.fromkeys(task for ask in asks for task in ask.tasks))
        parts = division.parts(sentence, tasks)
        if [(ask.group_id, ask.tasks) for ask in asks] == parts:
            continue
        if any((sentence, group) in taken for group, _ in parts):
            continue
        first = asks[0]
        first.group_id, first.tasks = parts[0]
        first.given = linked_by(first.tasks, parents)
        changed.append(first)
        surplus += [ask.pk for ask in asks[1:]]
        new += [_copy(first, *part, parents) for part in parts[1:]]
    Ask.objects.filter(pk__in=surplus).delete()
    Ask.objects.bulk_update(changed, ["group", "tasks", "given"], batch_size=500)
    last = current.asks.aggregate(last=Max("rank"))["last"] or 0
    for rank, ask in enumerate(new, last + 1):
        ask.rank = rank
    Ask.objects.bulk_create(new, batch_size=500)
    Queue.objects.filter(pk=current.pk).update(n_asks=F("n_asks") + len(new) - len(surplus))
    if changed or new:
        Progress.objects.filter(queue=current).update(first_rank=1)
    return len(changed) + len(new)


def group_rows(project: Project) -> list[dict[str, Any]]:
    """Return the groups with their people, limits, and what waits for them."""
    waiting = dict(
        Ask.objects.filter(queue__project=project, queue__is_current=True, is_open=True)
        .values_list("group_id")
        .annotate(n=Count("pk"))
    )
    ended = Q(members__isnull=True, assignments__isnull=True, asks__isnull=False)
    rows = []
    for group in WorkGroup.objects.filter(project=project).exclude(ended).distinct():
        limits = group.assignments.select_related("corpus", "task")
        rows.append(
            {
                "group": group,
                "id": group.pk,
                "name": group.name,
                "people": sorted(group.members.values_list("user__username", flat=True)),
                "corpora": sorted(row.corpus.name for row in limits if row.corpus),
                "languages": sorted(row.language for row in limits if row.language),
                "documents": sorted(row.document for row in limits if row.document),
                "tasks": sorted(row.task.name for row in limits if row.task),
                "n_open": waiting.get(group.pk, 0),
            }
        )
    return rows


def find_group(project: Project, group_id: int) -> WorkGroup:
    """Return a group of a project that has not ended."""
    for row in group_rows(project):
        if row["id"] == group_id:
            found: WorkGroup = row["group"]
            return found
    raise NotFound("This group does not exist in this project.")


def languages_of(project: Project) -> list[str]:
    """Return the languages of a project's corpora."""
    own = set(project.corpora.values_list("language", flat=True))
    return sorted({language or project.language for language in own})


def _unknown(path: str, what: str, names: Collection[str], known: Collection[str]) -> list[Problem]:
    return [Problem(path, unknown_name(what, one, known)) for one in names if one not in known]


def parents_of(project: Project) -> dict[str, tuple[str, ...]]:
    """Return the tasks whose spans each task links, by name."""
    return {name: task.parents for name, task in tasks_by_name(project.pk).items()}


def linked_by(tasks: Sequence[str], parents: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the tasks whose answers some tasks link without being asked together with them."""
    return sorted({parent for name in tasks for parent in parents[name]} - set(tasks))


def _copy(
    ask: Ask, group_id: int | None, tasks: list[str], parents: Mapping[str, Sequence[str]]
) -> Ask:
    return Ask(
        queue_id=ask.queue_id,
        sentence_id=ask.sentence_id,
        rank=0,
        tasks=tasks,
        given=linked_by(tasks, parents),
        overlap=ask.overlap,
        is_random=ask.is_random,
        is_blind=ask.is_blind,
        purpose=ask.purpose,
        reason=ask.reason,
        confidences=ask.confidences,
        predicted_seconds=ask.predicted_seconds,
        group_id=group_id,
    )
