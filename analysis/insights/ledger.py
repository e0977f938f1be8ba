"""The ledger: what the choice has saved against chance so far, in minutes and money.

Each round trains a control on what chance has brought and another model on as much of what was
chosen (``mtl_engine.active_learning.ledger``). How long chance would have needed to come where the
choice is follows from the control's own learning curve. Only what an interval above zero shows is
counted; the comparison is of the minutes that the random share took, and is not scaled up.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.insights.quote.estimate import as_interval
from analysis.insights.quote.facts import LEAST_SPREAD, NORMAL_95, quote_facts
from analysis.insights.quote.words import duration
from analysis.methods.quote import Curve, Draws, Floats, Prior, draw_courses, interval_of
from annotation.jobs.insights import InsightKind, NoSettings, register_insight
from annotation.jobs.services import Progress
from annotation.models import Job, Project, Role, Round
from annotation.rounds.dashboard import learning_curve, trained_rounds
from annotation.rounds.selectors import round_ledger
from annotation.templatetags.humanise import as_share, signed_points

LEVEL = 0.95
SAVED, LOST, NOT_SHOWN = "saved", "lost", "not shown"


def compute(project: Project, settings: NoSettings, progress: Progress) -> dict[str, Any]:
    """Return what the newest comparison says in minutes, and all comparisons in scores."""
    progress("comparing", 0, None)
    rounds = trained_rounds(project)
    newest = next((found for found in reversed(rounds) if round_ledger(found)), None)
    facts = quote_facts(project)
    tasks = _tasks(project, newest, rounds, facts) if newest else []
    counted = [row for row in tasks if row["verdict"] != NOT_SHOWN]
    saved = {
        key: round(sum(row["minutes"][key] or 0.0 for row in counted), 1)
        for key in ("middle", "low", "high")
    }
    found = {
        "round": newest.number if newest else None,
        "tasks": tasks,
        "saved": saved if counted else None,
        "spent_minutes": round(60 * facts["spent_hours"], 1),
        "rounds": [_round_row(one) for one in rounds if round_ledger(one)],
    }
    return {**found, "words": ledger_words(project, found)}


def _tasks(
    project: Project, newest: Round, rounds: list[Round], facts: Mapping[str, Any]
) -> list[dict[str, Any]]:
    prior = Prior(tuple(facts["prior"]["rate"]), tuple(facts["prior"]["floor"]))
    ledger = round_ledger(newest)
    seconds = {row["task"]: row["label_seconds"] for row in facts["tasks"]}
    found = []
    for task in project.tasks.filter(is_hidden=False):
        entry = ledger.get(task.name)
        if entry is None:
            continue
        control = learning_curve(task, rounds)["control"]
        draws = draw_courses(_control_curve(control, entry), prior)
        low, high = entry["interval"]
        rng = np.random.default_rng(3)
        gain = rng.normal(entry["difference"], (high - low) / NORMAL_95, len(draws.error))
        each = facts["n_answers"] * (facts["read_seconds"] / len(ledger) + seconds[task.name]) / 60
        minutes = interval_of(catching_up(draws, gain) * each, draws.weight, level=LEVEL)
        verdict = NOT_SHOWN
        if low > 0 and minutes.low > 0:
            verdict = SAVED
        elif high < 0 and minutes.high < 0:
            verdict = LOST
        found.append(
            {
                "task": task.name,
                "chance": entry["chance"],
                "chosen": entry["chosen"],
                "difference": entry["difference"],
                "interval": [low, high],
                "minutes": as_interval(minutes),
                "verdict": verdict,
            }
        )
    return found


def catching_up(draws: Draws, gain: Floats) -> Floats:
    """Return (d,) the sentences that chance needs to rise by a gain; below 0 for a loss."""
    after = np.maximum(draws.error - gain - draws.floor, 1e-4)
    before = np.maximum(draws.error - draws.floor, 1e-4)
    with np.errstate(over="ignore"):
        times = (before / after) ** (1 / draws.rate)
    return np.asarray((np.minimum(times, 100.0) - 1) * draws.now)


def _control_curve(points: Sequence[Mapping[str, Any]], entry: Mapping[str, Any]) -> Curve:
    """Return the control's scores so far; the newest one is the one that was compared."""
    known = {p["n"]: p for p in points if p["low"] is not None and p["n"] > 0}
    rising = [known[n] for n in sorted(known)]
    if not rising:
        return Curve((100.0,), (entry["chance"],), (0.05,))
    scores = [*(p["score"] for p in rising[:-1]), entry["chance"]]
    spreads = [max(LEAST_SPREAD, (p["high"] - p["low"]) / NORMAL_95) for p in rising]
    return Curve(tuple(float(p["n"]) for p in rising), tuple(scores), tuple(spreads))


def _round_row(found: Round) -> dict[str, Any]:
    """Return what chance would have brought in a round for the same minutes, task by task."""
    return {
        "round": found.number,
        "tasks": [
            {
                "task": name,
                "chosen": entry["chosen"],
                "chance": entry["chance"],
                "low": entry["chosen"] - entry["interval"][1],
                "high": entry["chosen"] - entry["interval"][0],
            }
            for name, entry in round_ledger(found).items()
        ],
    }


def ledger_words(project: Project, stored: Mapping[str, Any] | None) -> list[str]:
    """Return the ledger in plain sentences."""
    if not stored or not stored["tasks"]:
        return [
            "Not shown yet: the first comparison needs two rounds with answers, and at least ten "
            "sentences drawn by chance beside the chosen ones."
        ]
    words = []
    if saved := stored["saved"]:
        middle, low, high = (saved[key] / 60 for key in ("middle", "low", "high"))
        what = "saved" if middle >= 0 else "lost"
        words.append(
            f"{duration(abs(middle))} {what} so far ({duration(low)} to {duration(high)})"
            f"{_money(project, saved)}, of {duration(stored['spent_minutes'] / 60)} measured."
        )
    for row in stored["tasks"]:
        points = 100 * row["difference"]
        ends = [100 * end for end in row["interval"]]
        compared = (
            f"{row['task']}: {as_share(row['chosen'])} by choice, "
            f"{as_share(row['chance'])} by chance for the same minutes ({signed_points(points)} "
            f"points, {signed_points(ends[0])} to {signed_points(ends[1])})"
        )
        verdict = {
            SAVED: f"{row['minutes']['middle']:.0f} min saved",
            LOST: "worse than chance",
            NOT_SHOWN: "not shown yet",
        }[row["verdict"]]
        words.append(f"{compared}: {verdict}.")
    return words


def _money(project: Project, saved: Mapping[str, float]) -> str:
    if not project.hour_price:
        return ""
    middle, low, high = (project.hour_price * saved[key] / 60 for key in ("middle", "low", "high"))
    return f", {middle:,.0f} {project.currency} ({low:,.0f} to {high:,.0f})"


def _inputs(project: Project) -> Any:
    ledgers = [[found.number, round_ledger(found)] for found in trained_rounds(project)]
    return [ledgers, project.hour_price, project.currency]


LEDGER = register_insight(
    InsightKind(
        name="ledger",
        title="Ledger",
        compute="analysis.insights.ledger.compute",
        inputs=_inputs,
        is_wanted=lambda project: any(round_ledger(found) for found in trained_rounds(project)),
        role=Role.CURATOR,
        job=Job.Kind.REPORT,
        page="overview",
        place="overview",
    )
)
