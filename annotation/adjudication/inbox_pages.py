"""The inbox: flags, disputes, shaky answers and skips, taken one by one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from annotation.accounts.access import get_project
from annotation.adjudication.pages import for_drawing
from annotation.adjudication.review import (
    ShakyAnswer,
    review_answer,
    review_row,
    shaky_answers,
    undo_look,
)
from annotation.adjudication.selectors import (
    Dispute,
    disputes,
    find_sentence,
    gold_values,
    shown_cases,
)
from annotation.adjudication.services import (
    SkippedSentence,
    add_to_guidelines,
    flags_of,
    reopen_flag,
    resolve_flag,
    skipped_sentences,
)
from annotation.errors import Refused
from annotation.models import Annotation, Flag, Project, Review, Sentence
from annotation.queue.asks import leave_out, take_back
from annotation.queue.checks import ask_another, may_ask_another
from annotation.templatetags.humanise import as_share
from annotation.web.frame import COUNTS, render_in_project

N_DONE = 8  # things done that can be undone in place
N_EACH = 50  # disputes, shaky answers: the first of them, all are counted
REMEMBERED = 60  # seconds
MOST_LATER = 200  # items that a session remembers
SOMEBODY_ELSE = "Somebody else is asked, without seeing the first answer."
SHOWN = {
    "": ("All", ""),
    "flags": ("Flags", "⚑"),
    "disputes": ("Disputes", "≠"),
    "shaky": ("Shaky", "?"),
    "skips": ("Skips", "»"),
}
REASONS = {
    "not_a_sentence": "not a sentence",
    "wrong_language": "wrong language",
    "broken": "broken",
}


@dataclass(frozen=True)
class Item:
    """One row of the inbox."""

    name: str  # in addresses: "flag-12", "dispute-3", "shaky-5", "skip-7"
    kind: str  # of SHOWN
    sentence: Sentence
    words: str  # who said what
    at: datetime | None = None
    flag: Flag | None = None
    shaky: ShakyAnswer | None = None
    skipped: SkippedSentence | None = None

    @property
    def sign(self) -> str:
        """Return the sign of its kind."""
        return SHOWN[self.kind][1]


@login_required
@require_http_methods(["GET", "POST"])
def inbox(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show what waits for a curator, or do something about it."""
    project = get_project(request.user, project_id)
    if request.method == "POST":
        return _act(request, project)
    waiting = _waiting(project)
    kind = request.GET.get("show", "")
    kind = kind if kind in SHOWN else ""
    items = [item for name in waiting if kind in ("", name) for item in waiting[name][0]]
    later = request.session.get(_later(project), [])
    items.sort(key=lambda item: later.index(item.name) + 1 if item.name in later else 0)
    wanted = request.GET.get("item", "")
    chosen = next((i for i, item in enumerate(items) if item.name == wanted), 0)
    counts = {name: n for name, (_, n) in waiting.items()}
    counts[""] = sum(counts.values())
    cache.set(_counted(project), counts[""] - counts["flags"], REMEMBERED)
    context: dict[str, Any] = {
        "items": items,
        "kind": kind,
        "kinds": [(name, *_titled(name), counts[name]) for name in SHOWN],
        "n_beyond": counts[kind] - len(items),
        "is_walking": bool(wanted),
        "done": flags_of(project, is_open=False).order_by("-resolved_at")[:N_DONE],
        "looked_at": _last_look(project, request.user),
        "left_out": project.sentences.exclude(left_out="").order_by("-id")[:N_DONE],
    }
    if items:
        item = items[chosen]
        following = items[chosen + 1] if chosen + 1 < len(items) else items[chosen - 1]
        context |= {"item": item, "following": following.name, **_preview(project, item)}
        context["may_ask_another"] = may_ask_another(item.sentence)
        is_document = item.sentence.is_document
        context["tasks"] = project.tasks.filter(is_hidden=False, is_document=is_document)
    return render_in_project(request, "annotation/inbox.html", project, "inbox", context)


def _later(project: Project) -> str:
    """Return where a session keeps the items that a person leaves for later, the last one last."""
    return f"inbox-later-{project.pk}"


def _titled(kind: str) -> tuple[str, str]:
    words, sign = SHOWN[kind]
    return gettext(words), sign


def _last_look(project: Project, person: Any) -> Review | None:
    """Return the last look at an answer that a person can take back."""
    looks = Review.objects.filter(annotation__sentence__project=project, reviewer=person)
    return (
        looks.select_related("annotation__sentence", "annotation__author").order_by("-id").first()
    )


def _waiting(project: Project) -> dict[str, tuple[list[Item], int]]:
    """Return what waits by kind, in the order of the list, and how much of each there is."""
    flags = [
        Item(
            f"flag-{flag.pk}",
            "flags",
            flag.sentence,
            f"{flag.author.get_username()}: {flag.comment}",
            at=flag.created_at,
            flag=flag,
        )
        for flag in flags_of(project, is_open=True)
    ]
    disputed = disputes(project)
    in_dispute = {dispute.sentence_id for dispute in disputed}  # once, and without names
    shaky = [
        _shaky_item(found)
        for found in shaky_answers(project, most=N_EACH)
        if found.answers[0].sentence_id not in in_dispute
    ]
    skips = [
        Item(
            f"skip-{skipped.sentence.pk}",
            "skips",
            skipped.sentence,
            "; ".join(_skip_words(*reason) for reason in skipped.reasons),
            skipped=skipped,
        )
        for skipped in skipped_sentences(project)
    ]
    return {
        "flags": (flags, len(flags)),
        "disputes": (_dispute_items(project, disputed[:N_EACH]), len(disputed)),
        "shaky": (shaky, len(shaky)),
        "skips": (skips, len(skips)),
    }


def count_open(project: Project) -> int:
    """Return how many items wait in the inbox, as its list counts them.

    Flags are counted; of the rest, which takes half a second with 100,000 answers, the number is
    that of the last minute.
    """
    n_others: int | None = cache.get(_counted(project))
    if n_others is None:
        disputed = disputes(project)
        in_dispute = {dispute.sentence_id for dispute in disputed}
        n_shaky = sum(
            found.answers[0].sentence_id not in in_dispute
            for found in shaky_answers(project, most=N_EACH)
        )
        n_others = len(disputed) + n_shaky + len(skipped_sentences(project))
        cache.set(_counted(project), n_others, REMEMBERED)
    return flags_of(project, is_open=True).count() + n_others


def _counted(project: Project) -> str:
    return f"inbox-{project.pk}-{project.created_at.timestamp()}"


COUNTS["inbox"] = count_open  # every page of the project says it beside the tab


def _dispute_items(project: Project, disputed: list[Dispute]) -> list[Item]:
    """Return the disputes with who differs; without names where curators decide blind."""
    ids = [dispute.sentence_id for dispute in disputed]
    sentences = project.sentences.select_related("corpus").in_bulk(ids)
    people: dict[int, set[str]] = {pk: set() for pk in ids}
    for pk, name in Annotation.objects.filter(sentence__in=ids).values_list(
        "sentence_id", "author__username"
    ):
        people[pk].add(name)
    return [
        Item(
            f"dispute-{dispute.sentence_id}",
            "disputes",
            sentences[dispute.sentence_id],
            gettext("%(who)s differ on %(tasks)s")
            % {
                "who": _who(people[dispute.sentence_id], project),
                "tasks": ", ".join(dispute.tasks),
            },
        )
        for dispute in disputed
    ]


def _who(names: set[str], project: Project) -> str:
    if project.hides_names:
        return gettext("%(n)s people") % {"n": len(names)}
    return ", ".join(sorted(names))


def _shaky_item(shaky: ShakyAnswer) -> Item:
    answer = shaky.answers[0]
    name = answer.author.get_username()
    return Item(
        f"shaky-{answer.pk}",
        "shaky",
        answer.sentence,
        f"{name}: {_shaky_words(shaky, answer)}",
        at=answer.updated_at,
        shaky=shaky,
    )


def _shaky_words(shaky: ShakyAnswer, answer: Annotation) -> str:
    task = answer.task.name
    if shaky.reason == "changed":
        return gettext("%(task)s, changed %(n)d times") % {"task": task, "n": shaky.figure}
    if shaky.reason == "hasty":
        return gettext("%(seconds).1f s for %(n)s words") % {
            "seconds": shaky.figure,
            "n": answer.sentence.n_tokens,
        }
    sure = as_share(shaky.figure)
    return gettext("%(task)s: the model disagrees, confidence %(sure)s") % {
        "task": task,
        "sure": sure,
    }


def _skip_words(person: str, kind: str, reason: str) -> str:
    said = [part for part in (gettext(REASONS[kind]) if kind in REASONS else "", reason) if part]
    words = ", ".join(said) or gettext("skipped without a reason")
    return f"{person}: {words}"


def _preview(project: Project, item: Item) -> dict[str, Any]:
    """Return a sentence to draw: answers that differ, else the person's, else gold, else bare."""
    if item.kind == "disputes":
        answers: dict[str, dict[str, Any]] = {}
        for case in shown_cases(project, item.sentence)[0]:
            for person, value in case.answers.items():
                answers.setdefault(person, {})[case.task] = value
    elif item.shaky:
        answers = _beside_the_model(item.shaky)
    else:
        author = item.flag.author.get_username() if item.flag else ""
        given = item.sentence.annotations.filter(author__username=author)
        found = {
            f"by {author}": dict(given.values_list("task__name", "value")),
            "gold": gold_values(item.sentence),
        }
        whose = next((who for who, values in found.items() if values), "nobody")
        answers = {whose: found.get(whose, {})}
    return {"drawn": list(answers), "shown": for_drawing(project, item.sentence, answers)}


def _beside_the_model(shaky: ShakyAnswer) -> dict[str, dict[str, Any]]:
    """Return a person's answers, and the model's where it contradicts them."""
    answers = {f"by {shaky.answers[0].author.get_username()}": _values(shaky.answers)}
    if shaky.reason == "contradicted":
        suggestion = review_row(shaky.answers[0]).suggestion
        if suggestion is not None:
            answers["model"] = {shaky.answers[0].task.name: suggestion.value}
    return answers


def _values(answers: tuple[Annotation, ...]) -> dict[str, Any]:
    return {answer.task.name: answer.value for answer in answers}


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
    if action == "later":
        name, key = f"{kind}-{number}", _later(project)
        later = [one for one in request.session.get(key, []) if one != name]
        request.session[key] = [*later, name][-MOST_LATER:]
        return "Left for later: it is at the end of the list."
    if kind == "shaky":
        return _look(request, project, int(number), action, answer)
    if kind == "skip":
        sentence = find_sentence(project, int(number))
        if action == "take-back":
            take_back(sentence=sentence, actor=request.user)
            return "The sentence is in the pool again."
        if action == "another":
            ask_another(sentence=sentence, actor=request.user)
            return SOMEBODY_ELSE
        leave_out(sentence=sentence, reason=answer or "skipped", actor=request.user)
        return "The sentence is left out and will not be asked again."
    flag = flags_of(project).filter(pk=int(number)).first()
    if flag is None:
        raise Http404("No such flag.")
    person = flag.author.get_username()
    if action == "reopen":
        reopen_flag(flag=flag, actor=request.user)
        return f"The flag of {person} is open again."
    if action not in ("answered", "closed", "left_out", "another"):
        raise Http404("No such action.")
    now = timezone.now()
    with transaction.atomic():
        if action == "another":
            ask_another(sentence=flag.sentence, actor=request.user)
        outcome = {"another": "answered" if answer else "closed"}.get(action, action)
        resolve_flag(
            flag=flag,
            outcome=Flag.Outcome(outcome),
            answer=answer,
            resolved_by=request.user,
            now=now,
        )
        guided = request.POST.get("guidelines", "")
        if answer and guided:
            task = project.tasks.filter(name=guided).first()
            if task is None:
                raise Http404("No such task.")
            add_to_guidelines(
                task=task, sentence=flag.sentence, answer=answer, actor=request.user, now=now
            )
    return {
        "another": SOMEBODY_ELSE,
        "answered": f"Answered: {person} sees it on the annotate page.",
        "closed": "The flag is closed.",
        "left_out": "The sentence is left out and will not be asked again.",
    }[action]


def _look(request: HttpRequest, project: Project, number: int, action: str, remark: str) -> str:
    """Keep answers that are shaky, or send them back; return it in words."""
    if action == "undo-look":
        undo_look(project=project, reviewer=request.user)
        return "Undone."
    found = [s for s in shaky_answers(project, most=N_EACH) if s.answers[0].pk == number]
    decision = {"keep": Review.Decision.KEPT, "return": Review.Decision.RETURNED}.get(action)
    if found and action == "another":
        ask_another(sentence=found[0].answers[0].sentence, actor=request.user)
        return SOMEBODY_ELSE
    if not found or decision is None:
        raise Http404("No such answer.")
    now = timezone.now()
    with transaction.atomic():
        for answer in found[0].answers:
            review_answer(
                answer=answer, decision=decision, reviewer=request.user, now=now, remark=remark
            )
    person = found[0].answers[0].author.get_username()
    if action == "keep":
        return f"Kept: the answer of {person} is gold."
    return f"{person} is asked to look again, with your remark."
