"""Removing corpora and sentences, with everything that people said about them."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import F

from annotation.accounts.log import record
from annotation.archive.bulk import forget_deleted
from annotation.archive.tables import export_folders, shared_cache_folders
from annotation.errors import Conflict, InvalidInput, Problem
from annotation.models import Corpus, Insight, Job, Lease, Project, Queue, Round, Sentence
from annotation.projects.documents import forget_words
from annotation.projects.services import remove_folders
from annotation.rounds.services import share_files
from annotation.rounds.workspace import Workspace

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
    """Delete sentences with all answers to them; return how many. The others keep their places."""
    project = Project.objects.select_for_update().get(pk=project.pk)
    rows = Sentence.objects.filter(project=project, pk__in=ids)
    known = dict(rows.filter(is_document=False).values_list("id", "corpus_id"))
    documents = set(rows.exclude(document="").values_list("corpus_id", "document"))
    strange = [i for i in ids if i not in known]
    if strange:
        raise InvalidInput(
            [Problem("sentences", f"No sentence {i} in this project.") for i in strange]
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
        Sentence.objects.filter(pk__in=part).delete()
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
