"""Quotes, and what-ifs that need training, by REST."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from analysis.insights.api import InsightStatus, InsightView, IntervalShape, documented_insight
from analysis.insights.quote.estimate import Wish, quoted
from analysis.insights.quote.facts import facts_of
from analysis.insights.quote.kept import HELD, MISSED, WAITS, judged_quotes, keep_quote, make_plan
from analysis.insights.quote.words import as_text
from annotation.accounts.access import get_project
from annotation.models import Project, Role
from annotation.web.serializers import (
    CHANGES,
    ListField,
    Message,
    NumberField,
    TextField,
    WholeNumberField,
    documented,
)


class QuoteBody(Message):
    """What a quote is asked for, where it differs from what the project says."""

    targets = s.DictField(
        child=s.FloatField(allow_null=True),
        required=False,
        help_text="Score by task; null: no target.",
    )
    deadline = TextField(max_length=10, required=False, help_text="A day, as 2027-04-11.")
    weekly_hours = NumberField(min_value=0, required=False, help_text="Of all people together.")
    what_ifs = ListField(
        child=TextField(max_length=300), required=False, help_text="By name, counted together."
    )


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
    n_open = s.IntegerField(allow_null=True, help_text="Sentences that lack an answer.")
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


class PlanAnswer(Message):
    """What making a quote the plan has changed."""

    changes = s.ListField(child=s.CharField())


@documented_insight
class QuoteView(InsightView):
    """Quote."""

    insight = "quote"
    answer = QuoteAnswer

    def describe(self, project: Project, stored: Any) -> dict[str, Any]:
        return {"quote": stored and _quote_shape(project, stored, Wish())}


@documented_insight
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
