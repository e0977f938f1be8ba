"""The data of a project: its corpora, and the sentences in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.accounts.access import get_project
from annotation.adjudication.final import spans_of_documents
from annotation.adjudication.review import history_of, put_back
from annotation.corpora.corrections import correct_words, cut_sentence, join_next
from annotation.corpora.restored_versions import restore_version
from annotation.corpora.selectors import (
    PAGE_SIZE,
    Place,
    SentenceAnswers,
    SentenceFilter,
    SentencePage,
    answers_on,
    browse_sentences,
    get_sentence,
    label_tree,
    notes_on,
    place_of_number,
    suggestions_on,
)
from annotation.erasure.services import delete_corpus, delete_sentences
from annotation.errors import Refused
from annotation.jobs.services import corpus_jobs_of
from annotation.models import Corpus, Lease, Project, Role, Sentence, Task
from annotation.projects.documents import inside_of
from annotation.projects.selectors import drawn_tasks
from annotation.queue.asks import leave_out, take_back
from annotation.web.frame import render_in_project
from annotation.web.security import read_json
from mtl_engine.kinds import KINDS
from mtl_engine.kinds.spans import pieces_of

# state -> (words, what it asks for)
STATES: dict[str, tuple[str, dict[str, Any]]] = {
    "": ("any state", {}),
    "gold": ("with gold", {"has_gold": True}),
    "no-gold": ("without gold", {"has_gold": False}),
    "annotated": ("annotated", {"has_annotation": True}),
    "noted": ("with a note", {"has_note": True}),
    "open": ("not answered", {"has_gold": False, "has_annotation": False}),
    "test": ("in the test slice", {"is_test": True}),
}
N_JOBS = 3
MAX_NUMBER = 2**31 - 1
MAX_TOKENS = 80


@dataclass(frozen=True)
class Piece:
    """A stretch of text, with the label and colour of its span if it lies in one."""

    text: str
    label: str = ""
    colour: int = 0


@dataclass(frozen=True)
class MarkedSentence:
    """A sentence as a list shows it: its text in pieces, and its classes."""

    sentence: Sentence
    pieces: Sequence[Piece]
    classes: Sequence[tuple[str, str]]  # (task, label)
    is_cut: bool
    n_answered: int


class SearchForm(forms.Form):
    """What to look for in a project's sentences."""

    text = forms.CharField(
        label="Text contains", max_length=200, required=False, widget=forms.SearchInput
    )
    corpus = forms.ModelChoiceField(
        Corpus.objects.none(), required=False, empty_label="all corpora"
    )
    document = forms.CharField(
        label="Document",
        max_length=200,
        required=False,
        widget=forms.TextInput({"list": "documents", "autocomplete": "off"}),
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
        "labels": label_tree(x.name for x in wanted.task.labels.all()) if wanted.task else [],
        "documents": sorted({row.document for row in page.sentences if row.document}),
        "jobs": corpus_jobs_of(project).defer("log", "result")[:N_JOBS],
    }
    return render_in_project(request, "annotation/data.html", project, "data", context)


@login_required
@require_http_methods(["GET", "POST"])
def sentence(request: HttpRequest, project_id: int, sentence_id: int) -> HttpResponse:
    """Show one sentence with everything that was said about it and when, or put gold back."""
    project = get_project(request.user, project_id)
    found = get_sentence(project, sentence_id)
    if request.method == "POST":
        return _change_sentence(request, project, found)
    answers = _by_author(answers_on([found])[found.pk])
    neighbours = found.corpus.sentences.filter(
        position__in=[found.position - 1, found.position + 1]
    ).order_by("position")
    tasks = {task.name: task for task in project.tasks.all()}
    context = {
        "sentence": found,
        "answers": answers,
        "notes": notes_on([found.pk])[found.pk],
        "shown": _for_drawing(project, found, answers),
        "neighbours": neighbours.only("pk", "position"),
        "history": [(tasks[name], versions) for name, versions in history_of(found).items()],
        "flags": found.flags.select_related("author", "resolved_by").order_by("-id"),
        "versions": found.versions.select_related("actor").order_by("-id"),
        "n_lost_by_joining": _n_lost_by_joining(found),
        "asks": found.asks.select_related("queue__round").order_by("-id"),
    }
    return render_in_project(request, "annotation/sentence.html", project, "data", context)


def _n_lost_by_joining(sentence: Sentence) -> int:
    """Return how often people had the sentence behind, which goes when the two are joined."""
    behind = sentence.corpus.sentences.filter(
        position__gt=sentence.position, is_document=False, document=sentence.document
    ).order_by("position")[:1]
    return Lease.objects.filter(ask__sentence__in=list(behind)).count()


def _change_sentence(request: HttpRequest, project: Project, found: Sentence) -> HttpResponse:
    action = request.POST.get("action", "")
    try:
        if action == "put-back":
            task = get_object_or_404(project.tasks, name=request.POST.get("task", ""))
            versions = history_of(found).get(task.name, [])
            number = request.POST.get("version", "")
            if not number.isdecimal() or int(number[:6]) >= len(versions):
                raise Http404("No such version.")
            value = versions[int(number[:6])].value
            put_back(
                sentence=found, task=task, value=value, decided_by=request.user, now=timezone.now()
            )
            said = f"This version of {task.name} is gold now."
        elif action in CORRECTIONS:
            return _correct(request, project, found, action)
        elif action == "leave-out":
            leave_out(sentence=found, reason=request.POST.get("reason", ""), actor=request.user)
            said = "The sentence is left out: nobody is asked about it again."
        elif action == "take-back":
            take_back(sentence=found, actor=request.user)
            said = "The sentence is in the pool again."
        else:
            raise Http404("No such action.")
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, said)
    return redirect("sentence", project.pk, found.pk)


CORRECTIONS = ("merge", "remove", "replace", "multiword", "insert", "cut", "join", "restore")


def _correct(request: HttpRequest, project: Project, found: Sentence, action: str) -> HttpResponse:
    """Correct words or borders as the form says, and show the sentence with what became of it."""
    chosen = sorted({int(i) for i in request.POST.getlist("word") if i.isdecimal() and len(i) < 7})
    forms = request.POST.get("forms", "").split()
    seen = request.POST.get("tokens", "")
    words = read_json(seen) if seen else None
    if not isinstance(words, list | None):
        raise Refused("The words were corrected meanwhile. Look at the sentence again.")
    known: dict[str, Any] = {
        "sentence": found,
        "seen": words,
        "actor": request.user,
        "now": timezone.now(),
    }
    if action == "join":
        done = join_next(**known)
    elif action == "restore":
        number = request.POST.get("version", "")
        done = restore_version(version=int(number[:15] if number.isdecimal() else 0), **known)
    elif not chosen:
        raise Refused("Choose the words first.")
    elif action == "cut":
        done = cut_sentence(at=chosen[0], **known)
    else:
        start, end = chosen[0], chosen[-1] + 1
        if action != "insert" and len(chosen) < end - start:
            raise Refused("Choose words that stand side by side.")
        if action == "insert":
            start = end
        elif action == "merge":
            forms = [_surface(found, start, end)]
        elif action == "remove":
            forms = []
        if action in ("replace", "multiword", "insert") and not forms:
            raise Refused("Write the words that are to stand there, with spaces between them.")
        is_multiword = action == "multiword"
        done = correct_words(start=start, end=end, forms=forms, is_multiword=is_multiword, **known)
    messages.success(request, f"Corrected. {done.words}")
    return redirect("sentence", project.pk, found.pk)


def _surface(sentence: Sentence, start: int, end: int) -> str:
    """Return the text that some words cover."""
    if end > len(sentence.offsets):
        raise Refused("The words were corrected meanwhile. Look at the sentence again.")
    return sentence.text[sentence.offsets[start][0] : sentence.offsets[end - 1][1]]


@login_required
@require_POST
def remove_corpus(request: HttpRequest, project_id: int, corpus_id: int) -> HttpResponse:
    """Delete a corpus with all that people said about it, after its name was typed."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    corpus = get_object_or_404(project.corpora, pk=corpus_id)
    try:
        if request.POST.get("typed_name", "").strip() != corpus.name:
            raise Refused(f"Type the name of the corpus, {corpus.name}, to delete it.")
        n = delete_corpus(corpus=corpus, actor=request.user)
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"{corpus.name} is deleted, {n:,} sentences with it.")
    return redirect("data", project.pk)


@login_required
@require_POST
def remove_sentence(request: HttpRequest, project_id: int, sentence_id: int) -> HttpResponse:
    """Delete one sentence, or a document's, with all that people said about it."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    found = get_sentence(project, sentence_id)
    try:
        delete_sentences(project=project, ids=[found.pk], actor=request.user)
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("sentence", project.pk, found.pk)
    if found.is_document:
        name = found.document
        messages.success(request, f"{name} is deleted.")
    else:
        messages.success(
            request, f"Sentence {found.position + 1} of {found.corpus.name} is deleted."
        )
    return redirect("data", project.pk)


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
    """Return one answer per task: gold, else one that a person gave."""
    given = {task: next(iter(people.values())) for task, people in answers.annotations.items()}
    return {**given, **answers.gold}


def _by_author(answers: SentenceAnswers) -> dict[str, dict[str, Any]]:
    """Return all answers by who gave them: gold, people by name, suggestions."""
    authors: dict[str, dict[str, Any]] = {"gold": answers.gold}
    for name, given in _by_person(answers.annotations):
        authors[f"by {name}"] = given
    for name, given in _by_person(answers.words):
        authors[f"single words by {name}"] = given
    authors["suggestions"] = answers.suggestions
    return {who: given for who, given in authors.items() if given}


def _by_person(said: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield people by name with what they said of each task."""
    for name in sorted({name for by_name in said.values() for name in by_name}):
        yield name, {task: by_name[name] for task, by_name in said.items() if name in by_name}


def _for_drawing(
    project: Project, sentence: Sentence, answers: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Return what the sentence component draws."""
    words = {"tokens": sentence.tokens, "offsets": sentence.offsets, **inside_of(sentence)}
    below: dict[str, Any] = {}
    if sentence.is_document:  # links stand on the spans of the sentences, whoever gave them
        below = spans_of_documents(project, [sentence.pk]).get(sentence.pk, {})
    answers = {who: {**below, **given} for who, given in answers.items()}
    return {
        "sentence": {**words, "language": sentence.language},
        "tasks": drawn_tasks(project),
        "answers": answers or {"nobody": below},
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


def mark_sentence(
    sentence: Sentence, tasks: Sequence[Task], answers: Mapping[str, Any]
) -> MarkedSentence:
    """Return a sentence with the outermost spans of its first task that has spans marked."""
    answered = [task for task in tasks if task.name in answers]
    of_spans = (task for task in answered if KINDS[task.kind].marks_spans)
    marked = next((task for task in of_spans if answers[task.name]), None)
    spans = answers[marked.name] if marked else []
    colours = {x.name: x.colour for x in marked.labels.all()} if marked else {}
    return MarkedSentence(
        sentence=sentence,
        pieces=_pieces(sentence, _outermost(spans), colours),
        classes=[
            (task.name, label)
            for task in answered
            if KINDS[task.kind].labels_on == "sentence"
            for label in KINDS[task.kind].labels_of(answers[task.name])
        ],
        is_cut=sentence.n_tokens > MAX_TOKENS,
        n_answered=len(answered),
    )


def _outermost(spans: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Return the spans that begin after all before them have ended."""
    kept: list[Sequence[Any]] = []
    for span in sorted(spans, key=lambda s: (s[0], -s[1])):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def _pieces(
    sentence: Sentence, spans: Sequence[Sequence[Any]], colours: Mapping[str, int]
) -> list[Piece]:
    text, offsets = sentence.text, sentence.offsets[:MAX_TOKENS]
    end_of_text = offsets[-1][1] if sentence.n_tokens > MAX_TOKENS else len(text)
    pieces, at = [], 0
    parts = [(*piece, span[-1]) for span in spans for piece in pieces_of(span)]
    for start, end, label in sorted(parts):
        if end > len(offsets):
            break
        if offsets[start][0] < at:
            continue  # inside the words between the pieces of another span
        first, last = offsets[start][0], offsets[end - 1][1]
        pieces.append(Piece(text[at:first]))
        pieces.append(Piece(text[first:last], label, colours.get(label, 0)))
        at = last
    pieces.append(Piece(text[at:end_of_text]))
    return [piece for piece in pieces if piece.text]
