"""Suspected errors by REST."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from analysis.insights.api import InsightStatus, InsightView, documented_insight
from analysis.insights.models import Repair
from analysis.insights.suspects import decide_suspect, open_suspects, repair_counts
from annotation.accounts.access import get_project
from annotation.models import Project, Role
from annotation.web.serializers import (
    CHANGES,
    Message,
    NameField,
    WholeNumberField,
    documented,
)


class SuspectShape(Message):
    """An answer that may be wrong."""

    number = s.IntegerField(help_text="In the stored list: decide about it by this number.")
    sentence = s.IntegerField()
    task = s.CharField()
    given = s.ListField(child=s.JSONField(), allow_null=True, help_text="The suspected item.")
    expected = s.ListField(child=s.JSONField(), allow_null=True)
    given_words = s.CharField()
    expected_words = s.CharField()
    likelihood = s.FloatField(help_text="Of the item, by a model that did not learn from it.")
    probability = s.FloatField(help_text="That it is wrong.")
    seconds = s.FloatField(help_text="To look at it.")
    source = s.CharField()  # type: ignore[assignment]
    people = s.ListField(child=s.CharField())
    why = s.ListField(child=s.CharField(), help_text="What it contradicts.")


class RepairCounts(Message):
    """What came of suspects so far."""

    kept = s.IntegerField()
    repaired = s.IntegerField()
    asked = s.IntegerField()


class SuspectsAnswer(InsightStatus):
    """Suspected errors that nobody has decided about."""

    suspects = s.ListField(child=SuspectShape())
    n_judged = s.IntegerField()
    expected = s.FloatField(help_text="Errors among all answers.")
    decided = RepairCounts()


class SuspectsBody(Message):
    """How to judge."""

    n_folds = WholeNumberField(min_value=2, max_value=20, required=False)
    most = WholeNumberField(min_value=1, max_value=2000, required=False)


class SuspectDecisionBody(Message):
    """What to do about a suspected error."""

    decision = NameField(choices=[decision.value for decision in Repair.Decision])


@documented_insight
class SuspectsView(InsightView):
    """Suspected errors."""

    insight = "suspects"
    answer = SuspectsAnswer
    body = SuspectsBody

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        return {
            "suspects": open_suspects(project),
            "n_judged": stored["n_judged"] if stored else 0,
            "expected": stored["expected"] if stored else 0.0,
            "decided": repair_counts(project),
        }


class SuspectDecisionView(APIView):
    """One suspected error."""

    @documented(
        tag="insights",
        body=SuspectDecisionBody,
        answers={200: RepairCounts},
        errors=CHANGES,
        name="api_projects_suspects_decide",
    )
    def post(self, request: Request, project_id: int, number: int) -> Response:
        """Keep the answer, take what is expected, or have it asked again."""
        project = get_project(request.user, project_id, at_least=Role.CURATOR)
        body = SuspectDecisionBody.read(request.data)
        decide_suspect(
            project=project,
            number=number,
            decision=Repair.Decision(body["decision"]),
            person=request.user,
            now=timezone.now(),
        )
        return Response(RepairCounts.render(repair_counts(project)))
