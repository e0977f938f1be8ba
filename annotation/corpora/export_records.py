"""The sentences of corpora with their answers, as the records that files are written from."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from django.db.models import Max, Model, QuerySet

from annotation.adjudication.final import FinalAnswer, final_answers
from annotation.corpora.selectors import notes_on
from annotation.errors import Refused, unknown_name
from annotation.formats.records import (
    Confidence,
    ExportRecord,
    SentenceRecord,
)
from annotation.models import (
    Annotation,
    Ask,
    Corpus,
    Gold,
    Project,
    Round,
    Sentence,
)
from annotation.projects.documents import (
    documents_of,
    documents_of_first_sentences,
    joined_spans,
    links_by_sentence,
    sentences_of,
    starts_of,
)
from mtl_engine.kinds import KINDS, TaskSpec

CHUNK = 1_000  # sentences
ALL, LABELLED, TRAIN, TEST = "all", "labelled", "train", "test"
SENTENCES = {  # which of them to write
    ALL: "all sentences",
    LABELLED: "sentences with an answer",
    TRAIN: "sentences with an answer, without the test slice",
    TEST: "the test slice",
}


@dataclass(frozen=True)
class Predicted:
    """A model's answer to one task on one sentence, to be written beside people's."""

    value: Any
    confidence: Confidence
    source: str

    def linking(self, task: TaskSpec, spans: Any) -> "Predicted":
        """Return the answer with those links alone that join the given spans."""
        kind = KINDS[task.kind]
        value = kind.merge([self.value], parent_spans=spans)
        kept = kind.entries(value)
        pairs = zip(kind.entries(self.value), self.confidence.items, strict=True)
        sure = tuple(confidence for entry, confidence in pairs if entry in kept)
        return Predicted(value, Confidence(self.confidence.answer, sure), self.source)


class Predictions(Protocol):
    """What a model answers to sentences of the project."""

    def answers(self, sentences: Sequence[int]) -> Mapping[int, Mapping[str, Predicted]]:
        """Return the answers by sentence and task; sentences without one are absent."""


@dataclass(frozen=True)
class Which:
    """Which sentences to write: all of the corpora, or those that fit everything stated here."""

    sentences: str = ALL
    round: Round | None = None  # that asked for them

    def __post_init__(self) -> None:
        if self.sentences not in SENTENCES:
            raise Refused(unknown_name("choice of sentences", self.sentences, SENTENCES))

    def rows(self, rows: QuerySet[Sentence]) -> QuerySet[Sentence]:
        """Return those rows of sentences that can be told apart before their answers are read."""
        if self.sentences in (TRAIN, TEST):
            rows = rows.filter(is_test=self.sentences == TEST)
        if self.round is not None:
            asked = Ask.objects.filter(queue__round=self.round)
            rows = rows.filter(pk__in=asked.values("sentence_id"))
        return rows

    def takes(self, record: ExportRecord) -> bool:
        """Return whether a sentence with its answers is written."""
        return self.sentences not in (LABELLED, TRAIN) or bool(record.answers)


EVERYTHING = Which()


@dataclass(frozen=True)
class Answers:
    """Which answers to write; ``models`` are the tables that they come from.

    ``authors`` (id -> name) puts everybody side by side: a sentence is then one record per person
    who answered it, or one without answers when nobody did.
    """

    models: tuple[type[Model], ...]
    author_id: int | None = None
    authors: Mapping[int, str] | None = None
    predictions: Predictions | None = None  # fill in what people have not answered
    is_predicted_only: bool = False  # sentences and answers of the model alone

    @property
    def is_final(self) -> bool:
        """Return whether the answers are those that count, whoever gave them."""
        return Gold in self.models and Annotation in self.models


def exported_records(
    project: Project,
    corpora: Sequence[Corpus],
    tasks: Sequence[TaskSpec],
    answers: Answers | None,
    which: Which,
    on_sentences: Callable[[int, int], None] | None,
) -> Iterator[ExportRecord]:
    """Yield the sentences of corpora in their order with their answers; memory stays flat."""
    n_read = n_written = 0
    for corpus in corpora:
        own = corpus.sentences.filter(is_document=False)
        last = own.aggregate(last=Max("position"))["last"]
        for first in range(0, -1 if last is None else last + 1, CHUNK):
            if on_sentences:
                on_sentences(n_read, n_written)
            sentences = dict(_sentences(corpus, first, which))
            n_read += len(sentences)
            written = set()
            if answers is not None and answers.is_final:
                records = _final_records(project, sentences, tasks, answers)
            else:
                records = _given_records(sentences, tasks, answers)
            notes = {id(sentences[key]): said for key, said in notes_on(sentences).items()}
            for record in filter(which.takes, records):
                written.add(id(record.sentence))
                said = notes.get(id(record.sentence)) if answers else None
                yield replace(record, notes=said) if said else record
            n_written += len(written)
    if on_sentences:
        on_sentences(n_read, n_written)


def answer_rows(model: type[Model], answers: Answers) -> QuerySet[Any]:
    """Return the rows of a table that hold such answers, of any sentence and task."""
    rows = model._default_manager.all()
    return rows if answers.author_id is None else rows.filter(author_id=answers.author_id)


def _given_records(
    sentences: Mapping[int, SentenceRecord], tasks: Sequence[TaskSpec], answers: Answers | None
) -> Iterator[ExportRecord]:
    found = _given(sentences, answers, tasks) if answers else {}
    for sentence_id, sentence in sentences.items():
        yield from _side_by_side(sentence, found.get(sentence_id, {}), answers)


def _sentences(corpus: Corpus, first: int, which: Which) -> Iterator[tuple[int, SentenceRecord]]:
    rows = Sentence.objects.filter(
        corpus=corpus, is_document=False, position__gte=first, position__lt=first + CHUNK
    ).order_by("position")
    rows = which.rows(rows)
    for sentence_id, tokens, text, offsets, key, document, extra, is_test in rows.values_list(
        "id", "tokens", "text", "offsets", "key", "document", "extra", "is_test"
    ):
        yield (
            sentence_id,
            SentenceRecord(tokens, text, offsets, key, document, extra=extra, is_test=is_test),
        )


def _final_records(
    project: Project,
    sentences: Mapping[int, SentenceRecord],
    tasks: Sequence[TaskSpec],
    answers: Answers,
) -> Iterator[ExportRecord]:
    documents = _documents(sentences, tasks)
    links = _Links(sentences, tasks)
    rows = list(dict.fromkeys([*sentences, *documents.values(), *links.rows]))
    finals = final_answers(project, sentences=rows, tasks=tasks)
    models = dict(answers.predictions.answers(rows)) if answers.predictions else {}
    links.place(finals, models)
    for sentence_id, document in documents.items():
        finals[sentence_id] = {**links.without(finals, document), **finals.get(sentence_id, {})}
        models[sentence_id] = {**links.without(models, document), **models.get(sentence_id, {})}
    for sentence_id, sentence in sentences.items():
        final = finals.get(sentence_id, {})
        predicted = _left_to_predict(tasks, final, models.get(sentence_id, {}))
        if answers.is_predicted_only:
            final = {}
            if not predicted:
                continue
        yield ExportRecord(
            sentence,
            {
                **{name: found.value for name, found in final.items()},
                **{name: found.value for name, found in predicted.items()},
            },
            sources={
                **{name: str(found) for name, found in final.items()},
                **{name: found.source for name, found in predicted.items()},
            },
            confidences={name: found.confidence for name, found in predicted.items()},
        )


def _documents(sentences: Iterable[int], tasks: Sequence[TaskSpec]) -> dict[int, int]:
    """Return the documents whose answers are written with sentences, by sentence."""
    if not any(task.is_document for task in tasks):
        return {}
    return documents_of_first_sentences(sentences)


class _Links:
    """The links of documents, placed on the sentences in which they begin."""

    def __init__(self, sentences: Iterable[int], tasks: Sequence[TaskSpec]) -> None:
        self.tasks = [task for task in tasks if task.is_document and task.parents]
        self.sentences = set(sentences)
        self.parts = sentences_of(documents_of(self.sentences)) if self.tasks else {}

    @property
    def rows(self) -> list[int]:
        """The documents and all of their sentences."""
        return [*self.parts, *(pk for own in self.parts.values() for pk, _ in own)]

    def without(self, found: Mapping[int, Mapping[str, Any]], document: int) -> dict[str, Any]:
        """The other answers to a document."""
        names = {task.name for task in self.tasks}
        return {k: v for k, v in found.get(document, {}).items() if k not in names}

    def place(self, finals: dict[int, Any], models: dict[int, Any]) -> None:
        """Add the links of documents to their sentences, as far as what they link is there."""
        for document, own in self.parts.items():
            for task in self.tasks:
                values: dict[str, Any] = {
                    name: {
                        pk: found[name].value
                        for pk, _ in own
                        if name in (found := {**models.get(pk, {}), **finals.get(pk, {})})
                    }
                    for name in task.parents
                }
                spans = {name: joined_spans(own, found) for name, found in values.items()}
                final = finals.get(document, {}).get(task.name)
                if final is not None:
                    kind = KINDS[task.kind]
                    kept = kind.merge([final.value], parent_spans=task.spans_among(spans))
                    for pk, links in links_by_sentence(own, kept).items():
                        if pk in self.sentences:
                            finals.setdefault(pk, {})[task.name] = replace(final, value=links)
                    continue
                said = models.get(document, {}).get(task.name)
                if said is not None:
                    self._place_predicted(models, own, task, said, spans)

    def _place_predicted(
        self,
        models: dict[int, Any],
        own: Sequence[tuple[int, int]],
        task: TaskSpec,
        said: Predicted,
        spans: Mapping[str, Any],
    ) -> None:
        kept = said.linking(task, task.spans_among(spans))
        sure = {tuple(v): c for v, c in zip(kept.value, kept.confidence.items, strict=True)}
        starts = starts_of(own)
        for pk, links in links_by_sentence(own, kept.value).items():
            if pk in self.sentences:
                items = tuple(
                    sure[(*(edge + starts[pk] for edge in link[:-1]), link[-1])] for link in links
                )
                one = Predicted(links, Confidence(kept.confidence.answer, items), kept.source)
                models[pk] = {**models.get(pk, {}), task.name: one}

    def split(self, found: dict[int, dict[int, dict[str, Any]]]) -> None:
        """Give the answers of each person to documents to their sentences."""
        for document, own in self.parts.items():
            for author, said in found.get(document, {}).items():
                for task in self.tasks:
                    if task.name in said:
                        links = links_by_sentence(own, said.pop(task.name))
                        for pk in self.sentences & links.keys():
                            found[pk][author][task.name] = links[pk]


def _left_to_predict(
    tasks: Sequence[TaskSpec],
    final: Mapping[str, FinalAnswer],
    predicted: Mapping[str, Predicted],
) -> dict[str, Predicted]:
    """Return the model's answers to what people left open; links only between spans that stay."""
    left = {}
    for task in tasks:
        found = predicted.get(task.name)
        if found is None or task.name in final:
            continue
        if not task.is_document and any(name in final for name in task.parents):
            known: dict[str, Any] = {**predicted, **final}
            spans = {name: known[name].value for name in task.parents if name in known}
            found = found.linking(task, task.spans_among(spans))
        left[task.name] = found
    return left


def _given(
    sentences: Mapping[int, SentenceRecord], answers: Answers, tasks: Sequence[TaskSpec]
) -> dict[int, dict[int, dict[str, Any]]]:
    """Return sentence id -> author id (0 unless side by side) -> task name -> value."""
    names = {task.id: task.name for task in tasks}
    found: dict[int, dict[int, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    documents = _documents(sentences, tasks)
    links = _Links(sentences, tasks)
    wanted = list(dict.fromkeys([*sentences, *documents.values(), *links.parts]))
    for model in answers.models:
        rows = answer_rows(model, answers).filter(sentence__in=wanted, task__in=list(names))
        if answers.authors is None:
            for sentence_id, task_id, value in rows.values_list("sentence_id", "task_id", "value"):
                found[sentence_id][0][names[task_id]] = value
            continue
        columns = ("sentence_id", "author_id", "task_id", "value")
        for sentence_id, author_id, task_id, value in rows.values_list(*columns):
            found[sentence_id][author_id][names[task_id]] = value
    links.split(found)
    for sentence_id, document in documents.items():
        for author_id, said in found.pop(document, {}).items():
            if said:
                found[sentence_id][author_id].update(said)
    return found


def _side_by_side(
    sentence: SentenceRecord, found: Mapping[int, Mapping[str, Any]], answers: Answers | None
) -> Iterator[ExportRecord]:
    if answers is None or answers.authors is None:
        yield ExportRecord(sentence, found.get(0, {}))
        return
    for author_id, name in answers.authors.items():
        if author_id in found:
            yield ExportRecord(sentence, found[author_id], name)
    if not found:
        yield ExportRecord(sentence)
