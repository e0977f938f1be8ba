"""What people's measured times say about the cost of reading and labelling."""

from collections import defaultdict
from typing import Any

from annotation.models import Annotation, Project, Submission
from mtl_engine.costs import CostModel, WorkEvent, fit_costs
from mtl_engine.types import Kind

NEWEST = 3000  # answers that count: people get faster, so the old ones do not
LONGEST = 3600.0  # seconds; whoever was away longer was not working


def cost_model(project: Project, tasks: tuple[str, ...]) -> CostModel:
    """Return how many seconds a person needs for these tasks; the prior before there is data."""
    kinds: dict[str, Any] = dict(project.tasks.values_list("name", "kind"))
    wanted: dict[str, Kind] = {name: kinds[name] for name in tasks}
    return fit_costs(work_events(project, tasks), wanted)


def work_events(project: Project, tasks: tuple[str, ...]) -> list[WorkEvent]:
    """Return the newest first answers: who, how long, how many tokens, how many things marked."""
    rows = list(
        Submission.objects.filter(project=project, number=1, seconds__gt=0, seconds__lte=LONGEST)
        .order_by("-id")
        .values_list(
            "annotator_id",
            "annotator__username",
            "seconds",
            "lease__ask__sentence_id",
            "lease__ask__sentence__n_tokens",
        )[:NEWEST]
    )
    counts = _item_counts(project, {row[3] for row in rows})
    events = []
    for annotator_id, name, seconds, sentence_id, n_tokens in rows:
        found = counts.get((annotator_id, sentence_id), {})
        items = {task: n for task, n in found.items() if task in tasks}
        if items:
            events.append(WorkEvent(name, seconds, n_tokens, items))
    return events


def sentence_seconds(project: Project) -> dict[int | str, float]:
    """Return how long people took for each sentence, all its asks together, on average."""
    totals: dict[tuple[int, int], float] = defaultdict(float)
    rows = Submission.objects.filter(
        project=project, number=1, seconds__gt=0, seconds__lte=LONGEST
    ).values_list("lease__ask__sentence_id", "annotator_id", "seconds")
    for sentence_id, annotator_id, seconds in rows:
        totals[sentence_id, annotator_id] += seconds
    of_sentence: dict[int | str, list[float]] = defaultdict(list)
    for (sentence_id, _), seconds in totals.items():
        of_sentence[sentence_id].append(seconds)
    return {sentence_id: sum(found) / len(found) for sentence_id, found in of_sentence.items()}


def _item_counts(project: Project, sentences: set[int]) -> dict[tuple[int, int], dict[str, float]]:
    counts: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    wanted = sorted(sentences)
    for first in range(0, len(wanted), 500):
        answers = Annotation.objects.filter(
            sentence__in=wanted[first : first + 500], task__project=project
        )
        for author, sentence, task, value in answers.values_list(
            "author_id", "sentence_id", "task__name", "value"
        ):
            counts[author, sentence][task] = 1.0 if isinstance(value, str) else float(len(value))
    return counts
