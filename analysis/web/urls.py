"""Every address of this app: one line per page, one line per resource of REST."""

from django.urls import URLPattern, URLResolver, path

from analysis.insights import api as insights_api
from analysis.insights import ledger_api, suspects_api
from analysis.insights import pages as insights
from analysis.insights.quote import api as quote_api
from analysis.web import pages

PAGES: list[URLPattern | URLResolver] = [
    path("projects/<int:project_id>/advice/", insights.advice, name="advice"),
    path(
        "projects/<int:project_id>/insights/<slug:name>/", insights.compute, name="compute-insight"
    ),
    path(
        "projects/<int:project_id>/working-styles/", insights.working_styles, name="working-styles"
    ),
    path("projects/<int:project_id>/suspects/", insights.suspects, name="suspects"),
    path("projects/<int:project_id>/proposal/", insights.take_proposal, name="apply-proposal"),
    path("projects/<int:project_id>/quote/", insights.quote, name="quote"),
    path("projects/<int:project_id>/studies/", pages.studies, name="studies"),
    path("projects/<int:project_id>/studies/papers/", pages.papers, name="papers"),
    path(
        "projects/<int:project_id>/studies/new/<slug:study_name>/",
        pages.new_study,
        name="new-study",
    ),
    path("projects/<int:project_id>/studies/<int:study_id>/", pages.study, name="study"),
]

RESOURCES: list[URLPattern | URLResolver] = [
    path("projects/<key:project_id>/insights/", insights_api.InsightsView.as_view()),
    path("projects/<key:project_id>/advice/", insights_api.AdviceView.as_view()),
    path("projects/<key:project_id>/forecast/", insights_api.ForecastView.as_view()),
    path("projects/<key:project_id>/policy/", insights_api.PolicyView.as_view()),
    path("projects/<key:project_id>/preview/", insights_api.PreviewView.as_view()),
    path("projects/<key:project_id>/quote/", quote_api.QuoteView.as_view()),
    path("projects/<key:project_id>/quote/wish/", quote_api.QuoteWishView.as_view()),
    path("projects/<key:project_id>/quote/plan/", quote_api.QuotePlanView.as_view()),
    path("projects/<key:project_id>/quotes/", quote_api.KeptQuotesView.as_view()),
    path("projects/<key:project_id>/ledger/", ledger_api.LedgerView.as_view()),
    path("projects/<key:project_id>/proposals/", ledger_api.ProposalsView.as_view()),
    path("projects/<key:project_id>/proposals/apply/", ledger_api.ApplyProposalView.as_view()),
    path("projects/<key:project_id>/what-ifs/", quote_api.WhatIfsView.as_view()),
    path("projects/<key:project_id>/suspects/", suspects_api.SuspectsView.as_view()),
    path(
        "projects/<key:project_id>/suspects/<int:number>/",
        suspects_api.SuspectDecisionView.as_view(),
    ),
    path("projects/<key:project_id>/working-styles/", insights_api.WorkingStylesView.as_view()),
]
