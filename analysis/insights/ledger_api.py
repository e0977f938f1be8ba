"""The ledger, and what replays propose, by REST."""

from typing import Any

from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from analysis.insights.api import (
    InsightStatus,
    InsightView,
    IntervalShape,
    NoBody,
    documented_insight,
)
from analysis.insights.ledger import ledger_words
from analysis.insights.proposals import apply_proposal
from annotation.accounts.access import get_project
from annotation.models import Project, Role
from annotation.web.serializers import (
    CHANGES,
    Message,
    RowField,
    WholeNumberField,
    documented,
)


class LedgerTask(Message):
    """How choice and chance compare at a task, for the same minutes."""

    task = s.CharField()
    chance = s.FloatField()
    chosen = s.FloatField()
    difference = s.FloatField()
    interval = RowField(help_text="95 % of the difference.")
    minutes = IntervalShape(help_text="That chance would need to catch up; 95 %.")
    verdict = s.ChoiceField(["saved", "lost", "not shown"])


class ChanceShape(Message):
    """What chance would have brought a task in a round for the same minutes."""

    task = s.CharField()
    chosen = s.FloatField()
    chance = s.FloatField()
    low = s.FloatField(help_text="95 % interval of what chance brings.")
    high = s.FloatField()


class RoundLedger(Message):
    """The comparison of one round."""

    round = s.IntegerField()
    tasks = ChanceShape(many=True)


class LedgerAnswer(InsightStatus):
    """What the choice has saved against chance."""

    round = s.IntegerField(allow_null=True)
    tasks = LedgerTask(many=True)
    saved = IntervalShape(allow_null=True, help_text="Minutes, of what is shown.")
    spent_minutes = s.FloatField()
    rounds = RoundLedger(many=True)
    words = s.ListField(child=s.CharField())


class ProposalRow(Message):
    """Another way of choosing, replayed on the project's past."""

    words = s.CharField()
    gain = s.FloatField(help_text="Mean score of all tasks, over the course.")
    interval = RowField(allow_null=True, help_text="95 %, of all ways tried together.")
    n_seeds = s.IntegerField()
    is_shown = s.BooleanField(help_text="The interval is above zero.")


class ProposalsAnswer(InsightStatus):
    """What replays of the past propose."""

    rows = ProposalRow(many=True)
    proposal = ProposalRow(allow_null=True)
    applied = s.BooleanField()
    words = s.CharField(allow_blank=True)


class ProposalsBody(Message):
    """How much to replay."""

    minutes = WholeNumberField(min_value=1, max_value=1440, required=False)
    n_seeds = WholeNumberField(min_value=2, max_value=10, required=False)


class AppliedAnswer(Message):
    """What new rounds are set to from now on."""

    changed = s.ListField(child=s.CharField())


@documented_insight
class LedgerView(InsightView):
    """Ledger."""

    insight = "ledger"
    answer = LedgerAnswer

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        empty: dict[str, Any] = {
            "round": None,
            "tasks": [],
            "saved": None,
            "spent_minutes": 0.0,
            "rounds": [],
        }
        return {**empty, "words": ledger_words(project, stored), **(stored or {})}


@documented_insight
class ProposalsView(InsightView):
    """Proposals of replays."""

    insight = "proposals"
    answer = ProposalsAnswer
    body = ProposalsBody

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        return {"rows": [], "proposal": None, "applied": False, "words": "", **(stored or {})}


class ApplyProposalView(APIView):
    """A proposal that becomes the default."""

    @documented(tag="insights", body=NoBody, answers={200: AppliedAnswer}, errors=CHANGES)
    def post(self, request: Request, project_id: int) -> Response:
        """Make what the last replay proposes the default of new rounds."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        changes = apply_proposal(project=project, actor=request.user)
        return Response(
            AppliedAnswer.render({"changed": [f"{k}: {v}" for k, v in changes.items()]})
        )
