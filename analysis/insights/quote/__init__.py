"""The quote: what the targets will cost, when they are reached, and what would make it less.

The worker stores the facts that every quote needs. A quote itself is drawn from them. Every quote
that a round leads to is kept, and judged once its target is reached.
"""

from typing import Any

from django.db.models import Max
from django.utils import timezone

from analysis.insights.quote.estimate import Wish, quoted, wished_targets
from analysis.insights.quote.facts import quote_facts
from analysis.insights.quote.kept import keep_quote
from analysis.insights.quote.words import summary
from annotation.jobs.insights import InsightKind, NoSettings, register_insight
from annotation.jobs.services import Progress
from annotation.models import Job, Project, Role, Submission
from annotation.rounds.dashboard import learning_curve, trained_rounds


def compute(project: Project, settings: NoSettings, progress: Progress) -> dict[str, Any]:
    """Return the facts of quotes, with what they say of the project's targets today."""
    progress("pricing", 0, None)
    facts = quote_facts(project)
    found = quoted(project, facts, Wish(), today=timezone.localdate())
    keep_quote(project=project, found=found, created_by=None, now=timezone.now())
    targets = wished_targets(project, Wish())
    said = {"targets": targets, "outlook": found["outlook"], "summary": summary(found)}
    return {**facts, **said}


def _inputs(project: Project) -> Any:
    """Return scores, targets and how many answers there are a sentence."""
    rounds = trained_rounds(project)
    curves = [learning_curve(task, rounds) for task in project.tasks.filter(is_hidden=False)]
    newest = Submission.objects.filter(project=project).aggregate(last=Max("pk"))["last"] or 0
    return [
        [[c["task"], c["target"], c["chosen"]] for c in curves],
        project.overlap,
        [project.deadline, project.weekly_hours, project.work_minutes],
        newest // 100,
    ]


QUOTE = register_insight(
    InsightKind(
        name="quote",
        title="Quote",
        compute="analysis.insights.quote.compute",
        inputs=_inputs,
        is_wanted=lambda project: bool(trained_rounds(project)),
        role=Role.CURATOR,
        job=Job.Kind.REPORT,
        page="quote",
        place="quote",
    )
)
