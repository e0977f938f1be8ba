"""The data of a project: its corpora, and the sentences in them."""

from dataclasses import replace
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from annotation.models import Corpus, Project, Sentence, Task
from annotation.pages.frame import render_in_project
from annotation.pages.marked_text import MarkedSentence, mark_sentence
from annotation.selectors.access import get_project
from annotation.selectors.corpora import (
    PAGE_SIZE,
    Place,
    SentencePage,
    browse_sentences,
    place_of_number,
)
from annotation.selectors.jobs import corpus_jobs_of
from annotation.selectors.project_view import describe_project
from annotation.selectors.sentence_filter import SentenceFilter
from annotation.selectors.sentences import (
    SentenceAnswers,
    answers_on,
    get_sentence,
    suggestions_on,
)

# state -> (words, what it asks for)
STATES: dict[str, tuple[str, dict[str, Any]]] = {
    "": ("any state", {}),
    "gold": ("with gold", {"has_gold": True}),
    "no-gold": ("without gold", {"has_gold": False}),
    "annotated": ("annotated", {"has_annotation": True}),
    "open": ("not answered", {"has_gold": False, "has_annotation": False}),
    "test": ("in the test slice", {"is_test": True}),
}
N_JOBS = 3
MAX_NUMBER = 2**31 - 1


class SearchForm(forms.Form):
    """What to look for in a project's sentences."""

    text = forms.CharField(
        label="Text contains", max_length=200, required=False, widget=forms.SearchInput
    )
    corpus = forms.ModelChoiceField(
        Corpus.objects.none(), required=False, empty_label="all corpora"
    )
    task = forms.ModelChoiceField(Task.objects.none(), required=False, empty_label="any task")
    state = forms.ChoiceField(
        choices=[(name, words) for name, (words, _) in STATES.items()], required=False
    )
    label = forms.CharField(
        label="Gold label",
        max_length=120,
        required=False,
        widget=forms.TextInput({"list": "labels", "autocomplete": "off"}),
    )

    def __init__(self, data: Any, project: Project) -> None:
        super().__init__(data)
        self.fields["corpus"].queryset = project.corpora.order_by("pk")  # type: ignore[attr-defined]
        self.fields["task"].queryset = project.tasks.all()  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Return the search; a label needs to know its task."""
        values = super().clean() or {}
        if values.get("label") and not values.get("task"):
            self.add_error("label", "Choose the task of the label as well.")
        return values

    def wanted(self) -> SentenceFilter:
        """Return the filter that was filled in, or one that lets all pass."""
        if not self.is_valid():
            return SentenceFilter()
        values = dict(self.cleaned_data)
        _, asked = STATES[values.pop("state")]
        return SentenceFilter(**values, **asked)


@login_required
@require_GET
def data(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show a project's corpora and a page of their sentences."""
    project = get_project(request.user, project_id)
    form = SearchForm(request.GET, project)
    wanted = form.wanted()
    page = browse_sentences(project, wanted, start=_start(request, project, wanted))
    context = {
        "corpora": project.corpora.select_related("created_by").order_by("pk"),
        "form": form,
        "wanted": wanted,
        "is_searched": wanted != replace(SentenceFilter(), corpus=wanted.corpus),
        "page": page,
        "rows": _marked(project, page),
        "pages": _pages(request, project, wanted, page),
        "labels": wanted.task.labels.all() if wanted.task else [],
        "jobs": corpus_jobs_of(project).defer("log", "result")[:N_JOBS],
    }
    return render_in_project(request, "annotation/data.html", project, "data", context)


@login_required
@require_GET
def sentence(request: HttpRequest, project_id: int, sentence_id: int) -> HttpResponse:
    """Show one sentence with everything that was said about it."""
    project = get_project(request.user, project_id)
    found = get_sentence(project, sentence_id)
    answers = _by_author(answers_on([found])[found.pk])
    neighbours = found.corpus.sentences.filter(
        position__in=[found.position - 1, found.position + 1]
    ).order_by("position")
    context = {
        "sentence": found,
        "answers": answers,
        "shown": _for_drawing(project, found, answers),
        "neighbours": neighbours.only("pk", "position"),
    }
    return render_in_project(request, "annotation/sentence.html", project, "data", context)


def _start(request: HttpRequest, project: Project, wanted: SentenceFilter) -> Place | None:
    """Return where the page begins: at a place, or at the sentence of a number."""
    number = request.GET.get("number", "")
    if number.isdecimal() and 0 < int(number[:12]) <= MAX_NUMBER:
        return place_of_number(project, int(number[:12]), wanted)
    return Place.read(request.GET.get("from", ""))


def _marked(project: Project, page: SentencePage) -> list[MarkedSentence]:
    tasks = list(project.tasks.prefetch_related("labels"))
    answers = answers_on(page.sentences)
    return [mark_sentence(row, tasks, _best(answers[row.pk])) for row in page.sentences]


def _best(answers: SentenceAnswers) -> dict[str, Any]:
    """Return one answer a task: gold, else one that a person gave."""
    given = {task: next(iter(people.values())) for task, people in answers.annotations.items()}
    return {**given, **answers.gold}


def _by_author(answers: SentenceAnswers) -> dict[str, dict[str, Any]]:
    """Return all answers by who gave them: gold, people by name, suggestions."""
    authors: dict[str, dict[str, Any]] = {"gold": answers.gold}
    people = sorted({name for by_name in answers.annotations.values() for name in by_name})
    for name in people:
        given = {task: by_name[name] for task, by_name in answers.annotations.items()
                 if name in by_name}  # fmt: skip
        authors[f"by {name}"] = given
    authors["suggestions"] = answers.suggestions
    return {who: given for who, given in authors.items() if given}


def _for_drawing(
    project: Project, sentence: Sentence, answers: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Return what the sentence component draws."""
    words = {"tokens": sentence.tokens, "offsets": sentence.offsets}
    return {
        "sentence": {**words, "language": project.language},
        "tasks": describe_project(project)["tasks"],
        "answers": answers or {"nobody": {}},
        "suggestions": suggestions_on(sentence),
    }


def _pages(
    request: HttpRequest, project: Project, wanted: SentenceFilter, page: SentencePage
) -> dict[str, str]:
    """Return the addresses of the pages around this one."""
    places = {"previous": page.previous, "next": page.next}
    if page.n_total and page.first_number:
        last = (page.n_total - 1) // PAGE_SIZE * PAGE_SIZE + 1
        places["first"] = place_of_number(project, 1, wanted) if page.previous else None
        places["last"] = place_of_number(project, last, wanted) if page.next else None
    return {name: _address(request, place) for name, place in places.items() if place}


def _address(request: HttpRequest, place: Place) -> str:
    query = request.GET.copy()
    query.pop("number", None)
    query["from"] = str(place)
    return f"?{query.urlencode()}"
