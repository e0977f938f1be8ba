"""What the minutes of a round may buy besides new labels, and who is asked for it.

Second opinions go to somebody who has not answered; adjudications and repairs to curators, whose
answer is gold. An app above this one offers repairs: it knows which answers are suspected.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from django.utils.module_loading import import_string

from annotation.adjudication.final import SINGLE, final_answers
from annotation.adjudication.selectors import disputes
from annotation.jobs.insights import stored_result
from annotation.jobs.services import Progress
from annotation.models import (
    Annotation,
    Ask,
    Gold,
    Membership,
    Project,
    Role,
    Sentence,
    Suggestion,
)
from annotation.queue.asks import AskRow
from annotation.queue.selectors import cost_model
from annotation.queue.suggestions import IMPORT, MODEL
from annotation.rounds.dashboard import learning_curve, suggestion_counts, trained_rounds
from mtl_engine.costs import CostModel
from mtl_engine.kinds import KINDS

if TYPE_CHECKING:  # these load torch or scipy, which the web process never does
    from annotation.rounds.workspace import ScoredPool
    from mtl_engine.active_learning.choose import Choice, Selected
    from mtl_engine.active_learning.market import Candidate, TaskGain

MOST_CANDIDATES = 500  # of each kind
CHUNK = 2000
LEAST_DOUBT = 0.08  # of an answer, from which a second opinion is offered
USUAL_DOUBT = 0.1  # of a person whose agreement is not known
WRONG_OF_DISPUTED = 0.5  # items that a vote of two gets wrong
CHECK_TIME = 0.7  # of the time without a suggestion, unless it was measured


@dataclass(frozen=True)
class Looks:
    """Looks of one purpose that an app above this one offers, by the paths of its functions."""

    rows: str  # of a project: sentence, task, probability, seconds, why and facts
    prepare: str  # of a project and its progress: brings up to date what the rows come from


LOOKS: dict[str, Looks] = {}  # by purpose


@dataclass(frozen=True)
class Trade:
    """What is bought: new labels as the strategy chose them, and second looks."""

    choice: "Choice"
    looks: tuple[AskRow, ...]
    checks: Mapping[int, str]  # sentences that are checks of outside suggestions, and why
    split: tuple[Mapping[str, Any], ...]


def register_looks(purpose: str, looks: Looks) -> None:
    """Let an app offer looks."""
    LOOKS[purpose] = looks


def prepare_looks(project: Project, progress: Progress) -> None:
    """Bring up to date what other apps offer; models may be trained for it."""
    for looks in LOOKS.values():
        import_string(looks.prepare)(project, progress)


def trade(
    project: Project,
    scored: "ScoredPool",
    choice: "Choice",
    needs: Mapping[str, float],
    *,
    tests: Collection[int],
) -> Trade:
    """Return what the time of a strategy's choice buys best, new labels and looks together.

    What chance takes is left as it is, and so are the sentences that are asked to test models.
    """
    from mtl_engine.active_learning.choose import STRATEGY
    from mtl_engine.active_learning.market import choose_within, split

    gains = task_gains(project, needs)
    by_strategy = [one for one in choice.selected if one.source == STRATEGY]
    budget = sum(scored.cost(one) for one in by_strategy)
    labels = _label_candidates(project, scored, choice, by_strategy, gains)
    asked = {int(scored.pool.ids[one.row]) for one in choice.selected if one.source != STRATEGY}
    asked.update(tests)
    others = [one for one in look_candidates(project, gains) if one.sentence not in asked]
    checks = _outside_checks(project, scored, choice, gains, tests)
    candidates = [*labels, *checks, *others]
    bought = choose_within(candidates, budget)
    kept = {one.sentence for one in bought if one.purpose in ("label", "check")}
    row_of = {int(pk): row for row, pk in enumerate(scored.pool.ids.tolist())}
    known = {one.row for one in choice.selected}
    selected = [
        one
        for one in choice.selected
        if one.source != STRATEGY or int(scored.pool.ids[one.row]) in kept
    ]
    selected += _new_checks(bought, row_of, known, scored)
    cost = sum(scored.cost(one) for one in selected)
    looks = tuple(_ask_of(one) for one in bought if one.purpose not in ("label", "check"))
    return Trade(
        replace(choice, selected=tuple(selected), cost=cost),
        looks,
        {one.sentence: one.why for one in bought if one.purpose == "check"},
        tuple(split(candidates, bought)),
    )


def task_gains(project: Project, needs: Mapping[str, float]) -> "dict[str, TaskGain]":
    """Return what an answer brings each task, by its last score."""
    from mtl_engine.active_learning.market import TaskGain, gain_by_answer

    rounds = trained_rounds(project)
    found = {}
    for task in project.tasks.filter(is_hidden=False).prefetch_related("labels"):
        points = learning_curve(task, rounds)["chosen"]
        score, n = (points[-1]["score"], points[-1]["n"]) if points else (0.0, 1)
        kind = KINDS[task.kind]
        newest = Annotation.objects.filter(task=task).order_by("-id").values_list("value")[:200]
        counts = [len(kind.items(value)) for (value,) in newest]
        found[task.name] = TaskGain(
            gain_by_answer(score, n, needs.get(task.name, 1.0)),
            float(np.mean(counts)) if counts else 1.0,
            max(2, len(task.labels.all())),
        )
    return found


def look_candidates(project: Project, gains: "Mapping[str, TaskGain]") -> "list[Candidate]":
    """Return the second opinions, adjudications and repairs that could be bought now."""
    names = tuple(name for name in gains)
    model = cost_model(project, names)
    people = list(Membership.objects.filter(project=project).values_list("user__username", "role"))
    curators = [name for name, role in people if Role(role).reaches(Role.CURATOR)]
    candidates: list[Candidate] = []
    if curators:
        looks = _adjudications(project, gains, model)
        for purpose, offered in LOOKS.items():
            looks += _registered(purpose, import_string(offered.rows)(project), gains)
        pace = float(np.mean([model.speed.get(name, 1.0) for name in curators]))
        candidates += [replace(look, seconds=pace * look.seconds) for look in looks]
    if len(people) > 1:
        candidates += _second_opinions(project, gains, model)
    return candidates


def _label_candidates(
    project: Project,
    scored: "ScoredPool",
    choice: "Choice",
    selected: "Sequence[Selected]",
    gains: "Mapping[str, TaskGain]",
) -> "list[Candidate]":
    from mtl_engine.active_learning.market import Candidate, relative_worth

    names = scored.pool.names
    worth = relative_worth(choice, len(names))
    outside = _suggested_outside(project, [int(scored.pool.ids[one.row]) for one in selected])
    faster = _check_time(project) if outside else 1.0
    candidates = []
    for one in selected:
        sentence = int(scored.pool.ids[one.row])
        value = sum(
            gains[names[column]].by_answer * worth.get((one.row, column), 1.0)
            for column in one.tasks
            if names[column] in gains
        )
        is_check = {names[column] for column in one.tasks} <= outside.get(sentence, set())
        candidates.append(
            Candidate(
                "check" if is_check else "label",
                sentence,
                tuple(names[column] for column in one.tasks),
                scored.cost(one) * (faster if is_check else 1.0),
                value,
            )
        )
    return candidates


def _suggested_outside(project: Project, sentences: Sequence[int]) -> dict[int, set[str]]:
    rows = Suggestion.objects.filter(sentence__in=sentences, task__project=project).exclude(
        source__in=(MODEL, IMPORT)
    )
    found: dict[int, set[str]] = defaultdict(set)
    for sentence, task in rows.values_list("sentence_id", "task__name"):
        found[sentence].add(task)
    return found


def _check_time(project: Project) -> float:
    """Return the time of an answer with suggestions as a share of that without."""
    counts = suggestion_counts(project)
    shown, blind = counts["seconds_shown"], counts["seconds_blind"]
    if not shown or not blind or counts["n_blind"] < 10:
        return CHECK_TIME
    return float(np.clip(shown / blind, 0.2, 1.0))


def _outside_checks(
    project: Project,
    scored: "ScoredPool",
    choice: "Choice",
    gains: "Mapping[str, TaskGain]",
    tests: Collection[int],
) -> "list[Candidate]":
    """Return checks of outside suggestions on sentences that nothing else asks, each wording once.

    They are worth what chance brings: whoever suggested has not looked for what teaches most.
    """
    from mtl_engine.active_learning.market import Candidate, worth_of_chance

    names, ids = scored.pool.names, scored.pool.ids
    row_of = {int(pk): row for row, pk in enumerate(ids.tolist())}
    groups = scored.scores.groups
    said = set() if groups is None else {int(groups[one.row]) for one in choice.selected}
    known = {int(ids[one.row]) for one in choice.selected} | set(tests)
    rows = Suggestion.objects.filter(task__project=project).exclude(source__in=(MODEL, IMPORT))
    by_sentence: dict[int, set[str]] = defaultdict(set)
    for sentence, task in rows.order_by("-id").values_list("sentence_id", "task__name"):
        if sentence in row_of and sentence not in known and task in gains:
            by_sentence[sentence].add(task)
        if len(by_sentence) >= MOST_CANDIDATES:
            break
    if not by_sentence:
        return []
    faster = _check_time(project)
    by_chance = worth_of_chance(choice, len(names))
    candidates = []
    for sentence, tasks in by_sentence.items():
        row = row_of[sentence]
        if groups is not None and (groups[row] < 0 or int(groups[row]) in said):
            continue
        columns = tuple(
            column
            for column, name in enumerate(names)
            if name in tasks and not np.isnan(scored.scores.confidence[row, column])
        )
        seconds = scored.prices.seconds(row, columns)
        if columns and seconds:
            if groups is not None:
                said.add(int(groups[row]))
            value = sum(
                gains[names[column]].by_answer
                * (1.0 if by_chance is None else float(by_chance[column]) * seconds)
                for column in columns
            )
            candidates.append(
                Candidate(
                    "check",
                    sentence,
                    tuple(names[column] for column in columns),
                    seconds * faster,
                    value,
                    "Suggested from outside: a check is faster than a new answer.",
                )
            )
    return candidates


def _new_checks(
    bought: "Sequence[Candidate]",
    row_of: Mapping[int, int],
    known: set[int],
    scored: "ScoredPool",
) -> "list[Selected]":
    from mtl_engine.active_learning.choose import STRATEGY, Selected

    columns = {name: column for column, name in enumerate(scored.pool.names)}
    return [
        Selected(row_of[one.sentence], tuple(columns[name] for name in one.tasks), STRATEGY)
        for one in bought
        if one.purpose == "check" and row_of[one.sentence] not in known
    ]


def _adjudications(
    project: Project, gains: "Mapping[str, TaskGain]", model: CostModel
) -> "list[Candidate]":
    from mtl_engine.active_learning.market import Candidate

    found = disputes(project)[:MOST_CANDIDATES]
    sizes = _sizes([one.sentence_id for one in found])
    candidates = []
    for one in found:
        tasks = tuple(name for name in one.tasks if name in gains)
        n_wrong = {
            name: WRONG_OF_DISPUTED * max(1.0, one.disagreement * gains[name].n_items)
            for name in tasks
        }
        if not tasks or one.sentence_id not in sizes:
            continue
        items = {name: 2 * n for name, n in n_wrong.items()}  # all that is disputed
        candidates.append(
            Candidate(
                "adjudicate",
                one.sentence_id,
                tasks,
                _seconds(model, sizes[one.sentence_id], items),
                sum(gains[name].correction(n, "adjudicate") for name, n in n_wrong.items()),
                f"People differ on {' and '.join(tasks)}: decide what counts.",
            )
        )
    return candidates


def _second_opinions(
    project: Project, gains: "Mapping[str, TaskGain]", model: CostModel
) -> "list[Candidate]":
    """Return doubtful answers of one person, for another one to answer."""
    from mtl_engine.active_learning.market import Candidate

    doubt = _doubt_of_people(project)
    finals = final_answers(project)
    sizes = _sizes(list(finals))
    in_queue = set(
        Ask.objects.filter(queue__project=project, purpose="second").values_list(
            "sentence_id", flat=True
        )
    )
    candidates = []
    for sentence, by_task in finals.items():
        if sentence in in_queue or sentence not in sizes:
            continue
        shaky: dict[str, float] = {}
        for name, final in by_task.items():
            wrong = doubt(name, final.people[0]) if final.source == SINGLE else 0.0
            if name in gains and wrong >= LEAST_DOUBT:
                shaky[name] = wrong
        if not shaky:
            continue
        items = {name: gains[name].n_items for name in shaky}
        value = sum(gains[n].correction(p * gains[n].n_items, "second") for n, p in shaky.items())
        most = max(shaky.values())
        candidates.append(
            Candidate(
                "second",
                sentence,
                tuple(shaky),
                _seconds(model, sizes[sentence], items),
                value,
                f"One person answered; such answers are wrong about {100 * most:.0f} times in a "
                "hundred. A second opinion, without seeing the first.",
            )
        )
    candidates.sort(key=lambda one: -one.value / one.seconds)
    return candidates[:MOST_CANDIDATES]


def _doubt_of_people(project: Project) -> Callable[[str, str], float]:
    """Return how often each person errs, by what gold checks and others say of them."""
    report = stored_result(project, "people") or {"people": []}
    known: dict[str, float] = {}
    for row in report["people"]:
        for key in ("gold", "others"):
            value = (row.get(key) or {}).get("value")
            if value is not None:
                known[row["name"]] = 1 - float(value)
                break
    return lambda task, person: known.get(person, USUAL_DOUBT)


def _registered(
    purpose: str, rows: Sequence[Mapping[str, Any]], gains: "Mapping[str, TaskGain]"
) -> "list[Candidate]":
    """Return the looks that another app offers; those at one sentence are one ask."""
    from mtl_engine.active_learning.market import PURPOSES, Candidate

    name = next(known for known in PURPOSES if known == purpose)
    by_sentence: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["task"] in gains:
            by_sentence[row["sentence"]].append(row)
    candidates = []
    for sentence, own in by_sentence.items():
        tasks = tuple(dict.fromkeys(row["task"] for row in own))
        value = sum(gains[row["task"]].correction(row["probability"], name) for row in own)
        seconds = max(row["seconds"] for row in own) + sum(row["mark"] for row in own[1:])
        why = " ".join(row["why"] for row in own[:2])
        facts = {"suspects": [row["facts"] for row in own]}
        candidates.append(Candidate(name, sentence, tasks, seconds, value, why, facts))
    candidates.sort(key=lambda one: -one.value / one.seconds)
    return candidates[:MOST_CANDIDATES]


def _ask_of(one: "Candidate") -> AskRow:
    return AskRow(
        one.sentence,
        list(one.tasks),
        reason={**one.facts, "source": "market", "why": one.why},
        predicted_seconds=float(np.floor(10 * one.seconds) / 10),
        is_blind=one.purpose == "second",
        purpose=one.purpose,
        overlap=1,
    )


def _seconds(model: CostModel, n_tokens: int, items: Mapping[str, float]) -> float:
    counts = np.array([[items.get(name, 0.0) for name in model.tasks]])
    costs = model.predict(np.array([float(n_tokens)]), counts)
    labels = [float(costs.label[0, k]) for k, name in enumerate(model.tasks) if name in items]
    return float(costs.read[0]) + sum(labels)


def _sizes(sentences: Sequence[int]) -> dict[int, int]:
    """Return the words of each sentence that is in the pool or tests."""
    found: dict[int, int] = {}
    for first in range(0, len(sentences), CHUNK):
        part = sentences[first : first + CHUNK]
        rows = Sentence.objects.filter(pk__in=part, left_out="", is_document=False)
        found |= dict(rows.values_list("pk", "n_tokens"))
    return found


def decided_looks(project: Project, purpose: str) -> list[tuple[int, Mapping[str, Any], Any]]:
    """Return answered looks: the sentence, why it was asked, and its gold by task."""
    asks = Ask.objects.filter(queue__project=project, purpose=purpose, n_answers__gt=0)
    rows = list(asks.values_list("sentence_id", "reason"))
    gold: dict[int, dict[str, Any]] = defaultdict(dict)
    known = Gold.objects.filter(sentence__in=[pk for pk, _ in rows])
    for sentence, task, value in known.values_list("sentence_id", "task__name", "value"):
        gold[sentence][task] = value
    return [(pk, reason, gold[pk]) for pk, reason in rows]
