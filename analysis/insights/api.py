"""Insights by REST: what is stored, its age, and a way to have it computed again."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from analysis.insights.advice import advice_words
from annotation.accounts.access import get_project
from annotation.jobs.api import JobMessage
from annotation.jobs.insights import INSIGHTS, KnownInsight, known_insight, start_insight
from annotation.models import Project, Role
from annotation.rounds.api import LengthsMessage, MarketMessage
from annotation.web.serializers import (
    CHANGES,
    Message,
    NameField,
    NumberField,
    RowField,
    WholeNumberField,
    documented,
)


class InsightStatus(Message):
    """How old a stored result is, and the job that computes a newer one."""

    name = s.CharField()
    title = s.CharField()
    computed_at = s.DateTimeField(allow_null=True)
    is_current = s.BooleanField(help_text="Nothing that it was computed from has changed since.")
    job = JobMessage(allow_null=True)


class IntervalShape(Message):
    """An estimate and its 90 % interval; null where no end can be told."""

    middle = s.FloatField(allow_null=True)
    low = s.FloatField(allow_null=True)
    high = s.FloatField(allow_null=True)


class EffectShape(Message):
    """What training with a source task adds to a target, in points."""

    source = s.CharField()  # type: ignore[assignment]
    target = s.CharField()
    points = s.FloatField()
    low = s.FloatField(help_text="95 % bootstrap interval.")
    high = s.FloatField()


class TargetShape(Message):
    """A task by itself and together with all the others."""

    task = s.CharField()
    metric = s.CharField()
    alone = s.FloatField()
    together = s.FloatField()
    n_labelled = s.IntegerField()
    parent = s.CharField(allow_null=True)  # type: ignore[assignment]


class AdviceResult(Message):
    """All effects that could be measured."""

    effects = s.ListField(child=EffectShape())
    targets = s.ListField(child=TargetShape())
    too_few = s.DictField(child=s.IntegerField(), help_text="Tasks left out, with their labels.")
    method = s.ChoiceField(["trained", "gradients"])
    n_trainings = s.IntegerField()
    n_seeds = s.IntegerField()
    cpu_seconds = s.FloatField()


class AdviceAnswer(InsightStatus):
    """Task advice."""

    advice = AdviceResult(allow_null=True)
    words = s.ListField(child=s.CharField())


class AdviceBody(Message):
    """How to measure."""

    method = NameField(choices=["trained", "gradients"], required=False)


class ForecastPoint(Message):
    """A score that is expected at a number of labelled sentences."""

    n = s.IntegerField()
    score = s.FloatField()
    low = s.FloatField()
    high = s.FloatField()


class TaskForecast(Message):
    """The way of one task to its target."""

    words = s.CharField(allow_blank=True)
    law = s.CharField(allow_blank=True)
    more = s.IntegerField(allow_null=True, help_text="Sentences.")
    low = s.IntegerField(allow_null=True)
    high = s.IntegerField(allow_null=True)
    is_reached = s.BooleanField()
    curve = s.ListField(child=ForecastPoint())


class ForecastAnswer(InsightStatus):
    """The forecast of every task, by its name."""

    tasks = s.DictField(child=TaskForecast())


class PolicyResult(Message):
    """A policy and what the logs say it is worth."""

    probabilities = s.DictField(child=s.FloatField())
    value = s.FloatField(allow_null=True)
    lower_bound = s.FloatField(allow_null=True)
    effective_size = s.FloatField(allow_null=True)
    warning = s.CharField(allow_blank=True)
    n_logs = s.IntegerField()


class PolicyAnswer(InsightStatus):
    """The learned order of tasks."""

    policy = PolicyResult(allow_null=True)


class PolicyBody(Message):
    """The search for a policy."""

    entropy_weight = NumberField(min_value=0, required=False)
    iterations = WholeNumberField(min_value=1, max_value=1000, required=False)
    population = WholeNumberField(min_value=4, max_value=1000, required=False)
    seed = WholeNumberField(min_value=0, required=False)


class ShareShape(Message):
    """How much of someone's work is of one style."""

    mean = s.FloatField()
    low = s.FloatField()
    high = s.FloatField()


class MixtureShape(Message):
    """One annotator's work since a day."""

    annotator = s.CharField()
    start = s.CharField()
    n_sequences = s.IntegerField()
    shares = s.ListField(child=ShareShape())
    is_described = s.BooleanField()


class TypicalShape(Message):
    """A sequence of actions that is frequent in a style."""

    steps = s.ListField(child=s.CharField())
    count = s.IntegerField()


class StyleShape(Message):
    """A way of working that annotators share."""

    number = s.IntegerField()
    share = s.FloatField()
    mean_length = s.FloatField()
    mean_seconds = s.FloatField(required=False)
    actions = s.ListField(
        child=RowField(), required=False, help_text="[action, its share in the style]"
    )
    marks = s.ListField(
        child=RowField(), help_text="[action, its share in the style, its share everywhere]"
    )
    typical = s.ListField(child=TypicalShape())
    examples = s.ListField(
        child=s.IntegerField(), required=False, help_text="Sentences worked on like this."
    )


class ChangeShape(Message):
    """A style whose share in somebody's first and last period differs beyond doubt."""

    annotator = s.CharField()
    style = s.IntegerField()  # type: ignore[assignment]
    early = s.CharField()
    before = s.FloatField()
    late = s.CharField()
    after = s.FloatField()


class StylesShape(Message):
    """Styles, each annotator's mixture of them, and the mixtures by period."""

    styles = s.ListField(child=StyleShape())
    annotators = s.ListField(child=MixtureShape())
    periods = s.ListField(child=MixtureShape())
    changes = s.ListField(child=ChangeShape(), required=False)
    notes = s.ListField(child=s.CharField())


class StylesAnswer(InsightStatus):
    """Working styles."""

    is_off = s.BooleanField(help_text="The project's owners did not switch them on.")
    found = StylesShape(allow_null=True)
    reason = s.CharField(allow_blank=True, help_text="Why there are none.")


class BudgetShape(Message):
    """What a budget would buy."""

    n_sentences = s.IntegerField()
    n_test = s.IntegerField(help_text="Of them to test the model.")
    is_all = s.BooleanField(help_text="Nothing else is open.")
    minutes = s.FloatField()
    chance = s.FloatField(help_text="Share of the time that goes to random sentences.")
    tasks = s.DictField(child=s.FloatField(), help_text="Share of the time, by task.")
    market = MarketMessage(many=True, required=False)
    worth = s.DictField(
        child=s.FloatField(), required=False, help_text="In random batches of the same cost."
    )


class ExampleShape(Message):
    """A sentence that would be asked."""

    rank = s.IntegerField()
    sentence = s.IntegerField()
    text = s.CharField()
    seconds = s.FloatField()
    tasks = s.ListField(child=s.CharField())
    why = s.CharField()
    is_random = s.BooleanField()


class PreviewResult(Message):
    """What the next round would ask, by the model of the last one."""

    round = s.IntegerField()
    needs = s.DictField(
        child=s.FloatField(),
        required=False,
        help_text="What each task can still gain by today's targets, 0 = it is solved.",
    )
    train_seconds = s.FloatField()
    minutes = s.FloatField(help_text="The budget of the examples and the lengths.")
    budgets = s.DictField(child=BudgetShape(), help_text="By minutes.")
    lengths = LengthsMessage()
    examples = s.ListField(child=ExampleShape())


class PreviewAnswer(InsightStatus):
    """The preview of the next round."""

    preview = PreviewResult(allow_null=True)


class NoBody(Message):
    """There is nothing to decide."""


class InsightsView(APIView):
    """What can be found out about a project."""

    @documented(tag="insights", answers={200: InsightStatus(many=True)})
    def get(self, request: Request, project_id: int) -> Response:
        """Return every insight with its age, without its result."""
        project = get_project(request.user, project_id)
        statuses = [_status(known_insight(project, name)) for name in INSIGHTS]
        return Response(InsightStatus.render_all(statuses))


class InsightView(APIView):
    """One insight; a subclass names it and describes its result."""

    insight: ClassVar[str]
    answer: ClassVar[type[InsightStatus]]
    body: ClassVar[type[Message]] = NoBody
    reads: ClassVar[Role] = Role.CURATOR

    def get(self, request: Request, project_id: int) -> Response:
        """Return what is stored, its age, and the job that computes it again."""
        return Response(self._answer(get_project(request.user, project_id, at_least=self.reads)))

    def post(self, request: Request, project_id: int) -> Response:
        """Compute it again; the body may give settings."""
        role = INSIGHTS[self.insight].role
        project = get_project(request.user, project_id, at_least=role)
        settings = self.body.read(request.data)
        start_insight(
            project=project, name=self.insight, settings=settings, created_by=request.user
        )
        return Response(self._answer(project), status=202)

    def _answer(self, project: Project) -> Any:
        known = known_insight(project, self.insight)
        stored = known.stored.result if known.stored else None
        return self.answer.render({**_status(known), **self.describe(project, stored)})

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        """Return the parts of the answer that come from the stored result."""
        raise NotImplementedError


def documented_insight(view: type[InsightView]) -> Any:
    """Document both methods of an insight's view by its messages."""
    return extend_schema_view(
        get=documented(tag="insights", answers={200: view.answer}),
        post=documented(tag="insights", body=view.body, answers={202: view.answer}, errors=CHANGES),
    )(view)


@documented_insight
class AdviceView(InsightView):
    """Task advice."""

    insight = "advice"
    answer = AdviceAnswer
    body = AdviceBody

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        return {"advice": stored, "words": advice_words(stored)}


@documented_insight
class ForecastView(InsightView):
    """Forecast."""

    insight = "forecast"
    answer = ForecastAnswer

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        return {"tasks": stored or {}}


@documented_insight
class PolicyView(InsightView):
    """Learned order of tasks."""

    insight = "policy"
    answer = PolicyAnswer
    body = PolicyBody

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        return {"policy": stored}


@documented_insight
class PreviewView(InsightView):
    """What the next round would ask."""

    insight = "preview"
    answer = PreviewAnswer

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        return {"preview": stored or None}


@documented_insight
class WorkingStylesView(InsightView):
    """Working styles."""

    insight = "working_styles"
    answer = StylesAnswer
    reads = Role.OWNER

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        if not project.shows_working_styles:
            return {"is_off": True, "found": None, "reason": ""}
        return {"is_off": False, **(stored or {"found": None, "reason": ""})}


def _status(known: KnownInsight) -> dict[str, Any]:
    return {
        "name": known.kind.name,
        "title": known.kind.title,
        "computed_at": known.stored.computed_at if known.stored else None,
        "is_current": known.is_current,
        "job": known.running,
    }
