"""Rounds of active learning: launch, follow, cancel, retry, the asks; how the project goes."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project
from annotation.errors import InvalidInput
from annotation.jobs.api import JobMessage
from annotation.models import Role, Round
from annotation.rounds.dashboard import dashboard
from annotation.rounds.selectors import find_round, round_asks, round_job, rounds_of
from annotation.rounds.services import (
    cancel_round,
    launch_round,
    retry_round,
    set_default_settings,
)
from annotation.rounds.settings import (
    RoundSettings,
    default_settings,
    problems_of,
    shown_settings,
)
from annotation.web.rest import page_of
from annotation.web.serializers import (
    CHANGES,
    PAGE,
    READS,
    Message,
    documented,
    page_message,
)
from annotation.web.settings_fields import settings_message
from mtl_engine.errors import EngineError

Number, Whole, Text = serializers.FloatField, serializers.IntegerField, serializers.CharField
RoundSettingsMessage = settings_message(RoundSettings, "RoundSettings")


def _by_task(child: Any, **options: Any) -> serializers.DictField:
    return serializers.DictField(child=child, **options)


class CalibrationMessage(Message):
    """Confidence against accuracy on the test slice."""

    bins = serializers.ListField(
        child=serializers.ListField(child=Number()),
        help_text="Mean confidence, mean accuracy and number of sentences, in tenths.",
    )
    overconfidence = Number()
    calibration_error = Number()
    mean_confidence = Number()
    mean_accuracy = Number()
    r_squared = Number(
        required=False, help_text="Of accuracy told from confidence by a line over sentences."
    )


class TaskEvaluationMessage(Message):
    """How good a model is at a task."""

    score = Number(help_text="The main metric of the task's kind.")
    interval = serializers.ListField(
        child=Number(), allow_null=True, help_text="95 %, by bootstrap over sentences."
    )
    metrics = _by_task(Number())
    n = Whole(help_text="Test sentences.")
    calibration = CalibrationMessage()
    calibration_scaled = CalibrationMessage()


class ComparisonMessage(Message):
    """A task's score by choice and by chance, at the same cost."""

    chance = Number()
    chosen = Number()
    difference = Number()
    interval = serializers.ListField(
        child=Number(), help_text="95 % of the difference, by bootstrap over test sentences."
    )
    verdict = serializers.ChoiceField(choices=["better", "equal", "worse"])


class ControlMessage(Message):
    """A model of what chance alone has brought."""

    n_labelled = Whole()
    n_by_task = _by_task(Whole(), required=False, help_text="Sentences with an answer to each.")
    scores = _by_task(TaskEvaluationMessage())
    ledger = _by_task(
        ComparisonMessage(), required=False, help_text="How choosing has done against chance."
    )


class MarketMessage(Message):
    """What a kind of ask takes of the time, and what it brings."""

    purpose = Text()
    title = Text()
    n_offered = Whole()
    n = Whole()
    minutes = Number()
    points = Number(help_text="Expected, of all tasks by what they need.")
    points_per_minute = Number(help_text="Of those that are bought.")
    best_per_minute = Number(help_text="Of the best that is offered.")
    why = Text(allow_blank=True)


class LengthsMessage(Message):
    """How long the asked sentences are, beside those of the pool."""

    words = serializers.ListField(child=Text(), required=False, help_text="Classes of length.")
    asked = serializers.ListField(child=Number(), required=False, help_text="Shares of the asks.")
    pool = serializers.ListField(child=Number(), required=False, help_text="Shares of the pool.")
    mean_asked = Number(required=False)
    mean_pool = Number(required=False)


class TrainingMessage(Message):
    """What the training stage found."""

    is_seed = serializers.BooleanField(help_text="Nothing to learn from yet: drawn by chance.")
    n_train = Whole()
    n_dev = Whole(required=False)
    n_test = Whole(required=False)
    n_labelled = _by_task(Whole(), required=False)
    n_in_pieces = _by_task(Whole(), required=False, help_text="Sentences with spans in pieces.")
    tasks = serializers.ListField(child=Text(), required=False, help_text="That were learned.")
    temperatures = _by_task(Number(), required=False)
    scores = _by_task(TaskEvaluationMessage(), required=False)
    languages = serializers.DictField(
        child=_by_task(Number()), required=False, help_text="Scores by language, where several."
    )
    policy_weights = _by_task(Number(), required=False, allow_null=True)
    cpu_seconds = Number(required=False)
    data_hash = Text(required=False)
    control = ControlMessage(required=False, allow_null=True)


class ScoringMessage(Message):
    """What the scoring stage found."""

    n_pool = Whole(help_text="Open sentences.")
    n_scored = Whole(required=False, help_text="Of which so many were looked at.")
    pool_hash = Text()
    tasks = serializers.ListField(child=Text())
    unit = Text(help_text="Of the prices: seconds, or cost units of the paper.")
    needs = _by_task(
        Number(), required=False, help_text="What each task can still gain, 0 = it is solved."
    )


class SelectingMessage(Message):
    """What the selecting stage found."""

    n_asks = Whole()
    n_random = Whole()
    n_blind = Whole()
    n_test = Whole()
    cost = Number()
    value = Number(allow_null=True)
    is_optimal = serializers.BooleanField(allow_null=True)
    worth = _by_task(
        Number(), required=False, help_text="MT-EEC: how many random batches this one is worth."
    )
    chance_share = Number(
        required=False, allow_null=True, help_text="MT-EEC: share of its cost left to chance."
    )
    minutes = _by_task(
        Number(), required=False, help_text="Share of the cost that each task takes."
    )
    lengths = LengthsMessage(required=False)
    market = MarketMessage(
        many=True, required=False, help_text="How the time is split among purposes."
    )


class StagesMessage(Message):
    """What the finished stages found."""

    training = TrainingMessage(required=False)
    scoring = ScoringMessage(required=False)
    selecting = SelectingMessage(required=False)


class RoundMessage(Message):
    """A round of active learning."""

    id = Whole()
    number = Whole()
    state = serializers.ChoiceField(choices=Round.State.choices)
    message = Text(help_text="Why it failed, and what to do.")
    config = RoundSettingsMessage()
    stages = StagesMessage()
    progress = JobMessage(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class RoundAskMessage(Message):
    """A sentence that a round asks about."""

    rank = Whole()
    sentence = Whole(source="sentence_id")
    text = Text(source="sentence.text")
    tasks = serializers.ListField(child=Text())
    is_random = serializers.BooleanField()
    is_blind = serializers.BooleanField()
    is_open = serializers.BooleanField()
    confidences = _by_task(Number())
    predicted_seconds = Number(allow_null=True)
    why = serializers.SerializerMethodField()

    def get_why(self, ask: Any) -> str:
        """Return the reason in plain words."""
        return str(ask.reason.get("why", ""))


RoundPage = page_message(RoundMessage)
RoundAskPage = page_message(RoundAskMessage)


class RoundsView(APIView):
    """Rounds."""

    @documented(
        tag="rounds",
        answers={200: RoundPage},
        errors=READS,
        parameters=PAGE,
        name="projects_rounds_list",
    )
    def get(self, request: Request, project_id: int) -> Response:
        """Return a project's rounds, newest first."""
        page = page_of(rounds_of(get_project(request.user, project_id)), request)
        return Response({"results": [render_round(row) for row in page.rows], "next": page.next})

    @documented(
        tag="rounds", body=RoundSettingsMessage, answers={201: RoundMessage}, errors=CHANGES
    )
    def post(self, request: Request, project_id: int) -> Response:
        """Launch a round; what the body leaves out is as the project's defaults say."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        changes = read_changes(request.data)
        launched = launch_round(project=project, changes=changes, created_by=request.user)
        return Response(render_round(launched), status=201)


class RoundDefaultsView(APIView):
    """What new rounds of a project are set to."""

    @documented(tag="rounds", answers={200: RoundSettingsMessage})
    def get(self, request: Request, project_id: int) -> Response:
        """Return the settings of a round that is launched with an empty body."""
        project = get_project(request.user, project_id)
        return Response(RoundSettingsMessage.render(default_settings(project).to_dict()))

    @documented(
        tag="rounds", body=RoundSettingsMessage, answers={200: RoundSettingsMessage}, errors=READS
    )
    def put(self, request: Request, project_id: int) -> Response:
        """Set them; what the body leaves out is as the product's defaults say."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        chosen = set_default_settings(project=project, values=read_changes(request.data))
        return Response(RoundSettingsMessage.render(chosen.to_dict()))


class RoundView(APIView):
    """A round."""

    @documented(tag="rounds", answers={200: RoundMessage})
    def get(self, request: Request, project_id: int, number: int) -> Response:
        """Return a round with its settings, what its stages found, and its progress."""
        return Response(render_round(_find(request, project_id, number, Role.CURATOR)))


class RoundAsksView(APIView):
    """What a round asks."""

    @documented(tag="rounds", answers={200: RoundAskPage}, errors=READS, parameters=PAGE)
    def get(self, request: Request, project_id: int, number: int) -> Response:
        """Return the asks of a round in rank order, each with its reason."""
        found = _find(request, project_id, number, Role.CURATOR)
        page = page_of(round_asks(found), request, sort="rank")
        rows = RoundAskMessage.render_all(page.rows)
        return Response({"results": rows, "next": page.next})


class CancelRoundView(APIView):
    """Stopping a round."""

    @documented(tag="rounds", answers={200: RoundMessage}, errors=(401, 403, 404, 409))
    def post(self, request: Request, project_id: int, number: int) -> Response:
        """Stop a round that is queued or running."""
        found = _find(request, project_id, number, Role.OWNER)
        return Response(render_round(cancel_round(round=found, now=timezone.now())))


class RetryRoundView(APIView):
    """Trying a round again."""

    @documented(tag="rounds", answers={200: RoundMessage}, errors=(401, 403, 404, 409))
    def post(self, request: Request, project_id: int, number: int) -> Response:
        """Queue a failed or cancelled round again; finished stages are kept."""
        found = _find(request, project_id, number, Role.OWNER)
        return Response(render_round(retry_round(round=found, created_by=request.user)))


def read_changes(body: Any) -> dict[str, Any]:
    """Return the settings that a body names, also under the names of earlier versions."""
    try:
        named = RoundSettings.current(body) if isinstance(body, dict) else body
    except EngineError as error:
        raise InvalidInput(problems_of(error)) from error
    return RoundSettingsMessage.read(named, is_partial=True)


def render_round(found: Round) -> dict[str, Any]:
    """Return what members may know about a round."""
    rendered: dict[str, Any] = RoundMessage.render(
        {
            **{name: getattr(found, name) for name in ("id", "number", "state", "message")},
            "config": shown_settings(found),
            "stages": found.stages,
            "progress": round_job(found),
            "created_at": found.created_at,
            "finished_at": found.finished_at,
        }
    )
    return rendered


def _find(request: Request, project_id: int, number: int, at_least: Role) -> Round:
    return find_round(get_project(request.user, project_id, at_least=at_least), number)


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
