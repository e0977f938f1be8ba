"""What the next round would ask, by the model of the last one: a stored result for the plan page.

The worker computes it after every round and on request: the last scores without what was answered
since then, chosen anew by the project's settings, for several budgets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from django.conf import settings as settings_of_server
from django.db.models import Avg, Count, Sum

from annotation.errors import Conflict
from annotation.jobs.insights import (
    InsightKind,
    NoSettings,
    newest_of,
    register_insight,
    stored_result,
)
from annotation.jobs.services import Progress
from annotation.models import Annotation, Gold, Project, Queue, Role, Round, Sentence
from annotation.models import Progress as Done
from annotation.queue.selectors import cost_model
from annotation.rounds.dashboard import learning_curve, trained_rounds
from annotation.rounds.data import open_pool, without_word_answers
from annotation.rounds.market import trade
from annotation.rounds.selectors import round_job
from annotation.rounds.settings import RoundSettings, default_settings
from annotation.rounds.workspace import SCORES, ScoredPool, Workspace, whole_tenths
from mtl_engine.costs import prior_model
from mtl_engine.kinds import KINDS

if TYPE_CHECKING:  # these load torch, which the web process never does
    from mtl_engine.active_learning.choose import Choice, Selected

BUDGETS = (15, 30, 60, 90, 120)  # minutes
OF_LOOKS = ("second", "adjudicate", "repair")
N_EXAMPLES = 20
LEAST_PACED = 20  # answers from which on the measured pace counts


@dataclass(frozen=True)
class ByChance:
    """What a budget buys before there is a model."""

    n_sentences: int
    seconds_each: float  # of all its answers
    most: int  # sentences that there are


def by_chance(project: Project, minutes: float, *, n_answers: int) -> ByChance | None:
    """Return how many sentences of average length a budget pays for, None without sentences.

    By the times that people took so far; by what is usual before there are any.
    """
    length = Sentence.objects.filter(project=project, is_test=False, left_out="").aggregate(
        mean=Avg("n_tokens"), n=Count("pk")
    )
    tasks = list(project.tasks.values_list("name", "kind"))
    if not length["n"] or not tasks:
        return None
    n_tokens = np.array([length["mean"]])
    items = [KINDS[kind].items_to_mark(n_tokens, np.ones(1)) for _, kind in tasks]
    costs = prior_model(dict(tasks)).predict(n_tokens, np.stack(items, axis=1))
    seconds = _measured_pace(project) or float(costs.read[0] + costs.label[0].sum())
    seconds *= max(1, n_answers)
    return ByChance(min(int(minutes * 60 / seconds), length["n"]), seconds, length["n"])


def _measured_pace(project: Project) -> float | None:
    """Return the seconds of a sentence so far, None while too few were answered to tell."""
    done = Done.objects.filter(queue__project=project).aggregate(
        n=Sum("n_done"), seconds=Sum("seconds")
    )
    return float(done["seconds"] / done["n"]) if (done["n"] or 0) >= LEAST_PACED else None


def bought_for(budgets: Mapping[str, Any], minutes: float) -> dict[str, Any] | None:
    """Return what a budget buys: as it was computed, in between by the nearest one's pace."""
    if not budgets or minutes <= 0:
        return None
    nearest = min(budgets, key=lambda one: abs(float(one) - minutes))
    found, ratio = dict(budgets[nearest]), minutes / float(nearest)
    if ratio == 1:
        return found
    if found["is_all"] and ratio > 1:
        return found  # more minutes buy no more than all there is
    for key in ("n_sentences", "n_test"):
        found[key] = round(found[key] * ratio)
    found["minutes"] = round(found["minutes"] * ratio, 1)
    found["is_all"] = False
    if "market" in found:
        found["market"] = [{**row, "minutes": row["minutes"] * ratio} for row in found["market"]]
    return found


def last_model(project: Project) -> Round | None:
    """Return the newest round that has trained and scored on this machine."""
    for found in project.rounds.order_by("-number"):
        is_trained = not found.stages.get("training", {}).get("is_seed", True)
        if is_trained and "scoring" in found.stages and Workspace.of(found).has(SCORES):
            return found
    return None


def usual_budgets(project: Project) -> tuple[float, ...]:
    """Return five budgets in minutes that are near to what the project's last round had."""
    last = project.rounds.order_by("-number").first()
    planned = last.config if last else {}
    usual = _usual_minutes(default_settings(project))
    if planned.get("unit") == "minutes":
        usual = float(planned["amount"])
    near = sorted({*map(float, BUDGETS), usual}, key=lambda minutes: abs(log(minutes / usual)))
    return tuple(sorted(near[: len(BUDGETS)]))


def _usual_minutes(own: RoundSettings) -> float:
    return own.amount if own.unit == "minutes" else 60.0


def compute(project: Project, settings: NoSettings, progress: Progress) -> dict[str, Any]:
    """Return what each budget would buy, and of the usual one twenty asks and their lengths."""
    from annotation.rounds.selection_stage import scored_tasks
    from annotation.rounds.stages import measured_needs
    from mtl_engine.active_learning.price import price_pool

    last = last_model(project)
    asked = set(project.tasks.filter(is_hidden=False).values_list("name", flat=True))
    if last is None or not asked.issuperset(last.stages["scoring"]["tasks"]):
        return {}  # a task of that round is gone: the next round knows more
    own = default_settings(project)
    usual = _usual_minutes(own)
    if own.unit != "minutes":
        own = replace(own, unit="minutes", amount=usual)
    tasks = scored_tasks(last)
    scored = _still_open(Workspace.of(last).scored(tasks, "seconds"), project, own)
    model = cost_model(project, scored.pool.names)
    scores = scored.scores if own.word_asks != "off" else scored.scores.of_whole_sentences()
    prices = price_pool(scored.pool, scores.n_expected, own, model, scores.n_words)
    scored = replace(scored, scores=scores, prices=prices)
    needs = measured_needs(last, own)  # targets may have been set since
    found: dict[str, Any] = {
        "round": last.number,
        "needs": needs,
        "train_seconds": _seconds_to_queue(last),
        "minutes": usual,
        "budgets": {},
    }
    budgets = sorted({*usual_budgets(project), usual})
    for number, minutes in enumerate(budgets):
        progress("choosing", number, len(budgets))
        settings_of = replace(own, amount=minutes)
        choice, drawn = _choose(last, scored, settings_of, needs)
        n_answers = own.overlap or project.overlap
        bought = _bought(scored, choice, drawn, n_answers)
        checks: Mapping[int, str] = {}
        if own.buys_looks:
            tests = {int(scored.pool.ids[one.row]) for one in drawn}
            traded = trade(project, scored, choice, needs, tests=tests)
            choice, checks = traded.choice, traded.checks
            looks = sum(row["minutes"] for row in traded.split if row["purpose"] in OF_LOOKS)
            bought = {
                **_bought(scored, choice, drawn, n_answers, looks),
                "market": list(traded.split),
            }
        found["budgets"][f"{minutes:g}"] = bought
        if minutes == usual:
            found["lengths"] = _lengths(scored, choice)
            found["examples"] = _examples(scored, choice, settings_of, checks)
    return found


def _seconds_to_queue(last: Round) -> float:
    """Return how long people waited for a round's queue, from the start of its work on."""
    job, queue = round_job(last), Queue.objects.filter(round=last).order_by("pk").first()
    if job is None or job.started_at is None or queue is None or last.n_resumed:
        return float(last.stages["training"].get("cpu_seconds", 0.0))
    return round((queue.created_at - job.started_at).total_seconds(), 1)


def _choose(
    last: Round, scored: ScoredPool, settings: RoundSettings, needs: Mapping[str, float]
) -> "tuple[Choice, list[Selected]]":
    from annotation.rounds import services
    from annotation.rounds.selection_stage import TestNeed, make_choice, wanted_overlap
    from mtl_engine.active_learning.score import sentence_vectors
    from mtl_engine.ensemble import load_ensemble

    def vectors(rows: Any) -> Any:
        model = load_ensemble(Workspace.of(last).model, device=settings_of_server.DEVICE)
        return sentence_vectors(model, scored.pool, rows)

    n_wanted = services.n_tests_wanted(project=last.project, size=settings.test_size)
    return make_choice(
        scored,
        settings,
        last.number + 1,
        is_seed=False,
        n_answers=wanted_overlap(last, settings),
        test=TestNeed(n_wanted, 0.0),
        vectors=vectors,
        needs=needs,
    )


def _still_open(scored: ScoredPool, project: Project, own: RoundSettings) -> ScoredPool:
    """Return the scored pool with everything closed that was answered or left out since.

    Where single words are asked, a cell is closed by answers to some of them, as in rounds.
    """
    now = open_pool(project, scored.pool.tasks)
    if own.word_asks != "off":
        now = without_word_answers(project, now)
    place = {int(sentence): row for row, sentence in enumerate(now.ids)}
    is_closed = np.ones_like(scored.pool.is_closed)
    for row, sentence in enumerate(scored.pool.ids.tolist()):
        if sentence in place:
            is_closed[row] = now.is_closed[place[sentence]]
    confidence = np.where(is_closed, np.nan, scored.scores.confidence)
    return replace(
        scored,
        pool=replace(scored.pool, is_closed=is_closed),
        scores=replace(scored.scores, confidence=confidence),
    )


def _bought(
    scored: ScoredPool,
    choice: "Choice",
    drawn: "Sequence[Selected]",
    n_answers: int,
    looks: float = 0.0,
) -> dict[str, Any]:
    """Return how many sentences are asked and which share of the time goes where.

    Each is answered by ``n_answers`` people; ``looks`` are minutes of second looks.
    """
    costs, names = scored.prices.costs, scored.pool.names
    seconds = dict.fromkeys(names, 0.0)
    chance = sum(scored.cost(one) for one in drawn)
    for one in choice.selected:
        if one.source != "strategy":
            chance += scored.cost(one)
            continue
        for column in one.tasks:
            own = costs.label[one.row, column] + costs.read[one.row] / len(one.tasks)
            seconds[names[column]] += float(own)
    chance *= n_answers
    seconds = {name: n_answers * value for name, value in seconds.items()}
    total = max(chance + sum(seconds.values()) + 60 * looks, 1e-9)
    found: dict[str, Any] = {
        "n_sentences": len(choice.selected) + len(drawn),
        "n_test": len(drawn),
        "is_all": len(choice.selected) + len(drawn) >= _n_open(scored),
        "minutes": round(total / 60, 1),
        "chance": round(chance / total, 3),
        "tasks": {name: round(value / total, 3) for name, value in seconds.items()},
    }
    if choice.coverage is not None:
        ratios = [round(ratio, 2) for ratio in choice.coverage.ratio.tolist()]
        found["worth"] = dict(zip(names, ratios, strict=True))
    return found


def _n_open(scored: ScoredPool) -> int:
    return int((~np.isnan(scored.scores.confidence)).any(axis=1).sum())


def _lengths(scored: ScoredPool, choice: "Choice") -> dict[str, Any]:
    """Return the lengths of the batch beside those of the open pool."""
    from annotation.rounds.selection_stage import length_shares

    is_open = ~scored.pool.is_closed.all(axis=1)
    place = np.cumsum(is_open) - 1  # of each row among the open ones
    rows = [int(place[one.row]) for one in choice.selected]
    return length_shares(scored.pool.n_tokens[is_open], rows)


def _examples(
    scored: ScoredPool, choice: "Choice", settings: RoundSettings, checks: Mapping[int, str]
) -> list[dict[str, Any]]:
    from mtl_engine.active_learning.explain import explain_choice

    first = choice.selected[:N_EXAMPLES]
    reasons = explain_choice(choice, scored.pool, scored.scores, scored.prices, settings)
    ids = [int(scored.pool.ids[one.row]) for one in first]
    texts = dict(Sentence.objects.filter(pk__in=ids).values_list("pk", "text"))
    return [
        {
            "rank": rank,
            "sentence": sentence,
            "text": texts[sentence],
            "seconds": whole_tenths(scored.prices.seconds(one.row, one.tasks) or 0.0),
            "tasks": [scored.pool.names[column] for column in one.tasks],
            "why": checks.get(sentence) or reason.why,
            "is_random": one.source != "strategy",
        }
        for rank, (sentence, one, reason) in enumerate(
            zip(ids, first, reasons[: len(first)], strict=True), 1
        )
    ]


@dataclass(frozen=True)
class Gain:
    """What a task is expected to win by the asks of a budget."""

    task: str
    metric: str
    score: float
    expected: float | None = None  # score after it
    spread: float | None = None
    target: float | None = None

    @property
    def points(self) -> float | None:
        """Return the gain in points of a hundred."""
        return None if self.expected is None else 100 * (self.expected - self.score)

    @property
    def is_reached(self) -> bool:
        return self.target is not None and self.score >= self.target


def expected_gains(project: Project, n_sentences: int) -> list[Gain]:
    """Return the gains by the stored forecast, for tasks that have a score."""
    forecasts = stored_result(project, "forecast") or {}
    rounds = trained_rounds(project)
    found = []
    for task in project.tasks.all():
        curve = learning_curve(task, rounds)
        if not curve["chosen"]:
            continue
        now = curve["chosen"][-1]
        gain = Gain(task.name, curve["metric"], now["score"], target=curve["target"])
        ahead = forecasts.get(task.name, {}).get("curve", [])
        wanted = now["n"] + n_sentences
        if ahead and ahead[0]["n"] <= wanted <= ahead[-1]["n"]:
            sizes = [point["n"] for point in ahead]
            at = {
                key: float(np.interp(wanted, sizes, [point[key] for point in ahead]))
                for key in ("score", "low", "high")
            }
            spread = 100 * (at["high"] - at["low"]) / 2
            gain = replace(gain, expected=max(at["score"], now["score"]), spread=spread)
        found.append(gain)
    return found


def _require_model(project: Project) -> None:
    if last_model(project) is None:
        raise Conflict("There is no model yet: the first round trains one.")


def _inputs(project: Project) -> Any:
    """Return what the choice depends on: the last model, answers, targets and settings."""
    last = last_model(project)
    answers = [
        newest_of(model.objects.filter(sentence__project=project), "pk")
        for model in (Gold, Annotation)
    ]
    targets = sorted(project.tasks.values_list("pk", "target_score"))
    return [last.pk if last else None, answers, targets, default_settings(project).to_dict()]


PREVIEW = register_insight(
    InsightKind(
        name="preview",
        title="Preview of the next round",
        compute="annotation.rounds.preview.compute",
        inputs=_inputs,
        check=_require_model,
        is_wanted=lambda project: last_model(project) is not None,
        role=Role.OWNER,
        page="plan-round",
        place="plan",
    )
)
