# mypy: ignore-errors
"""The model of this folder as a spaCy component.

    import spacy, tandem_spacy                 # with the folder on the path

    nlp = spacy.blank("en")
    nlp.add_pipe("tandem", config={"folder": "folder"})
    doc = nlp("flights from Boston to Denver")
    doc.ents, doc.cats, [(t.head, t.dep_) for t in doc], doc._.relations, doc._.tandem

The first task of spans fills ``doc.ents`` (of nested ones the outermost), all ``doc.spans[task]``;
classes fill ``doc.cats`` (``task:label`` where there are several such tasks), tags
``token.tag_``, a tree ``token.head`` and ``token.dep_``, relations ``doc._.relations``: (span,
span, label). Everything with its confidence is in ``doc._.tandem``, one table per sentence.
Sentences are those that the document knows, else it is one.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import tandem_model
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

for _name, _default in (("relations", []), ("tandem", [])):
    if not Doc.has_extension(_name):
        Doc.set_extension(_name, default=_default)


@Language.factory("tandem", default_config={"folder": str(Path(__file__).parent)})
def make_tandem(nlp: Any, name: str, folder: str) -> "TandemComponent":
    """Return the component of a model's folder."""
    return TandemComponent(folder)


class TandemComponent:
    """Writes a model's answers on documents."""

    def __init__(self, folder: str) -> None:
        self.model = tandem_model.load(folder)
        self.tasks = self.model.tasks
        classes = [name for name, task in self.tasks.items() if _is(task, "sentence")]
        self.has_one_class = len(classes) == 1

    def __call__(self, doc: Any) -> Any:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Any], batch_size: int = 64) -> Iterator[Any]:
        """Yield documents with the model's answers, some at a time."""
        batch: list[Any] = []
        for doc in stream:
            batch.append(doc)
            if len(batch) == batch_size:
                yield from self._answer(batch)
                batch = []
        yield from self._answer(batch)

    def _answer(self, docs: list[Any]) -> list[Any]:
        parts = [(doc, sent) for doc in docs for sent in _sentences(doc)]
        found = self.model([[token.text for token in sent] for _, sent in parts])
        spans: dict[int, dict[str, list[Any]]] = {id(doc): {} for doc in docs}
        for doc in docs:
            doc._.tandem, doc._.relations = [], []
        for (doc, sent), row in zip(parts, found, strict=True):
            doc._.tandem = [*doc._.tandem, row["answers"]]
            self._write(doc, sent.start, row["answers"], spans[id(doc)])
        for doc in docs:
            self._set_spans(doc, spans[id(doc)])
        return docs

    def _write(self, doc: Any, start: int, answers: Any, spans: dict[str, list[Any]]) -> None:
        for name, answer in answers.items():
            value, task = answer["value"], self.tasks[name]
            if _is(task, "sentence"):
                self._write_classes(doc, name, answer)
            elif _is(task, "marks") or _is_graph(task):
                continue  # attributes of spans and second heads have no place but doc._.tandem
            elif task.get("parent"):
                doc._.relations = [
                    *doc._.relations,
                    *(
                        (doc[start + a : start + b], doc[start + c : start + d], label)
                        for a, b, c, d, label in value
                    ),
                ]
            elif _is(task, "arcs"):
                for place, (head, label) in enumerate(value):
                    token = doc[start + place]
                    token.head = doc[start + head - 1] if head else token
                    token.dep_ = "ROOT" if not head else label
            elif _is(task, "item"):
                found = [Span(doc, start + a, start + b, label=label) for a, b, label in value]
                spans.setdefault(name, []).extend(found)
            else:
                attribute = _kind(task).token_attribute
                for place, label in enumerate(value):
                    if attribute == "morph":
                        doc[start + place].set_morph("" if label == "_" else label)
                    else:
                        setattr(doc[start + place], attribute, label)

    def _write_classes(self, doc: Any, name: str, answer: Any) -> None:
        rows = [*answer["items"], *(o for i in answer["items"] for o in i.get("others", ()))]
        for row in rows:
            key = row["value"] if self.has_one_class else f"{name}:{row['value']}"
            doc.cats[key] = row["confidence"]

    def _set_spans(self, doc: Any, spans: dict[str, list[Any]]) -> None:
        for name, found in spans.items():
            doc.spans[name] = found
        if spans:
            first = min(spans, key=lambda name: bool(self.tasks[name].get("is_nested")))
            doc.ents = filter_spans(spans[first])


def _is(task: dict[str, Any], what: str) -> bool:
    """Return whether a task labels sentences, items or arcs."""
    kind = _kind(task)
    return what in (kind.unit, kind.labels_on) and (what != "item" or kind.marks_spans)


def _is_graph(task: dict[str, Any]) -> bool:
    """Return whether words have any number of heads, which spaCy's tokens cannot have."""
    return _is(task, "arcs") and _kind(task).unit == "item"


def _kind(task: dict[str, Any]) -> Any:
    return tandem_model.engine("kinds").KINDS[task["kind"]]


def _sentences(doc: Any) -> list[Any]:
    if doc.has_annotation("SENT_START"):
        return list(doc.sents)
    return [doc[:]] if len(doc) else []
