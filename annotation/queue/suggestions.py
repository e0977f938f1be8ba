"""Suggestions and their sources: our own model, imports, and anything outside.

A sentence may have one suggestion per task and source. Where several sources have one, chance
decides which is shown, so that each is measured also by people who have not seen it.

Hints are what earlier answers say about the words of a sentence: labels and heads, without a model.
Counts over the latest answers of a project, kept by each process and topped up with what is new. An
ask that is blind, or a project that shows no suggestions, gets none: hints lead as suggestions do.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from math import prod
from threading import Lock
from typing import Any

from annotation.errors import NotFound
from annotation.models import Annotation, Ask, Gold, Project, Round, Sentence, Suggestion, Task
from annotation.models.prepared import Parameter, Prepared
from mtl_engine.kinds import KINDS

MODEL, IMPORT = "model", "import"  # sources that are ours
BATCH = 500
BLIND_ONE_IN = 8  # asks before the first round; rounds draw their own blind share

_suggested = Prepared(
    lambda: (
        Suggestion.objects.filter(sentence=Parameter("sentence"))
        .order_by("source")
        .values_list("task__name", "value", "confidence", "details", "source", "round__number")
    )
)


@dataclass(frozen=True)
class Suggested:
    """An answer that a source suggests for one task on one sentence."""

    sentence: int
    task: str
    value: Any
    confidence: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def offer_suggestions(
    *,
    project_id: int,
    source: str,
    suggested: Iterable[Suggested],
    round: Round | None = None,
    now: datetime,
) -> int:
    """Store what a source suggests, in place of what it suggested there before; return how many.

    Of two suggestions for the same place the later one counts: one statement of PostgreSQL changes
    no row twice.
    """
    task_ids = dict(Task.objects.filter(project=project_id).values_list("name", "id"))
    last = {(one.sentence, one.task): one for one in suggested}
    rows = [
        Suggestion(
            sentence_id=one.sentence,
            task_id=task_ids[one.task],
            value=one.value,
            confidence=one.confidence,
            details=dict(one.details),
            source=source,
            round=round,
            created_at=now,
        )
        for one in last.values()
    ]
    if source not in (MODEL, IMPORT):
        _draw_blind(project_id, {one.sentence_id for one in rows})
    Suggestion.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["sentence", "task", "source"],
        update_fields=["value", "confidence", "details", "round", "created_at"],
        batch_size=BATCH,
    )
    return len(rows)


def _draw_blind(project_id: int, sentences: Collection[int]) -> None:
    """Let chance withhold suggestions from asks of no round that nobody has seen yet.

    Without blind asks a source could be measured only by people whom it may have led.
    """
    drawn = [i for i in sentences if zlib.crc32(f"blind {i}".encode()) % BLIND_ONE_IN == 0]
    for first in range(0, len(drawn), BATCH):
        Ask.objects.filter(
            queue__project=project_id,
            queue__round=None,
            sentence__in=drawn[first : first + BATCH],
            is_blind=False,
            n_answers=0,
            n_leases=0,
        ).update(is_blind=True)


def shown_suggestions(sentence_id: int, tasks: Sequence[str], draw: int) -> dict[str, Any]:
    """Return the one suggestion of each task that is shown; ``draw`` is the number of the ask."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for task, value, confidence, details, source, number in _suggested(sentence=sentence_id):
        if task in tasks:
            words = source_words(source, number)
            found[task].append(
                {"value": value, "confidence": confidence, "details": details, "source": words}
            )
    return {task: rows[drawn_row(draw, task, len(rows))] for task, rows in found.items()}


def source_words(source: str, round_number: int | None) -> str:
    """Return what people call a source."""
    return f"round {round_number}" if source == MODEL and round_number else source


def drawn_row(draw: int, task: str, n: int) -> int:
    """Return which of n suggestions, in the order of their sources, an ask shows for a task."""
    return zlib.crc32(f"{draw} {task}".encode()) % n


N_LATEST = 3_000  # answers of a task that are remembered at first
MOST_REMEMBERED = 300_000  # words that those have together
N_TASKS = 64  # whose answers a process remembers
N_HEADS = 4  # offered per word
FARTHEST = 6  # words to a head that are told apart
REACH = 60  # words to a head that is offered
MOST_HINTED = 500  # words of a sentence that gets heads: each looks at all in its reach
TRUST = 2.0  # a cue that was seen n times counts for n / (n + TRUST)
MOST_WORDS = 8  # of a span that is looked up
LEAST_LABELLED = 0.2  # share of a word's places; one that is mostly left alone is no hint


def get_ask(project: Project, ask_id: int) -> Ask:
    """Return an ask of a project with its sentence."""
    asks = Ask.objects.select_related("sentence", "queue__project")
    ask = asks.filter(queue__project=project, pk=ask_id).first()
    if ask is None:
        raise NotFound("This ask does not exist any more.")
    return ask


def hints_for(ask: Ask) -> dict[str, Any]:
    """Return hints for each task of an ask: words, the sentence's labels, or heads.

    {"words": [[start, end, [[label, n]]]]}, the likeliest label first, {"sentence": {label: n}}
    or {"heads": one list of [head, label] per word}, the likeliest first.
    """
    project = ask.queue.project
    if ask.is_blind or not project.shows_suggestions:
        return {}
    tasks = Task.objects.filter(project=project, name__in=ask.tasks)
    made = project.created_at
    found = {task.name: _memory(task.pk, task.kind, made).recall(ask.sentence) for task in tasks}
    return {name: hints for name, hints in found.items() if hints}


class Memory:
    """Answers to one task as counts; each kind of counts learns and recalls in its own way."""

    def __init__(self, task_id: int, kind: str) -> None:
        self.task_id = task_id
        self.kind = KINDS[kind]
        self.lock = Lock()
        self.read_up_to: dict[Any, int] = {Annotation: 0, Gold: 0}

    def recall(self, sentence: Sentence) -> dict[str, Any]:
        """Return what answers to other sentences say; those to this one stay hidden."""
        tokens = sentence.tokens
        with self.lock:
            for table in self.read_up_to:
                self._catch_up(table)
            own = self._answers_to(sentence)
            for answer in own:
                self.learn(tokens, answer, -1)
            found = self.hints(tokens)
            for answer in own:
                self.learn(tokens, answer, 1)
        return found

    def learn(self, tokens: Sequence[str], answer: Any, by: int) -> None:
        """Count one answer, or take it back with -1."""
        raise NotImplementedError

    def hints(self, tokens: Sequence[str]) -> dict[str, Any]:
        """Return the hints for a sentence."""
        raise NotImplementedError

    def _catch_up(self, table: Any) -> None:
        rows = table.objects.filter(task=self.task_id, id__gt=self.read_up_to[table])
        rows, n = rows.order_by("-id"), N_LATEST
        if not self.read_up_to[table]:
            sizes = accumulate(rows.values_list("sentence__n_tokens", flat=True)[:N_LATEST])
            n = max(1, sum(size <= MOST_REMEMBERED for size in sizes))
        latest = rows.values_list("id", "sentence__tokens", "value")[:n]
        for number, tokens, answer in reversed(latest):
            self.learn(tokens, answer, 1)
            self.read_up_to[table] = number

    def _answers_to(self, sentence: Sentence) -> list[Any]:
        return [
            answer
            for table, last in self.read_up_to.items()
            for answer in table.objects.filter(
                task=self.task_id, sentence=sentence, id__lte=last
            ).values_list("value", flat=True)
        ]


class WordMemory(Memory):
    """Labels of words and stretches of words, by their text and by the words on both sides."""

    def __init__(self, task_id: int, kind: str) -> None:
        super().__init__(task_id, kind)
        self.labels: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        self.there: Counter[str] = Counter()  # word -> how often it was there, labelled or not
        self.given: Counter[str] = Counter()  # label -> how often it was given
        self.beside: defaultdict[Any, Counter[str]] = defaultdict(Counter)  # neighbour -> labels
        self.n_beside: Counter[Any] = Counter()  # neighbour -> labels beside it

    def learn(self, tokens: Sequence[str], answer: Any, by: int) -> None:
        """Count the label of every item under its text."""
        folded = _folded(tokens)
        for word in folded:
            self.there[word] += by
        for *place, label in self.kind.items(self.kind.learnable(answer)):
            start, end = place if len(place) == 2 else (place[0], place[0] + 1)
            if end - start <= MOST_WORDS:  # others are never looked up
                self.labels[folded[start:end]][label] += by
                self.given[label] += by
                for neighbour in _neighbours(folded, start, end):
                    self.beside[neighbour][label] += by
                    self.n_beside[neighbour] += by

    def hints(self, tokens: Sequence[str]) -> dict[str, Any]:
        """Return the labels of every stretch of words that had some, and not just by the way."""
        folded = _folded(tokens)
        m = len(folded)
        found = [
            [start, end, self._ranked(labels, _neighbours(folded, start, end))]
            for start in range(m)
            for end in range(start + 1, min(m, start + MOST_WORDS) + 1)
            if (labels := _seen(self.labels.get(folded[start:end])))
            and (end - start > 1 or self._is_usual(folded[start], labels))
        ]
        return {"words": found} if found else {}

    def _ranked(self, labels: Mapping[str, int], neighbours: Sequence[Any]) -> list[Any]:
        """Return labels with how often these words had them, the likeliest beside these first.

        "boston" may be where one leaves from or goes to: the word before it says which.
        """
        total = sum(self.given.values())

        def likelihood(label: str) -> float:
            expected = self.given[label] / total
            shares = (
                (self.beside[n][label] + TRUST * expected) / (self.n_beside[n] + TRUST)
                for n in neighbours
            )
            return labels[label] * prod(share / expected for share in shares)

        return [[label, labels[label]] for label in sorted(labels, key=likelihood, reverse=True)]

    def _is_usual(self, word: str, labels: Mapping[str, int]) -> bool:
        return sum(labels.values()) >= LEAST_LABELLED * self.there[word]


class SentenceMemory(Memory):
    """Labels of whole sentences, by their text."""

    def __init__(self, task_id: int, kind: str) -> None:
        super().__init__(task_id, kind)
        self.labels: defaultdict[bytes, Counter[str]] = defaultdict(Counter)

    def learn(self, tokens: Sequence[str], answer: Any, by: int) -> None:
        """Count the labels under the whole text."""
        text = _digest(tokens)
        for label in self.kind.labels_of(answer):
            self.labels[text][label] += by

    def hints(self, tokens: Sequence[str]) -> dict[str, Any]:
        """Return the labels that the same text had."""
        labels = _seen(self.labels.get(_digest(tokens)))
        return {"sentence": labels} if labels else {}


class ArcMemory(Memory):
    """Heads and labels of words, by the words on both ends, their endings and their distance."""

    def __init__(self, task_id: int, kind: str) -> None:
        super().__init__(task_id, kind)
        self.labels: defaultdict[Any, Counter[str]] = defaultdict(Counter)  # (cue, end) -> labels
        self.totals: Counter[Any] = Counter()  # cue -> answers with it
        self.seen: Counter[str] = Counter()  # word, or ending after "~" -> how often it was there
        self.led: Counter[str] = Counter()  # the same -> how often something hung on it

    def learn(self, tokens: Sequence[str], answer: Any, by: int) -> None:
        """Count every arc under its cues."""
        words = _folded(tokens)
        arcs = list(self.kind.items(self.kind.learnable(answer)))
        leaders = {head - 1 for _, head, _ in arcs if head}
        for i, word in enumerate(words):
            for name in (word, f"~{_ending(word)}"):
                self.seen[name] += by
                self.led[name] += by * (i in leaders)
        for dependent, head, label in arcs:
            for cue, end in _arc_cues(words, dependent, head):
                self.labels[cue, end][label] += by
                self.totals[cue] += by

    def hints(self, tokens: Sequence[str]) -> dict[str, Any]:
        """Return the likeliest heads of every word; none in a very long sentence."""
        if len(tokens) > MOST_HINTED:
            return {}
        words = _folded(tokens)
        heads = [self._heads(words, i) for i in range(len(words))]
        return {"heads": heads} if any(heads) else {}

    def _heads(self, words: Sequence[str], dependent: int) -> list[list[Any]]:
        offers = []
        near = range(max(1, dependent + 1 - REACH), min(len(words), dependent + 1 + REACH) + 1)
        for head in (0, *near):
            scores = self._scores(words, dependent, head) if head != dependent + 1 else {}
            if scores:
                label = max(scores, key=scores.__getitem__)
                offers.append((-scores[label], abs(head - 1 - dependent), head, label))
        return [[head, label] for _, _, head, label in sorted(offers)[:N_HEADS]]

    def _scores(self, words: Sequence[str], dependent: int, head: int) -> dict[str, float]:
        """Return how much speaks for each label of an arc: the sum of its shares under all cues.

        Words on which little ever hung, as articles and full stops, count for little as heads.
        """
        scores: defaultdict[str, float] = defaultdict(float)
        for cue, end in _arc_cues(words, dependent, head):
            for label, n in self.labels.get((cue, end), {}).items():
                if n > 0:
                    scores[label] += n / (self.totals[cue] + TRUST)
        share = self._share_led(words[head - 1]) if head else 1.0
        return {label: score * share for label, score in scores.items()}

    def _share_led(self, word: str) -> float:
        """Return how often something hangs on a word; on those like it while it is rare."""
        alike = f"~{_ending(word)}"
        expected = (self.led[alike] + 1) / (self.seen[alike] + 2)
        return (self.led[word] + TRUST * expected) / (self.seen[word] + TRUST)


def _neighbours(words: Sequence[str], start: int, end: int) -> list[tuple[str, str]]:
    """Return what stands before and behind a stretch of words."""
    before = words[start - 1] if start else "^"
    return [("before", before), ("after", words[end] if end < len(words) else "$")]


def _seen(labels: Counter[str] | None) -> dict[str, int]:
    return {label: n for label, n in (labels or {}).items() if n > 0}


def _arc_cues(words: Sequence[str], dependent: int, head: int) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of a cue, which only the dependent decides, and what it says about the head."""
    word, ending = words[dependent], _ending(words[dependent])
    before = _ending(words[dependent - 1]) if dependent else "^"
    after = _ending(words[dependent + 1]) if dependent + 1 < len(words) else "$"
    by = head - 1 - dependent
    is_root = head == 0
    side = "root" if is_root else "right" if by > 0 else "left"
    distance = None if is_root else max(-FARTHEST, min(FARTHEST, by))
    other = "^" if is_root else words[head - 1]
    yield ("word", word), (other, side)
    yield ("distance", word), distance
    yield ("after", ending, after), distance
    yield ("before", ending, before), distance
    yield ("ending", ending), (_ending(other), side)


def _ending(word: str) -> str:
    """Return what groups words that behave alike: the last two letters, or the sign itself."""
    if not word.isalnum():
        return word
    return "0" if word[0].isdigit() else word[-2:]


def _folded(tokens: Iterable[str]) -> tuple[str, ...]:
    return tuple(token.casefold() for token in tokens)


def _digest(tokens: Iterable[str]) -> bytes:
    """Return what stands for a whole text, however long it is."""
    return blake2b("\0".join(_folded(tokens)).encode(), digest_size=16).digest()


MEMORIES: Mapping[str, type[Memory]] = {
    "words": WordMemory,
    "sentence": SentenceMemory,
    "arcs": ArcMemory,
}


class NoMemory(Memory):
    """Kinds whose labels depend on other answers, as links do, have no hints."""

    def recall(self, sentence: Sentence) -> dict[str, Any]:
        """Return nothing."""
        return {}


@lru_cache(maxsize=N_TASKS)
def _memory(task_id: int, kind: str, _made: datetime) -> Memory:
    """Return what this process knows of a task; its project's age tells a restored one apart."""
    return MEMORIES.get(KINDS[kind].labels_on, NoMemory)(task_id, kind)
