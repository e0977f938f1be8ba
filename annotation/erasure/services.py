"""What leaves for good: people, with or without their answers; sentences, with all said of them.

Each act leaves an entry in the log that says who did it; of an erased person it says no name.
Backups that were made before are not touched.
"""

import secrets
from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet

from annotation.accounts.authentication import turn_off
from annotation.accounts.log import forget_person, record
from annotation.accounts.services import end_credentials, end_invitations_of
from annotation.archive.tables import export_folders, forget_deleted, shared_cache_folders
from annotation.errors import Conflict, InvalidInput, Problem
from annotation.models import (
    Annotation,
    Ask,
    Corpus,
    Delivery,
    Flag,
    Gold,
    Identity,
    Insight,
    Invitation,
    Job,
    Lease,
    MailChoice,
    Membership,
    Progress,
    Project,
    Queue,
    Role,
    Round,
    Sentence,
    SentenceVersion,
    SignInAttempt,
    Submission,
    WordAnswer,
)
from annotation.projects.documents import forget_words
from annotation.projects.services import remove_folders
from annotation.queue.asks import open_again
from annotation.queue.leases import lay_down
from annotation.queue.store import hold
from annotation.rounds.services import share_files
from annotation.rounds.workspace import Workspace

User = get_user_model()


def people() -> QuerySet[Any]:
    """Return everybody with an account, with how much they answered and where they work."""
    return User._default_manager.annotate(
        n_answers=Count("annotations", distinct=True),
        n_projects=Count("memberships", distinct=True),
    )


@transaction.atomic
def set_active(*, person: Any, is_active: bool, actor: Any) -> Any:
    """Close a person's account, or open it again; their answers and memberships stay."""
    if not is_active:
        _refuse_to_lock_out(person, actor)
        _end_sessions(person)
        _lay_down_everything(person)
    if person.is_active != is_active:
        person.is_active = is_active
        person.save(update_fields=["is_active"])
        action = "person.activated" if is_active else "person.deactivated"
        record(action, project=None, actor=actor, person=person.get_username())
    return person


@transaction.atomic
def anonymise(*, person: Any, actor: Any) -> Any:
    """Take a person's name off everything they did, and close the account for good.

    Their answers stay together under a name made by chance, so that agreement can still be told.
    """
    _refuse_to_lock_out(person, actor)
    _refuse_to_orphan(person)
    _end_sessions(person)
    _lay_down_everything(person)
    projects = _projects_of(person)
    SignInAttempt.objects.filter(name=person.get_username()).delete()
    Invitation.objects.filter(accepted_by=person).update(note="")
    Membership.objects.filter(user=person).delete()
    Identity.objects.filter(user=person).delete()
    MailChoice.objects.filter(user=person).delete()
    Delivery.objects.filter(user=person).delete()
    turn_off(user=person, actor=actor)
    forget_person(person)
    person.username = f"former-{secrets.token_hex(4)}"
    person.first_name = person.last_name = person.email = ""
    person.is_active = person.is_staff = person.is_superuser = False
    person.last_login = None
    person.set_unusable_password()
    person.save()
    _forget_results(projects)
    record("person.anonymised", project=None, actor=actor, person=person.username)
    transaction.on_commit(forget_deleted)
    return person


@transaction.atomic
def erase(*, person: Any, keeps_answers: bool, actor: Any) -> int:
    """Remove a person; return how many answers went along.

    Where answers are kept, nothing else is: no name, no remarks, no drafts, no log of actions.
    """
    if keeps_answers:
        anonymise(person=person, actor=actor)
        Flag.objects.filter(author=person).delete()
        Submission.objects.filter(annotator=person).update(actions=[])
        Lease.objects.filter(annotator=person).update(skip_reason="", draft=None)
        return 0
    _refuse_to_lock_out(person, actor)
    _refuse_to_orphan(person)
    _end_sessions(person)
    projects = _projects_of(person)
    n_answers = sum(_delete_answers(project, person) for project in projects)
    Flag.objects.filter(author=person).delete()
    SignInAttempt.objects.filter(name=person.get_username()).delete()
    Invitation.objects.filter(accepted_by=person).delete()
    forget_person(person)
    person.delete()
    _forget_results(projects)
    record("person.erased", project=None, actor=actor, n_answers=n_answers)
    transaction.on_commit(forget_deleted)
    return n_answers


@transaction.atomic
def delete_answers(*, project: Project, person: Any, actor: Any) -> int:
    """Delete what one person answered in a project; return how many answers those were.

    The queue asks for them again. Gold that rested on their agreement with others is open again;
    what a curator decided stays.
    """
    n_answers = _delete_answers(project, person)
    _forget_results([project])
    record(
        "answers.deleted", project=project, actor=actor, person=person.get_username(), n=n_answers
    )
    transaction.on_commit(forget_deleted)
    return n_answers


def _delete_answers(project: Project, person: Any) -> int:
    _lay_down_everything(person, project)
    leases = Lease.objects.filter(project=project, annotator=person)
    counted = leases.filter(state__in=(Lease.State.SUBMITTED, Lease.State.REOPENED))
    asks = list(counted.values_list("ask_id", flat=True))
    for first in range(0, len(asks), 500):
        part = Ask.objects.filter(pk__in=asks[first : first + 500])
        part.filter(n_answers__gt=0).update(n_answers=F("n_answers") - 1)
        open_again(part.filter(queue__is_current=True))
    Submission.objects.filter(project=project, annotator=person).delete()
    leases.delete()
    Progress.objects.filter(queue__project=project, annotator=person).delete()
    _forget_in_versions(project, person)
    answers = Annotation.objects.filter(sentence__project=project, author=person)
    cells = set(answers.values_list("sentence_id", "task_id"))
    answers.delete()
    _reopen_agreements(project, cells)
    words = WordAnswer.objects.filter(sentence__project=project, author=person)
    n_words = words.count()
    words.delete()
    return len(cells) + n_words


def _forget_in_versions(project: Project, person: Any) -> None:
    """Take a person's answers out of what is kept of sentences before they were corrected."""
    for version in SentenceVersion.objects.filter(sentence__project=project):
        left = [row for row in version.answers if "nnotation" not in row[0] or row[2] != person.pk]
        if len(left) < len(version.answers):
            version.answers = left
            version.save(update_fields=["answers"])


def _reopen_agreements(project: Project, cells: set[tuple[int, int]]) -> None:
    """Drop gold that people agreed on where fewer than two of them are left."""
    agreed = Gold.objects.filter(sentence__project=project, source=Gold.Source.AGREED).annotate(
        n_left=Count("sentence__annotations", filter=Q(sentence__annotations__task_id=F("task_id")))
    )
    rows = agreed.filter(n_left__lt=2).values_list("pk", "sentence_id", "task_id")
    gone = [pk for pk, *cell in rows if tuple(cell) in cells]
    for first in range(0, len(gone), 500):
        Gold.objects.filter(pk__in=gone[first : first + 500]).delete()


def _projects_of(person: Any) -> list[Project]:
    worked = Q(sentences__annotations__author=person) | Q(leases__annotator=person)
    flagged = Q(sentences__flags__author=person) | Q(memberships__user=person)
    return list(Project.objects.filter(worked | flagged).distinct())


def _forget_results(projects: list[Project]) -> None:
    """Remove what was computed or written with people's names in it: insights, export files."""
    Insight.objects.filter(project__in=projects).delete()
    folders = [folder for project in projects for folder in export_folders(project)]
    transaction.on_commit(lambda: remove_folders(folders))


def _lay_down_everything(person: Any, project: Project | None = None) -> None:
    in_hand = Lease.objects.filter(annotator=person, state__in=Lease.IN_HAND)
    if project is not None:
        in_hand = in_hand.filter(project=project)
    for lease in list(in_hand):
        lay_down(hold(lease.pk))


def _end_sessions(person: Any) -> None:
    end_credentials(user=person)
    end_invitations_of(user=person)
    for session in Session.objects.iterator():
        if session.get_decoded().get("_auth_user_id") == str(person.pk):
            session.delete()


def _refuse_to_lock_out(person: Any, actor: Any) -> None:
    if actor is not None and person.pk == actor.pk:
        raise Conflict("This is your own account: let another admin do it.")
    admins = User._default_manager.filter(is_superuser=True, is_active=True)
    if person.is_superuser and not admins.exclude(pk=person.pk).exists():
        raise Conflict(f"{person.get_username()} is the last admin: make another one first.")


def _refuse_to_orphan(person: Any) -> None:
    own = Project.objects.filter(memberships__user=person, memberships__role=Role.OWNER)
    alone = [
        project.name
        for project in own
        if not project.memberships.filter(role=Role.OWNER).exclude(user=person).exists()
    ]
    if alone:
        raise Conflict(
            f"{person.get_username()} alone owns {', '.join(alone)}: make somebody else an owner, "
            "or delete the project, first."
        )


CHUNK = 1_000


@transaction.atomic
def delete_corpus(*, corpus: Corpus, actor: Any) -> int:
    """Delete a corpus with its sentences and all answers to them; return how many sentences."""
    project = Project.objects.select_for_update().get(pk=corpus.project_id)
    ids = list(Sentence.objects.filter(corpus=corpus).values_list("id", flat=True))
    _delete(project, ids)
    record("corpus.deleted", project=project, actor=actor, corpus=corpus.name, n=len(ids))
    corpus.delete()
    return len(ids)


@transaction.atomic
def delete_sentences(*, project: Project, ids: Sequence[int], actor: Any) -> int:
    """Delete sentences with all answers to them; return how many. The others keep their places.

    A document among them stands for all of its sentences.
    """
    project = Project.objects.select_for_update().get(pk=project.pk)
    rows = Sentence.objects.filter(project=project, pk__in=ids)
    known = dict(rows.filter(is_document=False).values_list("id", "corpus_id"))
    documents = set(rows.exclude(document="").values_list("corpus_id", "document"))
    whole = rows.filter(is_document=True).values_list("id", "corpus_id", "document")
    strange = set(ids) - known.keys() - {i for i, *_ in whole}
    for _, corpus, document in whole:
        inside = Sentence.objects.filter(corpus=corpus, document=document, is_document=False)
        known |= dict(inside.values_list("id", "corpus_id"))
    if strange:
        raise InvalidInput(
            [Problem("sentences", f"No sentence {i} in this project.") for i in sorted(strange)]
        )
    _delete(project, list(known))
    changed, empty = forget_words(project, documents)
    if empty:
        _delete(project, empty)
    rounds = list(project.rounds.exclude(folder=""))
    transaction.on_commit(lambda: _forget_files(rounds, set(changed), ()))
    for corpus_id in set(known.values()):
        n = sum(of == corpus_id for of in known.values())
        Corpus.objects.filter(pk=corpus_id).update(n_sentences=F("n_sentences") - n)
    record("sentences.deleted", project=project, actor=actor, n=len(known))
    return len(known)


def _delete(project: Project, ids: Sequence[int]) -> None:
    """Delete sentences, and what was computed or written from their words."""
    _refuse_while_in_use(project, ids)
    for first in range(0, len(ids), CHUNK):
        part = ids[first : first + CHUNK]
        for queue in Queue.objects.filter(project=project):
            gone = queue.asks.filter(sentence__in=part).count()
            if gone:
                Queue.objects.filter(pk=queue.pk).update(n_asks=F("n_asks") - gone)
        # others wait for the write lock: no time is lost with reading words that go
        Sentence.objects.filter(pk__in=part).only("pk").delete()
    Insight.objects.filter(project=project).delete()
    Job.objects.filter(project=project, kind=Job.Kind.IMPORT).exclude(
        state__in=(Job.State.QUEUED, Job.State.RUNNING)
    ).update(result={}, log="")  # a report shows words of the file
    rounds = list(project.rounds.exclude(folder=""))
    for round in rounds:
        asks = round.manifest.get("asks")
        if asks:
            gone_ids = set(ids)
            round.manifest["asks"] = [ask for ask in asks if ask["sentence"] not in gone_ids]
            round.save(update_fields=["manifest"])
    folders = [*export_folders(project), *shared_cache_folders()]
    transaction.on_commit(lambda: _forget_files(rounds, set(ids), folders))


def _forget_files(rounds: Sequence[Round], ids: set[int], folders: Sequence[Any]) -> None:
    for round in rounds:
        workspace = Workspace.of(round)
        workspace.drop_sentences(ids)
        share_files(round=round, workspace=workspace)
    remove_folders(folders)
    forget_deleted()


def _refuse_while_in_use(project: Project, ids: Sequence[int]) -> None:
    running = project.rounds.filter(state__in=Round.RUNNING).first()
    if running is not None:
        raise Conflict(
            f"Round {running.number} is {running.state} and may choose from these sentences. Wait "
            "for it or cancel it."
        )
    held = Lease.objects.filter(project=project, state__in=Lease.IN_HAND)
    in_hand = set(held.values_list("ask__sentence_id", flat=True)) & set(ids)
    if in_hand:
        raise Conflict(
            f"{len(in_hand)} sentences are in somebody's hands. Pause the project and wait until "
            "they are submitted or given back."
        )
