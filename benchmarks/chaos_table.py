"""What runs of benchmarks/chaos.py came to, as the table in benchmarks/results/chaos.md."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.history import History, Stored

HEAD = """# The queue under fire

`{command}`: {clients} clients drain a queue that wants {overlap} answers per sentence while web processes, now and
then the master with all of them, and the workers that import, back up and train are killed with SIGKILL and started
again. Clients repeat what was not answered, and one in ten submits that was. Lost: an acknowledged answer that is not
stored. Doubled: a key or a person's answer to a sentence that is stored more than once. Drained: asks that hold exactly
the answers wanted, and no lease. Stuck: jobs that never ended, rounds that never ended or ended as nobody wanted,
corpora that are half there. Broken: all of these, failed backups, and rounds that were resumed and choose otherwise.

| database | kills | of web processes | of master and all | of workers for files | of workers in rounds | acknowledged | stored | lost | doubled | drained | stuck | broken promises | seconds |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501
ROUNDS = """
What rounds were doing when their worker was killed, and how they ended; a round fails when its
fifth worker has died of it, and is then tried again.

| database | training | scoring | selecting | queued | starting, or done | rounds that ended |
|---|---|---|---|---|---|---|
"""
STAGES = ("training", "scoring", "selecting", "queued")
STUCK = ("job ", "round ", "corpus ", "folder ", "ask ")  # how such promises begin


@dataclass(frozen=True)
class Outcome:
    """One run: what the clients saw, what is stored, and which promises were broken."""

    database: str
    kills: Sequence[str]
    history: History
    stored: Stored
    broken: Sequence[str]
    seconds: float
    deaths: Mapping[str, int] = field(default_factory=dict)  # of workers, by the round's stage
    ended: Mapping[str, int] = field(default_factory=dict)  # rounds, by how
    done: Mapping[str, int] = field(default_factory=dict)  # beside the queue
    refused: Mapping[str, int] = field(default_factory=dict)

    @property
    def row(self) -> str:
        """Return the run as a line of the table."""
        counts = Counter(self.kills)
        return _line(
            self.database,
            len(self.kills),
            *(counts[what] for what in ("worker", "all", "jobs", "rounds")),
            len(self.history.sent),
            len(self.stored.submissions),
            self.n_lost,
            self.n_doubled,
            f"{self.n_drained} of {len(self.stored.asks)}",
            sum(words.startswith(STUCK) for words in self.broken),
            len(self.broken),
            f"{self.seconds:.0f}",
        )

    @property
    def rounds_row(self) -> str:
        """Return what the rounds went through as a line of the second table."""
        others = sum(n for stage, n in self.deaths.items() if stage not in STAGES)
        ended = ", ".join(f"{n} {how}" for how, n in sorted(self.ended.items()))
        return _line(self.database, *(self.deaths.get(s, 0) for s in STAGES), others, ended)

    @property
    def words(self) -> str:
        """Return what was done beside the queue, and what was refused there."""
        done = ", ".join(f"{n} {what.replace('_', ' ')}" for what, n in sorted(self.done.items()))
        refused = "; ".join(f"{n} times {why}" for why, n in sorted(self.refused.items()))
        return f"Beside it on {self.database}: {done}. Refused: {refused or 'nothing'}."

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


def table(outcomes: Sequence[Outcome], *, command: str, clients: int, overlap: int) -> str:
    """Return the page: a line per run, and per run what its rounds went through."""
    parts = [HEAD.format(command=command, clients=clients, overlap=overlap)]
    parts += [f"{outcome.row}\n" for outcome in outcomes]
    beside = [outcome for outcome in outcomes if outcome.done]
    if beside:
        parts += [ROUNDS, *(f"{outcome.rounds_row}\n" for outcome in beside)]
        parts += [f"\n{outcome.words}\n" for outcome in beside]
    return "".join(parts)


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
