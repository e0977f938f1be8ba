"""What a task is, and what the kind of a task must know.

A kind is one object in one file. Everything that differs between kinds is asked of it, so that a
new kind is a new file beside this one: it is found by itself. Nothing here loads torch.

Answers have one shape everywhere, stated by the kind; a missing answer is absent, an empty one
means "nothing here". An answer comes apart into *items*, tuples that end with their label: a span,
a word's tag, an arc, the class. Items are what people agree on, what is counted and voted on.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mtl_engine.errors import EngineError, Problem, UnknownName
from mtl_engine.kinds.votes import checked_weights
from mtl_engine.metrics.counts import Counts
from mtl_engine.metrics.tables import METRIC_TITLES, counts_by_label

if TYPE_CHECKING:
    from mtl_engine.config import ModelConfig
    from mtl_engine.heads import Head

DEFAULT_WINDOW = 3
LEVELS = re.compile(r"(?<=.)[.:](?=.)")  # between the parts of a label: loc.city, nmod:poss
Answer: TypeAlias = Any  # the shape is the kind's
Item: TypeAlias = tuple[Any, ...]  # where, ..., label
Floats: TypeAlias = NDArray[np.float64]
Spans: TypeAlias = Sequence[Sequence[Any]]  # [start, end, label] of a parent's answer


class Ends(NamedTuple):
    """The spans of two parents: where links begin, and where they end."""

    first: Spans
    second: Spans


ParentSpans: TypeAlias = Spans | Ends  # of one parent, or of two


@dataclass(frozen=True)
class TaskSpec:
    """A task: its kind, its labels in a fixed order, and what its answers may look like."""

    name: str
    kind: str
    labels: tuple[str, ...] = ()
    parent: str | None = None  # the task whose items this one links
    second_parent: str | None = None  # the task in whose items links end; None = the parent
    is_document: bool = False  # answered once per document, with all of its words
    window: int = DEFAULT_WINDOW  # sentences of a document that one of its links may span
    is_nested: bool = False  # spans may overlap
    is_open: bool = False  # labels that are not listed are welcome
    pairs: Mapping[str, Collection[Sequence[str]]] = field(default_factory=dict, hash=False)
    """Label -> the (from, to) labels of the parents that it may link; absent = any."""
    id: int = 0  # of the row that the task came from, 0 = none
    title: str = ""  # what people read instead of the name
    is_hidden: bool = False  # no longer asked, trained or exported; its answers are kept
    low: float = 0.0  # bounds of a number
    high: float = 1.0
    classes: tuple[str, ...] = ()
    """What a head tells apart where answers bring it, see `Kind.taught`; else the labels."""

    def __post_init__(self) -> None:
        KINDS[self.kind].require_task(self)

    @cached_property
    def label_set(self) -> frozenset[str]:
        """The labels, to look one up."""
        return frozenset(self.labels)

    @property
    def layer(self) -> str:
        """The layer of a file that carries the task's answers."""
        return KINDS[self.kind].layer

    @property
    def parents(self) -> tuple[str, ...]:
        """The tasks whose items this one links, first that in which links begin; each once."""
        return tuple(name for name in (self.parent, self.second_parent) if name is not None)

    def spans_among(self, answers: Mapping[str, Any]) -> "ParentSpans | None":
        """Return the spans that an answer may link, given those to other tasks; None = missing."""
        found: list[Any] = [answers.get(name) for name in self.parents]
        if not found or any(spans is None for spans in found):
            return None
        return Ends(*found) if len(found) > 1 else found[0]

    def check(
        self, answer: Any, tokens: Sequence[str], parent_spans: "ParentSpans | None" = None
    ) -> list[Problem]:
        """Return what is wrong with an answer to this task; an empty list means that it fits."""
        return KINDS[self.kind].problems(self, answer, tokens, parent_spans)

    def to_dict(self) -> dict[str, Any]:
        """Return the task as plain JSON values, without those that are as by default."""
        changed = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name in ("name", "kind") or getattr(self, f.name) != _default(f)
        }
        changed["labels"] = list(self.labels)
        if self.classes:
            changed["classes"] = list(self.classes)
        if self.pairs:
            changed["pairs"] = {k: [list(pair) for pair in v] for k, v in self.pairs.items()}
        return changed

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "TaskSpec":
        """Return the task that `to_dict` wrote."""
        lists = {name: tuple(values[name]) for name in ("labels", "classes") if name in values}
        return cls(**{**values, **lists})


def _default(of: Any) -> Any:
    return of.default_factory() if callable(of.default_factory) else of.default


def is_partial(answer: Answer) -> bool:
    """Return whether an answer is one to single words: it says None of the others."""
    return isinstance(answer, list) and None in answer


@dataclass(frozen=True)
class Clustering:
    """How the units of a kind are counted when selection asks what is covered already."""

    level: Literal["words", "coarse_words", "sentences"]  # of clusters, see mtl_engine.clusters
    kappa: float  # labelled units that halve a cluster's errors
    by_length: bool = False  # long sentences teach short ones, not the other way round
    mode: Literal["doubt", "coverage", "chance"] = "doubt"  # unless settings say otherwise


@dataclass(frozen=True)
class Judgement:
    """How good a task's answers are."""

    metrics: Mapping[str, float]
    main: float  # the metric that early stopping and curves use
    accuracy: np.ndarray  # (n,) of each sentence, in [0, 1]


@dataclass(frozen=True)
class Recut:
    """Words of a sentence that were cut anew: ``old[start:end]`` became ``n_new`` other words."""

    start: int
    end: int
    n_new: int
    old: Sequence[str]
    new: Sequence[str]

    @property
    def shift(self) -> int:
        """How far the words behind have moved."""
        return self.n_new - (self.end - self.start)

    def place(self, word: int) -> int | None:
        """Return where a word is now, None where it was cut anew."""
        if word < self.start:
            return word
        return word + self.shift if word >= self.end else None

    def entries(self, values: Sequence[Any], filling: Sequence[Any]) -> list[Any]:
        """Return one value per word, with others for the words that are new."""
        return [*values[: self.start], *filling, *values[self.end :]]

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the span of the same words; one that had a part of them has all; None = gone."""
        if end <= self.start:
            return start, end
        if start >= self.end:
            return start + self.shift, end + self.shift
        first = min(start, self.start)
        last = end + self.shift if end >= self.end else self.start + self.n_new
        return (first, last) if first < last else None


class Kind(ABC):
    """All that is particular to one kind of task."""

    name: ClassVar[str]
    title: ClassVar[str]  # in a list of choices
    summary: ClassVar[str]  # what people do, in a sentence
    shape: ClassVar[str]  # of an answer; m = number of tokens
    position: ClassVar[int] = 100  # in lists of kinds, lowest first

    unit: ClassVar[Literal["sentence", "token", "item"]]
    """What gets a label: the sentence, every token, or any number of items in the sentence."""
    labels_on: ClassVar[Literal["sentence", "words", "arcs", "links", "marks"]]  # where they stand
    has_rows: ClassVar[bool] = True  # entries are lists that end with the label, else labels
    marks_spans: ClassVar[bool] = False  # answers are [start, end, label] rows
    token_attribute: ClassVar[str] = ""  # of spaCy's tokens that holds a word's entry
    layer: ClassVar[str]  # which layer of a file carries the answers, see annotation.formats
    is_annotated: ClassVar[bool] = True  # people answer it; else it is for studies only
    may_nest: ClassVar[bool] = False
    may_be_of_document: ClassVar[bool] = False  # can be asked of a whole document
    parent_kind: ClassVar[str | None] = None  # of the task whose items are linked
    may_have_two_parents: ClassVar[bool] = False  # links may end in the items of another task
    needs_all_layers: ClassVar[bool] = False  # whether freezing an encoder's lower layers costs
    is_ordinal: ClassVar[bool] = False  # the labels have an order that means something
    is_open_when_empty: ClassVar[bool] = False  # without labels, the data brings them
    brings_classes: ClassVar[bool] = False  # what is learned comes from answers, see `taught`
    may_ask_words: ClassVar[bool] = False  # single words of a sentence can be asked
    key_alphabet: ClassVar[str] = ""  # keys that labels may have, the best first
    reserved_keys: ClassVar[frozenset[str]] = frozenset()  # that the page needs for other things

    main_metric: ClassVar[str]  # also of agreement
    agreement_measures: ClassVar[tuple[str, ...]] = ()
    has_distance: ClassVar[bool] = False  # categories are more or less different, see `distance`
    prior_seconds: ClassVar[tuple[float, float]]  # to begin the task on a sentence, and per item

    # the answer

    def check(
        self,
        answer: Any,
        tokens: Sequence[str],
        labels: Iterable[str] = (),
        *,
        parent_spans: ParentSpans | None = None,
        **options: Any,
    ) -> list[Problem]:
        """Return everything that is wrong with an answer, each with the path of its place.

        ``options`` are fields of `TaskSpec`, as ``is_open`` and ``is_nested``; ``parent_spans`` are
        the spans that an answer may link.
        """
        parent = "" if self.parent_kind else None
        task = TaskSpec("", self.name, tuple(labels), parent=parent, **options)
        return self.problems(task, answer, tokens, parent_spans)

    @abstractmethod
    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: ParentSpans | None
    ) -> list[Problem]:
        """Return everything that is wrong with an answer to a task; cheap if that is nothing."""

    def word_problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], words: Sequence[int]
    ) -> list[Problem]:
        """Return everything that is wrong with an answer to single words, None for the others.

        What would make the whole sentence wrong and rests on words that were not asked is let pass.
        """
        name = self.name if self.may_ask_words else f"{self.name} (which has no words to ask)"
        if not self.may_ask_words or not isinstance(answer, list) or len(answer) != len(tokens):
            return [Problem("", f"An answer of kind {name} has an entry per token: {len(tokens)}.")]
        asked = set(words)
        found = [
            Problem(f"{place}", f"An answer to '{tokens[place]}' is missing.")
            if place in asked
            else Problem(f"{place}", f"'{tokens[place]}' is not asked: its entry must be null.")
            for place, entry in enumerate(answer)
            if (entry is None) == (place in asked)
        ]
        return found or self._entry_problems(task, answer, tokens)

    def _entry_problems(
        self, task: TaskSpec, answer: Sequence[Any], tokens: Sequence[str]
    ) -> list[Problem]:
        """Return what is wrong with single entries; None says nothing and is right."""
        raise NotImplementedError

    def moved_words(self, answer: Answer, places: Mapping[int, int], n_words: int) -> Answer:
        """Return an answer to single words where these are now; those without a place go.

        ``places`` are the new places by the old ones.
        """
        moved: list[Any] = [None] * n_words
        for place, entry in enumerate(answer):
            if entry is not None and place in places:
                moved[places[place]] = self._moved_entry(entry, places)
        return moved

    def _moved_entry(self, entry: Any, places: Mapping[int, int]) -> Any:
        """Return what is said of a word, None where it rests on a word that went."""
        return entry

    @abstractmethod
    def blank(self, n_tokens: int) -> Answer:
        """Return what a person begins with: nothing is marked; None where a label must come."""

    @abstractmethod
    def canonical(self, answer: Answer) -> Answer:
        """Return a checked answer in the one order in which equal answers are equal."""

    @abstractmethod
    def entries(self, answer: Answer) -> list[Any]:
        """Return the parts of an answer as they stand in it, in its order."""

    @abstractmethod
    def items(self, answer: Answer) -> list[Item]:
        """Return the items of an answer, in its order."""

    @abstractmethod
    def answer_of(self, items: Iterable[Item], n_tokens: int) -> Answer:
        """Return the canonical answer that has these items."""

    def to_layer(self, answer: Answer) -> Any:
        """Return an answer as files write it in the kind's layer."""
        return answer

    def from_layer(self, value: Any, labels: Collection[str] = ()) -> Answer:
        """Return the answer that a file's layer means, the inverse of `to_layer`.

        ``labels`` are the task's: they tell what stands between several of them.
        """
        return value

    def parts(self, label: str) -> list[str]:
        """Return the task's labels that the label of an item is made of, as a rule itself."""
        return [label]

    def labels_of(self, answer: Answer) -> list[str]:
        """Return every label in an answer, as often as it is there."""
        return [part for item in self.items(answer) for part in self.parts(item[-1])]

    def learnable(self, answer: Answer) -> Answer:
        """Return the part of an answer that a head can learn."""
        return answer

    @abstractmethod
    def replace_labels(self, answer: Answer, mapping: Mapping[str, str]) -> Answer:
        """Return the answer with labels renamed, all at once; items that become equal are one."""

    def rename_entry(self, entry: Any, mapping: Mapping[str, str]) -> Any:
        """Return one entry of an answer with its label renamed; None stays None: nothing here."""
        if entry is None or not self.has_rows:
            return mapping.get(entry, entry)
        return [*entry[:-1], mapping.get(entry[-1], entry[-1])]

    def rename_suggestion(
        self, answer: Answer, items: Sequence[Mapping[str, Any]], mapping: Mapping[str, str]
    ) -> tuple[Answer, list[dict[str, Any]]]:
        """Return a suggested answer and what is known of its entries, with labels renamed.

        Each item has the entry as ``value``, its confidence and perhaps ``others``; of those that
        become equal the surest is left.
        """
        renamed = []
        for item in items:
            value = self.rename_entry(item["value"], mapping)
            new = {**item, "value": value}
            if "others" in item:
                others = ((self.rename_entry(o["value"], mapping), o) for o in item["others"])
                new["others"] = [{**o, "value": other} for other, o in others if other != value]
            renamed.append(new)
        after = self.replace_labels(answer, mapping)
        if self.unit != "item":
            return after, renamed
        renamed.sort(key=lambda item: -(item.get("confidence") or 0.0))
        found = (next((i for i in renamed if i["value"] == e), None) for e in self.entries(after))
        return after, [item for item in found if item is not None]

    def without_labels(self, answer: Answer, labels: Collection[str]) -> Answer | None:
        """Return the answer without the items of some labels, None where it needs all of them."""
        items = self.items(answer)
        kept = [item for item in items if item[-1] not in labels]
        if len(kept) == len(items):
            return answer
        return self.answer_of(kept, 0) if self.unit == "item" else None

    def merge(
        self,
        answers: Sequence[Answer],
        weights: Sequence[float] | None = None,
        *,
        parent_spans: ParentSpans | None = None,
    ) -> Answer:
        """Return what weighted people say together: a vote on every item, none is invented.

        Answers come oldest first: where a vote must be decided and is tied, the older answer wins.
        ``parent_spans`` are the spans that the merged answer may link.
        """
        votes = checked_weights(answers, weights)
        first = self.canonical(answers[0])
        if all(self.canonical(answer) == first for answer in answers[1:]):
            merged = first
        else:
            merged = self._merge_unequal(answers, votes)
        return merged if parent_spans is None else self._only_linking(merged, parent_spans)

    @abstractmethod
    def _merge_unequal(self, answers: Sequence[Answer], weights: Sequence[float]) -> Answer:
        """Return the weighted vote of two or more answers that are not all equal."""

    def _only_linking(self, answer: Answer, parent_spans: ParentSpans) -> Answer:
        return answer

    # what it says of tokens

    @abstractmethod
    def token_labels(self, answer: Answer, n_tokens: int) -> list[str]:
        """Return the categories that chance-corrected agreement compares, one per unit."""

    def distance(self, a: str, b: str) -> float:
        """Return how different two of these categories are, in [0, 1]; 0 = the same."""
        return float(a != b)

    def label_sequence(self, answer: Answer, n_tokens: int) -> list[str]:
        """Return the labels in the order of the text, for the study of sequences."""
        return self.labels_of(answer)

    def place_of(self, entry: int, answer: Answer) -> int | None:
        """Return the token at which an entry of an answer begins, None for the whole sentence."""
        return entry if self.unit == "token" else None

    # what it costs

    def items_to_mark(self, n_tokens: Floats, n_expected: Floats) -> Floats:
        """Return how many items a person will have to mark (n,), at least 1.

        ``n_expected`` is what the model expects; it counts where their number is not given.
        """
        if self.unit == "sentence":
            return np.ones(len(n_tokens))
        if self.unit == "token":
            return np.maximum(np.asarray(n_tokens, np.float64), 1.0)
        return np.maximum(np.ceil(np.asarray(n_expected, np.float64) - 1e-9), 1.0)

    def cost_in_tokens(self, items: Floats) -> Floats:
        """Return the labelling cost (n,) in tokens read (Rotman & Reichart 2022, section 7)."""
        return np.asarray(items, np.float64)

    # what it covers

    @property
    def clustering(self) -> Clustering:
        """Return how its units are counted by expected-error coverage."""
        return Clustering("sentences", 2.0) if self.unit == "sentence" else Clustering("words", 5.0)

    # when words or borders of sentences are corrected

    def recut(self, task: TaskSpec, answer: Answer, change: Recut) -> Answer | None:
        """Return an answer for the words as they are now, None where it must be given anew."""
        return answer if self.labels_on == "sentence" else None

    def cut(self, task: TaskSpec, answer: Answer, at: int) -> tuple[Answer | None, Answer | None]:
        """Return the answers to the words before and from a word on, None = to be given anew."""
        return None, None

    def join(self, task: TaskSpec, first: Answer, second: Answer, n_first: int) -> Answer | None:
        """Return the answer to two sentences that became one, None = to be given anew."""
        return first if self.labels_on == "sentence" and first == second else None

    # how it is learned

    def taught(self, task: TaskSpec, known: Iterable[tuple[Sequence[str], Answer]]) -> TaskSpec:
        """Return the task as a model learns it from these sentences and their answers.

        A kind with ``brings_classes`` says here what its head is to tell apart.
        """
        return task

    def to_learned(self, answer: Answer, tokens: Sequence[str]) -> Answer:
        """Return an answer as the head learns it."""
        return answer

    def from_learned(self, answer: Answer, tokens: Sequence[str]) -> Answer:
        """Return the answer that the head means, the inverse of `to_learned`."""
        return answer

    # how good it is

    @abstractmethod
    def head(
        self, task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: "ModelConfig"
    ) -> "Head":
        """Return a fresh head, whose readings hold the confidence; ``tasks`` are the model's."""

    def pipeline(
        self, task: TaskSpec, tasks: Sequence[TaskSpec]
    ) -> tuple[str, tuple[str, ...]] | None:
        """Return the public pipeline that can run the task's head, and the labels of its output."""
        return None

    @abstractmethod
    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, float]:
        """Return the metrics of answers by name, `main_metric` among them."""

    @abstractmethod
    def sentence_accuracy(self, gold: Answer, predicted: Answer, n_tokens: int) -> float:
        """Return how right one answer is, in [0, 1], to hold against its confidence."""

    def judge(
        self,
        task: TaskSpec,
        gold: Sequence[Answer],
        predicted: Sequence[Answer],
        n_tokens: Sequence[int],
    ) -> Judgement:
        """Return how good predicted answers to a task are."""
        metrics = self.scores(gold, predicted)
        accuracy = [
            self.sentence_accuracy(*row) for row in zip(gold, predicted, n_tokens, strict=True)
        ]
        return Judgement(metrics, metrics[self.main_metric], np.array(accuracy, dtype=float))

    def scores_by_level(
        self, labels: Iterable[str], gold: Sequence[Answer], predicted: Sequence[Answer]
    ) -> dict[int, float]:
        """Return the main metric with labels such as A.B.C cut to their first 1, 2, ... parts.

        The whole labels are no level of their own; where none has parts, nothing is returned.
        """
        parts = {label: LEVELS.split(label) for label in labels}
        found = {}
        for level in range(1, max(map(len, parts.values()), default=1)):
            cut = {label: ".".join(names[:level]) for label, names in parts.items()}
            rows = ([self.replace_labels(a, cut) for a in answers] for answers in (gold, predicted))
            found[level] = self.scores(*rows)[self.main_metric]
        return found

    def label_table(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Counts]:
        """Return right, predicted and gold items per label, most frequent in gold first."""
        return counts_by_label(list(map(self.items, gold)), list(map(self.items, predicted)))

    def common_and_total(self, measure: str, a: Answer, b: Answer) -> tuple[float, float]:
        """Return what two answers to one sentence have in common, and out of how much.

        Summed over sentences, their ratio is the agreement by that measure.
        """
        first, second = set(self.items(a)), set(self.items(b))
        if measure == "accuracy":
            return len(first & second), len(first)
        if measure == "f1":
            return 2 * len(first & second), len(first) + len(second)
        raise UnknownName(f"agreement measure of {self.name}", measure, self.agreement_measures)

    # its tasks and labels

    def require_task(self, task: TaskSpec) -> None:
        """Refuse a task that cannot be of this kind."""
        if len(set(task.labels)) != len(task.labels):
            raise EngineError(f"Task '{task.name}' lists a label twice: {task.labels}.")
        if self.parent_kind is not None and task.parent is None:
            raise EngineError(
                f"Task '{task.name}' of kind {self.name} names no parent; it needs a "
                f"{self.parent_kind} task whose answers it links."
            )
        if self.parent_kind is None and task.parent is not None:
            raise EngineError(
                f"Task '{task.name}' of kind {self.name} has the parent '{task.parent}'; this "
                "kind links nothing, leave the parent out."
            )
        if task.second_parent is not None and not self.may_have_two_parents:
            raise EngineError(
                f"Task '{task.name}' of kind {self.name} has the second parent "
                f"'{task.second_parent}'; this kind has one at most, leave it out."
            )
        if task.second_parent is not None and task.second_parent == task.parent:
            raise EngineError(
                f"Task '{task.name}' has the parent '{task.parent}' twice; leave the second out."
            )
        if task.window < 1:
            raise EngineError(f"Task '{task.name}' has a window of {task.window}; 1 or more.")
        if task.is_document and not self.may_be_of_document:
            raise EngineError(
                f"Task '{task.name}' of kind {self.name} cannot be answered once per document; "
                f"kinds that can: {', '.join(sorted(documentary()))}."
            )

    def keys_for(self, label: str) -> Iterable[str]:
        """Yield the keys that a label may have, the best first: letters of its name, then any."""
        alphabet = self.key_alphabet
        written = label.lower() if alphabet.islower() else label.upper()
        yield from (letter for letter in written if letter in alphabet)
        yield from alphabet

    @property
    def metric_title(self) -> str:
        """Return what people call the main metric."""
        return METRIC_TITLES.get(self.main_metric, self.main_metric)


class Kinds(dict[str, Kind]):
    """The kinds by name; an unknown name is an error that lists the known ones."""

    def __missing__(self, name: str) -> Kind:
        raise UnknownName("task kind", name, self)

    def register(self, kind: Kind) -> None:
        """Add a kind; a name that is taken is an error."""
        if kind.name in self:
            raise EngineError(f"There is a task kind '{kind.name}' already.")
        self[kind.name] = kind

    def annotated(self) -> list[Kind]:
        """Return the kinds that people answer, in the order of lists."""
        return sorted((k for k in self.values() if k.is_annotated), key=lambda k: k.position)


KINDS = Kinds()


def documentary() -> list[str]:
    """Return the names of the kinds that can be asked of a whole document."""
    return [kind.name for kind in KINDS.annotated() if kind.may_be_of_document]
