"""What runs of benchmarks/chaos.py came to, as the table in benchmarks/results/chaos.md."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.history import History, Stored

HEAD = """# The queue under fire

`python -m benchmarks.chaos`: {clients} clients drain a queue that wants {overlap} answers per sentence
while web processes (and now and then the master with all of them) are killed with SIGKILL and
started again. Clients repeat what was not answered, and one in ten submits that was. Lost: an
acknowledged answer that is not stored. Doubled: a key or a person's answer to a sentence that is
stored more than once. Drained: asks that hold exactly the answers wanted, and no lease.

| database | kills | of master and workers | acknowledged | stored | lost | doubled | drained | broken promises | seconds |
|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501


@dataclass(frozen=True)
class Outcome:
    """One run: what the clients saw, what is stored, and which promises were broken."""

    database: str
    kills: Sequence[str]
    history: History
    stored: Stored
    broken: Sequence[str]
    seconds: float

    @property
    def row(self) -> str:
        """Return the run as a line of the table."""
        cells = (
            self.database,
            len(self.kills),
            self.kills.count("all"),
            len(self.history.sent),
            len(self.stored.submissions),
            self.n_lost,
            self.n_doubled,
            f"{self.n_drained} of {len(self.stored.asks)}",
            len(self.broken),
            f"{self.seconds:.0f}",
        )
        return f"| {' | '.join(map(str, cells))} |"

    @property
    def n_lost(self) -> int:
        """Return how many acknowledged answers are not stored."""
        kept = {(s.person, s.key) for s in self.stored.submissions}
        return sum((sent.person, sent.key) not in kept for sent in self.history.sent)

    @property
    def n_doubled(self) -> int:
        """Return how many answers are stored beyond the first of their key or of their person."""
        keys = Counter((s.person, s.key) for s in self.stored.submissions)
        answers = Counter((s.person, s.ask) for s in self.stored.submissions)
        return max(sum(n - 1 for n in counts.values()) for counts in (keys, answers))

    @property
    def n_drained(self) -> int:
        """Return how many asks hold exactly the answers they want."""
        return sum(
            ask.n_answers == ask.overlap and not ask.n_leases and not ask.is_open
            for ask in self.stored.asks
        )


def table(outcomes: Sequence[Outcome], *, clients: int, overlap: int) -> str:
    """Return the page with one line per run."""
    head = HEAD.format(clients=clients, overlap=overlap)
    return head + "".join(f"{outcome.row}\n" for outcome in outcomes)
