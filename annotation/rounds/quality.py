"""What the overview answers: how good tasks are, what hours brought and will bring, who errs how.

What needs every answer (drift, confusions, the pull of suggestions) is computed by the worker and
stored; the rest is read from the rounds.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Sum
from django.utils.translation import gettext

from annotation.adjudication.final import final_answers
from annotation.adjudication.suggestion_bias import suggestion_bias
from annotation.bridge import task_specs
from annotation.jobs.insights import (
    InsightKind,
    NoSettings,
    newest_of,
    register_insight,
    stored_result,
)
from annotation.jobs.services import Progress as Report
from annotation.models import (
    Annotation,
    Gold,
    Job,
    Progress,
    Project,
    Role,
    Round,
    Sentence,
    Suggestion,
    Task,
)
from annotation.rounds.dashboard import (
    label_drift,
    learning_curve,
    suggestion_counts,
    trained_rounds,
)
from annotation.rounds.preview import Gain, expected_gains
from annotation.rounds.selectors import round_ledger
from mtl_engine.kinds import KINDS

NAME = "quality"
MOST_ANSWERS = 20_000  # per task, the newest
MOST_PAIRS = 12  # of labels, per table
MOST_SENTENCES = 5  # that a pair leads to
LEAST_BLIND = 10  # answers to blind asks before a pull is told
NOTHING = "nothing"
ELSEWHERE = ", elsewhere"


@dataclass(frozen=True)
class TaskStanding:
    """How good one task is, what the last model gained, and what the next hour is to bring."""

    task: str
    metric: str
    score: float
    low: float | None
    high: float | None
    n_test: int
    target: float | None
    forecast: str
    points: float | None  # gained since the model before
    half: float | None  # of the 95 % interval of the points
    minutes: float | None  # of people's work between the two models
    next_points: float | None  # that an hour is to bring
    next_half: float | None
    ledger: Mapping[str, Any] | None  # against chance

    @property
    def is_reached(self) -> bool:
        """Return whether the target is reached."""
        return self.target is not None and self.score >= self.target

    @property
    def ledger_points(self) -> str:
        """Return the difference to chance with its interval: "+2.1 (+0.3 to +3.9)"."""
        if not self.ledger:
            return ""
        low, high = (100 * end for end in self.ledger["interval"])
        ends = {"points": 100 * self.ledger["difference"], "low": low, "high": high}
        signed = {name: f"{end:+.1f}".replace("-", "−") for name, end in ends.items()}
        return gettext("{points} ({low} to {high})").format(**signed)

    @property
    def bar(self) -> dict[str, float]:
        """Return where interval, score and target stand on a line from 0 to 100."""
        found = {"score": 100 * self.score}
        if self.low is not None and self.high is not None:
            found |= {"low": 100 * self.low, "width": 100 * (self.high - self.low)}
        if self.target is not None:
            found["target"] = 100 * self.target
        return {key: round(value, 1) for key, value in found.items()}


def task_standings(project: Project) -> list[TaskStanding]:
    """Return every task that has a score, from what the rounds have stored."""
    rounds = trained_rounds(project)
    if not rounds:
        return []
    forecasts = stored_result(project, "forecast") or {}
    n_hour = _sentences_per_hour(project)
    ahead = {gain.task: gain for gain in expected_gains(project, n_hour)} if n_hour else {}
    ledger = round_ledger(rounds[-1])
    found = []
    for task in project.tasks.filter(is_hidden=False):
        curve = learning_curve(task, rounds)
        if not curve["chosen"]:
            continue
        now = curve["chosen"][-1]
        before = curve["chosen"][-2] if len(curve["chosen"]) > 1 else None
        measured = rounds[-1].stages["training"]["scores"].get(task.name, {})
        found.append(
            TaskStanding(
                task=task.name,
                metric=curve["metric"],
                score=now["score"],
                low=now["low"],
                high=now["high"],
                n_test=measured.get("n", 0),
                target=task.target_score,
                forecast=forecasts.get(task.name, {}).get("words", ""),
                points=100 * (now["score"] - before["score"]) if before else None,
                half=_half(now, before),
                minutes=_minutes_between(project, before, now) if before else None,
                next_points=_next(ahead.get(task.name)),
                next_half=ahead[task.name].spread if task.name in ahead else None,
                ledger=ledger.get(task.name),
            )
        )
    return found


def headline(standings: Sequence[TaskStanding]) -> str:
    """Return where the project stands in one sentence: targets, and where an hour gains most."""
    if not standings:
        return ""
    parts = []
    aimed = [one for one in standings if one.target is not None]
    if aimed:
        n_reached = sum(one.is_reached for one in aimed)
        parts.append(
            f"{n_reached} of 1 target reached"
            if len(aimed) == 1
            else f"{n_reached} of {len(aimed)} targets reached"
        )
    open_ones = [one for one in standings if not one.is_reached]
    promising = [one for one in open_ones if one.next_points]
    if promising:
        best = max(promising, key=lambda one: one.next_points or 0)
        parts.append(
            f"an hour is expected to gain most in {best.task} (+{best.next_points:.1f} points)"
        )
    elif open_ones and aimed:
        widest = max(open_ones, key=lambda one: (one.target or one.score) - one.score)
        parts.append(f"{widest.task} is farthest from its target")
    words = "; ".join(parts) or "No target is set"
    return f"{words[0].upper()}{words[1:]}."


def better_than_chance(standings: Sequence[TaskStanding]) -> str:
    """Return whether the choice beats chance, in a word or two."""
    known = [one.ledger for one in standings if one.ledger]
    if not known:
        return "too early to say"
    n_better = sum(one["verdict"] == "better" for one in known)
    n_worse = sum(one["verdict"] == "worse" for one in known)
    if n_better:
        return f"yes, for {n_better} of {len(known)} tasks" if n_better < len(known) else "yes"
    return f"no: worse for {n_worse} of {len(known)}" if n_worse else "not yet shown"


@dataclass(frozen=True)
class Pull:
    """How much closer people come to the model where they see its suggestions."""

    task: str
    shown: float
    blind: float
    n_blind: int
    points: float  # shown less blind
    half: float  # of its 95 % interval

    @property
    def is_shown(self) -> bool:
        """Return whether the difference is beyond doubt."""
        return self.points > self.half


def suggestion_pull(bias: Sequence[Mapping[str, Any]]) -> list[Pull]:
    """Return the pull on each task that has enough blind asks to tell."""
    found = []
    for row in bias:
        compared = row["to_model"]
        sides = compared["shown"], compared["blind"]
        if compared["n_blind"] < LEAST_BLIND or any(side.get("low") is None for side in sides):
            continue
        shown, blind = (side["value"] for side in sides)
        half = 50 * sum((side["high"] - side["low"]) ** 2 for side in sides) ** 0.5
        points = 100 * (shown - blind)
        found.append(Pull(row["task"], shown, blind, compared["n_blind"], points, half))
    return found


def pull_words(pulls: Sequence[Pull]) -> str:
    """Return whether suggestions pull answers their way, in a word or two."""
    if not pulls:
        return "too early to say"
    n_pulled = sum(pull.is_shown for pull in pulls)
    if not n_pulled:
        return "no influence shown"
    return "yes" if n_pulled == len(pulls) else f"yes, for {n_pulled} of {len(pulls)} tasks"


def compute(project: Project, settings: NoSettings, progress: Report) -> dict[str, Any]:
    """Return what needs every answer; called by the worker."""
    progress("counting", 0, None)
    tasks = list(project.tasks.filter(is_hidden=False))
    return {
        "drift": label_drift(project),
        "suggestions": suggestion_counts(project),
        "bias": [asdict(row) for row in suggestion_bias(project)],
        "model": _model_tables(project, tasks),
        "people": [table for task in tasks if (table := _people_table(task))],
    }


def stored_quality(project: Project) -> dict[str, Any]:
    """Return what is stored, in words to be shown; nothing of it before it was first computed."""
    empty: dict[str, Any] = {"drift": [], "suggestions": {}, "bias": [], "model": [], "people": []}
    found = {**empty, **(stored_result(project, NAME) or {})}
    for table in (*found["model"], *found["people"]):
        for row in table["rows"]:
            row |= {side: _as_shown(row[side]) for side in ("said", "meant")}
    return found


def _as_shown(label: str) -> str:
    """Return a label of a confusion, or what stands in its place, as the page's language has it."""
    if label == NOTHING:
        return gettext(NOTHING)
    name = label.removesuffix(ELSEWHERE)
    return label if name == label else gettext("{label}, elsewhere").format(label=name)


def confusions(kind: str, pairs: Sequence[tuple[int, Any, Any]]) -> dict[str, Any]:
    """Return what one side says in place of the other, and how well each label is met.

    ``pairs`` are (sentence, said, meant). Labels are compared place by place: a sentence, a word,
    the words of a span, the ends of a link; what only one side has is against "nothing".
    """
    counts: Counter[tuple[str, str]] = Counter()
    where: dict[tuple[str, str], list[int]] = defaultdict(list)
    for sentence, said, meant in pairs:
        first, second = _by_place(kind, said), _by_place(kind, meant)
        for place in {**first, **second}:
            a, b = first.get(place, {}), second.get(place, {})
            for pair in _label_pairs(a, b):
                counts[pair] += 1
                if pair[0] != pair[1] and sentence not in where[pair][-1:]:
                    where[pair].append(sentence)
    wrong = [(pair, n) for pair, n in counts.most_common() if pair[0] != pair[1]][:MOST_PAIRS]
    return {
        "labels": _label_scores(counts),
        "rows": [
            {"said": a, "meant": b, "n": n, "sentences": where[a, b][:MOST_SENTENCES]}
            for (a, b), n in wrong
        ],
        "n_sentences": len(pairs),
    }


def _by_place(kind: str, answer: Any) -> dict[Any, dict[str, Any]]:
    """Return the labels at each place of an answer, with what else is said of it."""
    is_word = KINDS[kind].unit == "token"
    found: dict[Any, dict[str, Any]] = defaultdict(dict)
    for item in KINDS[kind].items(answer):
        place = item[:1] if is_word else item[:-1]
        found[place][str(item[-1])] = item[1:-1] if is_word else ()
    return found


def _label_pairs(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[tuple[str, str]]:
    same = [label for label in first if label in second]
    pairs = [
        (label, label if first[label] == second[label] else f"{label}{ELSEWHERE}") for label in same
    ]
    left = [label for label in first if label not in second]
    right = [label for label in second if label not in first]
    size = max(len(left), len(right))
    left += [NOTHING] * (size - len(left))
    right += [NOTHING] * (size - len(right))
    return [*pairs, *zip(left, right, strict=True)]


def _label_scores(counts: Mapping[tuple[str, str], int]) -> list[dict[str, Any]]:
    """Return precision, recall and F1 of each label, the most frequent first."""
    said: Counter[str] = Counter()
    meant: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for (a, b), n in counts.items():
        b = b.removesuffix(ELSEWHERE)
        said[a] += n
        meant[b] += n
        if (a, b) in counts and a == b:
            right[a] = counts[a, a]
    labels = sorted({*said, *meant} - {NOTHING}, key=lambda label: -meant[label])
    return [
        {
            "label": label,
            "n": meant[label],
            "precision": right[label] / said[label] if said[label] else None,
            "recall": right[label] / meant[label] if meant[label] else None,
            "f1": 2 * right[label] / (said[label] + meant[label]),
        }
        for label in labels
    ]


def _model_tables(project: Project, tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Return what the model suggested against what people said in the end."""
    found = []
    for task in tasks:
        rows = Suggestion.objects.filter(task=task, source="model").order_by("-id")
        said = dict(rows.values_list("sentence_id", "value")[:MOST_ANSWERS])
        finals = final_answers(project, sentences=list(said), tasks=task_specs(project))
        pairs = [
            (pk, value, finals[pk][task.name].value)
            for pk, value in said.items()
            if task.name in finals.get(pk, {})
        ]
        if pairs:
            found.append(_named(task, confusions(task.kind, pairs)))
    return found


def _people_table(task: Task) -> dict[str, Any] | None:
    """Return what people say where others, or gold, say something else."""
    rows = Annotation.objects.filter(task=task).order_by("-id")
    answers: dict[int, list[Any]] = defaultdict(list)
    for sentence, value in rows.values_list("sentence_id", "value")[:MOST_ANSWERS]:
        answers[sentence].append(value)
    gold = dict(Gold.objects.filter(task=task).values_list("sentence_id", "value"))
    pairs = []
    for sentence, given in answers.items():
        if sentence in gold:
            pairs += [(sentence, value, gold[sentence]) for value in given]
        else:
            pairs += [(sentence, given[0], other) for other in given[1:]]
    return _named(task, confusions(task.kind, pairs)) if pairs else None


def _named(task: Task, table: dict[str, Any]) -> dict[str, Any]:
    ids = {pk for row in table["rows"] for pk in row["sentences"]}
    texts = dict(Sentence.objects.filter(pk__in=ids).values_list("id", "text"))
    for row in table["rows"]:
        row["sentences"] = [[pk, texts[pk][:120]] for pk in row["sentences"] if pk in texts]
    return {"task": task.name, **table}


def _half(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> float | None:
    ends = [now["low"], now["high"], *((before["low"], before["high"]) if before else (None,))]
    if before is None or any(end is None for end in ends):
        return None
    widths = (now["high"] - now["low"], before["high"] - before["low"])
    return float(50 * sum(width**2 for width in widths) ** 0.5)


def _minutes_between(project: Project, before: Mapping[str, Any], now: Mapping[str, Any]) -> float:
    spent = Progress.objects.filter(
        queue__project=project,
        queue__round__number__gte=before["round"],
        queue__round__number__lt=now["round"],
    )
    return float(spent.aggregate(seconds=Sum("seconds"))["seconds"] or 0) / 60


def _sentences_per_hour(project: Project) -> int:
    """Return how many sentences an hour of people's work has answered in the newest rounds."""
    newest = project.rounds.order_by("-number").values_list("pk", flat=True)[:3]
    sums = Progress.objects.filter(queue__round__in=list(newest)).aggregate(
        n=Sum("n_done"), seconds=Sum("seconds")
    )
    return int(3600 * sums["n"] / sums["seconds"]) if sums["n"] and sums["seconds"] else 0


def _next(gain: Gain | None) -> float | None:
    if gain is None or gain.expected is None:
        return None
    return max(0.0, 100 * (gain.expected - gain.score))


def _inputs(project: Project) -> Any:
    answers = Annotation.objects.filter(sentence__project=project)
    gold = Gold.objects.filter(sentence__project=project)
    return [
        newest_of(answers),
        newest_of(gold),
        newest_of(Round.objects.filter(project=project), "finished_at"),
    ]


QUALITY = register_insight(
    InsightKind(
        name=NAME,
        title="Errors and drift",
        compute="annotation.rounds.quality.compute",
        inputs=_inputs,
        is_wanted=lambda project: Annotation.objects.filter(sentence__project=project).exists(),
        role=Role.CURATOR,
        job=Job.Kind.REPORT,
        page="overview",
        place="overview",
    )
)
