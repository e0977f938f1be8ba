"""A round's model at work: the one place of this room that loads torch."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings

from annotation.bridge import tasks_by_name
from annotation.models import Project, Round
from annotation.projects.tasks import renames_since
from annotation.rounds.workspace import Workspace, feature_cache
from mtl_engine.active_learning.suggest import suggest
from mtl_engine.ensemble import Ensemble, load_ensemble
from mtl_engine.executors import find_executor
from mtl_engine.kinds import KINDS, TaskSpec

Answers = dict[str, dict[str, Any]]  # task -> {"value", "confidence", "items"}, plain JSON values


class Predictor:
    """Answers sentences with the model of a round, as the project's tasks are now.

    What was renamed or merged since it was trained has its present name. Tasks that are gone, and
    labels that are gone from answers that can do without them, are left out; an answer that needs
    such a label is left out as a whole.
    """

    def __init__(self, round: Round, *, has_cache: bool = False) -> None:
        self.number = round.number
        self.project_id = round.project_id
        self.trained_at = round.created_at  # labels cannot change while it trains
        self.ensemble: Ensemble = load_ensemble(
            Workspace.of(round).model,
            cache_dir=feature_cache() if has_cache else None,
            device=settings.DEVICE,
            executor=find_executor(settings.RAY_ADDRESS),
        )

    def answer(
        self, sentences: Sequence[Sequence[str]], tasks: Mapping[str, TaskSpec] | None = None
    ) -> list[Answers]:
        """Return what the model says of each sentence."""
        now = tasks_by_name(self.project_id) if tasks is None else tasks
        renames = renames_since(Project(pk=self.project_id), self.trained_at)
        found: list[Answers] = [{} for _ in sentences]
        readable = [row for row, tokens in enumerate(sentences) if tokens]
        for one in suggest(self.ensemble, [sentences[row] for row in readable]):
            task = now.get(renames.task(one.task))
            if task is None or task.is_hidden:
                continue
            value, items = one.value, list(one.items)
            if mapping := renames.labels.get(task.name):
                value, items = KINDS[task.kind].rename_suggestion(value, items, mapping)
            fitting = _fitting(task, value, items)
            if fitting is not None:
                value, items = fitting
                answer = {"value": value, "confidence": one.confidence, "items": items}
                found[readable[one.row]][task.name] = answer
        return found


def _fitting(
    task: TaskSpec, value: Any, items: Sequence[dict[str, Any]]
) -> tuple[Any, list[dict[str, Any]]] | None:
    """Return an answer without labels that the task no longer has, None where it needs them."""
    kind = KINDS[task.kind]
    if task.is_open or task.label_set.issuperset(kind.labels_of(value)):
        return value, list(items)
    if kind.unit != "item":
        return None
    rows = [
        (item, about)
        for item, about in zip(kind.items(value), items, strict=True)
        if item[-1] in task.label_set
    ]
    return [about["value"] for _, about in rows], [about for _, about in rows]


def in_chunks(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield rows in lists of a size, the last one shorter."""
    chunk = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
