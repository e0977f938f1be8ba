"""Where a project stands: what is so, what it means, and the one thing to do next.

The overview shows it with all steps, the annotate page in the place of a sentence that it has not.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.utils.translation import gettext

from annotation.models import (
    Annotation,
    Gold,
    Lease,
    Progress,
    Project,
    Queue,
    Role,
    Round,
    Sentence,
)
from annotation.queue.selectors import count_queue
from annotation.rounds.dashboard import trained_rounds
from annotation.rounds.selectors import RoundRow, is_answered, round_rows, task_names
from annotation.web.code_texts import written_number
from annotation.web.frame import page_of

WORTH = 20  # answers after which a model has something new to learn


@dataclass(frozen=True)
class Action:
    """A button: what it does, and where."""

    words: str
    href: str


@dataclass(frozen=True)
class Standing:
    """What is so, what it means, and the button that goes on, if the person may press one."""

    title: str
    words: str
    action: Action | None = None


@dataclass(frozen=True)
class Step:
    """One step of a project's way; the current one has the button."""

    words: str
    why: str
    href: str
    is_done: bool
    is_current: bool = False


@dataclass(frozen=True)
class Facts:
    """The counts by which the next step is chosen."""

    n_sentences: int
    n_left: int  # asks that this person can still answer
    n_open: int  # asks that still want answers, of anybody
    n_people: int
    n_unanswered: int  # sentences of the pool that nobody answered
    n_new: int  # sentences of the pool answered since the last model
    last: Round | None  # the newest round that was not cancelled and did not fail
    running: Round | None
    has_model: bool


def facts_of(project: Project, user: Any) -> Facts:
    """Return the counts by which the next step is chosen."""
    kept = project.rounds.exclude(state__in=["failed", "cancelled"]).defer("manifest", "files")
    rounds = list(kept.order_by("-number"))
    running = next((found for found in rounds if found.state in Round.RUNNING), None)
    last = next((found for found in rounds if found.state not in Round.RUNNING), None)
    trained = [found for found in rounds if found.stages.get("training", {}).get("scores")]
    since = trained[0].created_at if trained else None
    pool = Sentence.objects.filter(project=project, is_test=False, left_out="")
    n_pool = pool.count()
    answered = Q(annotations__isnull=False) | Q(gold__isnull=False)
    n_unanswered = pool.exclude(answered).count()
    queue = Queue.objects.filter(project=project, is_current=True).first()
    return Facts(
        n_sentences=project.sentences.count(),
        n_left=count_queue(project.pk, user.pk)["left"],
        n_open=queue.asks.filter(is_open=True).count() if queue else 0,
        n_people=project.memberships.count(),
        n_unanswered=n_unanswered,
        n_new=_answered_since(pool, since) if since else n_pool - n_unanswered,
        last=last,
        running=running,
        has_model=bool(trained),
    )


def _answered_since(pool: QuerySet[Sentence], since: datetime) -> int:
    """Return how many sentences have newer answers that a model can learn from.

    Gold of earlier answers' votes is none of them, nor are answers to gold checks.
    """
    by_vote = (Gold.Source.AGREED, Gold.Source.MAJORITY)
    gold = Gold.objects.filter(sentence=OuterRef("pk"), updated_at__gt=since)
    known = Gold.objects.filter(
        sentence=OuterRef("sentence"), task=OuterRef("task"), updated_at__lte=since
    )
    answers = Annotation.objects.filter(sentence=OuterRef("pk"), updated_at__gt=since)
    answers = answers.exclude(Exists(known))
    is_new = Q(Exists(answers)) | Q(Exists(gold.exclude(source__in=by_vote)))
    return pool.filter(is_new).count()


def standing(project: Project, user: Any) -> Standing:
    """Return why there is nothing to annotate for a person, and what to do about it."""
    facts = facts_of(project, user)
    may = _may(project)
    if project.state != Project.State.ACTIVE:
        return Standing(
            f"The project is {project.state}",
            "No sentences are handed out until an owner resumes it. Your work is safe.",
            may(Role.OWNER, "Settings", "settings"),
        )
    if not facts.n_sentences:
        return Standing(
            "No sentences yet",
            "Import a file, or paste some lines. They may contain labels.",
            may(Role.CURATOR, "Import sentences", "import"),
        )
    if facts.running is not None:
        return Standing(
            f"Round {facts.running.number} is {facts.running.state}",
            "Its first sentence opens here as soon as it has chosen.",
            may(Role.CURATOR, "See how far it is", "rounds"),
        )
    if facts.n_left:
        return Standing("Loading…", "The next sentence is on its way.")
    if facts.n_open:
        return Standing(
            "Nothing is left for you",
            f"{_counted(facts.n_open, 'sentence is', 'sentences are')} with others, or wait for "
            "somebody else's answer. What they give back comes here.",
            may(Role.CURATOR, "See who works", "overview"),
        )
    if facts.last is not None:
        return _after_round(project, user, facts)
    if facts.n_unanswered:
        return Standing(
            "Nothing is asked",
            f"{_counted(facts.n_unanswered, 'sentence has', 'sentences have')} no answer and "
            "none is asked for. Plan a round to ask for them.",
            may(Role.OWNER, "Plan a round", "plan-round"),
        )
    return Standing(
        "All sentences are answered",
        f"All {facts.n_sentences:,} have gold or an answer. Import more, review, or export.",
        may(Role.CURATOR, "Review answers", "review"),
    )


def _after_round(project: Project, user: Any, facts: Facts) -> Standing:
    assert facts.last is not None
    number = facts.last.number
    sums = round_sums(facts.last)
    own = Progress.objects.filter(queue__round=facts.last, annotator=user).first()
    words = f"{_counted(sums.n_answered, 'sentence', 'sentences')} in {_minutes(sums.minutes)} by "
    words += _counted(sums.n_people, "person", "people")
    if own is not None and sums.n_people > 1:
        words += f"; yours: {own.n_done:,} in {_minutes(own.seconds / 60)}"
    words += "."
    may = _may(project)
    action = may(Role.OWNER, f"Plan round {number + 1}", "plan-round")
    if not facts.n_unanswered:
        words += " Every sentence has an answer now."
        action = may(Role.CURATOR, "Review answers", "review")
    elif action is None:
        words += f" An owner plans round {number + 1}."
    return Standing(f"Round {number} is answered", words, action)


def next_steps(project: Project, facts: Facts) -> list[Step]:
    """Return the steps of a project that a person's role reaches; one of them is current."""
    number = facts.last.number if facts.last else 0
    next_round = (facts.running.number if facts.running else number) + 1
    is_worth = facts.n_new >= WORTH
    has_answers = facts.n_new > 0 or facts.has_model
    current = _current(project, facts, is_worth=is_worth)
    here = _say("{n} imported.", facts.n_sentences) if facts.n_sentences else ""
    with_others = _say("{n} are members.", facts.n_people) if facts.n_people > 1 else ""
    steps = (
        ("import", Role.CURATOR, bool(facts.n_sentences), "Import sentences",
         here or "The file may contain labels."),
        ("members", Role.OWNER, facts.n_people > 1, "Invite people",
         with_others or "With links that work once."),
        ("annotate", Role.ANNOTATOR, has_answers and not facts.n_left, "Annotate",
         _say("{n} to do.", facts.n_left) if facts.n_left else _why_not(facts)),
        ("plan-round", Role.OWNER, False, _say("Plan round {n}", next_round), _why_round(facts)),
        ("review", Role.CURATOR, False, "Review answers", "The model's objections first."),
        ("export", Role.CURATOR, False, "Export", "Gold, otherwise what people agree on."),
    )  # fmt: skip
    return [
        Step(words, why, href, is_done, name == current)
        for name, needed, is_done, words, why in steps
        if project.role and project.role.reaches(needed) and (href := page_of(name, project))
    ]


def _current(project: Project, facts: Facts, *, is_worth: bool) -> str:
    """Return the page of the step that is worth most now."""
    is_owner = project.role is not None and project.role.reaches(Role.OWNER)
    if not facts.n_sentences:
        return "import"
    if facts.running is not None:
        return "annotate" if facts.n_left else ""
    if targets_reached(project):
        return "export"
    if is_owner and facts.n_unanswered and (is_worth or (not facts.n_left and facts.n_new)):
        return "plan-round"
    if facts.n_left:
        return "annotate"
    if is_owner and facts.n_unanswered:
        return "plan-round"
    return "review" if facts.n_new or facts.has_model else "export"


def _say(text: str, n: int) -> str:
    """Return a text of the catalogues with its number."""
    return gettext(text).format(n=written_number(f"{n:,}"))


def _why_not(facts: Facts) -> str:
    if not facts.n_sentences:
        return "As soon as there are sentences."
    if facts.running is not None:
        return f"Round {facts.running.number} is {facts.running.state}."
    return "Nothing is left for you."


def _why_round(facts: Facts) -> str:
    """Return whether a round is worth it now, and by what."""
    if facts.running is not None:
        return f"Round {facts.running.number} is {facts.running.state}."
    new = _say("{n} sentences answered", facts.n_new)
    if facts.n_new == 1:
        new = gettext("1 sentence answered")
    if facts.has_model:
        worth = "enough for a round" if facts.n_new >= WORTH else f"a round pays from {WORTH} on"
        return f"{new} since the last model: {worth}."
    if facts.n_new >= WORTH:
        return _say("{n} sentences answered: enough for a first model.", facts.n_new)
    return f"{new}; a first model needs about {WORTH}."


def targets_reached(project: Project) -> list[str]:
    """Return the tasks with a target, if the newest model reaches all of them."""
    targets = dict(
        project.tasks.filter(is_hidden=False, target_score__isnull=False).values_list(
            "name", "target_score"
        )
    )
    trained = trained_rounds(project) if targets else []
    if not trained:
        return []
    scores = trained[-1].stages["training"]["scores"]
    reached = [
        name
        for name, target in targets.items()
        if (score := scores.get(name)) and score["score"] >= target
    ]
    return reached if len(reached) == len(targets) else []


@dataclass(frozen=True)
class Gain:
    """A task's score, and its difference to the model before in points."""

    task: str
    score: dict[str, Any]
    points: float | None
    half: float | None  # of the 95 % interval of the difference


@dataclass(frozen=True)
class RoundSums:
    """What a round asked for and what came of it."""

    n_asked: int
    n_answered: int
    n_skipped: int
    n_random: int
    n_blind: int
    n_people: int
    minutes: float
    budget_minutes: float | None
    gains: tuple[Gain, ...] = ()
    n_checks: int = 0  # gold checks among them, which are no asks

    @property
    def is_answered(self) -> bool:
        """Return whether nothing that was asked waits any more."""
        return bool(self.n_asked) and self.n_answered >= self.n_asked


def round_sums(found: Round, rows: list[RoundRow] | None = None) -> RoundSums:
    """Return what a round asked for, what it cost, and how its model compares with the last."""
    queue = Queue.objects.filter(round=found).first()
    if queue is None:
        return RoundSums(0, 0, 0, 0, 0, 0, 0.0, None, _gains(found, rows))
    counts = queue.asks.aggregate(
        asked=Count("id", filter=Q(is_check=False)),
        closed=Count("id", filter=is_answered() & Q(is_check=False)),
        checks=Count("id", filter=Q(is_check=True)),
        random=Count("id", filter=Q(is_random=True)),
        blind=Count("id", filter=Q(is_blind=True)),
    )
    progress = Progress.objects.filter(queue=queue)
    return RoundSums(
        n_asked=counts["asked"],
        n_answered=counts["closed"],
        n_skipped=Lease.objects.filter(ask__queue=queue, state=Lease.State.SKIPPED).count(),
        n_random=counts["random"],
        n_blind=counts["blind"],
        n_checks=counts["checks"],
        n_people=progress.filter(n_done__gt=0).count(),
        minutes=(progress.aggregate(seconds=Sum("seconds"))["seconds"] or 0) / 60,
        budget_minutes=queue.budget_minutes,
        gains=_gains(found, rows),
    )


def _gains(found: Round, rows: list[RoundRow] | None) -> tuple[Gain, ...]:
    names = task_names(found.project)
    rows = round_rows(found.project) if rows is None else rows
    here = next((row for row in rows if row.round.pk == found.pk), None)
    earlier = [row for row in rows if row.round.number < found.number and any(row.scores)]
    if here is None or not any(here.scores):
        return ()
    before: tuple[Any, ...] = earlier[0].scores if earlier else (None,) * len(names)
    gains = []
    for name, score, old in zip(names, here.scores, before, strict=True):
        if not score:
            continue
        points = 100 * (score["score"] - old["score"]) if old else None
        halves = [_half(one) for one in (score, old) if one]
        half = sum(h * h for h in halves if h is not None) ** 0.5 if None not in halves else None
        gains.append(Gain(name, score, points, half if old else None))
    return tuple(gains)


def _half(score: dict[str, Any]) -> float | None:
    interval = score.get("interval")
    return 50 * (interval[1] - interval[0]) if interval else None


def _may(project: Project) -> Any:
    """Return a function that gives a button to those whose role reaches it."""

    def may(needed: Role, words: str, page: str) -> Action | None:
        reaches = project.role is not None and project.role.reaches(needed)
        return Action(words, page_of(page, project)) if reaches else None

    return may


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def _minutes(minutes: float) -> str:
    return f"{minutes:.0f} min" if minutes >= 1 else "under 1 min"
