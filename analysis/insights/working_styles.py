"""Working styles: annotators' actions as mixtures of shared behaviours; no verdict on a person."""

from typing import Any

from annotation.errors import Refused
from annotation.jobs.insights import InsightKind, NoSettings, register_insight
from annotation.jobs.services import Progress
from annotation.models import Job, Project, Role, Submission

NEWEST = 2000  # answers that are described


def compute(project: Project, settings: NoSettings, progress: Progress) -> dict[str, Any]:
    """Return the styles of a project's work, or the reason why there are none."""
    from analysis.errors import AnalysisError  # what follows loads scipy
    from analysis.methods.sequential_lda.working_styles import ActionSequence, find_working_styles

    progress("describing", 0, None)
    rows = Submission.objects.filter(project=project).order_by("-id")
    sequences = [
        ActionSequence(name, when, tuple(action["kind"] for action in actions))
        for name, when, actions in rows.values_list(
            "annotator__username", "submitted_at", "actions"
        )[:NEWEST]
    ]
    try:
        return {"found": find_working_styles(sequences).as_json(), "reason": ""}
    except AnalysisError as error:
        return {"found": None, "reason": str(error)}


def _inputs(project: Project) -> Any:
    newest = Submission.objects.filter(project=project).order_by("-id").values_list("id").first()
    return newest[0] if newest else 0


def _check(project: Project) -> None:
    if not project.shows_working_styles:
        raise Refused("Working styles are switched off. An owner switches them on under Settings.")


WORKING_STYLES = register_insight(
    InsightKind(
        name="working_styles",
        title="Working styles",
        compute="analysis.insights.working_styles.compute",
        inputs=_inputs,
        check=_check,
        is_wanted=lambda project: project.shows_working_styles,
        role=Role.OWNER,
        job=Job.Kind.RESEARCH,
        page="working-styles",
        place="settings",
    )
)
