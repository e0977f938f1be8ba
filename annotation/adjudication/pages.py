"""Adjudicating: the sentence on which people differ most, answers side by side, gold decided."""

import json
from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.api.adjudication import find_sentence
from annotation.errors import Refused
from annotation.models import Project, Sentence
from annotation.pages.frame import render_in_project
from annotation.selectors.access import get_project
from annotation.selectors.adjudication import (
    TaskCase,
    adjudication_case,
    disputes,
    gold_values,
    has_pairs,
)
from annotation.selectors.project_view import describe_project
from annotation.services.adjudicating import decide, settle_agreed


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
    settle_agreed(project=project, now=timezone.now())
    found = disputes(project)
    wanted = request.GET.get("sentence", "")
    sentence_id = _number(wanted) if wanted else (found[0].sentence_id if found else None)
    if posted:
        sentence_id = _number(request.POST["sentence"])
    context: dict[str, Any] = {"n_left": len(found), "queue": [d.sentence_id for d in found[:50]]}
    if sentence_id is not None:
        sentence = find_sentence(project, sentence_id)
        context |= _case_context(project, sentence, is_again=bool(wanted))
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
        answers = json.loads(request.POST.get("answers", ""))
    except json.JSONDecodeError:
        answers = None
    if not isinstance(answers, dict) or not answers:
        messages.error(request, "Decide at least one task.")
        return redirect(f"{request.path}?sentence={sentence.pk}")
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
    messages.success(request, f"{', '.join(answers)} of sentence {sentence.position + 1} is gold.")
    return redirect("adjudicate", project.pk)


def _number(text: str) -> int:
    """Return the id of a sentence in a request; there is none with another text."""
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Http404("No such sentence.")
    return int(text)


def _case_context(project: Project, sentence: Sentence, *, is_again: bool) -> dict[str, Any]:
    """Return a sentence and its cases; those with gold are open only to be decided again."""
    cases = adjudication_case(project, sentence)
    people = sorted({person for case in cases for person in case.answers})
    described = describe_project(project)
    answers: dict[str, dict[str, Any]] = {person: {} for person in people}
    for case in cases:
        for person, value in case.answers.items():
            answers[person][case.task] = value
    shown = {
        "sentence": {
            "tokens": sentence.tokens,
            "offsets": sentence.offsets,
            "language": project.language,
        },
        "tasks": described["tasks"],
        "answers": answers,
    }
    parents = {task["name"]: task["parent"] for task in described["tasks"]}
    return {
        "sentence": sentence,
        "cases": [_shown_case(case, parents[case.task], is_again=is_again) for case in cases],
        "shown": shown,
        "decisions": {
            "gold": gold_values(sentence),
            "cases": [asdict(case) for case in cases if _is_open(case, is_again=is_again)],
        },
    }


def _is_open(case: TaskCase, *, is_again: bool) -> bool:
    return bool(case.differences) and (is_again or not case.gold_source)


def _shown_case(case: TaskCase, parent: str | None, *, is_again: bool) -> dict[str, Any]:
    """Return a case to show; relations stand on the spans of their parent."""
    return {
        **asdict(case),
        "is_open": _is_open(case, is_again=is_again),
        "n_differences": _n_decisions(case),
        "people": list(case.answers),
        "tasks": [parent, case.task] if parent else [case.task],
        "is_mirrored": case.kind == "tree" and len(case.answers) == 2,
    }


def _n_decisions(case: TaskCase) -> int:
    """Return how often one has to choose: once a word where a word has one answer, once a class."""
    if case.kind == "classes":
        return min(1, len(case.differences))
    if case.kind in ("tree", "tags"):
        return len({difference.item[0] for difference in case.differences})
    return len(case.differences)
