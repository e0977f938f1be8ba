"""Adjudicating: the sentence on which people differ most, answers side by side, gold decided."""

from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from annotation.accounts.access import get_project
from annotation.adjudication.selectors import (
    TaskCase,
    adjudication_case,
    disputes,
    find_sentence,
    gold_values,
    has_pairs,
    project_agreement,
)
from annotation.adjudication.services import decide, settle_agreed
from annotation.adjudication.suggestion_bias import measure_sources, suggestion_bias
from annotation.errors import InvalidInput, Refused
from annotation.models import Project, Role, Sentence
from annotation.projects.selectors import drawn_tasks
from annotation.web.frame import render_in_project
from annotation.web.unstorable_text import read_json
from mtl_engine.kinds import KINDS

MEASURE_WORDS = {
    "accuracy": "the same answer",
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


def _show(
    request: HttpRequest, project: Project, *, posted: dict[str, Any] | None = None
) -> HttpResponse:
    """Show a sentence to decide; what was posted and refused is there again."""
    found = disputes(project)
    wanted = request.GET.get("sentence", "")
    sentence_id = _number(wanted) if wanted else (found[0].sentence_id if found else None)
    if posted:
        sentence_id = _number(request.POST["sentence"])
    context: dict[str, Any] = {"n_left": len(found), "queue": [d.sentence_id for d in found[:50]]}
    if sentence_id is not None:
        sentence = find_sentence(project, sentence_id)
        context |= _case_context(
            project, sentence, is_again=bool(wanted), is_whole="edit" in request.GET
        )
        context["decisions"] |= {
            "posted": posted or {},
            "owner": f"{request.user.get_username()}/{project.pk}",
        }
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


def _store(request: HttpRequest, project: Project) -> HttpResponse:
    sentence = find_sentence(project, _number(request.POST.get("sentence", "")))
    try:
        answers = read_json(request.POST.get("answers", ""))
    except InvalidInput as refusal:
        messages.error(request, str(refusal))
        return redirect(f"{request.path}?sentence={sentence.pk}")
    if not isinstance(answers, dict) or not answers:
        messages.error(request, "Decide at least one task.")
        return redirect(f"{request.path}?sentence={sentence.pk}")
    settle_agreed(project=project, now=timezone.now())  # links hang on spans that people agree on
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
    messages.success(request, f"{', '.join(answers)} of {sentence.title} is gold.")
    if "edit" in request.GET:
        return redirect("sentence", project.pk, sentence.pk)
    return redirect("adjudicate", project.pk)


def for_drawing(
    project: Project, sentence: Sentence, answers: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Return what the sentence component draws: answers by who gave them and by task."""
    return {
        "sentence": {
            "tokens": sentence.tokens,
            "offsets": sentence.offsets,
            "language": project.language,
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
    cases = adjudication_case(project, sentence, is_whole=is_whole)
    people = sorted({person for case in cases for person in case.answers})
    answers: dict[str, dict[str, Any]] = {person: {} for person in people}
    for case in cases:
        for person, value in case.answers.items():
            answers[person][case.task] = value
    shown = for_drawing(project, sentence, answers)
    parents = {task["name"]: task["parent"] for task in shown["tasks"]}
    return {
        "sentence": sentence,
        "is_whole": is_whole,
        "cases": [
            _shown_case(
                case, parents[case.task], is_open=is_whole or _is_open(case, is_again=is_again)
            )
            for case in cases
        ],
        "shown": shown,
        "decisions": {
            "gold": gold_values(sentence),
            "cases": [
                _editable(case, sentence)
                for case in cases
                if is_whole or _is_open(case, is_again=is_again)
            ],
        },
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


def _shown_case(case: TaskCase, parent: str | None, *, is_open: bool) -> dict[str, Any]:
    """Return a case to show; links stand on the spans of their parent."""
    kind = KINDS[case.kind]
    return {
        **asdict(case),
        "is_open": is_open,
        "n_differences": _n_decisions(case),
        "people": list(case.answers),
        "tasks": [parent, case.task] if parent else [case.task],
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
    """Show agreement over all people, per pair and per label, with intervals."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    found = [
        {
            "task": name,
            "report": report,
            "scores": [(MEASURE_WORDS[key], score) for key, score in report.scores.items()],
            "columns": [MEASURE_WORDS[key] for key in report.pairs[0].scores]
            if report.pairs
            else [],
            "labels": sorted(report.labels.items(), key=lambda item: item[1].value or 0.0),
        }
        for name, report in project_agreement(project).items()
    ]
    bias = [(row, MEASURE_WORDS[row.measure]) for row in suggestion_bias(project)]
    sources = [(row, MEASURE_WORDS[row.measure]) for row in measure_sources(project)]
    context = {"found": found, "bias": bias, "sources": sources}
    return render_in_project(request, "annotation/agreement.html", project, "adjudicate", context)
