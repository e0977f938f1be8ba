"""What waits for a curator: flags, and skips that say a sentence is no use.

A flag is answered, corrected, or closed, and its author sees what became of it. A sentence that is
left out of the pool stays in the project and in exports; nobody is asked about it, and nothing is
learned from it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet

from annotation.accounts.log import record
from annotation.adjudication.services import decide
from annotation.errors import Conflict, InvalidInput, Problem
from annotation.models import Flag, Lease, Project, Sentence
from annotation.queue.skips import leave_out, take_back


@dataclass(frozen=True)
class SkippedSentence:
    """A sentence that people skipped, with their reasons."""

    sentence: Sentence
    reasons: tuple[tuple[str, str, str], ...]  # person, kind, words


def flags_of(project: Project, *, is_open: bool | None = None) -> QuerySet[Flag]:
    """Return the flags on a project's sentences, newest first."""
    flags = Flag.objects.filter(sentence__project=project).select_related(
        "sentence", "sentence__corpus", "author", "resolved_by"
    )
    if is_open is not None:
        flags = flags.filter(resolved_at__isnull=is_open)
    return flags.order_by("-id")


def skipped_sentences(project: Project, *, most: int = 200) -> list[SkippedSentence]:
    """Return the sentences in the pool that people skipped, most skipped first."""
    skips = Lease.objects.filter(project=project, state=Lease.State.SKIPPED)
    counts = (
        skips.filter(ask__sentence__left_out="")
        .values("ask__sentence")
        .annotate(n=Count("annotator", distinct=True))
        .order_by("-n", "ask__sentence")[:most]
    )
    ids = [row["ask__sentence"] for row in counts]
    sentences = Sentence.objects.select_related("corpus").in_bulk(ids)
    reasons: dict[int, list[tuple[str, str, str]]] = {i: [] for i in ids}
    for sentence_id, name, kind, words in skips.filter(ask__sentence__in=ids).values_list(
        "ask__sentence_id", "annotator__username", "skip_kind", "skip_reason"
    ):
        reasons[sentence_id].append((name, kind, words))
    return [SkippedSentence(sentences[i], tuple(reasons[i])) for i in ids]


@transaction.atomic
def resolve_flag(
    *,
    flag: Flag,
    outcome: Flag.Outcome,
    answer: str,
    resolved_by: Any,
    now: datetime,
    gold: dict[str, Any] | None = None,
) -> Flag:
    """Close a flag with what was done about it; corrected gold comes along."""
    flag = Flag.objects.select_for_update().select_related("sentence__project").get(pk=flag.pk)
    if flag.resolved_at is not None:
        raise Conflict("This flag is resolved already.")
    if outcome == Flag.Outcome.CORRECTED and not gold:
        raise InvalidInput([Problem("gold", "Give the corrected answers by task name.")])
    if outcome == Flag.Outcome.ANSWERED and not answer:
        raise InvalidInput([Problem("answer", "Write an answer, or close the flag.")])
    project = flag.sentence.project
    if gold:
        decide(
            project=project,
            sentence=flag.sentence,
            answers=gold,
            decided_by=resolved_by,
            now=now,
        )
    if outcome == Flag.Outcome.LEFT_OUT:
        leave_out(sentence=flag.sentence, reason=flag.comment, actor=resolved_by)
    flag.outcome, flag.answer = outcome, answer
    flag.resolved_by, flag.resolved_at = resolved_by, now
    flag.save(update_fields=["outcome", "answer", "resolved_by", "resolved_at"])
    record("flag.resolved", project=project, actor=resolved_by, flag=flag.pk, outcome=outcome)
    return flag


@transaction.atomic
def reopen_flag(*, flag: Flag, actor: Any) -> Flag:
    """Open a flag again; a sentence that was left out because of it comes back."""
    if flag.outcome == Flag.Outcome.LEFT_OUT and flag.sentence.left_out:
        take_back(sentence=flag.sentence, actor=actor)
    flag.outcome, flag.answer = "", ""
    flag.resolved_by, flag.resolved_at, flag.seen_at = None, None, None
    flag.save()
    record("flag.reopened", project=flag.sentence.project, actor=actor, flag=flag.pk)
    return flag
