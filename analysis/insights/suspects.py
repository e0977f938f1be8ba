"""Suspected errors: answers that models without them and the other layers find unlikely.

People look at the most likely error per second of looking first: they keep the answer, take what
is expected, or have somebody asked again. What was decided is not shown again.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import transaction
from django.db.models import Q

from analysis.insights.models import Repair
from annotation.adjudication.final import FinalAnswer, final_answers
from annotation.adjudication.services import decide
from annotation.bridge import as_example, task_specs, tasks_by_name
from annotation.errors import Conflict, NotFound, Refused
from annotation.jobs.insights import (
    InsightKind,
    compute_insight,
    known_insight,
    newest_answers,
    register_insight,
    stored_result,
)
from annotation.jobs.services import Progress
from annotation.models import Annotation, Ask, Gold, Job, Project, Queue, Role, Sentence
from annotation.queue.asks import AskRow, append_asks
from annotation.queue.selectors import cost_model
from annotation.rounds.data import labelled_sentences
from annotation.rounds.market import Looks, decided_looks, register_looks
from annotation.rounds.settings import default_settings
from config.home import home
from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.settings import Settings, setting

if TYPE_CHECKING:
    from analysis.methods.label_errors import Reason, Suspect
    from mtl_engine.costs import CostModel

LEAST_SENTENCES = 30  # with answers, below which models of parts of them say nothing
LEAST_PROBABILITY = 0.2  # of an error, from which an answer is worth a look
RULE_WORDS = {
    "words": "“{context}” is {usual} elsewhere",
    "beside": "between such words ({context}) it is usually {usual}",
    "class": "under {context} it is usually {usual}",
    "items": "with {context} it is usually {usual}",
    "ends": "from {context} it is usually {usual}",
    "word_tags": "{context} is usually {usual}",
    "arcs": "{context}, usually {usual}",
    "arc_in_span": "it leaves {context}, which is then no subtree",
}


@dataclass(frozen=True)
class SuspectSettings(Settings):
    """How answers are judged by models that did not learn from them."""

    n_folds: int = setting(
        5,
        title="Parts",
        help="The sentences come in so many parts; each is judged by a model of the others.",
        low=2,
        high=20,
    )
    most: int = setting(
        200, title="Suspects to keep", help="The most likely errors per second.", low=1, high=2000
    )


def compute(project: Project, settings: SuspectSettings, progress: Progress) -> dict[str, Any]:
    """Return the suspected errors, most of them per second of looking first."""
    from analysis.methods.label_errors import estimated_errors, proofread

    tasks = task_specs(project)
    sentences = labelled_sentences(project)
    examples = [as_example(s.id, s.tokens, s.labels, tasks) for s in sentences]
    chosen = default_settings(project)
    suspects = proofread(
        examples,
        tasks,
        chosen.engine_config(seed=chosen.seed),
        n_folds=settings.n_folds,
        groups=[s.document or s.id for s in sentences],
        seed=chosen.seed,
        cache_dir=home().features,
        on_progress=lambda done, total: progress("training", done, total),
    )
    likely = [s for s in suspects if s.probability >= LEAST_PROBABILITY]
    seconds = _seconds(likely, [len(e.tokens) for e in examples], tasks, project)
    order = np.argsort([-s.probability / x for s, x in zip(likely, seconds, strict=True)])
    finals = final_answers(project, sentences=[s.id for s in sentences])
    specs = {task.name: task for task in tasks}
    rows = []
    for place in order[: settings.most].tolist():
        suspect = likely[place]
        sentence = sentences[suspect.judgement.row]
        final = finals[sentence.id][suspect.judgement.task]
        task = specs[suspect.judgement.task]
        rows.append(_row(suspect, sentence.id, sentence.tokens, final, task, seconds[place]))
    return {
        "rows": rows,
        "n_sentences": len(sentences),
        "n_judged": len(suspects),
        "n_likely": len(likely),
        "expected": round(sum(s.probability for s in suspects), 1),
        "confident": estimated_errors([s.judgement for s in suspects]),
    }


def _row(
    suspect: "Suspect",
    sentence_id: int,
    tokens: Sequence[str],
    final: FinalAnswer,
    task: TaskSpec,
    seconds: float,
) -> dict[str, Any]:
    one = suspect.judgement
    return {
        "sentence": sentence_id,
        "task": one.task,
        "given": None if one.given is None else list(one.given),
        "expected": None if one.expected is None else list(one.expected),
        "given_words": item_words(task, one.given, tokens),
        "expected_words": item_words(task, one.expected, tokens),
        "likelihood": round(one.likelihood, 4),
        "best": round(one.best, 4),
        "probability": round(suspect.probability, 4),
        "seconds": round(seconds, 1),
        "source": final.source,
        "people": list(final.people),
        "why": [_why(reason) for reason in suspect.reasons],
    }


def item_words(task: TaskSpec, item: Sequence[Any] | None, tokens: Sequence[str]) -> str:
    """Return an item as people read it: its label and its words."""
    if item is None:
        return "nothing"
    label, kind = str(item[-1]), KINDS[task.kind]
    if kind.labels_on == "arcs":
        head = tokens[item[1] - 1] if item[1] else "the root"
        return f"{label}: {tokens[item[0]]} under {head}"
    if kind.labels_on == "links":
        first, second = (" ".join(tokens[item[k] : item[k + 1]]) for k in (0, 2))
        return f"{label}: {first} → {second}"
    if kind.marks_spans or kind.labels_on == "marks":
        return f"{label}: {' '.join(tokens[item[0] : item[1]])}"
    return f"{label}: {tokens[item[0]]}" if kind.labels_on == "words" else label


def _why(reason: "Reason") -> str:
    usual = reason.usual or "nothing"
    return RULE_WORDS[reason.rule].format(context=reason.context, usual=usual)


def _seconds(
    suspects: "Sequence[Suspect]",
    sizes: Sequence[int],
    tasks: Sequence[TaskSpec],
    project: Project,
) -> list[float]:
    """Return what looking at each suspect takes: its sentence is read, one item is marked."""
    names = tuple(task.name for task in tasks)
    model: CostModel = cost_model(project, names)
    n_tokens = np.array([sizes[s.judgement.row] for s in suspects], dtype=np.float64)
    costs = model.predict(n_tokens, np.ones((len(suspects), len(names))))
    column = [names.index(s.judgement.task) for s in suspects]
    found: list[float] = (costs.read + costs.label[np.arange(len(suspects)), column]).tolist()
    return found


def bring_up_to_date(project: Project, progress: Progress) -> None:
    """Compute the suspects again where answers have come since and there are enough of them."""
    known = known_insight(project, "suspects")
    try:
        _check(project)
    except Refused:
        return
    if not known.is_current:
        settings = SuspectSettings.from_dict(known.stored.settings if known.stored else {})
        compute_insight(project=project, kind=SUSPECTS, settings=settings, progress=progress)


def repair_candidates(project: Project) -> list[dict[str, Any]]:
    """Return the open suspects as looks that a round may buy."""
    found = []
    for row in open_suspects(project):
        words = f"Suspected error: {row['given_words']}. {'. '.join(row['why'])}".strip(". ")
        found.append(
            {
                "sentence": row["sentence"],
                "task": row["task"],
                "probability": row["probability"],
                "seconds": row["seconds"],
                "mark": 2.0,
                "why": f"{words}. Expected: {row['expected_words']}.",
                "facts": {key: row[key] for key in ("task", "given", "expected")},
            }
        )
    return found


def open_suspects(project: Project) -> list[dict[str, Any]]:
    """Return the stored suspects that nobody has decided about, with their number and sentence.

    What a round asks a curator to look at is left to it.
    """
    stored = stored_result(project, "suspects") or {"rows": []}
    asked = {
        (sentence, name)
        for sentence, tasks in Ask.objects.filter(
            Q(n_answers__gt=0) | Q(queue__is_current=True),
            queue__project=project,
            purpose=Ask.Purpose.REPAIR,
        ).values_list("sentence_id", "tasks")
        for name in tasks
    }
    decided = {
        _key(sentence, task, given, expected)
        for sentence, task, given, expected in Repair.objects.filter(project=project).values_list(
            "sentence_id", "task__name", "given", "expected"
        )
    }
    kinds = dict(project.tasks.values_list("name", "kind"))
    ids = {row["sentence"] for row in stored["rows"]}
    tokens = dict(Sentence.objects.filter(project=project, pk__in=ids).values_list("pk", "tokens"))
    return [
        {
            **row,
            "number": number,
            "tokens": tokens[row["sentence"]],
            "is_arc": KINDS[kinds[row["task"]]].labels_on == "arcs",
        }
        for number, row in enumerate(stored["rows"])
        if row["sentence"] in tokens
        and row["task"] in kinds
        and (row["sentence"], row["task"]) not in asked
        and _key(row["sentence"], row["task"], row["given"], row["expected"]) not in decided
    ]


def repair_counts(project: Project) -> dict[str, int]:
    """Return how often suspects were kept, repaired and asked about again."""
    rows = Repair.objects.filter(project=project).values_list("decision", flat=True)
    counts = Counter(rows)
    kinds = dict(project.tasks.values_list("name", "kind"))
    for _, reason, gold in decided_looks(project, Ask.Purpose.REPAIR):
        for one in reason.get("suspects", ()):
            if one["task"] not in gold or one["task"] not in kinds:
                continue
            items = [list(item) for item in KINDS[kinds[one["task"]]].items(gold[one["task"]])]
            is_kept = (
                one["expected"] not in items if one["given"] is None else one["given"] in items
            )
            counts[Repair.Decision.KEPT if is_kept else Repair.Decision.REPAIRED] += 1
    return {decision.value: counts[decision.value] for decision in Repair.Decision}


@transaction.atomic
def decide_suspect(
    *, project: Project, number: int, decision: Repair.Decision, person: Any, now: datetime
) -> Repair:
    """Keep a suspected answer, take what is expected in its place, or have it asked again.

    Keeping and repairing make gold by a second pair of eyes, with people's answers kept as they
    are. An answer that changed since it was judged is refused.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    found = next((row for row in open_suspects(project) if row["number"] == number), None)
    if found is None:
        raise NotFound("No such suspect: it was decided, or the list was computed again.")
    sentence = Sentence.objects.get(pk=found["sentence"])
    task = tasks_by_name(project.pk)[found["task"]]
    if decision == Repair.Decision.ASKED:
        _ask_again(project, sentence, found)
    else:
        _settle(project, sentence, task, found, decision, person, now)
    return Repair.objects.create(
        project=project,
        sentence=sentence,
        task_id=task.id,
        given=found["given"],
        expected=found["expected"],
        probability=found["probability"],
        decision=decision,
        person=person,
        created_at=now,
    )


def _settle(
    project: Project,
    sentence: Sentence,
    task: TaskSpec,
    found: dict[str, Any],
    decision: Repair.Decision,
    person: Any,
    now: datetime,
) -> None:
    kind = KINDS[task.kind]
    finals = final_answers(project, sentences=[sentence.pk])[sentence.pk]
    current = finals[task.name].value
    items = kind.items(current)
    given = None if found["given"] is None else tuple(found["given"])
    if given is not None and given not in items:
        raise Conflict("The answer was changed since it was judged: compute the suspects again.")
    if decision == Repair.Decision.REPAIRED:
        items = [item for item in items if item != given]
        if found["expected"] is not None:
            items.append(tuple(found["expected"]))
        current = kind.answer_of(items, len(sentence.tokens))
    answers = {task.name: current}
    for parent in task.parents:
        if not Gold.objects.filter(sentence=sentence, task__name=parent).exists():
            answers[parent] = finals[parent].value
    decide(
        project=project,
        sentence=sentence,
        answers=answers,
        decided_by=person,
        now=now,
        source=Gold.Source.REVIEWED,
    )


def _ask_again(project: Project, sentence: Sentence, found: dict[str, Any]) -> None:
    queue = Queue.objects.filter(project=project, is_current=True).first()
    if queue is None:
        raise Refused("Nothing is asked at present: plan a round first, or decide it here.")
    words = f"Suspected error: {found['given_words']}. {'. '.join(found['why'])}".strip(". ")
    row = AskRow(
        sentence.pk,
        [found["task"]],
        reason={"why": words, "kind": "repair"},
        predicted_seconds=found["seconds"],
        is_blind=True,
    )
    if not append_asks(queue, [row]):
        raise Conflict("This sentence is in the queue already: it will be answered there.")


def answer_of(found: dict[str, Any]) -> Annotation | None:
    """Return the newest person's answer that a suspect is about, to be opened in review."""
    return (
        Annotation.objects.filter(sentence=found["sentence"], task__name=found["task"])
        .order_by("-id")
        .first()
    )


def _key(sentence: int, task: str, given: Any, expected: Any) -> tuple[Any, ...]:
    return (sentence, task, str(given), str(expected))


def _check(project: Project) -> None:
    answered = Sentence.objects.filter(project=project, left_out="")
    n = answered.filter(annotations__isnull=False).distinct().count()
    n += answered.filter(annotations__isnull=True, gold__isnull=False).distinct().count()
    if n < LEAST_SENTENCES:
        raise Refused(
            f"{n} sentences have answers; suspected errors need at least {LEAST_SENTENCES}."
        )


def is_old(project: Project) -> bool:
    """Return whether there are newer answers than the stored suspects know."""
    known = known_insight(project, "suspects")
    return known.stored is not None and not known.is_current


register_looks(
    "repair",
    Looks(
        rows="analysis.insights.suspects.repair_candidates",
        prepare="analysis.insights.suspects.bring_up_to_date",
    ),
)
SUSPECTS = register_insight(
    InsightKind(
        name="suspects",
        title="Suspected errors",
        compute="analysis.insights.suspects.compute",
        inputs=newest_answers,
        settings=SuspectSettings,
        check=_check,
        role=Role.CURATOR,
        job=Job.Kind.RESEARCH,
        page="suspects",
        place="review",
    )
)
