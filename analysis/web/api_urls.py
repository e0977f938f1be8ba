"""REST of this app: one line per resource."""

from django.urls import URLPattern, URLResolver, path

from analysis.insights import api as insights

urlpatterns: list[URLPattern | URLResolver] = [
    path("projects/<key:project_id>/insights/", insights.InsightsView.as_view()),
    path("projects/<key:project_id>/advice/", insights.AdviceView.as_view()),
    path("projects/<key:project_id>/forecast/", insights.ForecastView.as_view()),
    path("projects/<key:project_id>/policy/", insights.PolicyView.as_view()),
    path("projects/<key:project_id>/preview/", insights.PreviewView.as_view()),
    path("projects/<key:project_id>/suspects/", insights.SuspectsView.as_view()),
    path(
        "projects/<key:project_id>/suspects/<int:number>/", insights.SuspectDecisionView.as_view()
    ),
    path("projects/<key:project_id>/working-styles/", insights.WorkingStylesView.as_view()),
]
