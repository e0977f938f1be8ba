"""A DocBin that spaCy reads: one Doc per sentence.

    DocBin().from_disk("corpus.spacy").get_docs(nlp.vocab)

Spans of the first such task are ``doc.ents`` (of nested ones the outermost), all spans
``doc.spans[task]``, classes ``doc.cats`` (``task:label`` where several tasks have classes), the
first tags ``token.tag_``, the first lemmas ``token.lemma_``, the first features ``token.morph``,
the first tree ``token.head`` and ``token.dep_``. Where an answer is missing, spaCy knows it as
missing. ``doc.user_data`` has id, document, whether it is of the test slice, and every answer as
JSONL writes it (``labels``), with its source and confidence. Only
written, and whole in memory, as spaCy reads it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotation.formats.format import Format
from annotation.formats.records import LAYER_KINDS, ExportRecord, Placement, WriteOptions
from mtl_engine.kinds import KINDS, TaskSpec

NAME = "spacy"
ATTRIBUTES = (
    "ORTH",
    "SPACY",
    "TAG",
    "LEMMA",
    "MORPH",
    "HEAD",
    "DEP",
    "ENT_IOB",
    "ENT_TYPE",
    "SENT_START",
)


def render(
    records: Iterable[ExportRecord], placement: Placement, options: WriteOptions
) -> Iterator[bytes]:
    import spacy
    from spacy.tokens import DocBin

    vocab = spacy.blank("xx").vocab
    named = {task.name: task for task in options.tasks}
    tasks = {layer: named[task] for layer, task in placement.task_of.items()}
    docs = DocBin(attrs=ATTRIBUTES, store_user_data=True)
    for record in records:
        docs.add(_doc(vocab, record, tasks))
    yield docs.to_bytes()


def _doc(vocab: Any, record: ExportRecord, tasks: Mapping[str, TaskSpec]) -> Any:
    from spacy.tokens import Doc

    sentence = record.sentence
    given = {
        layer: record.answers[task.name]
        for layer, task in tasks.items()
        if task.name in record.answers
    }
    by_layer = {
        kind: [layer for layer in tasks if tasks[layer].layer == kind]
        for kind in ("tree", "classes", "spans")
    }
    of_words = {KINDS[tasks[layer].kind].token_attribute: layer for layer in reversed(list(tasks))}
    tags, lemmas, morphs = (given.get(of_words.get(a, "")) for a in ("tag_", "lemma_", "morph"))
    tree = given.get(by_layer["tree"][0]) if by_layer["tree"] else None
    doc = Doc(
        vocab,
        words=sentence.tokens,
        spaces=_spaces(sentence.offsets),
        tags=tags,
        lemmas=lemmas,
        morphs=morphs and ["" if morph == "_" else morph for morph in morphs],
        heads=tree and [head - 1 if head else at for at, (head, _) in enumerate(tree)],
        deps=tree and [label if head else "ROOT" for head, label in tree],
        sent_starts=None if tree else [at == 0 for at in range(len(sentence.tokens))],
    )
    first = min(by_layer["spans"], key=lambda layer: tasks[layer].is_nested, default=None)
    _set_spans(doc, {layer: given[layer] for layer in by_layer["spans"] if layer in given}, first)
    _set_classes(doc, given, {layer: tasks[layer] for layer in by_layer["classes"]})
    doc.user_data |= {
        "id": sentence.key,
        "document": sentence.document,
        "is_test": sentence.is_test,
        "annotator": record.annotator,
        "labels": given,
        "sources": {
            layer: record.sources[task.name]
            for layer, task in tasks.items()
            if task.name in record.sources
        },
        "confidences": {
            layer: record.confidences[task.name].to_dict()
            for layer, task in tasks.items()
            if task.name in record.confidences
        },
    }
    return doc


def _spaces(offsets: Sequence[Sequence[int]]) -> list[bool]:
    """Whether white space follows each token."""
    after = [start for start, _ in offsets[1:]]
    return [end < start for (_, end), start in zip(offsets, after, strict=False)] + [False]


def _set_spans(doc: Any, spans: Mapping[str, Any], first: str | None) -> None:
    from spacy.tokens import Span
    from spacy.util import filter_spans

    for layer, value in spans.items():
        doc.spans[layer] = [
            Span(doc, start, end, label=label) for start, end, *more, label in value if not more
        ]
    is_known = first is not None and first in spans
    doc.set_ents(
        filter_spans(doc.spans[first]) if is_known else [],
        default="outside" if is_known else "missing",
    )


def _set_classes(doc: Any, given: Mapping[str, Any], tasks: Mapping[str, TaskSpec]) -> None:
    for layer, task in tasks.items():
        if layer in given:
            true = set(KINDS[task.kind].labels_of(given[layer]))
            for label in [*task.labels, *(true - task.label_set)]:
                name = label if len(tasks) == 1 else f"{layer}:{label}"
                doc.cats[name] = float(label in true)


FORMAT = Format(
    name=NAME,
    title="spaCy DocBin (only written)",
    position=130,
    suffixes=(".spacy",),
    kinds=LAYER_KINDS,
    is_open=True,
    links_across=True,
    parse=None,
    render=render,
    looks_like=lambda head: False,
    keeps_text=False,
    media_type="application/octet-stream",
    is_heavy=True,
)
