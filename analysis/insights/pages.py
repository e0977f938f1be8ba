"""Pages of the insights: they show what is stored, its age, and a button to compute it again."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from analysis.insights.advice import effect_rows, shown_tasks, what_to_do
from analysis.insights.models import Repair
from analysis.insights.proposals import apply_proposal
from analysis.insights.quote.estimate import Wish, quoted
from analysis.insights.quote.kept import (
    HELD,
    WAITS,
    judged_quotes,
    keep_quote,
    make_plan,
    planned_changes,
)
from analysis.insights.quote.words import (
    as_text,
    change,
    change_ends,
    day,
    duration,
    money,
    needed,
    span,
    summary,
)
from analysis.insights.suspects import answer_of, decide_suspect, open_suspects, repair_counts
from analysis.insights.working_styles import shown_mixtures, shown_styles
from annotation.accounts.access import get_project
from annotation.errors import InvalidInput, NotFound, Problem, Refused
from annotation.jobs.insights import get_insight, known_insight, start_insight, stored_result
from annotation.jobs.services import RESEARCH, alive_workers
from annotation.models import Project, Role
from annotation.web.frame import render_in_project

N_SUSPECTS = 30  # shown at a time
DECIDED = {
    "kept": "Kept: the answer is gold.",
    "repaired": "Repaired: what was expected is gold; people's answers are kept as they were.",
    "asked": "It is asked again, at the end of the queue.",
}


@login_required
@never_cache
@require_GET
def advice(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show which tasks help or hurt which, and the order of tasks that rounds have taught."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    known = known_insight(project, "advice")
    result = known.stored.result if known.stored else None
    context: dict[str, Any] = {
        "known": known,
        "todo": what_to_do(result) if result else None,
        "tasks": shown_tasks(result) if result else [],
        "rows": effect_rows(result) if result else [],
        "policy": known_insight(project, "policy"),
        "is_worker_alive": bool(alive_workers(timezone.now(), RESEARCH)),
        "has_tasks": project.tasks.count() > 1,
    }
    return render_in_project(request, "analysis/advice.html", project, "rounds", context)


@login_required
@never_cache
@require_GET
def working_styles(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the styles of a project's work, where its owners have switched that on."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    known = known_insight(project, "working_styles")
    result = known.stored.result if known.stored else {}
    found = result.get("found")
    context: dict[str, Any] = {
        "part": "working_styles",
        "is_off": not project.shows_working_styles,
        "known": known,
        "is_worker_alive": bool(alive_workers(timezone.now(), RESEARCH)),
        "reason": result.get("reason", ""),
    }
    if found:
        context |= {
            "styles": shown_styles(found),
            "annotators": shown_mixtures(found["annotators"]),
            "periods": shown_mixtures(found["periods"]),
            "notes": found["notes"],
        }
    return render_in_project(request, "analysis/working_styles.html", project, "settings", context)


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def suspects(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the answers that may be wrong, or store what was decided about one."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    if request.method == "POST":
        return _decide_suspect(request, project)
    rows = open_suspects(project)
    context = {
        "known": known_insight(project, "suspects"),
        "rows": [_drawn_suspect(row) for row in rows[:N_SUSPECTS]],
        "n_open": len(rows),
        "counts": repair_counts(project),
        "is_worker_alive": bool(alive_workers(timezone.now())),
    }
    return render_in_project(request, "analysis/suspects.html", project, "review", context)


def _decide_suspect(request: HttpRequest, project: Project) -> HttpResponse:
    number, name = request.POST.get("number", ""), request.POST.get("decision", "")
    if name not in Repair.Decision.values or not number.isdecimal() or len(number) > 6:
        raise Http404("No such decision.")
    try:
        decide_suspect(
            project=project,
            number=int(number),
            decision=Repair.Decision(name),
            person=request.user,
            now=timezone.now(),
        )
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, DECIDED[name])
    return redirect("suspects", project.pk)


def _drawn_suspect(row: dict[str, Any]) -> dict[str, Any]:
    """Return a suspect with its sentence in three parts: before, at and behind the item."""
    tokens, item = row["tokens"], row["given"] or row["expected"] or []
    places = [place for place in item[:-1] if isinstance(place, int)]
    start, end = (0, 0) if not places else (places[0], places[0] + 1)
    if len(places) in (2, 4) and not row["is_arc"]:
        start, end = places[0], places[1]
    answer = answer_of(row)
    return {
        **row,
        "before": " ".join(tokens[:start]),
        "marked": " ".join(tokens[start:end]),
        "after": " ".join(tokens[end:]),
        "answer": answer.pk if answer else None,
    }


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def quote(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show what the targets will cost; keep it, or make what was changed the plan."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    action = request.POST.get("do", "show")
    wish, problem = Wish(), ""
    facts = stored_result(project, "quote")
    found: dict[str, Any] | None = None
    if facts is not None:
        try:
            wish = _read_wish(request, project, facts)
            found = quoted(project, facts, wish, today=timezone.localdate())
            if request.method == "POST" and action in ("keep", "plan"):
                return _store_quote(request, project, found, wish, action)
        except Refused as refusal:
            problem = str(refusal)
            wish = Wish()
            found = quoted(project, facts, wish, today=timezone.localdate())
    context = {"problem": problem, **(_quote_context(project, found, wish) if found else {})}
    status = 400 if problem else 200
    return render_in_project(
        request, "analysis/quote.html", project, "quote", context, status=status
    )


def _read_wish(request: HttpRequest, project: Project, facts: Mapping[str, Any]) -> Wish:
    """Return what differs from the project in a posted form."""
    if request.method == "GET":
        return Wish()
    targets = {}
    for task in project.tasks.filter(is_hidden=False):
        text = request.POST.get(f"target-{task.pk}")
        if text is not None:
            value = _number(text, f"The target of {task.name}") if text.strip() else None
            if value != task.target_score:
                targets[task.name] = value
    text = request.POST.get("hours", "").strip()
    hours = _number(text, "The hours per week") if text else None
    usual = project.weekly_hours or facts["weekly_hours"]
    if hours is not None and abs(hours - usual) < 0.06:  # as the page has shown it
        hours = None
    shown = request.POST.get("deadline")
    return Wish(
        targets,
        None if shown in (None, project.deadline) else shown,
        hours,
        tuple(dict.fromkeys(request.POST.getlist("if"))),
    )


def _number(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value != value or abs(value) == float("inf"):
        raise InvalidInput([Problem("", f"{what} is '{text[:40]}', which is no number.")])
    return value


def _store_quote(
    request: HttpRequest, project: Project, found: dict[str, Any], wish: Wish, action: str
) -> HttpResponse:
    if action == "keep":
        kept = keep_quote(project=project, found=found, created_by=request.user, now=timezone.now())
        what = "quote" if len(kept) == 1 else "quotes"
        messages.success(request, f"Kept: {len(kept)} {what}, to be judged later.")
    else:
        get_project(request.user, project.pk, at_least=Role.OWNER)
        words = make_plan(project=project, found=found, wish=wish, actor=request.user)
        messages.success(request, f"The plan is changed: {'; '.join(words)}.")
    return redirect("quote", project.pk)


def _quote_context(project: Project, found: dict[str, Any], wish: Wish) -> dict[str, Any]:
    keys = dict(project.tasks.values_list("name", "pk"))
    targets = dict(project.tasks.values_list("name", "target_score"))
    ends = [row["hours"] for row in found["tasks"] if row["hours"]]
    scale = _scale(ends)
    judged = judged_quotes(project)
    judged_scale = _scale(judged)
    decided = [row for row in judged if row["verdict"] != WAITS]
    trained = stored_result(project, "what_ifs") or {}
    return {
        "quote": found,
        "shown": {**_quote_words(project, found), "scale": duration(scale)},
        "rows": [
            {
                **row,
                "pk": keys[row["task"]],
                "wished": _as_field(wish.targets.get(row["task"], targets[row["task"]])),
                "middle": needed(row["hours"]["middle"]) if row["hours"] else "",
                "ends": span(row["hours"]) if row["hours"] else "",
                "bar": _bar(row["hours"], scale) if row["hours"] else None,
            }
            for row in found["tasks"]
        ],
        "ifs": [
            {
                **one,
                "change": change(one),
                "ends": change_ends(one),
                "is_chosen": one["name"] in wish.what_ifs,
            }
            for one in found["what_ifs"]
        ],
        "left": trained.get("left", []),
        "changes": planned_changes(project, found, wish),
        "judged": [
            {
                **row,
                "bar": _bar(row, judged_scale),
                "ends": span(row),
                "needed_words": duration(row["needed"]) if row["needed"] is not None else "",
            }
            for row in judged
        ],
        "judged_scale": duration(judged_scale),
        "n_judged": len(decided),
        "n_held": sum(row["verdict"] == HELD for row in decided),
        "text": as_text(found),
    }


def _as_field(target: float | None) -> str:
    return "" if target is None else f"{target:.4g}"


def _quote_words(project: Project, found: dict[str, Any]) -> dict[str, Any]:
    people = ", ".join(f"{name} {duration(hours)}" for name, hours in found["people"][:6])
    weekly = f"with {duration(found['weekly_hours'])} per week" if found["weekly_hours"] else ""
    shared, sentences = found["shared_hours"], found["sentences"]
    middle = sentences["middle"]
    words: dict[str, Any] = {
        "hours": needed(found["hours"]["middle"]),
        "span": span(found["hours"]),
        "sentences": "" if middle is None else _sentences(middle, sentences, found["n_open"]),
        "money": money(project, found["hours"]),
        "people": f"{weekly}: {people}" if people and weekly else weekly,
        "shared": duration(shared) if shared else "",
        "state": summary(found),
        "planned": "",
    }
    if found["done_on"] and found["done_on"]["middle"]:
        words["day"] = day(found["done_on"]["middle"])
        first, last = day(found["done_on"]["low"]), found["done_on"]["high"]
        words["days"] = f"{first} to {day(last)}" if last else f"{first} or later"
    if planned := found.get("planned"):
        words["planned"] = (
            f"As planned it would be {duration(planned['hours']['middle'])} "
            f"({span(planned['hours'])})"
        )
        if planned["done_on"] and planned["done_on"]["middle"]:
            words["planned"] += f", done on {day(planned['done_on']['middle'])}"
        words["planned"] += "."
    return words


def _sentences(middle: float, interval: Mapping[str, float | None], n_open: int | None) -> str:
    high, sentences = interval["high"], span(interval, "sentences")
    told = f"{middle:,.0f} sentences ({sentences}), each read once for all tasks"
    if middle < 0.5 and high is not None:
        told = f"up to {high:,.0f} sentences, each read once for all tasks"
    return told if n_open is None else f"{told}; the pool has {n_open:,} left"


def _scale(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the hours at the right end of a scale: the longest end that is told."""
    ends = [row.get(key) for row in rows for key in ("low", "middle", "hours", "high", "needed")]
    return max([end for end in ends if end is not None], default=1.0) or 1.0


def _bar(row: Mapping[str, Any], scale: float) -> dict[str, float | None]:
    """Return where the interval and its points stand on a line from 0 to 100."""
    low, high = row["low"] or 0.0, row["high"] if row["high"] is not None else scale
    middle = row["middle"] if "middle" in row else row["hours"]
    found: dict[str, float | None] = {
        "low": round(100 * low / scale, 1),
        "width": round(max(0.5, 100 * (high - low) / scale), 1),
        "middle": None if middle is None else round(100 * middle / scale, 1),
    }
    if row.get("needed") is not None:
        found["needed"] = round(100 * row["needed"] / scale, 1)
    return found


@login_required
@require_POST
def take_proposal(request: HttpRequest, project_id: int) -> HttpResponse:
    """Make what the last replay proposes the default of new rounds."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    try:
        apply_proposal(project=project, actor=request.user)
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "New rounds begin with what was proposed.")
    return redirect("overview", project.pk)


@login_required
@require_POST
def compute(request: HttpRequest, project_id: int, name: str) -> HttpResponse:
    """Let the worker compute an insight again, with the settings that the form gives."""
    project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
    kind = get_insight(name)
    get_project(request.user, project_id, at_least=kind.role)
    settings = {key: value for key, value in request.POST.items() if key != "csrfmiddlewaretoken"}
    try:
        start_insight(project=project, name=name, settings=settings, created_by=request.user)
    except NotFound:
        raise
    except Refused as refusal:
        messages.warning(request, str(refusal))
    return redirect(kind.page, project.pk)
