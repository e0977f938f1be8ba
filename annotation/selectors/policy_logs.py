"""What a project's trainings logged about the order of their tasks."""

from typing import TYPE_CHECKING

from annotation.errors import Refused
from annotation.models import Project
from annotation.rounds.workspace import Workspace

if TYPE_CHECKING:
    from analysis.policies import PolicyLog


def round_logs(project: Project) -> "tuple[list[str], list[PolicyLog]]":
    """Return the tasks of a project's models and the logs of the rounds that drew tasks."""
    from analysis.policies.logs import read_log

    found = [
        (tuple(row.stages["training"]["tasks"]), Workspace(row.pk).policy_log)
        for row in project.rounds.order_by("number")
        if row.stages.get("training", {}).get("tasks")
    ]
    if not found:
        raise Refused(f"'{project}' has no round that trained a model: there is no log yet.")
    names = list(found[-1][0])
    logs = []
    for tasks, path in found:
        if list(tasks) == names and path.exists():
            with path.open(encoding="utf-8") as file:
                log = read_log(file, names, where=path.name)
            if log is not None:
                logs.append(log)
    if not logs:
        raise Refused(
            f"The rounds of '{project}' trained all tasks together, which tells nothing about "
            "their order. Run a round with the task order 'uniform' first."
        )
    return names, logs
