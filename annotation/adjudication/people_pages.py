"""The page of the people of a project: pace, agreement, checks, what is whose, and how much."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.validators import MaxLengthValidator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods, require_POST

from annotation.accounts.access import get_project, members_of
from annotation.accounts.services import set_quota
from annotation.adjudication.people import stored_people
from annotation.errors import Refused
from annotation.jobs.insights import known_insight
from annotation.models import Project, Role, Sentence, WorkGroup
from annotation.queue.checks import known_sentences
from annotation.queue.groups import (
    delete_group,
    find_group,
    group_rows,
    languages_of,
    save_group,
)
from annotation.templatetags.humanise import as_share
from annotation.web.errors import show_refusal
from annotation.web.frame import render_in_project

WIDTH, HEIGHT = 120, 28  # of a small curve
NEARLY_ALL, FEWEST_SHOWN = 0.9, 20  # suggestions that are taken, of so many shown
MOST_CHARACTERS = 50_000  # of the names of documents, one per line
LONGEST_DOCUMENT = 200  # characters of such a name


class GroupForm(forms.Form):
    """Who is in a group and what is theirs."""

    name = forms.CharField(max_length=60)
    people = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)
    tasks = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    corpora = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    languages = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    documents = forms.CharField(
        required=False,
        max_length=MOST_CHARACTERS,
        widget=forms.Textarea({"rows": 3}),
        help_text="One name per line. Leave it empty for all.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [member.user.get_username() for member in members_of(project)]
        choices: dict[str, list[str]] = {
            "people": names,
            "tasks": list(project.tasks.filter(is_hidden=False).values_list("name", flat=True)),
            "corpora": list(project.corpora.order_by("name").values_list("name", flat=True)),
            "languages": languages_of(project),
        }
        for name, known in choices.items():
            self.fields[name].choices = [(one, one) for one in known]  # type: ignore[attr-defined]
        if len(choices["languages"]) < 2:
            del self.fields["languages"]
        if not Sentence.objects.filter(project=project).exclude(document="").exists():
            del self.fields["documents"]

    def clean_documents(self) -> list[str]:
        """Return the names of the documents."""
        lines: list[str] = self.cleaned_data["documents"].splitlines()
        names = [line.strip() for line in lines if line.strip()]
        for name in names:
            MaxLengthValidator(LONGEST_DOCUMENT)(name)
        return names


@login_required
@require_http_methods(["GET", "POST"])
def team(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the people at work, or make a group."""
    project = get_project(request.user, project_id)
    form = GroupForm(request.POST or None, project=project)
    if request.method == "POST":
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        if form.is_valid() and _is_saved(request, project, form, None):
            return redirect("team", project.pk)
    return _page(request, project, form)


@login_required
@require_http_methods(["GET", "POST"])
def group(request: HttpRequest, project_id: int, group_id: int) -> HttpResponse:
    """Show a group to be changed, change it, or end it."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    found = find_group(project, group_id)
    if "end" in request.POST:
        delete_group(group=found, actor=request.user)
        messages.success(request, f"The group {found} has ended; its work is everybody's again.")
        return redirect("team", project.pk)
    row = next(row for row in group_rows(project) if row["id"] == found.pk)
    initial = {**row, "documents": "\n".join(row["documents"])}
    form = GroupForm(request.POST or None, initial=initial, project=project)
    if request.method == "POST" and form.is_valid() and _is_saved(request, project, form, found):
        return redirect("team", project.pk)
    return _page(request, project, form, found)


@login_required
@require_POST
def quota(request: HttpRequest, project_id: int, membership_id: int) -> HttpResponse:
    """Let a member answer so many sentences of a round and no more."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    membership = get_object_or_404(members_of(project), pk=membership_id)
    text = request.POST.get("quota", "").strip()
    if text and not (text.isascii() and text.isdecimal() and len(text) < 7):
        messages.error(request, f"'{text[:20]}' is not a number of sentences. Empty: no limit.")
        return redirect("team", project.pk)
    set_quota(membership=membership, quota=int(text) if text else None, actor=request.user)
    words = f"at most {int(text):,} sentences of a round" if text else "as many as there are"
    messages.success(request, f"{membership.user.get_username()} answers {words}.")
    return redirect("team", project.pk)


def _is_saved(
    request: HttpRequest, project: Project, form: GroupForm, found: WorkGroup | None
) -> bool:
    try:
        saved = save_group(project=project, group=found, actor=request.user, **form.cleaned_data)
    except Refused as refusal:
        show_refusal(form, refusal)
        return False
    messages.success(request, f"The group {saved} is saved; what is asked now is divided anew.")
    return True


def _page(
    request: HttpRequest, project: Project, form: GroupForm, found: WorkGroup | None = None
) -> HttpResponse:
    report = stored_people(project)
    context = {
        "rows": _rows(project, report),
        "tasks": report["tasks"],
        "known": known_insight(project, "people"),
        "groups": group_rows(project),
        "form": form,
        "group": found,
        "n_known": known_sentences(project).count() if project.check_share else None,
        "has_weights": bool(report["weights"]),
    }
    status = 400 if form.errors else 200
    template = "annotation/team.html"
    return render_in_project(request, template, project, "team", context, status=status)


def _rows(project: Project, report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return everybody: members, and those who left answers behind."""
    known = {row["id"]: row for row in report["people"]}
    rows = []
    for member in members_of(project):
        row = known.pop(member.user_id, {"name": member.user.get_username(), "n": 0})
        rows.append({**_shown(row), "member": member})
    rows += [{**_shown(row), "member": None} for row in known.values()]
    return sorted(rows, key=lambda row: -row["n"])


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    if not row["n"]:
        return row
    weeks = row["agreement_weeks"]
    takes_all = row["n_suggestions"] >= FEWEST_SHOWN and row["accepted"] >= NEARLY_ALL
    return {
        **row,
        "last_at": parse_datetime(row["last_at"]),
        "takes_all": takes_all,
        "pace": _curve([week[2] for week in row["weeks"]], "seconds"),
        "with_others": _curve([week[1] for week in weeks["others"]], "agreement", top=1.0),
        "with_gold": _curve(
            [week[1] for week in weeks["checks"] or weeks["decided"]], "agreement", top=1.0
        ),
        "first_week": row["weeks"][0][0] if row["weeks"] else "",
        "votes": sorted(row["votes"].items()),
    }


def _curve(values: Sequence[float | None], what: str, *, top: float = 0.0) -> dict[str, Any] | None:
    """Return a small curve over weeks as points of an SVG, and in words."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return None
    top = top or max(known) * 1.1 or 1.0
    low = min(0.5, min(known)) if what == "agreement" else 0.0
    step = WIDTH / (len(known) - 1)
    points = [
        (round(i * step, 1), round(HEIGHT - (value - low) / (top - low) * (HEIGHT - 4) - 2, 1))
        for i, value in enumerate(known)
    ]
    unit = " s" if what == "seconds" else ""
    first, last = (f"{v:.0f}{unit}" if unit else as_share(v) for v in (known[0], known[-1]))
    return {
        "points": " ".join(f"{x},{y}" for x, y in points),
        "last": points[-1],
        "words": f"from {first} to {last} in {len(known)} weeks",
    }
