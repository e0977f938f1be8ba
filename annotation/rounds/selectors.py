"""Reading rounds: their table, what one would do, what it asks, what it was trained with."""

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from annotation.errors import NotFound, Refused
from annotation.jobs.insights import stored_result
from annotation.jobs.services import TRAINING, alive_workers
from annotation.models import (
    Annotation,
    Ask,
    Gold,
    Job,
    Progress,
    Project,
    Queue,
    Round,
    Sentence,
    Task,
)
from annotation.projects.selectors import encoder_hint
from annotation.rounds.settings import LEARNED, RoundSettings, shown_settings
from annotation.rounds.workspace import Workspace
from config.home import command
from mtl_engine.active_learning.pool import LEAST_TO_LEARN
from mtl_engine.config import BUNDLED
from mtl_engine.selection import get_strategy

FEW = 100
VERDICTS = {"better": "better", "equal": "no difference shown", "worse": "worse"}


def find_round(project: Project, number: int) -> Round:
    """Return a round of a project by its number."""
    found = project.rounds.filter(number=number).first()
    if found is None:
        raise NotFound("No such round.")
    return found


def rounds_of(project: Project) -> QuerySet[Round]:
    """Return the rounds of a project."""
    return project.rounds.all()


def task_names(project: Project) -> list[str]:
    """Return the names of a project's tasks, in its order."""
    return list(project.tasks.values_list("name", flat=True))


def last_round(project: Project) -> Round | None:
    """Return the newest round of a project."""
    return project.rounds.order_by("-number").first()


def round_job(round: Round) -> Job | None:
    """Return the newest job of a round."""
    return Job.objects.filter(kind=Job.Kind.ROUND, arguments={"round": round.pk}).first()


def quote_in_force(project: Project) -> dict[str, Any]:
    """Return the stored quote; nothing of one for targets that are other today."""
    found = stored_result(project, "quote") or {}
    targets = dict(project.tasks.filter(is_hidden=False).values_list("name", "target_score"))
    return found if found.get("targets", targets) == targets else {}


def round_asks(round: Round) -> QuerySet[Ask]:
    """Return what a round asks, in the order of asking; gold checks are marked nowhere."""
    asks = Ask.objects.filter(queue__round=round, is_check=False)
    return asks.select_related("sentence").order_by("rank")


def previous_model(round: Round) -> Path | None:
    """Return the model of the last round before this one that has one."""
    earlier = Round.objects.filter(project=round.project, number__lt=round.number)
    for found in earlier.order_by("-number"):
        workspace = Workspace.of(found)
        if workspace.has_whole_model:
            return workspace.model
    return None


def find_model(project: Project, number: int | None = None) -> Round:
    """Return the round whose model answers: the named one, or the newest that has a model here."""
    if number is not None:
        found = find_round(project, number)
        if not Workspace.of(found).has_model:
            raise Refused(f"Round {number} has no model: it was a seed set, or failed to train.")
        return found
    for row in project.rounds.order_by("-number"):
        if row.state != Round.State.TRAINING and Workspace.of(row).has_model:
            return row
    raise Refused("This project has no model yet: answer some asks, then launch a round.")


def earlier_scores(round: Round) -> list[dict[str, float]]:
    """Return each task's score in the rounds before this one, oldest first."""
    earlier = Round.objects.filter(project=round.project, number__lt=round.number)
    measured = [found.stages.get("training", {}) for found in earlier.order_by("number")]
    return [
        {name: float(score["score"]) for name, score in facts["scores"].items()}
        for facts in measured
        if facts.get("scores")
    ]


def round_ledger(round: Round) -> dict[str, Any]:
    """Return how the choice compares with chance by task, as a round's control found it."""
    control = round.stages.get("training", {}).get("control") or {}
    found: dict[str, Any] = control.get("ledger", {})
    return found


def choice_facts(round: Round) -> dict[str, Any]:
    """Return what a round's choice promises, how choosing has done so far, and how long asks are.

    Nothing of a round that has not chosen yet.
    """
    facts = round.stages.get("selecting", {})
    ledger = round_ledger(round)
    if not facts.get("lengths") and not ledger:
        return {}
    lengths, minutes = facts.get("lengths", {}), facts.get("minutes", {})
    needs = round.stages.get("scoring", {}).get("needs", {})
    return {
        "worth": [
            {
                "task": name,
                "words": "solved" if needs.get(name) == 0 else f"worth {ratio:.1f} random batches",
                "minutes": f"{100 * minutes[name]:.0f} % of the minutes" if name in minutes else "",
            }
            for name, ratio in facts.get("worth", {}).items()
        ],
        "ledger": [{"task": name, "words": words} for name, words in ledger_words(ledger)],
        "advice": ledger_advice(ledger),
        "lengths": [
            {"words": words, "asked": asked, "pool": pool}
            for words, asked, pool in zip(
                *(lengths.get(key, []) for key in ("words", "asked", "pool")), strict=True
            )
        ],
        "market": facts.get("market", []),
        "mean_asked": lengths.get("mean_asked"),
        "mean_pool": lengths.get("mean_pool"),
    }


def ledger_words(ledger: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how the choice compares with chance so far, task by task."""
    return [(name, _in_points(entry)) for name, entry in ledger.items()]


def _in_points(entry: dict[str, Any]) -> str:
    """Return a comparison with chance in words: "better: +2.1 points (+0.3 to +3.9)"."""
    low, high = (100 * end for end in entry["interval"])
    points = f"{100 * entry['difference']:+.1f} points ({low:+.1f} to {high:+.1f})"
    return f"{VERDICTS[entry['verdict']]}: {points}"


def learned_weights(project: Project) -> dict[str, float]:
    """Return the probability of each task that was learned from a project's rounds."""
    learned = stored_result(project, "policy")
    if learned is None:
        raise Refused(
            "No policy was learned for this project yet: run "
            f"`{command('learn_policy', '--project', str(project.pk))}`, or choose another task "
            "order."
        )
    return {str(name): float(value) for name, value in learned["probabilities"].items()}


@dataclass
class RoundPlan:
    """What will happen, what to know first, and what forbids it."""

    number: int
    is_seed: bool  # nothing to learn from yet: sentences are drawn by chance
    n_labelled: dict[str, int] = field(default_factory=dict)  # outside the test slice, by task
    n_pool: int = 0
    n_scored: int = 0  # of a large pool a sample
    n_test: int = 0
    n_to_freeze: int = 0  # sentences that this round sets aside for testing
    n_frozen_labelled: int = 0  # those of them with an answer to some task
    has_worker: bool = False
    running: Round | None = None
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def plan_round(project: Project, settings: RoundSettings) -> RoundPlan:
    """Return what a round with this configuration would do."""
    frozen = draw_test_slice(
        project,
        size=settings.test_size,
        seed=settings.seed,
        splits_documents=settings.splits_documents,
    )
    counts = labelled_counts(project, without=frozen)
    sentences = Sentence.objects.filter(project=project)
    n_frozen = sentences.filter(is_test=True).count()
    n_sentences = sentences.count()
    last = project.rounds.order_by("-number").first()
    n_pool = n_open(project, without=frozen)
    plan = RoundPlan(
        number=(last.number if last else 0) + 1,
        is_seed=not can_learn(counts),
        n_labelled=counts,
        n_pool=n_pool,
        n_scored=min(n_pool, settings.pool_sample or n_pool),
        n_test=n_frozen,
        n_to_freeze=len(frozen),
        n_frozen_labelled=len({i for _, i in _answered(project)}.intersection(frozen))
        if frozen
        else 0,
        has_worker=bool(alive_workers(timezone.now(), TRAINING)),
        running=project.rounds.filter(state__in=Round.RUNNING).first(),
    )
    _find_problems(plan, project, settings, n_sentences)
    _find_warnings(plan, settings)
    if last is not None:
        plan.warnings += ledger_advice(round_ledger(last))
        plan.notes += _task_says(last, _needs_of_today(last))
    if settings.encoder == BUNDLED:
        hint = encoder_hint(project)
        plan.warnings += [hint] if hint else []
    return plan


def ledger_advice(ledger: dict[str, Any]) -> list[str]:
    """Return what to change about each task that the choice has served worse than chance."""
    return [
        f"For {name} selected sentences have taught less than random ones: "
        f"{100 * entry['difference']:+.1f} points at the same cost "
        f"({100 * entry['interval'][0]:+.1f} to {100 * entry['interval'][1]:+.1f}). Ask for it at "
        f"random: under 'How tasks are covered' write {name}:chance, or choose the strategy RANDOM."
        for name, entry in ledger.items()
        if entry["verdict"] == "worse"
    ]


NEARLY_ALL = 0.9  # of a full say: less is worth a line on the plan


def _needs_of_today(last: Round) -> dict[str, float]:
    """Return what each task can still gain: by the preview, which knows the targets of today."""
    preview = stored_result(last.project, "preview") or {}
    knows = preview if preview.get("round") == last.number else {}
    found: dict[str, float] = knows.get("needs", last.stages.get("scoring", {}).get("needs", {}))
    return found


def _task_says(last: Round, needs: Mapping[str, float]) -> list[str]:
    """Return which tasks have little or nothing left to gain, and what they still cost."""
    minutes = last.stages.get("selecting", {}).get("minutes", {})
    says = []
    for name, need in needs.items():
        cost = f"{100 * minutes.get(name, 0.0):.0f} % of the minutes of round {last.number}."
        if need == 0:
            says.append(f"{name} is solved and only asked at random; it took {cost}")
        elif need < NEARLY_ALL:
            says.append(
                f"{name} counts for {100 * need:.0f} %: it is near its target, has stopped "
                f"improving, or has less to gain than others; it took {cost}"
            )
    return says


def can_learn(counts: dict[str, int]) -> bool:
    """Return whether some task has enough labelled sentences to train on."""
    return max(counts.values(), default=0) >= LEAST_TO_LEARN


def labelled_counts(project: Project, *, without: Collection[int] = ()) -> dict[str, int]:
    """Return how many sentences outside the test slice have an answer, by task."""
    names = dict(project.tasks.order_by("position").values_list("id", "name"))
    left_out = set(without)
    counts = Counter(task_id for task_id, i in _answered(project) if i not in left_out)
    return {name: counts[task_id] for task_id, name in names.items()}


def n_open(project: Project, *, without: Collection[int] = ()) -> int:
    """Return how many sentences of the pool, outside the test slice, lack an answer to a task."""
    tasks = dict(project.tasks.filter(is_hidden=False).values_list("id", "is_document"))
    n_tasks = Counter(tasks.values())
    pool = Sentence.objects.filter(project=project, is_test=False, left_out="")
    left_out = set(without)
    rows = pool.values_list("id", "is_document")
    ids = {pk: is_document for pk, is_document in rows if pk not in left_out}
    of_sentence = Counter(i for task_id, i in _answered(project) if task_id in tasks and i in ids)
    return sum(of_sentence[i] < n_tasks[is_document] for i, is_document in ids.items())


def _answered(project: Project) -> set[tuple[int, int]]:
    """Return the answered (task, sentence) pairs outside the test slice."""
    answered: set[tuple[int, int]] = set()
    for model in (Gold, Annotation):
        rows: Any = model.objects.filter(sentence__project=project, sentence__is_test=False)
        answered |= set(rows.values_list("task_id", "sentence_id"))
    return answered


def draw_test_slice(
    project: Project, *, size: int, seed: int, splits_documents: bool = False
) -> list[int]:
    """Return the sentences that the first round sets aside for testing; none once it has.

    They are drawn by chance from sentences that have gold for every task, at most half of those,
    because they cost nothing. Where they are few, rounds add others that people then label.
    Documents are drawn as a whole, labelled or not: the asks of rounds bring what is missing.
    """
    if Sentence.objects.filter(project=project, is_test=True).exists():
        return []
    labelled, rng = _fully_labelled(project), random.Random(seed)
    chosen = [] if splits_documents else _whole_documents(project, labelled, size, rng)
    return chosen or rng.sample(labelled, min(size, len(labelled) // 2))


def _whole_documents(
    project: Project, labelled: Sequence[int], size: int, rng: random.Random
) -> list[int]:
    """Return the rows of documents drawn by chance, at most ``size`` and half of them all.

    Of labelled documents where there are any. A document that is larger than all of that is left to
    training; nothing is returned where that leaves none.
    """
    documents: dict[tuple[int, str], list[int]] = {}
    rows = Sentence.objects.filter(project=project, left_out="").exclude(document="")
    for pk, corpus, name in rows.order_by("id").values_list("id", "corpus_id", "document"):
        documents.setdefault((corpus, name), []).append(pk)
    known = set(labelled)
    whole = [rows for rows in documents.values() if known.issuperset(rows)]
    groups = whole or list(documents.values())
    most = min(size, sum(map(len, groups)) // 2)
    rng.shuffle(groups)
    chosen: list[int] = []
    for group in groups:
        if len(chosen) + len(group) <= most:
            chosen += group
    return chosen


def _fully_labelled(project: Project) -> list[int]:
    shown = Task.objects.filter(project=project, is_hidden=False)
    n_tasks = Counter(shown.values_list("is_document", flat=True))
    gold = Gold.objects.filter(task__in=shown, sentence__left_out="")
    counts = Counter(gold.values_list("sentence_id", "sentence__is_document"))
    return sorted(i for (i, is_document), n in counts.items() if n == n_tasks[is_document])


def _find_problems(
    plan: RoundPlan, project: Project, settings: RoundSettings, n_sentences: int
) -> None:
    if not plan.n_labelled:
        plan.problems.append("The project has no task: add one first.")
    if project.state == Project.State.ARCHIVED:
        plan.problems.append("The project is archived: take it up again first.")
    if n_sentences < 4:
        plan.problems.append(
            f"The project has {n_sentences} sentences: import a corpus first, at least 4 sentences."
        )
    if plan.running is not None:
        plan.problems.append(
            f"Round {plan.running.number} is {plan.running.state}: one training at a time in a "
            "project. Wait for it or cancel it."
        )
    last = project.rounds.filter(state=Round.State.LABELLING).order_by("-number").first()
    if plan.is_seed and last is not None:
        plan.problems.append(
            f"There is nothing to learn from yet: no task has {LEAST_TO_LEARN} labelled sentences "
            f"outside the test slice. Answer the asks of round {last.number} first."
        )
    if settings.policy == LEARNED and not plan.is_seed:
        try:
            learned_weights(project)
        except Refused as refusal:
            plan.problems.append(str(refusal))


def _find_warnings(plan: RoundPlan, settings: RoundSettings) -> None:
    if not plan.has_worker:
        plan.warnings.append(f"No worker is running: start one with `{command('worker')}`.")
    if plan.is_seed:
        return
    for name, n in plan.n_labelled.items():
        if n == 0:
            plan.warnings.append(f"{name} has no labels: it is asked for, but not learned yet.")
    few = [name for name, n in plan.n_labelled.items() if 0 < n < FEW]
    if few:
        plan.warnings.append(
            f"Fewer than {FEW} labelled sentences for {', '.join(few)}: scores will be rough."
        )
    if settings.random_share < 0.1:
        plan.warnings.append(
            "Below 10 % of random sentences the control becomes too noisy to read."
        )


@dataclass(frozen=True)
class RoundRow:
    """One round with its numbers."""

    round: Round
    strategy: str
    n_asks: int
    n_answered: int
    minutes: float
    budget: str
    scores: tuple[dict[str, Any] | None, ...] = field(default=())  # in the order of the tasks
    gain: float | None = None  # points of the mean score over the last round with scores


def is_answered(ask: str = "", queue: str = "queue__") -> Q:
    """Return the condition that an ask was answered: nothing more is wanted of it.

    When more answers are wanted than before, asks of earlier queues stay open for ever: of them
    any answer counts.
    """
    has_some = Q(**{f"{queue}is_current": False, f"{ask}n_answers__gt": 0})
    return Q(**{f"{ask}is_open": False}) | has_some


def round_rows(project: Project) -> list[RoundRow]:
    """Return the rounds of a project, newest first."""
    names = task_names(project)
    queues = {
        row.round_id: row
        for row in Queue.objects.filter(project=project, round__isnull=False).annotate(
            n_wanted=Count("asks", filter=Q(asks__is_check=False)),
            n_closed=Count("asks", filter=Q(asks__is_check=False) & is_answered("asks__", "")),
        )
    }
    seconds = dict(
        Progress.objects.filter(queue__in=[q.pk for q in queues.values()])
        .values_list("queue")
        .annotate(total=Sum("seconds"))
    )
    rows: list[RoundRow] = []
    last_mean: float | None = None
    for found in project.rounds.defer("manifest", "files").order_by("number"):
        scores = _scores(found, names)
        known = [score["score"] for score in scores if score]
        mean = sum(known) / len(known) if known else None
        is_next = mean is not None and last_mean is not None
        gain = 100 * (mean - last_mean) if is_next else None  # type: ignore[operator]
        last_mean = mean if mean is not None else last_mean
        queue: Any = queues.get(found.pk)
        rows.append(
            RoundRow(
                round=found,
                strategy=_strategy(found),
                n_asks=queue.n_wanted if queue else 0,
                n_answered=queue.n_closed if queue else 0,
                minutes=(seconds.get(queue.pk) or 0) / 60 if queue else 0.0,
                budget=f"{found.config['amount']:g} {found.config['unit']}",
                scores=tuple(scores),
                gain=gain,
            )
        )
    return rows[::-1]


def _scores(found: Round, names: list[str]) -> list[dict[str, Any] | None]:
    measured = found.stages.get("training", {}).get("scores", {})
    return [measured.get(name) for name in names]


def _strategy(found: Round) -> str:
    if found.stages.get("training", {}).get("is_seed"):
        return "random seed set"
    config = shown_settings(found)
    if config["diversity"] != "none":
        return f"{config['strategy']}, diverse"
    name = str(config["strategy"])
    if config["unit"] == "sentences" or get_strategy(name).plan != "solved":
        return name
    return f"{name}, {'BLP' if config['decision'] == 'BLP' else 'greedy'}"
