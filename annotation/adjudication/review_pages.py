"""Review: single answers beside the model's, kept, corrected, returned or flagged one by one."""

import json
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.accounts.access import get_project
from annotation.adjudication.pages import for_drawing
from annotation.adjudication.review import (
    SURE,
    ReviewQueue,
    ReviewRow,
    answers_to_review,
    history_of,
    put_back,
    review_answer,
    review_queue,
    review_row,
    review_sums,
    undo_review,
)
from annotation.adjudication.selectors import gold_values
from annotation.errors import Refused
from annotation.models import Annotation, Project, Review, Suggestion
from annotation.queue.history import flag_sentence
from annotation.web.frame import render_in_project
from mtl_engine.kinds import KINDS

N_ROWS = 50
# what to show -> words, least confidence of a contradiction, whether reviewed
SHOWN: dict[str, tuple[str, float | None, bool]] = {
    "": (f"contradicted at {str(SURE)[1:]}0 or more", SURE, False),
    "contradicted": ("contradicted by the model", 0.0, False),
    "all": ("all not reviewed", None, False),
    "reviewed": ("looked at", None, True),
}


class FilterForm(forms.Form):
    """Which answers to walk."""

    task = forms.ChoiceField(required=False)
    person = forms.ChoiceField(required=False)
    round = forms.ChoiceField(required=False)
    label = forms.CharField(
        required=False,
        max_length=120,
        widget=forms.TextInput(
            {"list": "labels", "placeholder": "any label", "autocomplete": "off"}
        ),
    )
    show = forms.ChoiceField(
        required=False, choices=[(name, words) for name, (words, *_) in SHOWN.items()]
    )

    def __init__(self, data: Any, project: Project) -> None:
        super().__init__(data)
        self.project = project
        people = (
            Annotation.objects.filter(sentence__project=project)
            .order_by()
            .values_list("author__username", flat=True)
            .distinct()
        )
        numbers = project.rounds.order_by("-number").values_list("number", flat=True)
        fields: dict[str, Any] = self.fields
        tasks = project.tasks.filter(is_hidden=False).values_list("name", flat=True)
        fields["task"].choices = [("", "all tasks"), *((name, name) for name in tasks)]
        fields["person"].choices = [("", "everybody's"), *((n, n) for n in sorted(people))]
        fields["round"].choices = [("", "any time"), *((str(n), f"round {n}") for n in numbers)]

    @property
    def wanted(self) -> dict[str, str]:
        """Return what was chosen and is known."""
        self.is_valid()
        values = getattr(self, "cleaned_data", {})
        return {name: value for name, value in values.items() if value}

    def queue(self, pair: tuple[str, str] | None) -> ReviewQueue:
        """Return the answers that were asked for."""
        wanted = self.wanted
        _, least, is_reviewed = SHOWN[wanted.get("show", "")]
        answers = answers_to_review(
            self.project,
            task=wanted.get("task", ""),
            person=wanted.get("person", ""),
            label=wanted.get("label", ""),
            round_number=int(wanted["round"]) if "round" in wanted else None,
            is_reviewed=is_reviewed,
        )
        return review_queue(
            answers, label=wanted.get("label", ""), least=least, pair=pair, most=N_ROWS
        )


@login_required
@require_http_methods(["GET", "POST"])
def review(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the next answer to look at, or store what was decided."""
    project = get_project(request.user, project_id)
    if request.method == "POST":
        return _act(request, project)
    form = FilterForm(request.GET, project)
    own, _, model = request.GET.get("pair", "").partition("→")
    pair = (own, model) if model else None
    queue = form.queue(pair)
    wanted = request.GET.get("answer", "")
    rows = queue.rows
    chosen = next((i for i, row in enumerate(rows) if str(row.answer.pk) == wanted), 0)
    row = rows[chosen] if rows else None
    if wanted and (row is None or str(row.answer.pk) != wanted):
        row = review_row(_find(project, wanted))
    sums = review_sums(project)
    asked = {**form.wanted, **({"pair": request.GET["pair"]} if pair else {})}
    context: dict[str, Any] = {
        "form": form,
        "asked": urlencode(asked),
        "without_pair": urlencode(form.wanted),
        "pair": pair,
        "queue": queue,
        "number": chosen + 1,
        "is_walking": bool(wanted),
        "is_filtered": bool(asked),
        "sums": sums,
        "errors": sums.errors_expected(queue.n_contradicted),
        "labels": _label_names(project),
        "has_answers": Annotation.objects.filter(sentence__project=project).exists(),
    }
    if row is not None:
        following = rows[chosen + 1] if chosen + 1 < len(rows) else None
        before = rows[chosen - 1] if chosen else None
        context |= {
            "row": row,
            "following": following.answer.pk if following else "",
            "before": before.answer.pk if before else "",
            **_preview(request, project, row, rows),
        }
    return render_in_project(request, "annotation/review.html", project, "review", context)


def _label_names(project: Project) -> list[str]:
    names = project.tasks.filter(is_hidden=False).values_list("labels__name", flat=True)
    return sorted({name for name in names if name})


def _preview(
    request: HttpRequest, project: Project, row: ReviewRow, rows: list[ReviewRow]
) -> dict[str, Any]:
    """Return one answer to draw beside the model's, with its versions and the tasks around it."""
    answer, task, sentence = row.answer, row.answer.task, row.answer.sentence
    others = list(
        Annotation.objects.filter(sentence=sentence, author=answer.author).select_related("task")
    )
    values = {other.task.name: other.value for other in others}
    models = {
        suggestion.task_id: suggestion
        for suggestion in Suggestion.objects.filter(sentence=sentence).select_related("task")
    }
    gold = gold_values(sentence)
    parents = [parent.name for parent in (task.parent, task.second_parent) if parent]
    under = {parent: gold.get(parent, values.get(parent, [])) for parent in parents}
    drawn = {"answer": {**under, task.name: answer.value}}
    if row.suggestion is not None:
        drawn["model"] = {**under, task.name: row.suggestion.value}
    shown = for_drawing(project, sentence, drawn)
    versions = history_of(sentence).get(task.name, [])
    return {
        "shown": {
            **shown,
            "tasks": [t for t in shown["tasks"] if t["name"] in (*parents, task.name)],
            "suggestions": {
                task.name: {"value": row.suggestion.value, "details": row.suggestion.details}
            }
            if row.suggestion
            else {},
        },
        "is_mirrored": KINDS[task.kind].labels_on == "arcs" and row.differs,
        "versions": versions,
        "others": [
            {
                "answer": other,
                "model": models.get(other.task_id),
                "differs": other.task_id in models
                and KINDS[other.task.kind].canonical(models[other.task_id].value)
                != KINDS[other.task.kind].canonical(other.value),
                "is_gold": other.task.name in gold,
            }
            for other in others
            if other.pk != answer.pk
        ],
        "reviewed": answer.reviews.select_related("reviewer").order_by("-id").first(),
        "is_gold": task.name in gold,
        "review_data": {
            "task": task.name,
            "parents": parents,
            "value": answer.value,
            "given": under,
            "owner": f"{request.user.get_username()}/{project.pk}",
            "versions": [version.value for version in versions],
            "rows": [_row_data(other) for other in rows],
        },
    }


def _row_data(row: ReviewRow) -> dict[str, Any]:
    """Return where an answer and the model part, for the list to say it in words."""
    return {
        "task": row.answer.task.name,
        "kind": row.answer.task.kind,
        "tokens": row.answer.sentence.tokens,
        "value": row.answer.value,
        "answer": row.only_answer,
        "model": row.only_model,
    }


def _act(request: HttpRequest, project: Project) -> HttpResponse:
    query = request.GET.copy()
    try:
        said, following = _done(request, project)
    except Refused as refusal:
        messages.error(request, str(refusal))
        following = request.POST.get("answer", "")
    else:
        messages.success(request, said)
    query["answer"] = following
    if not following:
        del query["answer"]
    return redirect(f"{reverse('review', args=[project.pk])}?{query.urlencode()}")


def _done(request: HttpRequest, project: Project) -> tuple[str, str]:
    """Do what was asked for; return it in words, and the answer to look at then."""
    action, now = request.POST.get("action", ""), timezone.now()
    if action == "undo":
        undone = undo_review(project=project, reviewer=request.user)
        return "Undone.", str(undone.annotation_id)
    answer = _find(project, request.POST.get("answer", ""))
    person = answer.author.get_username()
    here, following = str(answer.pk), request.POST.get("following", "")
    remark = request.POST.get("remark", "").strip()
    if action == "flag":
        if not remark:
            raise Refused("Say what the flag is about.")
        flag_sentence(sentence=answer.sentence, author=request.user, comment=remark, now=now)
        return "Flagged: it waits in the inbox.", following or here
    if action == "put-back":
        _put_back(request, answer)
        return "The earlier version is gold now.", here
    decision, gold = {
        "keep": (Review.Decision.KEPT, None),
        "model": (Review.Decision.CORRECTED, _model_value(answer)),
        "correct": (Review.Decision.CORRECTED, _read(request.POST.get("gold", ""))),
        "return": (Review.Decision.RETURNED, None),
    }.get(action, (None, None))
    if decision is None:
        raise Http404("No such action.")
    review_answer(
        answer=answer, decision=decision, reviewer=request.user, now=now, remark=remark, gold=gold
    )
    return {
        "keep": f"Kept: the answer of {person} is gold.",
        "model": f"The model's answer is gold; that of {person} is kept as it was.",
        "correct": f"Your correction is gold; the answer of {person} is kept as it was.",
        "return": f"{person} is asked to look again, with your remark.",
    }[action], following


def _put_back(request: HttpRequest, answer: Annotation) -> None:
    versions = history_of(answer.sentence).get(answer.task.name, [])
    number = request.POST.get("version", "")
    if not number.isdecimal() or int(number[:6]) >= len(versions):
        raise Http404("No such version.")
    put_back(
        sentence=answer.sentence,
        task=answer.task,
        value=versions[int(number[:6])].value,
        decided_by=request.user,
        now=timezone.now(),
    )


def _model_value(answer: Annotation) -> Any:
    found = Suggestion.objects.filter(sentence=answer.sentence_id, task=answer.task_id).first()
    return found.value if found else None


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


def _find(project: Project, number: str) -> Annotation:
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise Http404("No such answer.")
    found = answers_to_review(project, is_reviewed=None).filter(pk=int(number)).first()
    if found is None:
        raise Http404("No such answer.")
    return found
