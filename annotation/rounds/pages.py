"""A project's overview, and its rounds: list, plan, page of one, defaults."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.accounts.access import get_project
from annotation.errors import InvalidInput, Refused
from annotation.jobs.insights import known_insight, stored_result
from annotation.jobs.services import alive_workers, waits_for
from annotation.models import Job, Project, Role, Round
from annotation.projects.selectors import project_card
from annotation.queue.pages import render_markdown
from annotation.rounds.dashboard import budget, dashboard, people, read_rounds_once
from annotation.rounds.forms import RoundForm, as_command, initial_of
from annotation.rounds.outlook import (
    facts_of,
    next_steps,
    round_sums,
    standing,
    targets_reached,
)
from annotation.rounds.preview import (
    OF_LOOKS,
    bought_for,
    by_chance,
    expected_gains,
    last_model,
    usual_budgets,
)
from annotation.rounds.quality import (
    better_than_chance,
    headline,
    pull_words,
    stored_quality,
    suggestion_pull,
    task_standings,
)
from annotation.rounds.selectors import (
    choice_facts,
    find_round,
    last_round,
    ledger_words,
    plan_round,
    quote_in_force,
    round_asks,
    round_job,
    round_ledger,
    round_rows,
    task_names,
)
from annotation.rounds.services import (
    ENDED,
    cancel_round,
    launch_round,
    retry_round,
    set_default_settings,
)
from annotation.rounds.settings import RoundSettings, default_settings, shown_settings
from annotation.rounds.workspace import Workspace
from annotation.web.code_texts import said
from annotation.web.errors import show_refusal
from annotation.web.frame import render_in_project
from mtl_engine.kinds import KINDS
from mtl_engine.settings import SettingField, settings_fields

DRAFT = "plan-"  # what a person planned in a project, in their session
ASKS_PER_PAGE = 50


@login_required
@require_GET
def rounds(request: HttpRequest, project_id: int) -> HttpResponse:
    """List the rounds of a project."""
    project = get_project(request.user, project_id)
    context = {"rows": round_rows(project), "tasks": task_names(project)}
    return render_in_project(request, "annotation/rounds.html", project, "rounds", context)


@login_required
@require_http_methods(["GET", "POST"])
def plan(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show what a round would do and launch it."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    repeated = _repeated(request, project)
    values = shown_settings(repeated) if repeated else default_settings(project).to_dict()
    draft = f"{DRAFT}{project.pk}"
    if "discard" in request.POST:
        request.session.pop(draft, None)
        return redirect("plan-round", project.pk)
    if request.method == "GET":
        values = values if repeated else {**values, **request.session.get(draft, {})}
        form = RoundForm(initial=initial_of(values, project), project=project)
        return _plan_page(request, project, form, values, repeated)
    form = RoundForm(request.POST, project=project)
    status = 400
    if "draft" in request.POST and form.is_valid():
        request.session[draft] = dict(form.values())
        messages.success(request, "Your draft is saved until you sign out.")
        return redirect("plan-round", project.pk)
    if form.is_valid():
        try:
            launched = launch_round(project=project, changes=form.values(), created_by=request.user)
        except Refused as refusal:
            show_refusal(form, refusal)
            status = 400 if isinstance(refusal, InvalidInput) else 409
        else:
            request.session.pop(draft, None)
            messages.success(request, f"Round {launched.number} is queued.")
            return redirect("round", project.pk, launched.number)
    return _plan_page(request, project, form, values, repeated, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def round_defaults(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show what new rounds of a project are set to, or change it."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    initial = initial_of(default_settings(project).to_dict(), project)
    form = RoundForm(request.POST or None, initial=initial, project=project)
    if request.method == "POST" and ("reset" in request.POST or form.is_valid()):
        values = {} if "reset" in request.POST else form.values()
        try:
            set_default_settings(project=project, values=values)
        except Refused as refusal:
            show_refusal(form, refusal)
        else:
            messages.success(request, "The defaults are saved.")
            return redirect("round-defaults", project.pk)
    context = {"form": form, "part": "rounds", "is_changed": bool(project.round_defaults)}
    return render_in_project(
        request,
        "annotation/round_defaults.html",
        project,
        "settings",
        context,
        status=400 if form.errors else 200,
    )


@login_required
@require_GET
def round_detail(request: HttpRequest, project_id: int, number: int) -> HttpResponse:
    """Show one round: its progress, what it found, and every ask with its reason."""
    project = get_project(request.user, project_id)
    found = find_round(project, number)
    context = {
        "round": found,
        "job": round_job(found),
        "is_running": found.state in Round.RUNNING,
        "can_retry": found.state in ENDED,
        "scores": _scores(found),
        "has_model": Workspace.of(found).has_model,
        "sums": round_sums(found),
        "choice": choice_facts(found),
        "settings": _titled(shown_settings(found)),
        "asks": Paginator(round_asks(found), ASKS_PER_PAGE).get_page(request.GET.get("page")),
    }
    return render_in_project(request, "annotation/round.html", project, "rounds", context)


@login_required
@require_GET
def round_status(request: HttpRequest, project_id: int, number: int) -> JsonResponse:
    """Return a round's state, progress and worker for the page that follows it."""
    found = find_round(get_project(request.user, project_id), number)
    job = round_job(found)
    progress = (
        {
            "state": job.state,
            "stage": said(job.stage),
            "n_done": job.n_done,
            "n_total": job.n_total,
            "waits": said(waits_for(job)) if job.state == Job.State.QUEUED else "",
        }
        if job
        else None
    )
    return JsonResponse(
        {
            "number": found.number,
            "state": found.state,
            "message": found.message,
            "progress": progress,
            "worker": job.worker if job else "",
        }
    )


@login_required
@require_POST
def cancel(request: HttpRequest, project_id: int, number: int) -> HttpResponse:
    """Stop a round."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    return _act(request, project, number, lambda r: cancel_round(round=r, now=timezone.now()))


@login_required
@require_POST
def retry(request: HttpRequest, project_id: int, number: int) -> HttpResponse:
    """Queue a failed round again."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    return _act(request, project, number, lambda r: retry_round(round=r, created_by=request.user))


def _act(
    request: HttpRequest, project: Project, number: int, action: Callable[[Round], Any]
) -> HttpResponse:
    try:
        action(find_round(project, number))
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("round", project.pk, number)


def _repeated(request: HttpRequest, project: Project) -> Round | None:
    """Return the round whose settings somebody asked to begin with."""
    number = request.GET.get("repeat", "")
    return find_round(project, int(number)) if number.isdecimal() else None


def _plan_page(
    request: HttpRequest,
    project: Project,
    form: RoundForm,
    values: Mapping[str, Any],
    repeated: Round | None,
    *,
    status: int = 200,
) -> HttpResponse:
    settings = default_settings(project)
    planned = plan_round(project, settings)
    last = last_round(project)
    known = known_insight(project, "preview")
    shown = known.stored.result if known.stored and not planned.is_seed else {}
    minutes = values["amount"] if values["unit"] == "minutes" else shown.get("minutes", 60)
    bought = bought_for(shown.get("budgets", {}), minutes)
    context = {
        "form": form,
        "plan": planned,
        "known": known if last_model(project) else None,
        "preview": shown,
        "budgets": [f"{one:g}" for one in usual_budgets(project)],
        "minutes": minutes,
        "bought": bought,
        "length_rows": _length_rows(shown.get("lengths", {})),
        "minute_rows": _minute_rows(bought) if bought else [],
        "gains": expected_gains(project, bought["n_sentences"]) if bought else [],
        "by_chance": None
        if bought
        else by_chance(project, minutes, n_answers=settings.overlap or project.overlap),
        "has_model": last_model(project) is not None,
        "ledger": ledger_words(round_ledger(last)) if last else [],
        "command": as_command(values, project),
        "quoted": quote_in_force(project),
        "last": last.number if last else None,
        "repeated": repeated.number if repeated else None,
        "is_draft": repeated is None and f"{DRAFT}{project.pk}" in request.session,
    }
    return render_in_project(
        request, "annotation/plan_round.html", project, "rounds", context, status=status
    )


def _length_rows(lengths: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the shares of each length class, the highest as 1."""
    if not lengths:
        return []
    highest = max(*lengths["asked"], *lengths["pool"], 0.01)
    rows = zip(lengths["words"], lengths["asked"], lengths["pool"], strict=True)
    return [
        {"name": name, "asked": round(asked / highest, 3), "pool": round(pool / highest, 3)}
        for name, asked, pool in rows
    ]


def _minute_rows(bought: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return where the minutes go: task by task, or with the market purpose by purpose."""
    rows = sorted(bought["tasks"].items(), key=lambda row: -row[1])
    found = [{"name": name, "share": share, "note": ""} for name, share in rows]
    if market := bought.get("market"):
        looks = {
            row["purpose"]: row["minutes"] / max(bought["minutes"], 0.1)
            for row in market
            if row["purpose"] in OF_LOOKS
        }
        others = [row for row in market if row["purpose"] not in looks]
        minutes = sum(row["minutes"] for row in others) or 1.0
        left = max(0.0, 1 - bought["chance"] - sum(looks.values()))
        shares = looks | {row["purpose"]: left * row["minutes"] / minutes for row in others}
        found = [
            {
                "name": row["title"],
                "share": shares[row["purpose"]],
                "note": _traded_words(row),
                "why": row["why"],
            }
            for row in market
        ]
    note = "All tasks. Keeps the test and the comparison with random selection fair."
    found.append({"name": "Random sentences", "share": bought["chance"], "note": note})
    return [{**row, "minutes": row["share"] * bought["minutes"]} for row in found]


def _traded_words(row: Mapping[str, Any]) -> str:
    """Return how much of a purpose is bought, and what it brings."""
    n, offered = f"{row['n']:,}", f"{row['n_offered']:,}"
    points, best = f"{row['points_per_minute']:.2f}", f"{row['best_per_minute']:.2f}"
    if not row["n"]:
        return f"None of {offered}: at best {best} points per minute."
    return f"{n} of {offered}: {points} points per minute."


def _titled(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return settings with their titles, those that differ from the product's defaults first."""
    rows = [
        {
            "name": about.name,
            "title": about.title,
            "value": _setting_words(about, values[about.name]),
            "is_changed": values[about.name] != about.default,
        }
        for about in settings_fields(RoundSettings)
    ]
    return sorted(rows, key=lambda row: not row["is_changed"])


def _setting_words(about: SettingField, value: Any) -> str:
    """Return the value of a setting as its form shows it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    choices = {choice.value: choice.title for choice in about.choices or ()}
    if value in ("", None) or (isinstance(value, (Mapping, Sequence)) and not value):
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {share:g}" for name, share in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if about.is_share:
        return f"{100 * value:g} %"
    suffix = f" {about.suffix}" if about.suffix else ""
    return choices.get(value) or (
        f"{value:g}{suffix}" if isinstance(value, float) else f"{value}{suffix}"
    )


def _scores(found: Round) -> list[dict[str, Any]]:
    training = found.stages.get("training", {})
    scores, languages = training.get("scores", {}), training.get("languages", {})
    kinds = found.project.tasks.values_list("name", "kind")
    metrics = {name: KINDS[kind].metric_title for name, kind in kinds}
    return [
        {
            "task": name,
            "score": row["score"],
            "interval": row["interval"],
            "n": row["n"],
            "metric": metrics.get(name, ""),
            "sure": _sure(row["calibration"]),
            "levels": [
                (metric.rpartition("_")[2], score)
                for metric, score in row["metrics"].items()
                if "_level_" in metric
            ],
            "n_in_pieces": training.get("n_in_pieces", {}).get(name, 0),
            "encoder": found.config.get("encoder", ""),
            "languages": [
                (language, found_there[name])
                for language, found_there in languages.items()
                if name in found_there
            ],
        }
        for name, row in scores.items()
    ]


def _sure(calibration: Mapping[str, Any]) -> str:
    """Return how sure a model is against how right: "overconfident by 2 points"."""
    if "mean_confidence" not in calibration:
        return ""
    gap = round(100 * (calibration["mean_confidence"] - calibration["mean_accuracy"]))
    if not gap:
        return "well calibrated"
    points = "1 point" if abs(gap) == 1 else f"{abs(gap)} points"
    return f"overconfident by {points}" if gap > 0 else f"underconfident by {points}"


@login_required
@require_GET
def overview(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show what a project has, how far it is, and what to do next."""
    project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
    read_rounds_once(project)
    card = project_card(request.user, project)
    facts = facts_of(project, request.user)
    context = {
        "card": card,
        "facts": facts,
        "guidelines": render_markdown(project.guidelines),
        "corpora": project.corpora.order_by("id"),
        "steps": next_steps(project, facts),
        "reached": targets_reached(project),
        "is_worker_alive": bool(alive_workers(timezone.now())),
        **_rounds_so_far(project, card.role),
    }
    return render_in_project(request, "annotation/overview.html", project, "overview", context)


def _rounds_so_far(project: Project, role: Role | None) -> dict[str, Any]:
    """Return the dashboard of rounds for those who steer the project; nothing before the first."""
    if role is None or not role.reaches(Role.CURATOR):
        return {}
    return {
        "rows": (rows := round_rows(project)),
        "last": rows[0].round if rows else None,
        "sums": round_sums(rows[0].round, rows) if rows else None,
        "tasks": list(project.tasks.values_list("name", flat=True)),
        "budget": budget(project),
        "standings": (standings := task_standings(project)),
        "headline": headline(standings),
        "chance_words": better_than_chance(standings),
        "has_targets": any(one.target is not None for one in standings),
        "quoted": quote_in_force(project),
        "saved": stored_result(project, "ledger") or {},
        "proposed": stored_result(project, "proposals") or {},
        "quality": (quality := stored_quality(project)),
        "suggested": quality["suggestions"],
        "pull": (pull := suggestion_pull(quality["bias"])),
        "pull_words": pull_words(pull),
        "people": (rows_of_people := people(project)),
        "consistency": sorted(
            row["agreement"] for row in rows_of_people if row["agreement"] is not None
        ),
    }


@login_required
@require_GET
def where_it_stands(request: HttpRequest, project_id: int) -> JsonResponse:
    """Return why the annotate page has no sentence, and what to do about it."""
    project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
    found = asdict(standing(project, request.user))
    shown = {name: said(value) for name, value in found.items()}
    if action := found.get("action"):
        shown["action"] = {**action, "words": said(action["words"])}
    return JsonResponse(shown)


@login_required
@require_GET
def dashboard_data(request: HttpRequest, project_id: int) -> JsonResponse:
    """Return what the charts of the overview draw."""
    drawn = dashboard(get_project(request.user, project_id))
    for curve in drawn["curves"]:
        curve["metric"] = said(curve["metric"])
        curve["forecast"] = curve["forecast"] | {"words": said(curve["forecast"]["words"])}
    return JsonResponse(drawn)
