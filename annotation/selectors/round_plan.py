"""What a round would do, checked before it starts."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from annotation.models import Annotation, Gold, Project, Round, Sentence
from annotation.round_config import RoundConfig
from annotation.selectors.workers import alive_workers

LEAST_TO_LEARN = 10  # labelled sentences of a task below which a model learns nothing useful
FEW = 100


@dataclass
class RoundPlan:
    """What will happen, what to know first, and what forbids it."""

    number: int
    is_seed: bool  # nothing to learn from yet: sentences are drawn by chance
    n_labelled: dict[str, int] = field(default_factory=dict)  # outside the test slice, by task
    n_pool: int = 0
    n_test: int = 0
    has_worker: bool = False
    running: Round | None = None
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def plan_round(project: Project, config: RoundConfig) -> RoundPlan:
    """Return what a round with this configuration would do."""
    counts = labelled_counts(project)
    sentences = Sentence.objects.filter(project=project)
    n_frozen = sentences.filter(is_test=True).count()
    n_sentences = sentences.count()
    last = project.rounds.order_by("-number").first()
    plan = RoundPlan(
        number=(last.number if last else 0) + 1,
        is_seed=not can_learn(counts),
        n_labelled=counts,
        n_pool=n_sentences - max(n_frozen, min(config.test_size, n_sentences // 2)),
        n_test=n_frozen or min(config.test_size, n_sentences // 2),
        has_worker=alive_workers(timezone.now()).exists(),
        running=project.rounds.filter(state__in=Round.RUNNING).first(),
    )
    _find_problems(plan, project, n_sentences)
    _find_warnings(plan, config)
    return plan


def can_learn(counts: dict[str, int]) -> bool:
    """Return whether some task has enough labelled sentences to train on."""
    return max(counts.values(), default=0) >= LEAST_TO_LEARN


def labelled_counts(project: Project) -> dict[str, int]:
    """Return how many sentences outside the test slice have an answer, by task."""
    names = dict(project.tasks.order_by("position").values_list("id", "name"))
    answered: set[tuple[int, int]] = set()
    for model in (Gold, Annotation):
        rows: Any = model.objects.filter(sentence__project=project, sentence__is_test=False)
        answered |= set(rows.values_list("task_id", "sentence_id"))
    counts = Counter(task_id for task_id, _ in answered)
    return {name: counts[task_id] for task_id, name in names.items()}


def _find_problems(plan: RoundPlan, project: Project, n_sentences: int) -> None:
    if not plan.n_labelled:
        plan.problems.append("The project has no task: add one first.")
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


def _find_warnings(plan: RoundPlan, config: RoundConfig) -> None:
    if not plan.has_worker:
        plan.warnings.append("No worker is running: start one with `python manage.py worker`.")
    if plan.is_seed:
        return
    for name, n in plan.n_labelled.items():
        if n == 0:
            plan.warnings.append(f"{name} has no labels: it is asked for, but not learned yet.")
        elif n < FEW:
            plan.warnings.append(f"{name} has {n} labelled sentences. Its scores will be rough.")
    if config.random_share < 0.1:
        plan.warnings.append(
            "Below 10 % of random sentences the control becomes too noisy to read."
        )
