"""The tasks of a project as rules that an answer must obey."""

from dataclasses import dataclass

from annotation.answers import AnswerRules
from annotation.rows import as_value, every

_RULES = """
    SELECT t.id, t.name, t.kind, t.is_open, t.is_nested, t.pairs, p.name, l.name
    FROM annotation_task t
    LEFT JOIN annotation_task p ON p.id = t.parent_id
    LEFT JOIN annotation_label l ON l.task_id = t.id
    WHERE t.project_id = %(project)s ORDER BY t.position, t.id"""


@dataclass(frozen=True, slots=True)
class TaskRules:
    """A task, and what its answers must look like."""

    task_id: int
    parent: str | None  # the spans task of relations
    rules: AnswerRules


def answer_rules(project_id: int) -> dict[str, TaskRules]:
    """Return the rules of a project's tasks by name, in the order of the project."""
    rules: dict[str, TaskRules] = {}
    labels: dict[str, set[str]] = {}
    for task, name, kind, is_open, is_nested, pairs, parent, label in every(
        _RULES, project=project_id
    ):
        if name not in rules:
            labels[name] = set()
            rules[name] = TaskRules(
                task_id=task,
                parent=parent,
                rules=AnswerRules(
                    kind=kind,
                    labels=labels[name],
                    is_open=bool(is_open),
                    is_nested=bool(is_nested),
                    pairs=as_value(pairs),
                ),
            )
        if label is not None:
            labels[name].add(label)
    return rules
