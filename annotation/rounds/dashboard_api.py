"""How a project goes, by REST."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project
from annotation.rounds.api import CalibrationMessage
from annotation.rounds.dashboard import dashboard
from annotation.web.serializers import Message, documented

Number, Whole, Text = serializers.FloatField, serializers.IntegerField, serializers.CharField


class CurvePoint(Message):
    """A score on the test slice, against labelled sentences."""

    round = Whole()
    n = Whole(help_text="Labelled sentences.")
    score = Number()
    low = Number(allow_null=True, help_text="95 % interval.")
    high = Number(allow_null=True)


class ExpectedPoint(Message):
    """A score that is expected of so many labelled sentences."""

    n = Number()
    score = Number()
    low = Number()
    high = Number()


class CurveForecast(Message):
    """How a curve is expected to go on."""

    words = Text(allow_blank=True)
    law = Text(allow_blank=True)
    curve = ExpectedPoint(many=True)


class CurveMessage(Message):
    """A task's learning curve, and that of what chance has brought."""

    task = Text()
    metric = Text()
    target = Number(allow_null=True)
    chosen = CurvePoint(many=True)
    control = CurvePoint(many=True)
    forecast = CurveForecast()


class PoolPoint(Message):
    """A sentence in the space of confidences."""

    sentence = Whole()
    confidence = serializers.ListField(child=Number(allow_null=True))
    kind = serializers.ChoiceField(["pool", "random", "chosen"])
    text = Text(allow_blank=True, help_text="The beginning of the sentence.")


class PoolMapMessage(Message):
    """What the last round chose from."""

    round = Whole()
    tasks = serializers.ListField(child=Text())
    points = PoolPoint(many=True)
    n_pool = Whole()


class TaskCalibrationMessage(Message):
    """Confidence against accuracy, before and after temperature scaling."""

    raw = CalibrationMessage()
    scaled = CalibrationMessage()
    temperature = Number(allow_null=True)


class LabelShare(Message):
    """How often a label is in chosen and in random asks."""

    label = Text()  # type: ignore[assignment]
    chosen = Number()
    random = Number()


class DriftMessage(Message):
    """What a strategy does to a task's labels."""

    task = Text()
    labels = LabelShare(many=True)


class BudgetMessage(Message):
    """What the current queue has cost."""

    round = Whole(allow_null=True)
    minutes = Number()
    budget_minutes = Number(allow_null=True)
    n_asks = Whole()
    n_answered = Whole()
    predicted_minutes = Number(allow_null=True)
    median_seconds = Number(allow_null=True)
    all_minutes = Number()


class SuggestionCounts(Message):
    """What became of suggestions."""

    seen = Whole()
    accepted = Whole()
    edited = Whole()
    rejected = Whole()
    n_shown = Whole()
    n_blind = Whole()
    seconds_shown = Number(allow_null=True)
    seconds_blind = Number(allow_null=True)


class PersonMessage(Message):
    """What a person did."""

    name = Text()
    this_round = Whole()
    all = Whole()
    median_seconds = Number(allow_null=True)
    accepted = Number(allow_null=True)
    agreement = Number(allow_null=True)
    last_seen = serializers.DateTimeField()


class DashboardMessage(Message):
    """Everything that the overview draws."""

    curves = CurveMessage(many=True)
    pool = PoolMapMessage(allow_null=True)
    calibration = serializers.DictField(child=TaskCalibrationMessage())
    drift = DriftMessage(many=True)
    budget = BudgetMessage(allow_null=True)
    suggestions = SuggestionCounts()
    people = PersonMessage(many=True)


class DashboardView(APIView):
    """Dashboard."""

    @documented(tag="insights", answers={200: DashboardMessage})
    def get(self, request: Request, project_id: int) -> Response:
        """Return curves with forecasts, the pool, calibration, drift, budget and people."""
        return Response(DashboardMessage.render(dashboard(get_project(request.user, project_id))))
