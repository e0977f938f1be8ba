"""One sentence or a page of them with all that people and models have said about it."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404

from annotation.models import Annotation, Gold, Project, Sentence, Suggestion


@dataclass
class SentenceAnswers:
    """The answers on one sentence by task name."""

    gold: dict[str, Any] = field(default_factory=dict)
    suggestions: dict[str, Any] = field(default_factory=dict)
    annotations: dict[str, dict[str, Any]] = field(  # task -> person -> value
        default_factory=lambda: defaultdict(dict)
    )

    @property
    def n_annotators(self) -> int:
        """How many people have answered at least one task."""
        return len({name for answers in self.annotations.values() for name in answers})


def answers_on(sentences: Iterable[Sentence]) -> dict[int, SentenceAnswers]:
    """Return the answers on some sentences by sentence id."""
    found = {sentence.pk: SentenceAnswers() for sentence in sentences}
    on_these = {"sentence__in": list(found)}
    for row in Gold.objects.filter(**on_these).values_list("sentence_id", "task__name", "value"):
        found[row[0]].gold[row[1]] = row[2]
    for row in Suggestion.objects.filter(**on_these).values_list(
        "sentence_id", "task__name", "value"
    ):
        found[row[0]].suggestions[row[1]] = row[2]
    people = Annotation.objects.filter(**on_these).order_by("author__username")
    for sentence_id, task, author, value in people.values_list(
        "sentence_id", "task__name", "author__username", "value"
    ):
        found[sentence_id].annotations[task][author] = value
    return found


def suggestions_on(sentence: Sentence) -> dict[str, dict[str, Any]]:
    """Return what the models suggest for a sentence by task, with how sure they are."""
    rows = Suggestion.objects.filter(sentence=sentence).values_list(
        "task__name", "value", "confidence", "details"
    )
    return {
        task: {"value": value, "confidence": confidence, "details": details}
        for task, value, confidence, details in rows
    }


def get_sentence(project: Project, sentence_id: int | str) -> Sentence:
    """Return a sentence of a project the caller may see, or raise Http404."""
    sentence = (
        project.sentences.select_related("corpus").filter(pk=sentence_id).first()
        if str(sentence_id).isdecimal()
        else None
    )
    if sentence is None:
        raise Http404("No such sentence.")
    return sentence
