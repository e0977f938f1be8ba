"""What a format reads and writes: sentences, their answers by layer, and what went wrong.

A *layer* is what a format calls one of its annotations (CoNLL-U: ``tree``, ``upos``, ``ner``); a
*task* is what the project calls it. ``match_layers`` joins the two. Answer values have one shape
everywhere, see ``mtl_engine.kinds``; a layer that the file leaves open is absent.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from mtl_engine.errors import UnknownName
from mtl_engine.kinds import KINDS, Answer, TaskSpec

Offsets = list[list[int]]  # [start, end) of each token in code points of the text
Extra = dict[str, Any]  # JSON; {} or {format name: what that format needs to write the same bytes}
ALIASES: tuple[frozenset[str], ...] = (
    frozenset("ner entities entity spans span slots slot mentions named_entities".split()),
    frozenset("intent intents class classes label labels category cats cat sentiment".split()),
    frozenset("tree dep deps deprel dependencies dependency syntax parse heads".split()),
    frozenset("pos upos tags tag".split()),
    frozenset("feats features feature morphology morph ufeats".split()),
    frozenset("lemma lemmas lemmata".split()),
    frozenset("relations relation rel rels re links".split()),
    frozenset("deps enhanced edeps graph enhanced_dependencies enhanced_deps".split()),
)


class Layer(NamedTuple):
    """One answer found in a file; ``scheme`` is the tagging scheme it was written in, if any."""

    kind: str
    value: Answer
    parent: str | None = None
    scheme: str = ""
    second_parent: str | None = None


def classes_layer(labels: Sequence[str]) -> Layer:
    """The classes of a sentence, of which a task of one class takes one alone."""
    if len(labels) == 1:
        return Layer("classes", labels[0])
    return Layer("classes", KINDS["multiclasses"].to_layer(labels))


CUT = "words cut where a span begins or ends"  # in what is told of a file, beside what is kept


def classes_cell(cell: str, separator: str) -> Layer:
    """The classes of a cell, which a separator parts; without one they are as the cell says."""
    labels = [part.strip() for part in cell.split(separator)] if separator else [cell]
    return classes_layer([label for label in labels if label] if len(labels) > 1 else [cell])


LAYER_KINDS = frozenset(kind.layer for kind in KINDS.annotated())


def layer_spec(
    name: str, kind: str, parent: str | None = None, second_parent: str | None = None
) -> TaskSpec:
    """A layer as a task without labels; links that do not say what they link have the parent ""."""
    parent = (parent or "") if KINDS[kind].parent_kind else None
    return TaskSpec(name, kind, parent=parent, second_parent=second_parent or None)


@dataclass(frozen=True, slots=True)
class SentenceRecord:
    """One sentence of a file.

    ``key`` is the file's own id ("" = none), ``line`` the line on which it starts, and
    ``token_lines`` the line of each token in a format with a token per line. ``extra`` holds
    what is neither text nor layer and is needed to write the sentence back as it came; store it
    through ``Format.remainder`` so that layers without a task are written back too.
    """

    tokens: list[str]
    text: str
    offsets: Offsets
    key: str = ""
    document: str = ""
    layers: dict[str, Layer] = field(default_factory=dict)
    extra: Extra = field(default_factory=dict)
    line: int = field(default=0, compare=False)
    token_lines: Sequence[int] = field(default=(), compare=False)
    is_test: bool = field(default=False, compare=False)  # of the frozen slice that tests models
    aside: Sequence[str] = field(default=(), compare=False)
    """What sort of thing the file says of it that no task can hold: kept, and written back."""


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """A sentence to write and the answers to write with it, by task name.

    ``annotator`` is "" for gold. For all annotators side by side, hand one record per annotator,
    the records of a sentence one after the other and with the same ``sentence`` object.
    ``sentence.layers`` is not looked at.
    """

    sentence: SentenceRecord
    answers: Mapping[str, Answer] = field(default_factory=dict)
    annotator: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)  # where each answer comes from
    notes: Mapping[str, str] = field(default_factory=dict)  # of annotators on the sentence, by name
    confidences: Mapping[str, "Confidence"] = field(default_factory=dict)  # of a model's answers


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure a model is of an answer, and of each item of it in its order; in [0, 1]."""

    answer: float
    items: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"answer": self.answer, "items": list(self.items)}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that keeps a file from being imported, and where; the message says the remedy."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class FormatError(ValueError):
    """A request about formats that is refused; the message says what to change."""


class CannotWrite(FormatError):
    """An answer that the format has no way to write; nothing is ever dropped instead."""


class Unreadable(Exception):
    """The file cannot be read any further; carries the problem to report."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(frozen=True)
class Limits:
    """What a file may cost before it is refused."""

    file_bytes: int = 8 * 1024**3  # uncompressed
    line_characters: int = 16 * 1024**2
    item_characters: int = 64 * 1024**2  # one element of a JSON array, one document of an archive
    sentence_tokens: int = 10_000
    archive_members: int = 200_000
    problems: int = 1_000


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; every default lets the format decide.

    - ``tokeniser``: "whitespace", or a spaCy language code ("en", "de", ..., "xx" for any)
    - ``split_sentences``: a line or cell holds several sentences; needs a language
    - ``scheme``: the tagging scheme of BIO columns: IOB1, IOB2, IO or BIOES; "" recognises it
    - ``columns``: names of the columns of conll2003 or of a table without a header
    - ``text_column``: the column or key of the text, where it is not called text or sentence
    - ``annotator``: whose answers to read from a file with several people's side by side
    - ``fields``: keys of jsonl that hold answers, where they are not under its own names
    - ``label_separator``: what stands between several labels in a cell; "" = #
    - ``layer_of``: which kind of layer stands under a name, where it is known before it is read
    - ``links_across``: links may end in other sentences of their document, else they are set aside
    - ``cuts_tokens``: cut a token where a span in characters begins or ends in it, not refuse it
    """

    encoding: str = "utf-8"
    tokeniser: str = ""
    split_sentences: bool = False
    scheme: str = ""
    columns: tuple[str, ...] = ()
    text_column: str = ""
    annotator: str = ""
    fields: tuple[str, ...] = ()
    label_separator: str = ""
    cuts_tokens: bool = False
    layer_of: Mapping[str, str] = field(default_factory=dict)
    links_across: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class WriteOptions:
    """What to write: the tasks, and where the matching rule is overruled, the layer for a task.

    ``annotators`` names the people of a side-by-side export, in the order of their columns; empty
    for gold or one person. ``scheme`` overrules the scheme that a sentence came in. With
    ``has_sources`` every answer says whose it is, as far as the format can tell. ``title``,
    ``about`` and ``language`` are for formats that come with a card.
    """

    tasks: tuple[TaskSpec, ...] = ()
    mapping: Mapping[str, str] | None = None
    annotators: tuple[str, ...] = ()
    scheme: str = ""
    has_sources: bool = False
    title: str = ""
    about: str = ""
    language: str = ""


def match_layers(
    layers: Iterable[TaskSpec],
    tasks: Iterable[TaskSpec],
    explicit: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The layer of each task that has one, by task name.

    In this order: what ``explicit`` (task -> layer) says, the same name, a known alias, and the
    only layer of the kind for the only task of the kind. A task that links another's spans takes
    only links between that task's own spans.
    """
    layers, tasks = list(layers), list(tasks)
    matched = _stated(layers, tasks, explicit or {})
    linking = [task for task in tasks if task.parent is not None]
    others = [task for task in tasks if task.parent is None]
    for group in (others, linking):
        for is_match in (_same_name, _alias):
            _match_by_name(group, layers, matched, is_match)
        _match_by_kind(group, layers, matched)
    return matched


def _stated(
    layers: list[TaskSpec], tasks: list[TaskSpec], explicit: Mapping[str, str]
) -> dict[str, str]:
    """The explicit mapping, checked."""
    layer_of = {layer.name: layer for layer in layers}
    task_of = {task.name: task for task in tasks}
    for task_name, layer_name in explicit.items():
        if task_name not in task_of:
            raise UnknownName("task", task_name, task_of)
        if layer_name not in layer_of:
            raise UnknownName("layer", layer_name, layer_of)
        task, layer = task_of[task_name], layer_of[layer_name]
        if task.layer != layer.layer:
            raise FormatError(
                f"Task '{task.name}' is of kind {task.kind}, layer '{layer.name}' of kind "
                f"{layer.kind}. Map the task to a layer of its own kind."
            )
    if len(set(explicit.values())) < len(explicit):
        raise FormatError(f"A layer is mapped to two tasks: {dict(explicit)}. Give each its own.")
    return dict(explicit)


def _match_by_name(
    tasks: list[TaskSpec],
    layers: list[TaskSpec],
    matched: dict[str, str],
    is_match: Callable[[str, str], bool],
) -> None:
    for task in tasks:
        if task.name in matched:
            continue
        for layer in _free(task, layers, matched):
            if is_match(task.name.lower(), layer.name.lower()):
                matched[task.name] = layer.name
                break


def _match_by_kind(tasks: list[TaskSpec], layers: list[TaskSpec], matched: dict[str, str]) -> None:
    """Match a task and a layer that are each the only one of their kind left.

    Texts and features are written as tags are, so that only a name tells them apart.
    """
    by_kind = [task for task in tasks if not KINDS[task.kind].brings_classes]
    for task in [task for task in by_kind if task.name not in matched]:
        rivals = [t for t in tasks if t.layer == task.layer and t.name not in matched]
        candidates = _free(task, layers, matched)
        if len(candidates) == 1 and len(rivals) == 1:
            matched[task.name] = candidates[0].name


def _free(task: TaskSpec, layers: list[TaskSpec], matched: dict[str, str]) -> list[TaskSpec]:
    """The layers of the task's kind that nobody has; for links, those between its spans."""
    taken = set(matched.values())
    free = [layer for layer in layers if layer.layer == task.layer and layer.name not in taken]
    if not task.parent:
        return free
    spans = tuple(matched.get(name) for name in task.parents)
    return [layer for layer in free if layer.parents in (("",), spans) and None not in spans]


def _same_name(task: str, layer: str) -> bool:
    return task == layer


def _alias(task: str, layer: str) -> bool:
    return any(task in group and layer in group for group in ALIASES)


@dataclass(frozen=True)
class Placement:
    """The task of each layer, and the layers in the order in which they are written."""

    format: str
    task_of: Mapping[str, str]
    specs: tuple[TaskSpec, ...]
    kind_of: Mapping[str, str]  # of the task of each layer

    def value(self, record: ExportRecord, layer: str) -> Answer | None:
        """The answer to write in a layer, None if there is none.

        A layer that no task has taken is written as it was read, if it came in this format.
        """
        task = self.task_of.get(layer)
        if task is not None:
            return self._written(layer, record.answers[task]) if task in record.answers else None
        return self.kept(record).get("layers", {}).get(layer)

    def answers(self, record: ExportRecord) -> dict[str, Answer]:
        """The answers to write, by layer, in the order of the layers."""
        found = {}
        for spec in self.specs:
            task = self.task_of.get(spec.name)
            if task is not None and task in record.answers:
                found[spec.name] = self._written(spec.name, record.answers[task])
        return found

    def choices(self, layer: str, value: str) -> list[str]:
        """The labels of a classes layer, for formats that list them."""
        kind = KINDS[self.kind_of.get(layer, "classes")]
        return kind.labels_of(kind.from_layer(value))

    def _written(self, layer: str, answer: Answer) -> Any:
        return KINDS[self.kind_of[layer]].to_layer(answer)

    def kept(self, record: ExportRecord) -> dict[str, Answer]:
        """What this format had stored with the sentence when it was read."""
        return record.sentence.extra.get(self.format, {})


def place(
    name: str,
    kinds: Collection[str],
    layers: Sequence[TaskSpec],
    is_open: bool,
    options: WriteOptions,
) -> Placement:
    """The layer of each task to write; raises CannotWrite for a task that has no place.

    In an open format a task's layer has the task's name, or the one that the mapping gives it. A
    format that carries no kind at all (plain text) writes the sentences alone.
    """
    tasks = options.tasks if kinds else ()
    if is_open:
        layers = _own_layers([task for task in tasks if task.layer in kinds], options.mapping or {})
    matched = match_layers(layers, tasks, options.mapping)
    homeless = [task for task in tasks if task.name not in matched]
    if homeless:
        named = ", ".join(f"'{task.name}' ({task.kind})" for task in homeless)
        room = ", ".join(f"{layer.name} ({layer.kind})" for layer in layers) or "none"
        raise CannotWrite(
            f"Format {name} has no place for task {named}. Places: {room}; kinds: "
            f"{', '.join(sorted(kinds))}. Leave the task out, map it to a place, or use jsonl."
        )
    kinds_of_tasks = {task.name: task.kind for task in tasks}
    return Placement(
        name,
        {layer: task for task, layer in matched.items()},
        tuple(layers),
        {layer: kinds_of_tasks[task] for task, layer in matched.items()},
    )


def _own_layers(tasks: Sequence[TaskSpec], mapping: Mapping[str, str]) -> list[TaskSpec]:
    def name(task: str) -> str:
        return mapping.get(task, task)

    return [layer_spec(name(t.name), t.layer, *map(name, t.parents)) for t in tasks]


def has_pieces(kind: str, value: Any) -> bool:
    """Whether an answer has a span in several pieces."""
    return kind == "spans" and any(len(span) > 3 for span in value or ())


def hides_kind(kind: str, value: Any) -> bool:
    """Whether an answer does not tell its kind: in pieces, or a graph without arcs."""
    return has_pieces(kind, value) or (kind == "graph" and value == [])


def name_for(layer: str, annotator: str) -> str:
    """What a layer is called in a file; gold, whose annotator is "", has the bare name."""
    return f"{layer}@{annotator}" if annotator else layer


def name_when_read(name: str, annotator: str) -> str | None:
    """What a layer of a file is to be called, None if it is somebody else's.

    Without an annotator to read, every layer keeps its name.
    """
    layer, at, person = name.partition("@")
    if not annotator or not at:
        return name
    return layer if person == annotator else None


def by_sentence(records: Iterable[ExportRecord]) -> Iterator[Sequence[ExportRecord]]:
    """The records of each sentence together, one for each annotator."""
    for _, group in groupby(records, key=lambda record: id(record.sentence)):
        yield list(group)
