"""Adjudicating: the sentence on which people differ most, answers side by side, gold decided."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from annotation.accounts.access import get_project
from annotation.adjudication.final import spans_of_documents
from annotation.adjudication.selectors import (
    Decision,
    Dispute,
    TaskCase,
    adjudication_case,
    decisions,
    disputes,
    find_sentence,
    gold_values,
    has_pairs,
    shown_cases,
    stored_agreement,
    texts_of,
)
from annotation.adjudication.services import decide, settle_agreed, settle_by_votes
from annotation.errors import InvalidInput, Refused
from annotation.models import Project, Role, Sentence
from annotation.projects.documents import inside_of
from annotation.projects.selectors import drawn_tasks
from annotation.web.frame import render_in_project
from annotation.web.security import read_json
from mtl_engine.kinds import KINDS

LISTED = 40  # sentences of the list beside the one that is open

MEASURE_WORDS = {
    "accuracy": "identical answers",
    "kappa": "Cohen's kappa",
    "fleiss": "Fleiss' kappa",
    "alpha": "Krippendorff's alpha",
    "f1": "F1, exact",
    "partial_f1": "F1, overlapping",
    "uas": "the same head",
    "las": "the same head and label",
}


@login_required
@require_http_methods(["GET", "POST"])
def adjudicate(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the next sentence to decide, or store what was decided."""
    project = get_project(request.user, project_id)
    if request.method == "POST":
        return _store(request, project)
    return _show(request, project)


@dataclass(frozen=True)
class Filter:
    """Which sentences a curator walks."""

    task: str = ""
    corpus: str = ""
    is_decided: bool = False

    @classmethod
    def of(cls, request: HttpRequest, project: Project) -> "Filter":
        """Return the filter of an address; names that are not there filter nothing."""
        task, corpus = request.GET.get("task", ""), request.GET.get("corpus", "")
        return cls(
            task if project.tasks.filter(name=task).exists() else "",
            corpus if project.corpora.filter(name=corpus).exists() else "",
            request.GET.get("show") == "decided",
        )

    def address(self, sentence_id: int | None = None) -> str:
        """Return the query of a page with this filter, of one sentence where there is one."""
        values = {"task": self.task, "corpus": self.corpus, "sentence": sentence_id or ""}
        if self.is_decided:
            values["show"] = "decided"
        return f"?{urlencode({key: value for key, value in values.items() if value})}"


def _show(
    request: HttpRequest, project: Project, *, posted: dict[str, Any] | None = None
) -> HttpResponse:
    """Show a sentence to decide and those around it; what was refused is there again."""
    chosen = Filter.of(request, project)
    open_ones = disputes(project, task=chosen.task, corpus=chosen.corpus)
    decided = decisions(project, task=chosen.task, corpus=chosen.corpus)
    walked = [d.sentence_id for d in (decided if chosen.is_decided else open_ones)]
    wanted = request.GET.get("sentence", "")
    sentence_id = _number(wanted) if wanted else next(iter(walked), None)
    if posted:
        sentence_id = _number(request.POST["sentence"])
    context: dict[str, Any] = {
        "n_left": len(open_ones),
        "n_decided": len(decided),
        "filter": chosen,
        "tasks": project.tasks.filter(is_hidden=False),
        "corpora": project.corpora.order_by("name"),
        "rows": _listed(chosen, decided if chosen.is_decided else open_ones, sentence_id),
        "n_more": max(0, len(walked) - LISTED),
        "skip": _neighbour(chosen, walked, sentence_id),
        "last": _last_decided(chosen, decided, request.user.get_username(), sentence_id),
    }
    if sentence_id is not None:
        sentence = find_sentence(project, sentence_id)
        context |= _case_context(
            project, sentence, is_again=bool(wanted), is_whole="edit" in request.GET
        )
        context["decisions"] |= {
            "posted": posted or {},
            "owner": f"{request.user.get_username()}/{project.pk}",
        }
        if all(sentence_id != d.sentence_id for d in open_ones):  # else another task is open yet
            context["decision"] = next((d for d in decided if d.sentence_id == sentence_id), None)
    else:
        context["has_pairs"] = has_pairs(project)
    return render_in_project(
        request,
        "annotation/adjudicate.html",
        project,
        "adjudicate",
        context,
        status=400 if posted else 200,
    )


def _listed(
    chosen: Filter, rows: Sequence[Dispute | Decision], current: int | None
) -> list[dict[str, Any]]:
    """Return the rows of the list around the sentence that is open."""
    at = next((i for i, row in enumerate(rows) if row.sentence_id == current), 0)
    first = max(0, min(at - LISTED // 2, len(rows) - LISTED))
    shown = rows[first : first + LISTED]
    texts = texts_of([row.sentence_id for row in shown])
    return [
        {
            "row": row,
            "text": texts.get(row.sentence_id, ""),
            "href": chosen.address(row.sentence_id),
            "is_current": row.sentence_id == current,
        }
        for row in shown
    ]


def _neighbour(chosen: Filter, walked: Sequence[int], current: int | None) -> str:
    """Return the address of the sentence after this one, the first one again at the end."""
    others = [pk for pk in walked if pk != current]
    if not others or current is None:
        return ""
    after = walked[walked.index(current) + 1 :] if current in walked else walked
    return chosen.address(after[0] if after else others[0])


def _last_decided(
    chosen: Filter, decided: Sequence[Decision], name: str, current: int | None
) -> str:
    """Return the address of what the person decided before this, to look at it again."""
    own = [d.sentence_id for d in decided if d.decided_by == name]
    after = own[own.index(current) + 1 :] if current in own else own
    return chosen.address(after[0]) if after else ""


def _store(request: HttpRequest, project: Project) -> HttpResponse:
    chosen = Filter.of(request, project)
    if "majority" in request.POST:
        return _settle(request, project, chosen)
    sentence = find_sentence(project, _number(request.POST.get("sentence", "")))
    here = f"{request.path}{chosen.address(sentence.pk)}"
    try:
        answers = read_json(request.POST.get("answers", ""))
    except InvalidInput as refusal:
        messages.error(request, str(refusal))
        return redirect(here)
    if not isinstance(answers, dict) or not answers:
        messages.error(request, "Decide at least one task.")
        return redirect(here)
    settle_agreed(project=project, now=timezone.now())  # links hang on spans that people agree on
    walked = [d.sentence_id for d in disputes(project, task=chosen.task, corpus=chosen.corpus)]
    try:
        decide(
            project=project,
            sentence=sentence,
            answers=answers,
            decided_by=request.user,
            now=timezone.now(),
        )
    except Refused as refusal:
        messages.error(request, str(refusal))
        return _show(request, project, posted=answers)
    verb = "is" if len(answers) == 1 else "are"
    words = f"{', '.join(answers)} of {sentence.title} {verb} gold."
    messages.success(request, words + _whose(project, sentence, answers))
    if "edit" in request.GET:
        return redirect("sentence", project.pk, sentence.pk)
    next_one = _neighbour(replace(chosen, is_decided=False), walked, sentence.pk)
    return redirect(f"{request.path}{next_one}" if next_one else request.path)


def _settle(request: HttpRequest, project: Project, chosen: Filter) -> HttpResponse:
    settle_agreed(project=project, now=timezone.now())
    n_settled = settle_by_votes(
        project=project,
        decided_by=request.user,
        now=timezone.now(),
        task=chosen.task,
        corpus=chosen.corpus,
    )
    answers = "1 answer is" if n_settled == 1 else f"{n_settled:,} answers are"
    left = len(disputes(project, task=chosen.task, corpus=chosen.corpus))
    messages.success(request, f"{answers} gold by majority; {left:,} left to decide.")
    return redirect(f"{request.path}{chosen.address()}")


def _whose(project: Project, sentence: Sentence, answers: Mapping[str, Any]) -> str:
    """Return who had given the answers that were decided for; told only afterwards."""
    if not project.hides_names:
        return ""
    cases = [case for case in adjudication_case(project, sentence) if case.task in answers]
    agreed = sorted(
        {p for case in cases for p, value in case.answers.items() if value == answers[case.task]}
    )
    return f" That is what {' and '.join(agreed)} had answered." if agreed else ""


def for_drawing(
    project: Project, sentence: Sentence, answers: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Return what the sentence component draws: answers by who gave them and by task."""
    return {
        "sentence": {
            "tokens": sentence.tokens,
            "offsets": sentence.offsets,
            "language": sentence.language,
            **inside_of(sentence),
        },
        "tasks": drawn_tasks(project),
        "answers": answers,
    }


def _number(text: str) -> int:
    """Return the id of a sentence in a request; there is none with another text."""
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Http404("No such sentence.")
    return int(text)


def _case_context(
    project: Project, sentence: Sentence, *, is_again: bool, is_whole: bool
) -> dict[str, Any]:
    """Return a sentence and its cases; those with gold are open only to be decided again.

    Of a whole sentence every task can be edited, whether or not people differ.
    """
    cases, is_blind = shown_cases(project, sentence, is_whole=is_whole)
    people = sorted({person for case in cases for person in case.answers})
    answers: dict[str, dict[str, Any]] = {person: {} for person in people}
    for case in cases:
        for person, value in case.answers.items():
            answers[person][case.task] = value
    if sentence.is_document:  # links stand on the same spans, whoever gave them
        below = spans_of_documents(project, [sentence.pk]).get(sentence.pk, {})
        answers = {person: {**below, **own} for person, own in answers.items()}
    shown = for_drawing(project, sentence, answers)
    parents = {
        task["name"]: [task[key] for key in ("parent", "second_parent") if task[key]]
        for task in shown["tasks"]
    }
    return {
        "sentence": sentence,
        "is_whole": is_whole,
        "is_blind": is_blind,
        "cases": [
            _shown_case(
                case, parents[case.task], is_open=is_whole or _is_open(case, is_again=is_again)
            )
            for case in cases
        ],
        "shown": shown,
        "decisions": {
            "gold": {**_agreed(cases), **gold_values(sentence)},
            "cases": [
                _editable(case, sentence)
                for case in cases
                if is_whole or _is_open(case, is_again=is_again)
            ],
        },
    }


def _agreed(cases: Sequence[TaskCase]) -> dict[str, Any]:
    """Return what people agree on, by task: it is gold as soon as anything here is decided."""
    return {
        case.task: next(iter(case.answers.values()))
        for case in cases
        if len(case.answers) >= 2 and not case.differences
    }


def _is_open(case: TaskCase, *, is_again: bool) -> bool:
    return bool(case.differences) and (is_again or not case.gold_source)


def _editable(case: TaskCase, sentence: Sentence) -> dict[str, Any]:
    """Return a case for the editor; it starts from the model where nobody answered."""
    start = case.gold
    if start is None and not case.answers:
        start = case.suggestion
        if start is None:
            start = KINDS[case.kind].blank(sentence.n_tokens)
    return {**asdict(case), "gold": start}


def _shown_case(case: TaskCase, parents: Sequence[str], *, is_open: bool) -> dict[str, Any]:
    """Return a case to show; links stand on the spans of their parents."""
    kind = KINDS[case.kind]
    return {
        **asdict(case),
        "is_open": is_open,
        "n_differences": _n_decisions(case),
        "people": list(case.answers),
        "tasks": [*parents, case.task],
        "is_drawn": kind.labels_on != "sentence",
        "is_mirrored": kind.labels_on == "arcs" and len(case.answers) == 2,
    }


def _n_decisions(case: TaskCase) -> int:
    """Return how often one has to choose: per word where each has one answer, once per class."""
    unit = KINDS[case.kind].unit
    if unit == "sentence":
        return min(1, len(case.differences))
    if unit == "token":
        return len({difference.item[0] for difference in case.differences})
    return len(case.differences)


@login_required
@require_GET
def agreement(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show agreement over all people, per pair and per label, with intervals, as it is stored."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    stored = stored_agreement(project)
    found = [
        {
            "task": name,
            "report": report,
            "scores": [(_measure_words(key), score) for key, score in report["scores"].items()],
            "columns": [_measure_words(key) for key in report["pairs"][0]["scores"]]
            if report["pairs"]
            else [],
            "labels": sorted(report["labels"].items(), key=lambda item: item[1]["value"] or 0.0),
        }
        for name, report in stored["tasks"].items()
    ]
    bias = [(row, _measure_words(row["measure"])) for row in stored["bias"]]
    sources = [(row, _measure_words(row["measure"])) for row in stored["sources"]]
    context = {"found": found, "bias": bias, "sources": sources}
    return render_in_project(request, "annotation/agreement.html", project, "adjudicate", context)


def _measure_words(measure: str) -> str:
    """Return what people read of a measure of agreement; a kind may have one of its own."""
    return MEASURE_WORDS.get(measure) or measure.replace("_", " ")
