"""Judges a queue by what its clients saw and what its database holds.

Clients note every lease they were served and every submit with what came back. Afterwards nothing
that was acknowledged may be missing or doubled, no ask may have been in more hands than its
overlap, and people must have been served the top of the ranking.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Served:
    """A lease as a client received it."""

    person: str
    ask: int
    rank: int


@dataclass(frozen=True)
class Sent:
    """A submit as a client sent it, retries included, and the answers it got."""

    person: str
    ask: int
    key: str
    topic: str  # one of the answers, to compare with what is stored
    receipts: tuple[int, ...]  # the submission's id, once for each response that arrived


@dataclass
class History:
    """What all clients of a run saw."""

    served: list[Served] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class StoredAsk:
    """An ask at the end of a run."""

    id: int
    rank: int
    overlap: int
    n_answers: int
    n_leases: int
    is_open: bool


@dataclass(frozen=True)
class StoredSubmission:
    """A submission at the end of a run, with the topic stored for its author."""

    id: int
    person: str
    ask: int
    key: str
    topic: str | None


@dataclass(frozen=True)
class Stored:
    """What the database holds at the end of a run."""

    asks: Sequence[StoredAsk]
    submissions: Sequence[StoredSubmission]

    @staticmethod
    def from_rows(rows: dict[str, list[dict[str, Any]]]) -> "Stored":
        """Return what another process read from the database."""
        return Stored(
            asks=[StoredAsk(**row) for row in rows["asks"]],
            submissions=[StoredSubmission(**row) for row in rows["submissions"]],
        )


def violations(history: History, stored: Stored, *, is_drained: bool) -> list[str]:
    """Return every promise that was broken; an empty list means that the queue kept them all."""
    return [
        *history.errors,
        *_lost_or_doubled(history, stored),
        *_beyond_overlap(history, stored),
        *_out_of_rank(history, stored),
        *(_not_drained(stored) if is_drained else ()),
    ]


def _lost_or_doubled(history: History, stored: Stored) -> Iterable[str]:
    by_key = defaultdict(list)
    for submission in stored.submissions:
        by_key[submission.person, submission.key].append(submission)
    sent = {(request.person, request.key) for request in history.sent}
    for key in by_key.keys() - sent:
        yield f"{key} is stored, but nobody sent it"
    for request in history.sent:
        found = by_key[request.person, request.key]
        if not request.receipts and len(found) <= 1:
            continue  # never acknowledged: it may or may not be there
        if len(found) != 1:
            yield f"{request.key} was acknowledged and is stored {len(found)} times"
        elif set(request.receipts) != {found[0].id}:
            yield f"{request.key} is submission {found[0].id}, but was told {request.receipts}"
        elif found[0].ask != request.ask or found[0].topic != request.topic:
            yield f"{request.key} said {request.topic}, stored is {found[0].topic}"


def _beyond_overlap(history: History, stored: Stored) -> Iterable[str]:
    answered = Counter((s.person, s.ask) for s in stored.submissions)
    yield from (
        f"{who} answered ask {ask} {n} times" for (who, ask), n in answered.items() if n > 1
    )
    answers = Counter(ask for _, ask in answered)
    people = defaultdict(set)
    for lease in history.served:
        people[lease.ask].add(lease.person)
    for ask in stored.asks:
        if answers[ask.id] != ask.n_answers:
            yield f"ask {ask.id} counts {ask.n_answers} answers and has {answers[ask.id]}"
        if answers[ask.id] > ask.overlap:
            yield f"ask {ask.id} has {answers[ask.id]} answers, {ask.overlap} were wanted"
        if len(people[ask.id]) > ask.overlap:
            yield f"ask {ask.id} was in the hands of {len(people[ask.id])} people"


def _out_of_rank(history: History, stored: Stored) -> Iterable[str]:
    served = {lease.rank for lease in history.served}
    top = {ask.rank for ask in sorted(stored.asks, key=lambda ask: ask.rank)[: len(served)]}
    if served != top:
        yield f"ranks {sorted(served - top)} were served before {sorted(top - served)}"


def _not_drained(stored: Stored) -> Iterable[str]:
    for ask in stored.asks:
        if ask.n_answers != ask.overlap or ask.n_leases or ask.is_open:
            yield f"ask {ask.id} is not drained: {ask}"
