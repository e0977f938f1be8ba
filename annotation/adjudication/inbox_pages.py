"""The inbox: what people flagged and skipped, answered one by one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from annotation.accounts.access import get_project
from annotation.adjudication.pages import for_drawing
from annotation.adjudication.selectors import find_sentence, gold_values
from annotation.adjudication.services import (
    SkippedSentence,
    flags_of,
    reopen_flag,
    resolve_flag,
    skipped_sentences,
)
from annotation.errors import Refused
from annotation.models import Flag, Project, Sentence
from annotation.queue.skips import leave_out, take_back
from annotation.web.frame import render_in_project

N_DONE = 8  # things done that can be undone in place
SHOWN = {"": "All", "flags": "Flags", "skips": "Skips"}
REASONS = {
    "not_a_sentence": "not a sentence",
    "wrong_language": "not the language",
    "broken": "broken",
}


@dataclass(frozen=True)
class Item:
    """One row of the inbox."""

    name: str  # in addresses: "flag-12", "skip-7"
    sentence: Sentence
    words: str  # who said what
    at: datetime | None = None
    flag: Flag | None = None
    skipped: SkippedSentence | None = None

    @property
    def is_flag(self) -> bool:
        """Return whether somebody waits for an answer."""
        return self.flag is not None


@login_required
@require_http_methods(["GET", "POST"])
def inbox(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show what waits for a curator, or do something about it."""
    project = get_project(request.user, project_id)
    if request.method == "POST":
        return _act(request, project)
    everything = _items(project)
    kind = request.GET.get("show", "")
    kind = kind if kind in SHOWN else ""
    items = [item for item in everything if not kind or item.is_flag == (kind == "flags")]
    wanted = request.GET.get("item", "")
    chosen = next((i for i, item in enumerate(items) if item.name == wanted), 0)
    context: dict[str, Any] = {
        "items": items,
        "kind": kind,
        "kinds": _kinds(everything),
        "is_walking": bool(wanted),
        "done": flags_of(project, is_open=False).order_by("-resolved_at")[:N_DONE],
        "left_out": project.sentences.exclude(left_out="").order_by("-id")[:N_DONE],
    }
    if items:
        item = items[chosen]
        following = items[chosen + 1] if chosen + 1 < len(items) else items[chosen - 1]
        context |= {"item": item, "following": following.name, **_preview(project, item)}
    return render_in_project(request, "annotation/inbox.html", project, "inbox", context)


def _items(project: Project) -> list[Item]:
    """Return open flags, newest first, then skipped sentences."""
    flags = [
        Item(
            f"flag-{flag.pk}",
            flag.sentence,
            f"{flag.author.get_username()}: {flag.comment}",
            at=flag.created_at,
            flag=flag,
        )
        for flag in flags_of(project, is_open=True)
    ]
    skips = [
        Item(
            f"skip-{skipped.sentence.pk}",
            skipped.sentence,
            "; ".join(_skip_words(*reason) for reason in skipped.reasons),
            skipped=skipped,
        )
        for skipped in skipped_sentences(project)
    ]
    return flags + skips


def _skip_words(person: str, kind: str, reason: str) -> str:
    said = [part for part in (REASONS.get(kind, ""), reason) if part]
    return f"{person}: {', '.join(said) or 'skipped without a reason'}"


def _kinds(items: list[Item]) -> list[tuple[str, str, int]]:
    n_flags = sum(item.is_flag for item in items)
    counts = {"": len(items), "flags": n_flags, "skips": len(items) - n_flags}
    return [(kind, gettext(words), counts[kind]) for kind, words in SHOWN.items()]


def _preview(project: Project, item: Item) -> dict[str, Any]:
    """Return a sentence to draw: as the person answered it, else its gold, else bare."""
    author = item.flag.author.get_username() if item.flag else ""
    given = item.sentence.annotations.filter(author__username=author)
    answers = {
        f"by {author}": dict(given.values_list("task__name", "value")),
        "gold": gold_values(item.sentence),
    }
    whose = next((who for who, values in answers.items() if values), "")
    shown = {whose or "nobody": answers.get(whose, {})}
    return {"whose": whose, "shown": for_drawing(project, item.sentence, shown)}


def _act(request: HttpRequest, project: Project) -> HttpResponse:
    action = request.POST.get("action", "")
    try:
        said = _done(request, project, action)
    except Refused as refusal:
        messages.error(request, str(refusal))
        following = request.POST.get("item", "")
    else:
        messages.success(request, said)
        following = request.POST.get("following", "")
    address = reverse("inbox", args=[project.pk])
    query = request.GET.copy()
    query["item"] = following
    return redirect(f"{address}?{query.urlencode()}" if following else address)


def _done(request: HttpRequest, project: Project, action: str) -> str:
    """Do what was asked for; return it in words."""
    kind, _, number = request.POST.get("item", "").partition("-")
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise Http404("No such item.")
    answer = request.POST.get("answer", "").strip()
    if kind == "skip":
        sentence = find_sentence(project, int(number))
        if action == "take-back":
            take_back(sentence=sentence, actor=request.user)
            return "The sentence is in the pool again."
        leave_out(sentence=sentence, reason=answer or "skipped", actor=request.user)
        return "The sentence is left out: nobody is asked about it again."
    flag = flags_of(project).filter(pk=int(number)).first()
    if flag is None:
        raise Http404("No such flag.")
    person = flag.author.get_username()
    if action == "reopen":
        reopen_flag(flag=flag, actor=request.user)
        return f"The flag of {person} is open again."
    if action not in ("answered", "closed", "left_out"):
        raise Http404("No such action.")
    resolve_flag(
        flag=flag,
        outcome=Flag.Outcome(action),
        answer=answer,
        resolved_by=request.user,
        now=timezone.now(),
    )
    return {
        "answered": f"Answered: {person} sees it on the annotate page.",
        "closed": "The flag is closed.",
        "left_out": "The sentence is left out: nobody is asked about it again.",
    }[action]
