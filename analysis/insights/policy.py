"""The learned policy: which task's batch a training takes next, from the logs of earlier rounds."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.errors import Refused
from annotation.jobs.insights import InsightKind, register_insight
from annotation.jobs.services import Progress
from annotation.models import Project, Role
from annotation.rounds.workspace import Workspace
from mtl_engine.settings import Settings, setting

if TYPE_CHECKING:
    from analysis.methods.policies import LearnedPolicy, PolicyLog


@dataclass(frozen=True)
class PolicySettings(Settings):
    """The off-policy search: weighted importance sampling with an entropy bonus, by CMA-ES."""

    entropy_weight: float = setting(
        0.25, title="Entropy weight", help="Higher keeps the policy closer to uniform.", low=0
    )
    iterations: int = setting(50, title="Iterations of CMA-ES", low=1, high=1000)
    population: int = setting(64, title="Policies per iteration", low=4, high=1000)
    seed: int = setting(0, title="Seed", low=0)


def compute(project: Project, settings: PolicySettings, progress: Progress) -> dict[str, Any]:
    """Return the learned probability of each task, and what the logs say it is worth."""
    names, logs = round_logs(project)
    progress("learning a policy", 0, None)
    return described(names, search(names, logs, settings), len(logs))


def search(names: list[str], logs: "list[PolicyLog]", settings: PolicySettings) -> "LearnedPolicy":
    """Return the policy with the highest estimated reward plus entropy bonus."""
    from analysis.errors import AnalysisError
    from analysis.methods.policies import search_policy  # loads cma

    try:
        return search_policy(logs, n_tasks=len(names), **settings.to_dict())
    except AnalysisError as error:
        raise Refused(str(error)) from error


def described(names: list[str], learned: "LearnedPolicy", n_logs: int) -> dict[str, Any]:
    """Return a learned policy as plain values."""
    return {
        "probabilities": dict(zip(names, learned.probabilities.tolist(), strict=True)),
        "value": _finite(learned.estimate.value),
        "lower_bound": _finite(learned.estimate.lower_bound),
        "effective_size": _finite(learned.estimate.effective_size),
        "warning": learned.estimate.warning,
        "n_logs": n_logs,
    }


def _finite(value: float) -> float | None:
    """Return a number that JSON can hold, or nothing."""
    return value if math.isfinite(value) else None


def round_logs(project: Project) -> "tuple[list[str], list[PolicyLog]]":
    """Return the tasks of a project's models and the logs of the rounds that drew tasks."""
    from analysis.methods.policies.logs import read_log

    found = _logged_rounds(project)
    if not found:
        raise Refused(f"'{project}' has no round that trained a model: there is no log yet.")
    names = list(found[-1][0])
    logs = []
    for tasks, workspace in found:
        path = workspace.policy_log
        workspace.bring(path.name)
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


def _logged_rounds(project: Project) -> list[tuple[tuple[str, ...], Workspace]]:
    return [
        (tuple(row.stages["training"]["tasks"]), Workspace.of(row))
        for row in project.rounds.order_by("number")
        if row.stages.get("training", {}).get("tasks")
    ]


def _drawing_rounds(project: Project) -> list[int]:
    """Return the rounds whose training drew one task per step."""
    return [
        row.pk
        for row in project.rounds.order_by("number")
        if row.stages.get("training", {}).get("tasks") and row.config.get("policy") != "joint"
    ]


def _check(project: Project) -> None:
    if not _drawing_rounds(project):
        raise Refused(
            "No round of this project has drawn its tasks one by one: run one with the task order "
            "'uniform' first."
        )


POLICY = register_insight(
    InsightKind(
        name="policy",
        title="Learned task order",
        compute="analysis.insights.policy.compute",
        inputs=_drawing_rounds,
        settings=PolicySettings,
        check=_check,
        is_wanted=lambda project: bool(_drawing_rounds(project)),
        role=Role.OWNER,
        page="advice",
    )
)
