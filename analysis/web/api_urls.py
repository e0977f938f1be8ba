"""REST of this app: one line per resource."""

from django.urls import URLPattern, URLResolver, path

from analysis.insights import api as insights

urlpatterns: list[URLPattern | URLResolver] = [
    path("projects/<key:project_id>/insights/", insights.InsightsView.as_view()),
    path("projects/<key:project_id>/advice/", insights.AdviceView.as_view()),
    path("projects/<key:project_id>/forecast/", insights.ForecastView.as_view()),
    path("projects/<key:project_id>/policy/", insights.PolicyView.as_view()),
    path("projects/<key:project_id>/preview/", insights.PreviewView.as_view()),
    path("projects/<key:project_id>/quote/", insights.QuoteView.as_view()),
    path("projects/<key:project_id>/quote/wish/", insights.QuoteWishView.as_view()),
    path("projects/<key:project_id>/quote/plan/", insights.QuotePlanView.as_view()),
    path("projects/<key:project_id>/quotes/", insights.KeptQuotesView.as_view()),
    path("projects/<key:project_id>/ledger/", insights.LedgerView.as_view()),
    path("projects/<key:project_id>/proposals/", insights.ProposalsView.as_view()),
    path("projects/<key:project_id>/proposals/apply/", insights.ApplyProposalView.as_view()),
    path("projects/<key:project_id>/what-ifs/", insights.WhatIfsView.as_view()),
    path("projects/<key:project_id>/suspects/", insights.SuspectsView.as_view()),
    path(
        "projects/<key:project_id>/suspects/<int:number>/", insights.SuspectDecisionView.as_view()
    ),
    path("projects/<key:project_id>/working-styles/", insights.WorkingStylesView.as_view()),
]
