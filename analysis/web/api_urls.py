"""REST of this app: one line per resource."""

from django.urls import URLPattern, URLResolver, path

from analysis.insights import api as insights
from analysis.insights import ledger_api as ledger
from analysis.insights import suspects_api as suspects
from analysis.insights.quote import api as quote

urlpatterns: list[URLPattern | URLResolver] = [
    path("projects/<key:project_id>/insights/", insights.InsightsView.as_view()),
    path("projects/<key:project_id>/advice/", insights.AdviceView.as_view()),
    path("projects/<key:project_id>/forecast/", insights.ForecastView.as_view()),
    path("projects/<key:project_id>/policy/", insights.PolicyView.as_view()),
    path("projects/<key:project_id>/preview/", insights.PreviewView.as_view()),
    path("projects/<key:project_id>/quote/", quote.QuoteView.as_view()),
    path("projects/<key:project_id>/quote/wish/", quote.QuoteWishView.as_view()),
    path("projects/<key:project_id>/quote/plan/", quote.QuotePlanView.as_view()),
    path("projects/<key:project_id>/quotes/", quote.KeptQuotesView.as_view()),
    path("projects/<key:project_id>/ledger/", ledger.LedgerView.as_view()),
    path("projects/<key:project_id>/proposals/", ledger.ProposalsView.as_view()),
    path("projects/<key:project_id>/proposals/apply/", ledger.ApplyProposalView.as_view()),
    path("projects/<key:project_id>/what-ifs/", quote.WhatIfsView.as_view()),
    path("projects/<key:project_id>/suspects/", suspects.SuspectsView.as_view()),
    path(
        "projects/<key:project_id>/suspects/<int:number>/", suspects.SuspectDecisionView.as_view()
    ),
    path("projects/<key:project_id>/working-styles/", insights.WorkingStylesView.as_view()),
]
