"""Insights by REST: what is stored, its age, and a way to have it computed again."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from analysis.insights.advice import advice_words
from analysis.insights.ledger import ledger_words
from analysis.insights.models import Repair
from analysis.insights.proposals import apply_proposal
from analysis.insights.quote import (
    HELD,
    MISSED,
    WAITS,
    Wish,
    as_text,
    facts_of,
    judged_quotes,
    keep_quote,
    make_plan,
    quoted,
)
from analysis.insights.suspects import decide_suspect, open_suspects, repair_counts
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
    TextField,
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
    train_seconds = s.FloatField()
    minutes = s.FloatField(help_text="The budget of the examples and the lengths.")
    budgets = s.DictField(child=BudgetShape(), help_text="By minutes.")
    lengths = LengthsMessage()
    examples = s.ListField(child=ExampleShape())


class PreviewAnswer(InsightStatus):
    """The preview of the next round."""

    preview = PreviewResult(allow_null=True)


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


class QuoteBody(Message):
    """What a quote is asked for, where it differs from what the project says."""

    targets = s.DictField(
        child=s.FloatField(allow_null=True),
        required=False,
        help_text="Score by task; null: no target.",
    )
    deadline = TextField(max_length=10, required=False, help_text="A day, as 2027-04-11.")
    weekly_hours = NumberField(min_value=0, required=False, help_text="Of all people together.")
    what_ifs = s.ListField(
        child=TextField(max_length=300), required=False, help_text="By name, counted together."
    )


class IntervalShape(Message):
    """An estimate and its 90 % interval; null where no end can be told."""

    middle = s.FloatField(allow_null=True)
    low = s.FloatField(allow_null=True)
    high = s.FloatField(allow_null=True)


class DaysShape(Message):
    """Days between which the work will be done."""

    middle = s.CharField(allow_null=True)
    low = s.CharField(allow_null=True)
    high = s.CharField(allow_null=True)


class QuotedTask(Message):
    """What the target of one task needs by itself."""

    task = s.CharField()
    metric = s.CharField()
    score = s.FloatField(allow_null=True)
    low = s.FloatField(allow_null=True, help_text="95 % interval of the score.")
    high = s.FloatField(allow_null=True)
    n_labelled = s.IntegerField()
    target = s.FloatField(allow_null=True)
    n_rounds = s.IntegerField(help_text="With a score.")
    is_wide = s.BooleanField(help_text="It rests on fewer than three rounds.")
    reached_in = s.IntegerField(allow_null=True, help_text="The round.")
    hours = IntervalShape(allow_null=True)
    likely = s.FloatField(
        allow_null=True, help_text="Share of the courses that reach the target at all."
    )


class WhatIfShape(Message):
    """A change of the plan, and what it saves or costs."""

    name = s.CharField()
    words = s.CharField()
    detail = s.CharField()
    hours = IntervalShape()
    days = IntervalShape(allow_null=True)
    is_shown = s.BooleanField(help_text="The interval excludes zero.")


class PlannedShape(Message):
    """The quote without the chosen what-ifs."""

    hours = IntervalShape()
    done_on = DaysShape(allow_null=True)
    chance = s.FloatField(allow_null=True)


class QuoteShape(Message):
    """What the targets will cost."""

    round = s.IntegerField()
    is_known = s.BooleanField(help_text="Every open target has a score to begin with.")
    tasks = QuotedTask(many=True)
    hours = IntervalShape()
    sentences = IntervalShape()
    shared_hours = s.FloatField(allow_null=True, help_text="Saved by reading once for all tasks.")
    spent_hours = s.FloatField()
    weekly_hours = s.FloatField()
    done_on = DaysShape(allow_null=True)
    deadline = s.CharField(allow_blank=True)
    chance = s.FloatField(allow_null=True, help_text="To be done before the deadline.")
    minutes_left = s.FloatField(allow_null=True)
    chance_in_minutes = s.FloatField(allow_null=True)
    n_curves = s.IntegerField(help_text="Of other projects, that the prior comes from.")
    what_ifs = WhatIfShape(many=True)
    chosen = s.ListField(child=s.CharField())
    planned = PlannedShape(allow_null=True)
    outlook = s.ListField(child=s.CharField(), help_text="What will be missed, and what helps.")
    text = s.CharField()


class QuoteAnswer(InsightStatus):
    """The quote of the project's own targets."""

    quote = QuoteShape(allow_null=True)


class WhatIfsAnswer(InsightStatus):
    """What-ifs that were trained."""

    trained = s.ListField(child=s.CharField())
    left = s.ListField(child=s.CharField(), help_text="There was no time for.")


class WhatIfsBody(Message):
    """How long to train."""

    minutes = WholeNumberField(min_value=1, max_value=600, required=False)


class KeptQuoteShape(Message):
    """A kept quote, and whether it held."""

    id = s.IntegerField()
    name = s.CharField()
    round = s.IntegerField()
    hours = s.FloatField(allow_null=True)
    low = s.FloatField()
    high = s.FloatField(allow_null=True)
    needed = s.FloatField(allow_null=True)
    verdict = s.ChoiceField([HELD, MISSED, WAITS])
    created_at = s.DateTimeField()


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
    interval = RowField(allow_null=True, help_text="95 %.")
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


class PlanAnswer(Message):
    """What making a quote the plan has changed."""

    changes = s.ListField(child=s.CharField())


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


def _documented(view: type[InsightView]) -> Any:
    """Document both methods of an insight's view by its messages."""
    return extend_schema_view(
        get=documented(tag="insights", answers={200: view.answer}),
        post=documented(tag="insights", body=view.body, answers={202: view.answer}, errors=CHANGES),
    )(view)


@_documented
class AdviceView(InsightView):
    """Task advice."""

    insight = "advice"
    answer = AdviceAnswer
    body = AdviceBody

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        return {"advice": stored, "words": advice_words(stored)}


@_documented
class ForecastView(InsightView):
    """Forecast."""

    insight = "forecast"
    answer = ForecastAnswer

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        return {"tasks": stored or {}}


@_documented
class PolicyView(InsightView):
    """Learned order of tasks."""

    insight = "policy"
    answer = PolicyAnswer
    body = PolicyBody

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        return {"policy": stored}


@_documented
class PreviewView(InsightView):
    """What the next round would ask."""

    insight = "preview"
    answer = PreviewAnswer

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        return {"preview": stored or None}


@_documented
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


@_documented
class QuoteView(InsightView):
    """Quote."""

    insight = "quote"
    answer = QuoteAnswer

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        return {"quote": stored and _quote_shape(project, stored, Wish())}


@_documented
class WhatIfsView(InsightView):
    """What-ifs that need training."""

    insight = "what_ifs"
    answer = WhatIfsAnswer
    body = WhatIfsBody

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        rows = stored["rows"] if stored else []
        return {
            "trained": [row["name"] for row in rows],
            "left": stored["left"] if stored else [],
        }


@_documented
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


@_documented
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


def _quote_shape(project: Project, facts: Any, wish: Wish) -> dict[str, Any]:
    found = quoted(project, facts, wish, today=timezone.localdate())
    return {"planned": None, **found, "text": as_text(found)}


def _wish_of(request: Request) -> Wish:
    body = QuoteBody.read(request.data)
    return Wish(
        body.get("targets", {}),
        body.get("deadline"),
        body.get("weekly_hours"),
        tuple(dict.fromkeys(body.get("what_ifs", ()))),
    )


class QuoteWishView(APIView):
    """A quote for other targets, another day, other hours, with what-ifs."""

    @documented(tag="insights", body=QuoteBody, answers={200: QuoteShape}, errors=CHANGES)
    def post(self, request: Request, project_id: int) -> Response:
        """Return what a changed plan would cost; nothing is stored."""
        project = get_project(request.user, project_id, at_least=Role.CURATOR)
        wish = _wish_of(request)
        return Response(QuoteShape.render(_quote_shape(project, facts_of(project), wish)))


class QuotePlanView(APIView):
    """The targets, the deadline and the hours of a quote as the project's."""

    @documented(tag="insights", body=QuoteBody, answers={200: PlanAnswer}, errors=CHANGES)
    def post(self, request: Request, project_id: int) -> Response:
        """Make what was quoted the plan."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        wish = _wish_of(request)
        found = quoted(project, facts_of(project), wish, today=timezone.localdate())
        changes = make_plan(project=project, found=found, wish=wish, actor=request.user)
        return Response(PlanAnswer.render({"changes": changes}))


class KeptQuotesView(APIView):
    """Kept quotes."""

    @documented(tag="insights", answers={200: KeptQuoteShape(many=True)})
    def get(self, request: Request, project_id: int) -> Response:
        """Return the kept quotes with what was needed and whether they held."""
        project = get_project(request.user, project_id, at_least=Role.CURATOR)
        return Response(KeptQuoteShape.render_all(judged_quotes(project)))

    @documented(
        tag="insights", body=QuoteBody, answers={201: KeptQuoteShape(many=True)}, errors=CHANGES
    )
    def post(self, request: Request, project_id: int) -> Response:
        """Keep a quote, to be judged when its targets are reached."""
        project = get_project(request.user, project_id, at_least=Role.CURATOR)
        wish = _wish_of(request)
        found = quoted(project, facts_of(project), wish, today=timezone.localdate())
        keep_quote(project=project, found=found, created_by=request.user, now=timezone.now())
        return Response(KeptQuoteShape.render_all(judged_quotes(project)), status=201)


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


@_documented
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
